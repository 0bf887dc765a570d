"""The first sheet of an Excel workbook (.xlsx), row by row in bounded memory.

A workbook is a zip of XML (ECMA-376): the cells of a sheet hold numbers, texts, or the numbers of texts that the whole
workbook shares. Those lie in a file on the disk while the sheet is read. Document types, and with them entities, are
refused.
"""

from __future__ import annotations

import lzma
import os
import re
import struct
import zipfile
import zlib
from array import array
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, Protocol
from xml.parsers import expat

from django.utils.translation import gettext as _

from linker.errors import UserError
from linker.storage.archives import open_archive, open_member
from linker.wording import number

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXTS = "xl/sharedStrings.xml"
SHEET = re.compile(r"xl/worksheets/sheet(\d{1,5})\.xml")
PIECE = 2**18
MAX_BYTES = 2**30  # of a sheet, or of the shared texts, unpacked
MAX_RATIO, RATIO_FROM = 300, 2**24  # bytes unpacked to packed ones: sheets come to 10 or 30
MAX_ROWS = 2**20  # that a sheet of Excel has
MAX_COLUMNS = 1_000
MAX_CELL = 2**20  # characters: Excel allows 32,767
NO_RESULT = "\0"  # the text of a cell whose formula was never worked out; no text of a workbook can hold it
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, expat.ExpatError),
    *(EOFError, NotImplementedError, RuntimeError, KeyError, ValueError),
)
_LETTERS = re.compile("[A-Z]{1,3}")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")  # how a text holds what XML cannot: _x0007_, and _x005F_ for "_"
_LOGICAL = {"0": "FALSE", "1": "TRUE"}


class WorkbookError(UserError):
    """A workbook that cannot be read."""


class _Characters:
    """The characters of a cell or of a shared text, as they come."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0

    def add(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
        if self._length > MAX_CELL:
            raise WorkbookError(
                _("A cell of the workbook holds more than %(most)s characters.") % {"most": number(MAX_CELL)}
            )

    def __str__(self) -> str:
        return "".join(self._parts)


def is_workbook(path: Path) -> bool:
    """Whether the file is a workbook with a sheet."""
    try:
        with open_archive(path) as archive:
            return any(SHEET.fullmatch(name) for name in archive.namelist())
    except (*_DAMAGED, OSError):
        return False


def rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of the first sheet with their numbers, from 1, in ascending order; a formula is its result.

    Rows that a sheet leaves out are left out. Raises WorkbookError.
    """
    try:
        with ExitStack() as stack:
            archive = stack.enter_context(open_archive(path))
            sheets = {int(found[1]): found[0] for found in map(SHEET.fullmatch, archive.namelist()) if found}
            texts = _Texts(stack.enter_context(TemporaryFile(buffering=PIECE)))
            if TEXTS in archive.namelist():
                for _piece in _parse(archive, TEXTS, texts):
                    pass
                texts.end_all()
            sheet = _Sheet(texts)
            for _piece in _parse(archive, sheets[min(sheets)], sheet):
                yield from sheet.rows
                sheet.rows.clear()
    except _DAMAGED as error:
        raise WorkbookError(_("The workbook is damaged or protected. Save the sheet as CSV UTF-8.")) from error


class _Reader(Protocol):
    def start(self, tag: str, values: dict[str, str]) -> None: ...

    def end(self, tag: str) -> None: ...

    def characters(self, text: str) -> None: ...


