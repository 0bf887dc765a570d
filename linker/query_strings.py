"""What query strings and forms send: ids, days, and fields that a page does not know."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

MOST_NAMED, MAX_NAME = 5, 40
MAX_ID = 2**63 - 1  # of the database


def is_id(text: str) -> bool:
    """Whether a text is a number that an id can be."""
    return text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= MAX_ID


def day_of(text: str) -> date | None:
    """The day that a text names as YYYY-MM-DD; None where it names none."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if day.isoformat() == text else None  # not in one of the other forms of ISO 8601


def unknown_fields(query: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """The names of a query string that are not among `known`; of many the first, and long ones cut short."""
    return tuple(name[:MAX_NAME] for name in query if name not in known)[:MOST_NAMED]
