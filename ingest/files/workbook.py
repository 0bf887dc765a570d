"""The first sheet of an Excel workbook (.xlsx) as CSV, row by row in bounded memory, but for the shared texts.

A workbook is a zip of XML (ECMA-376): the cells of a sheet hold numbers, texts, or the numbers of texts that the whole
workbook shares. Document types, and with them entities, are refused.
"""

from __future__ import annotations

import csv
import lzma
import re
import struct
import zipfile
import zlib
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, Any
from xml.parsers import expat

from ingest.errors import UnusableFile
from ingest.files.unpack import open_archive, open_member

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TEXTS = "xl/sharedStrings.xml"
SHEET = re.compile(r"xl/worksheets/sheet(\d{1,5})\.xml")
PIECE = 2**18
MAX_BYTES = 2**30  # of a sheet, or of the shared texts, unpacked
MAX_ROWS = 2**20  # that a sheet of Excel has
MAX_COLUMNS = 1_000
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, expat.ExpatError),
    *(EOFError, NotImplementedError, RuntimeError, KeyError, ValueError),
)
_LETTERS = re.compile("[A-Z]{1,3}")


def is_workbook(path: Path) -> bool:
    """Whether the file is a workbook with a sheet."""
    try:
        with open_archive(path) as archive:
            return any(SHEET.fullmatch(name) for name in archive.namelist())
    except (*_DAMAGED, OSError):
        return False


def to_csv(path: Path, name: str, out: IO[str]) -> None:
    """Writes the first sheet; empty rows stay, so that lines are rows. Raises UnusableFile where it is damaged."""
    writer = csv.writer(out, lineterminator="\n")
    try:
        with ExitStack() as stack:
            archive = stack.enter_context(open_archive(path))
            sheets = {int(found[1]): found[0] for found in map(SHEET.fullmatch, archive.namelist()) if found}
            texts = _Texts()
            if TEXTS in archive.namelist():
                _parse(archive, TEXTS, name, texts.start, texts.end, texts.characters)
            sheet = _Sheet(name, texts.found, writer.writerow)
            _parse(archive, sheets[min(sheets)], name, sheet.start, sheet.end, sheet.characters)
    except _DAMAGED as error:
        raise UnusableFile(name, "The workbook is damaged or protected. Save the sheet as CSV UTF-8.") from error


def _parse(
    archive: zipfile.ZipFile,
    member: str,
    name: str,
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None],
    characters: Callable[[str], None],
) -> None:
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True

    def refuse(*_: Any) -> None:
        raise UnusableFile(name, "The workbook holds a document type, which no spreadsheet writes.")

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = lambda tag, values: start(tag.rpartition(" ")[2], values)
    parser.EndElementHandler = lambda tag: end(tag.rpartition(" ")[2])
    parser.CharacterDataHandler = characters
    read = 0
    with open_member(archive, archive.getinfo(member), name) as source:
        while piece := source.read(PIECE):
            read += len(piece)
            if read > MAX_BYTES:
                raise UnusableFile(name, f"The workbook unpacks to more than {MAX_BYTES // 2**20:,} MB.")
            parser.Parse(piece, False)
    parser.Parse(b"", True)


class _Texts:
    """The texts that a workbook shares. One may be in several runs of letters; how it is spoken does not count."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._parts: list[str] = []
        self._in_text = self._is_spoken = False

    def start(self, tag: str, _values: dict[str, str]) -> None:
        if tag == "si":
            self._parts = []
        self._is_spoken |= tag == "rPh"
        self._in_text = tag == "t" and not self._is_spoken

    def end(self, tag: str) -> None:
        self._in_text = False
        if tag == "rPh":
            self._is_spoken = False
        if tag == "si":
            self.found.append("".join(self._parts))

    def characters(self, text: str) -> None:
        if self._in_text:
            self._parts.append(text)


class _Sheet:
    """The rows of a sheet, as they end."""

    def __init__(self, name: str, texts: list[str], write: Callable[[list[str]], Any]) -> None:
        self.name, self.texts, self.write = name, texts, write
        self.rows = 0
        self._row: list[str] = []
        self._kind, self._column = "", 0
        self._parts: list[str] = []
        self._in_value = False

    def start(self, tag: str, values: dict[str, str]) -> None:
        if tag == "row":
            wanted = int(values.get("r", self.rows + 1))
            if wanted > MAX_ROWS:
                raise UnusableFile(self.name, f"A sheet has {MAX_ROWS:,} rows at most; this one names row {wanted:,}.")
            while self.rows < wanted - 1:
                self.rows += 1
                self.write([])
            self._row = []
        elif tag == "c":
            self._kind, self._parts = values.get("t", "n"), []
            self._column = _column(values["r"]) if "r" in values else len(self._row)
        self._in_value = tag in ("v", "t")

    def end(self, tag: str) -> None:
        self._in_value = False
        if tag == "c" and self._column < MAX_COLUMNS:
            text = "".join(self._parts)
            if self._kind == "s":
                text = self.texts[int(text)] if text.isdigit() and int(text) < len(self.texts) else ""
            self._row += [""] * (self._column + 1 - len(self._row))
            self._row[self._column] = text
        elif tag == "row":
            self.rows += 1
            self.write(self._row)

    def characters(self, text: str) -> None:
        if self._in_value:
            self._parts.append(text)


def _column(reference: str) -> int:
    """The place of a cell such as AB12 in its row, from 0."""
    letters = _LETTERS.match(reference)
    place = 0
    for letter in letters[0] if letters else "A":
        place = 26 * place + ord(letter) - ord("A") + 1
    return place - 1
