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
NAME = "anchorline run "


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


def name_connection(run_id: int) -> None:
    """Lets `blockers` tell on which run this process works."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('application_name', %s, false)", [f"{NAME}{run_id}"])


def locked_runs() -> set[int]:
    """The runs whose lock somebody holds: those that are worked on."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND objsubid = 2 "
            "AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
            [LOCK_SPACE],
        )
        return {run for (run,) in cursor.fetchall()}


def blockers() -> dict[int, set[int]]:
    """The runs that wait for rows or tables which others hold, with the runs that hold them; 0 is somebody else."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT waiting.application_name, holder.application_name FROM pg_stat_activity waiting "
            "CROSS JOIN LATERAL unnest(pg_blocking_pids(waiting.pid)) blocker (pid) "
            "JOIN pg_stat_activity holder ON holder.pid = blocker.pid "
            "WHERE waiting.wait_event_type = 'Lock' AND waiting.datname = current_database() "
            "AND starts_with(waiting.application_name, %s)",
            [NAME],
        )
        found: dict[int, set[int]] = {}
        for waiting, holder in cursor.fetchall():
            holds = holder.removeprefix(NAME) if holder.startswith(NAME) else "0"
            found.setdefault(int(waiting.removeprefix(NAME)), set()).add(int(holds))
        return found
