"""What a format is, and the rows that it is made of."""

from __future__ import annotations

import csv
import io
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from linker.storage.cells import safe_cell
from review.models import ReleaseFormat
from review.releases.create import release_pieces

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from django.utils.functional import Promise

    from review.models import Release

Row = dict[str, str]
PIECE = 2**16


class Format(ABC):
    """A file of a release. The same release gives the same bytes every time, in constant memory.

    `needs_all`: it takes more than the three columns of a JOIL release. `most`: of more links it is made by the command
    alone, because nothing of it can be sent before all of it is made.
    """

    name: ClassVar[str]  # in addresses and on the command line; never change it
    label: ClassVar[Promise]
    help: ClassVar[Promise]
    suffix: ClassVar[str]
    content_type: ClassVar[str]
    needs_all: ClassVar[bool] = True
    most: ClassVar[int | None] = None

    def file_name(self, release: Release) -> str:
        return f"anchorline-{release.project.slug}-release-{release.number}{self.suffix}"

    def is_for(self, release: Release) -> bool:
        return not self.needs_all or release.format == ReleaseFormat.FULL

    @abstractmethod
    def pieces(self, release: Release) -> Iterator[bytes]: ...


def kept_rows(release: Release) -> Iterator[Row]:
    """The rows that the release keeps, by column, each text as it was before a spreadsheet was thought of."""
    with io.TextIOWrapper(io.BufferedReader(_Pieces(release_pieces(release))), "utf-8-sig", newline="") as lines:
        for row in csv.DictReader(lines):
            yield {name: _unsafe_cell(cell) for name, cell in row.items()}


def _unsafe_cell(cell: str) -> str:
    """The text of which safe_cell made the cell."""
    return cell[1:] if cell.startswith("'") and safe_cell(cell[1:]) == cell else cell


def or_said(parts: Iterable[bytes], said: str) -> Iterator[bytes]:
    """The parts, or what is said where there are none: an empty file looks like a mistake."""
    is_empty = True
    for part in parts:
        is_empty = False
        yield part
    if is_empty:
        yield said.encode()


def collected(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of about PIECE."""
    buffer = bytearray()
    for part in parts:
        buffer += part
        if len(buffer) >= PIECE:
            yield bytes(buffer)
            buffer.clear()
    if buffer:
        yield bytes(buffer)


class _Pieces(io.RawIOBase):
    """Pieces, read as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest = pieces, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._rest:
            self._rest = memoryview(next(self._pieces, b""))
        taken = min(len(buffer), len(self._rest))
        buffer[:taken], self._rest = self._rest[:taken], self._rest[taken:]
        return taken
