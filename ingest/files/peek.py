"""The first bytes of a file, whatever it turns out to be, and the first records of a table. Raises nothing."""

from __future__ import annotations

import codecs
import csv
import io
import re
import zipfile
import zlib
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ingest.errors import UnusableFile
from ingest.files.column_names import header_key
from ingest.files.sniff import DELIMITERS, utf_16_by_zeros
from linker.storage.archives import DAMAGE, ArchiveError, open_archive, open_member

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

START = 2**16  # bytes looked at
MEMBERS = 50  # files of an archive looked at
DAMAGED = (*DAMAGE, EOFError, UnusableFile, ArchiveError)  # what an archive raises that cannot be read
_ROOT = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)")
TABLES = (".csv", ".tsv", ".txt")


@dataclass(frozen=True)
class Start:
    """How a file begins, unpacked: `data` are its first bytes, `members` the names in it where it is an archive."""

    name: str
    data: bytes
    members: tuple[str, ...] = ()

    @cached_property
    def text(self) -> str:
        """The first bytes as text, without a byte-order mark; empty for a binary file."""
        if self.data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return self.data.decode("utf-16", "ignore").lstrip("\ufeff")
        if b"\0" in self.data:
            unmarked = utf_16_by_zeros(self.data[:4096])
            return self.data.decode(unmarked, "ignore") if unmarked else ""
        return self.data.decode("utf-8", "replace").lstrip("\ufeff")

    @cached_property
    def lines(self) -> list[str]:
        """Up to twenty whole lines with something in them."""
        lines = self.text.splitlines()
        whole = lines[:-1] if len(self.data) >= START else lines
        return [line for line in whole if line.strip()][:20]

    @cached_property
    def root(self) -> str:
        """The name of an XML or HTML document's first element, in small letters, without its namespace."""
        text, at = self.text.lstrip(), 0
        if not text.startswith("<"):
            return ""
        while (comment := text.find("<!--", at)) >= 0:
            if found := _ROOT.search(text, at, comment):
                return found[1].lower()
            end = text.find("-->", comment)
            if end < 0:
                return ""
            at = end + 3
        found = _ROOT.search(text, at)
        return found[1].lower() if found else ""


@dataclass(frozen=True)
class Columns:
    """A table's header and first rows."""

    name: str
    header: tuple[str, ...]
    rows: Sequence[Sequence[str]] = ()

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The header's names in the form of header_key()."""
        return tuple(map(header_key, self.header))

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset(self.order)

    def cells(self, names: frozenset[str]) -> list[str]:
        """The filled cells of the first column with one of some keys."""
        for place, key in enumerate(self.order):
            if key in names:
                return [text for row in self.rows if place < len(row) and (text := row[place].strip())]
        return []


def start_of(path: Path, name: str) -> Start:
    """How a file begins; of an archive without a table, how the file in it does where it holds a single one."""
    with path.open("rb") as file:
        data = file.read(START)
    if data.startswith(b"\x1f\x8b"):
        with suppress(zlib.error):
            data = zlib.decompressobj(wbits=31).decompress(data, START)
    if not data.startswith(b"PK"):
        return Start(name, data)
    with suppress(*DAMAGED), open_archive(path) as archive:
        members = tuple(info.filename for info in _files(archive))
        if members and not any(map(_is_table, members)) and len(members) == 1:
            return Start(members[0], _first_bytes(archive, members[0]), members)
        return Start(name, data, members)
    return Start(name, data)


def tables_of(path: Path) -> Iterator[tuple[str, Columns]]:
    """The tables in a zip archive: their names in it, headers and first rows."""
    with suppress(*DAMAGED), open_archive(path) as archive:
        tables = [info.filename for info in _files(archive) if _is_table(info.filename)]
        for member in tables[:MEMBERS]:
            yield member, columns_of(Start(member, _first_bytes(archive, member)))


def columns_of(start: Start) -> Columns:
    """The table that a text begins with, going by its first line; comments and blanks above it are passed over."""
    lines = [line for line in start.text.splitlines() if line.strip() and not re.match(r'"?sep=.|#', line)]
    if not lines:
        return Columns(start.name, ())
    delimiter = max(DELIMITERS, key=lines[0].count)
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows.extend(
            row
            for row, _ in zip(csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter), range(20), strict=False)
        )
    return Columns(start.name, tuple(rows[0]) if rows else (), rows[1:])


def workbook_columns(path: Path) -> Columns:
    """The first texts of an Excel workbook, which hold its header; without rows."""
    with suppress(*DAMAGED), open_archive(path) as archive:
        names = {info.filename for info in archive.infolist()}
        for member in ("xl/sharedStrings.xml", "xl/worksheets/sheet1.xml"):
            text = _first_bytes(archive, member).decode("utf-8", "ignore") if member in names else ""
            if cells := re.findall(r"<t(?: [^<>]*)?>([^<]*)</t>", text):
                return Columns(path.name, tuple(cells[:200]))
    return Columns(path.name, ())


def _files(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    return [
        info
        for info in archive.infolist()
        if not info.is_dir()
        and "__MACOSX" not in info.filename
        and not info.filename.rpartition("/")[2].startswith(".")
    ]


def _is_table(member: str) -> bool:
    return member.lower().endswith(TABLES)


def _first_bytes(archive: zipfile.ZipFile, member: str) -> bytes:
    with open_member(archive, archive.getinfo(member)) as file:
        return file.read(START)
