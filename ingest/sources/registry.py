"""The sources that rows may come from, other than a file. To add one, see CONTRIBUTING.md: its line goes here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.sources.fetched import Fetched
from linker.errors import UserError

if TYPE_CHECKING:
    from ingest.sources.base import SourceKind

FILE = "file"
SOURCES: tuple[SourceKind, ...] = ()  # that users choose
INTERNAL: tuple[SourceKind, ...] = (Fetched(),)


def sources() -> tuple[SourceKind, ...]:
    """The sources other than the file."""
    return SOURCES


def get(name: str) -> SourceKind:
    """The source of a name. Raises UserError where there is none."""
    for source in (*SOURCES, *INTERNAL):
        if source.name == name:
            return source
    raise UserError(f"There is no source “{name}” to import from. It may have been removed since.")
