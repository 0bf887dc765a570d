"""The lock that a run's worker holds for as long as it works.

It is a PostgreSQL advisory lock on a connection of its own. When the worker dies the connection ends and the lock is
free: no heartbeat can lie. (A pooler in front of PostgreSQL must therefore pool sessions.)
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from django.db import connection

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCK_SPACE = 7303


def _connect() -> psycopg.Connection[Any]:
    connection.ensure_connection()
    params = connection.get_connection_params()
    params.pop("cursor_factory", None)
    params.pop("context", None)
    # A machine that loses its power closes no connection: without these its lock would outlive it by hours.
    keepalive = {"keepalives_idle": 20, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 60_000}
    return psycopg.connect(**{**keepalive, **params}, autocommit=True)


@contextmanager
def run_lock(run_id: int) -> Iterator[psycopg.Connection[Any] | None]:
    """A connection that holds the run's lock, or None where another worker holds it."""
    with _connect() as locking:
        row = locking.execute("SELECT pg_try_advisory_lock(%s, %s)", [LOCK_SPACE, run_id]).fetchone()
        yield locking if row and row[0] else None
