"""Two pieces of work that meet in the database at one moment, which the test chooses."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from django.db import connection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest

SECONDS = 60  # after which a test that hangs fails


@contextmanager
def another_connection() -> Iterator[psycopg.Connection[Any]]:
    """A connection that commits nothing by itself and is rolled back in the end."""
    with psycopg.connect(**connection.get_connection_params()) as other:
        yield other
        other.rollback()


@dataclass(frozen=True)
class Meeting:
    """What both returned, or the error that one ended with, and whether the second waited for a lock of the first."""

    first: Any
    second: Any
    waited: bool


def meet(
    monkeypatch: pytest.MonkeyPatch, first: Callable[[], Any], at: tuple[Any, str], second: Callable[[], Any]
) -> Meeting:
    """`first` works until it calls `at`, a name in a module; then `second` works until it ends or waits for a lock;
    then `first` goes on. Each has a connection of its own."""
    module, name = at
    call = getattr(module, name)
    reached, go_on = threading.Event(), threading.Event()

    def stop(*args: Any, **kwargs: Any) -> Any:
        if not reached.is_set():
            reached.set()
            assert go_on.wait(SECONDS)
        return call(*args, **kwargs)

    monkeypatch.setattr(module, name, stop)
    with ThreadPoolExecutor(2) as pool:
        ahead = pool.submit(_closing, first)
        ahead.add_done_callback(lambda _: reached.set())
        assert reached.wait(SECONDS)
        if ahead.done():
            go_on.set()
            raise AssertionError(f"it never came to {name}") from ahead.exception()
        behind = pool.submit(_closing, second)
        waited = _waits_before_its_end(behind)
        go_on.set()
        return Meeting(_outcome(ahead), _outcome(behind), waited)


def _closing(work: Callable[[], Any]) -> Any:
    try:
        return work()
    finally:
        connection.close()


def _outcome(work: Future[Any]) -> Any:
    return work.exception(SECONDS) or work.result()


def _waits_before_its_end(work: Future[Any]) -> bool:
    deadline = time.monotonic() + SECONDS
    while not wait([work], 0.02).done:
        assert time.monotonic() < deadline, "it neither ends nor waits"
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            if cursor.fetchone()[0]:
                return True
    return False
