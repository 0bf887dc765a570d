"""How long a request, a job or a command may wait for the database: limits of PostgreSQL, for each connection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import connection

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

_HELD = "anchorline_limits"  # the attribute of Django's wrapper that holds them: it outlives its connections
_SET = (
    "SELECT set_config('lock_timeout', %s, false), set_config('statement_timeout', %s, false), "
    "set_config('idle_in_transaction_session_timeout', %s, false)"
)


@dataclass(frozen=True)
class Limits:
    """Seconds that a statement may wait for a lock, that it may take in all, and that a transaction may lie idle; 0 for
    as long as it takes."""

    lock: float
    statement: float = 0
    idle: float = 0


def of_requests() -> Limits:
    return Limits(settings.REQUEST_LOCK_SECONDS, settings.REQUEST_STATEMENT_SECONDS, settings.REQUEST_IDLE_SECONDS)


def of_jobs() -> Limits:
    """Of jobs, and of commands. Their statements and transactions take as long as the work does."""
    return Limits(settings.JOB_LOCK_SECONDS)


def limit(limits: Limits) -> None:
    """From now on these are the limits of this thread's connection, and of those that take its place."""
    # What is set within a transaction goes when that is rolled back, so it is not taken for set.
    if getattr(connection, _HELD, None) == limits and not connection.in_atomic_block:
        return
    setattr(connection, _HELD, limits)
    if connection.connection is not None:
        _write(connection, limits)


def limit_new_connection(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """For Django's signal. A connection that nobody has limited is a job's or a command's."""
    _write(connection, getattr(connection, _HELD, None) or of_jobs())


def _write(connection: Any, limits: Limits) -> None:
    # psycopg's own connection: what a page asks of the database is counted, and this is no part of it.
    with connection.wrap_database_errors:
        connection.connection.execute(_SET, [f"{round(1000 * seconds)}ms" for seconds in
                                             (limits.lock, limits.statement, limits.idle)])  # fmt: skip