def _parse(archive: zipfile.ZipFile, member: str, reader: _Reader) -> Iterator[None]:
    """Lets the reader read a part of the workbook, piece by piece."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True

    def refuse(*_args: Any) -> None:
        raise WorkbookError(_("The workbook holds a document type, which no spreadsheet writes."))

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = lambda tag, values: reader.start(tag.rpartition(" ")[2], values)
    parser.EndElementHandler = lambda tag: reader.end(tag.rpartition(" ")[2])
    parser.CharacterDataHandler = reader.characters
    info = archive.getinfo(member)
    read = 0
    with open_member(archive, info) as source:
        while piece := source.read(PIECE):
            read += len(piece)
            if read > MAX_BYTES:
                most = {"most": number(MAX_BYTES // 2**20)}
                raise WorkbookError(_("The workbook unpacks to more than %(most)s MB.") % most)
            if read > RATIO_FROM and read > MAX_RATIO * info.compress_size:
                said = _(
                    "The workbook unpacks to more than %(ratio)d times its size; it looks like a zip bomb. If it is "
                    "not, save the sheet as CSV UTF-8."
                )
                raise WorkbookError(said % {"ratio": MAX_RATIO})
            parser.Parse(piece, False)
            yield
    parser.Parse(b"", True)
    yield


class _Texts:
    """The texts that a workbook shares. One may be in several runs of letters; how it is spoken does not count."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._ends = array("Q", [0])
        self._text = _Characters()
        self._in_text = self._is_spoken = False

    def start(self, tag: str, _values: dict[str, str]) -> None:
        if tag == "si":
            self._text = _Characters()
        self._is_spoken |= tag == "rPh"
        self._in_text = tag == "t" and not self._is_spoken

    def end(self, tag: str) -> None:
        self._in_text = False
        if tag == "rPh":
            self._is_spoken = False
        if tag == "si":
            self._ends.append(self._ends[-1] + self._file.write(str(self._text).encode()))

    def end_all(self) -> None:
        self._file.flush()

    def characters(self, text: str) -> None:
        if self._in_text:
            self._text.add(text)

    def at(self, number: str) -> str:
        """The text of a number; empty where there is none."""
        place = int(number) if number.isdecimal() else len(self._ends)
        if place + 1 >= len(self._ends):
            return ""
        start, end = self._ends[place], self._ends[place + 1]
        return os.pread(self._file.fileno(), end - start, start).decode()


class _Sheet:
    """The rows of a sheet, as they end."""

    def __init__(self, texts: _Texts) -> None:
        self.texts = texts
        self.rows: list[tuple[int, list[str]]] = []
        self._number = 0
        self._row: list[str] = []
        self._kind, self._column = "", 0
        self._characters = _Characters()
        self._in_value = self._is_formula = False

    def start(self, tag: str, values: dict[str, str]) -> None:
        if tag == "row":
            wanted = int(values.get("r", self._number + 1))
            if wanted > MAX_ROWS:
                said = _("A sheet has %(most)s rows at most; this one names row %(row)s.")
                raise WorkbookError(said % {"most": number(MAX_ROWS), "row": number(wanted)})
            self._number = max(wanted, self._number + 1)
            self._row = []
        elif tag == "c":
            self._kind, self._characters, self._is_formula = values.get("t", "n"), _Characters(), False
            self._column = _column(values["r"]) if "r" in values else len(self._row)
        self._is_formula |= tag == "f"
        self._in_value = tag in ("v", "t")

    def end(self, tag: str) -> None:
        self._in_value = False
        if tag == "c" and self._column < MAX_COLUMNS:
            self._row += [""] * (self._column + 1 - len(self._row))
            self._row[self._column] = self._text()
        elif tag == "row":
            self.rows.append((self._number, self._row))

    def _text(self) -> str:
        text = str(self._characters)
        if self._kind == "s":
            text = self.texts.at(text)
        elif self._kind == "b":
            return _LOGICAL.get(text, text)
        elif not text and self._is_formula and self._kind != "str":
            return NO_RESULT
        return _ESCAPED.sub(_unescaped, text) if "_x" in text else text

    def characters(self, text: str) -> None:
        if self._in_value:
            self._characters.add(text)


def _unescaped(found: re.Match[str]) -> str:
    """The character of an escape; of what is none, the end of a text or half a character, the sign for that."""
    code = int(found[1], 16)
    return "\N{REPLACEMENT CHARACTER}" if code == 0 or 0xD800 <= code <= 0xDFFF else chr(code)


def _column(reference: str) -> int:
    """The place of a cell such as AB12 in its row, from 0."""
    letters = _LETTERS.match(reference)
    place = 0
    for letter in letters[0] if letters else "A":
        place = 26 * place + ord(letter) - ord("A") + 1
    return place - 1
