"""Events on their way in: staged as they are read, and told in the order of their times."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ingest.kinds.sql import execute, fetch_number
from linker.models import PageEventKind
from linker.storage.copy import analyze, copy_rows_in
from linker.storage.cursors import stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime


class Event(NamedTuple):
    """One row: where it stands, and what it says."""

    line: int
    kind: PageEventKind
    url: str
    new: str
    at: datetime


def create_event_stage() -> None:
    execute(
        "CREATE TEMP TABLE stage_event (place bigint GENERATED ALWAYS AS IDENTITY, line bigint, kind text, url text, "
        "new_url text, at timestamptz) ON COMMIT DROP"
    )


def stage_events(events: Sequence[Event]) -> None:
    copy_rows_in("stage_event", ("line", "kind", "url", "new_url", "at"), events)


def count_staged() -> int:
    analyze("stage_event")
    return fetch_number("SELECT count(*) FROM stage_event")


def staged_addresses() -> Iterator[str]:
    """The addresses that the events name, each once."""
    rows = stream(
        "event_addresses",
        "SELECT url FROM stage_event UNION SELECT new_url FROM stage_event WHERE new_url <> ''",
        [],
    )
    return (address for (address,) in rows)


def staged_events() -> Iterator[Event]:
    """The events by their times; of the same time, in the order of the file."""
    rows = stream("events", "SELECT line, kind, url, new_url, at FROM stage_event ORDER BY at, place", [])
    return (Event(line, PageEventKind(kind), url, new, at) for line, kind, url, new, at in rows)
