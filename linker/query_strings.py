"""What of a query string a page does not know, so that it can say what it leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

MOST_NAMED, MAX_NAME = 5, 40


def unknown_fields(query: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """The names of a query string that are not among `known`; of many the first, and long ones cut short."""
    return tuple(name[:MAX_NAME] for name in query if name not in known)[:MOST_NAMED]
