"""Servers that are away or not set up: how to recognise it, what to say about it, and how to wait for them.

Commands, web pages and workers all ask here, so that the same fault has the same words.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
import redis.exceptions
import structlog
from django import db
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError
from django.db import connection
from django.utils.translation import gettext_lazy
from environs import EnvError

from linker.operations.logs import scrub
from linker.operations.pending_migrations import are_pending

if TYPE_CHECKING:
    from collections.abc import Callable

log = structlog.get_logger(__name__)

T = TypeVar("T")

OF_CONNECTIONS = (db.OperationalError, db.InterfaceError, psycopg.OperationalError, psycopg.InterfaceError)
# PostgreSQL ends or refuses connections, and takes new ones later: an administrator's shutdown, a crash, a start, too
# many connections, and the class of broken connections. https://www.postgresql.org/docs/current/errcodes-appendix.html
PASSING_STATES = {"57P01", "57P02", "57P03", "53300"}
PASSING_CLASS = "08"
STARTING_OR_STOPPING = ("starting up", "shutting down", "recovery mode", "too many", "not yet accepting")
# PostgreSQL has ended one of two that waited for each other, or one that waited too long for a lock, or one of two that
# wrote the same. Nothing of the transaction is left, and the same may well succeed later.
LOCK_CONFLICT_STATES = {"40P01", "55P03", "40001"}
TIMED_OUT_STATE = "57014"
MAX_LOSSES = 10
PAUSES = (1, 2, 5, 10, 20)  # seconds before the same is tried again, where others were in the way
LOOK_SECONDS = 0.5
LOG_SECONDS = 30


@dataclass(frozen=True)
class Trouble:
    """`sentence` tells the administrator what to do; `public` is fit for any page. `passes` by itself?"""

    sentence: str
    public: Any
    passes: bool = False


NOT_MIGRATED = Trouble(
    "The database is not set up for this version of Anchorline. Run ./manage.py migrate, then try again.",
    gettext_lazy(
        "The database is not set up for this version. The person who runs the server has to run ./manage.py migrate."
    ),
)
LOCK_CONFLICT = Trouble(
    "Other work held the same rows of the database for too long. Nothing is half done. Wait until the runs under way "
    "have ended, then start it again.",
    gettext_lazy("Someone else is saving a change. Try again in a moment."),
    passes=True,
)
TIMED_OUT = Trouble(
    "A statement of a request took longer than REQUEST_STATEMENT_SECONDS. Nothing is half done.",
    gettext_lazy("This took too long, so nothing was changed. Try again later."),
)
NO_PGVECTOR = Trouble(
    "PostgreSQL lacks pgvector, the extension that stores vectors. Install pgvector 0.7 or newer on "
    "the database's server, then run ./manage.py migrate. If it is installed but the role may not "
    "create it, have a superuser run CREATE EXTENSION vector in the database first.",
    gettext_lazy("The database lacks the pgvector extension. The person who runs the server has to install it."),
)


def explain(error: BaseException | None) -> Trouble | None:
    """What is wrong with a server or the set-up, if that is what the error says; None for every other error."""
    if isinstance(error, (ImproperlyConfigured, EnvError)):
        return Trouble(f"Anchorline cannot start: {error}", gettext_lazy("The server's settings are wrong."))
    if isinstance(error, redis.exceptions.ConnectionError | redis.exceptions.TimeoutError):
        return Trouble(
            f"Redis does not answer ({first_line(error)}). Start it, or set REDIS_URL to its address.",
            gettext_lazy("The work queue does not answer."),
            passes=not isinstance(error, redis.exceptions.AuthenticationError),
        )
    if not isinstance(error, db.Error | psycopg.Error):
        return None
    text, state = str(error), _state(error)
    if is_lock_conflict(error):
        return LOCK_CONFLICT
    if state == TIMED_OUT_STATE:
        return TIMED_OUT
    if 'extension "vector"' in text or 'type "vector"' in text or "vector.control" in text:
        return NO_PGVECTOR
    if isinstance(error, db.ProgrammingError | psycopg.ProgrammingError):
        return NOT_MIGRATED if state in {"42P01", "42703"} and _is_behind() else None
    if not isinstance(error, OF_CONNECTIONS):
        return None
    return _of_connection(error, text, state)


def _of_connection(error: BaseException, text: str, state: str) -> Trouble | None:
    public = gettext_lazy("The database does not answer.")
    if is_away(error):
        return Trouble(
            f"PostgreSQL does not answer ({first_line(error)}). Start it, or set DATABASE_URL to its address.",
            public,
            passes=True,
        )
    if state:
        return None
    if "password authentication failed" in text or "no password supplied" in text:
        return Trouble("PostgreSQL refuses the user name or password in DATABASE_URL. Correct them there.", public)
    if "database" in text and "does not exist" in text:
        return Trouble(
            f"PostgreSQL has no such database ({first_line(error)}). Create it with createdb, or correct DATABASE_URL.",
            public,
        )
    return Trouble(f"PostgreSQL refuses the connection ({first_line(error)}). Correct DATABASE_URL.", public)


def is_away(error: BaseException | None) -> bool:
    """Whether PostgreSQL was lost or is not there, so that the same may succeed when it is back."""
    if not isinstance(error, OF_CONNECTIONS):
        return False
    state = _state(error)
    if state:
        return state in PASSING_STATES or state.startswith(PASSING_CLASS)
    # Of a connection that broke or never came about there is no state, only words. A server that refuses is there.
    text = str(error)
    if "FATAL:" in text:
        return any(words in text for words in STARTING_OR_STOPPING)
    return any(word in text for word in ("connection", "server", "resolve host"))


def is_lock_conflict(error: BaseException | None) -> bool:
    """Whether others held what was to be locked or written, so that the same may succeed when they are done."""
    return isinstance(error, db.Error | psycopg.Error) and _state(error) in LOCK_CONFLICT_STATES


def _state(error: BaseException) -> str:
    """The SQLSTATE of Django's or psycopg's error; empty where there is none."""
    for one in (error, error.__cause__):
        if isinstance(one, psycopg.Error) and one.sqlstate:
            return one.sqlstate
    return ""


def first_line(error: BaseException) -> str:
    return scrub((str(error).strip() or type(error).__name__).splitlines()[0])


def _is_behind() -> bool:
    """Whether migrations wait to be applied."""
    try:
        return are_pending()
    except db.Error:
        return False


def require_migrations() -> None:
    """Raises CommandError where migrations wait to be applied."""
    if _is_behind():
        raise CommandError(NOT_MIGRATED.sentence)


# -------------------------------------------------------------------------------------------------------- waiting


def wait_for_database() -> None:
    """Returns once PostgreSQL takes connections. Raises where it refuses them for a reason that waiting cannot mend."""
    told_at = float("-inf")
    while True:
        connection.close()
        try:
            connection.ensure_connection()
        except db.Error as error:
            if not is_away(error):
                raise
            if time.monotonic() - told_at >= LOG_SECONDS:
                told_at = time.monotonic()
                log.warning("PostgreSQL does not answer; waiting for it", error=first_line(error))
        else:
            if told_at > 0:
                log.warning("PostgreSQL answers again")
            return
        time.sleep(LOOK_SECONDS)


def outlast(work: Callable[[], T]) -> T:
    """Returns what `work` returns; calls it again, from its beginning, each time PostgreSQL was lost in the middle, and
    after a pause where others were in the way.

    For work that may run twice. Gives up after MAX_LOSSES losses, since then the work may be what stops the server, and
    after as many pauses as there are.
    """
    losses, pauses = 0, iter(PAUSES)
    while True:
        try:
            return work()
        except (db.Error, psycopg.Error) as error:
            if is_lock_conflict(error) and (pause := next(pauses, None)) is not None:
                log.warning("others were in the way; the work begins again", error=first_line(error), seconds=pause)
                time.sleep(pause)
                continue
            losses += 1
            if not is_away(error) or losses == MAX_LOSSES:
                raise
            log.warning("PostgreSQL was lost; the work begins again when it is back", error=first_line(error))
        wait_for_database()
