"""Bytes as text: decoded piece by piece, with bounds on what comes out of a packed file."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.translation import gettext, gettext_noop

from ingest.errors import NotDecodable, UnusableFile
from ingest.files import encodings
from ingest.files.unpack import unpacking

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from linker.storage.archives import ByteStream

PIECE = 2**18  # bytes unpacked at once
# A CSV packs 10 to 100 times; a bomb of zeros 1,000 times. Small files are let be: a table of equal cells packs better.
MAX_RATIO, RATIO_FROM = 500, 2**20
ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "cp1252": gettext_noop("Windows, Western European (cp1252)"),
    "cp1250": gettext_noop("Windows, Central European (cp1250)"),
    "cp1251": gettext_noop("Windows, Cyrillic (cp1251)"),
    "iso8859-15": gettext_noop("ISO 8859-15, Western European"),
    "mac_roman": gettext_noop("Macintosh, Western European"),
    "cp1254": gettext_noop("Windows, Turkish (cp1254)"),
    "cp1253": gettext_noop("Windows, Greek (cp1253)"),
    "cp1257": gettext_noop("Windows, Baltic (cp1257)"),
    "shift_jis": gettext_noop("Shift JIS, Japanese"),
    "gb18030": gettext_noop("GB 18030, Chinese"),
    "big5": gettext_noop("Big5, Chinese"),
    "euc_kr": gettext_noop("EUC-KR, Korean"),
}
# Zeros that stand in place of text: several in a row, or all that a line or a cell holds. A single one within a text
# may come from the page itself.
ZEROS = re.compile(r"\0{4}|(?<![^\r\n,;\t|\"])\0+(?![^\r\n,;\t|\"\0])")
ZEROS_TEXT = "Zeros stand here in place of a part of the text: the file is damaged. Export it again."


def encoding_label(encoding: str) -> str:
    return ENCODINGS[encoding.removesuffix("-le").removesuffix("-be")]


class DecodedText:
    """The unpacked bytes of a source as text without byte order mark, with bounds on what comes out.

    Raises UnusableFile with the line for bytes that the encoding does not know, for data cut off and for bombs.
    """

    def __init__(self, source: ByteStream, name: str, encoding: str, packed: int | None) -> None:
        self.source, self.name, self.encoding, self.packed = source, name, encoding, packed
        self.decoder = codecs.getincrementaldecoder(encoding)("strict")
        self.unpacked = 0
        self.newlines = 0  # lines that have ended, whatever ends them
        self._half_break = False  # the last piece ended with a carriage return, whose line feed may follow

    def __iter__(self) -> Iterator[str]:
        """Pieces of the text."""
        first = True
        chunk = b"-"
        while chunk:
            chunk = self.read()
            self.check_size(len(chunk))
            try:
                text = self.decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                # Of UTF-16, the error knows which end comes first, which only the start of the file tells.
                self.count_lines(error.object[: error.start].decode(error.encoding, "ignore"))
                raise not_decodable(self.name, self.encoding, error, self.newlines + 1) from None
            self.count_lines(text)
            if text:
                yield text.lstrip("\ufeff") if first else text
                first = False

    def count_lines(self, text: str) -> None:
        """Adds the lines that end in a piece of the text."""
        self.newlines += line_breaks([text]) - (self._half_break and text.startswith("\n"))
        self._half_break = text.endswith("\r") if text else self._half_break

    def read(self) -> bytes:
        """The next unpacked bytes, about a PIECE."""
        with unpacking(self.name, self.newlines + 1):
            return self.source.read(PIECE)

    def check_size(self, more: int) -> None:
        """Notes that more bytes were unpacked. Raises UnusableFile where they are too many."""
        self.unpacked += more
        if self.packed is None:
            return
        if self.unpacked > settings.UNPACKED_MAX_MB * 2**20:
            raise UnusableFile(
                self.name,
                f"Unpacked, the file is larger than {settings.UNPACKED_MAX_MB:,} MB. Split it, or let the "
                "administrator raise UNPACKED_MAX_MB.",
                line=self.newlines + 1,
            )
        if self.unpacked > RATIO_FROM and self.unpacked > MAX_RATIO * self.packed:
            what = f"unpacks to more than {MAX_RATIO} times its size"
            raise bomb(self.name, what, self.newlines + 1)


def bomb(name: str, what: str, line: int) -> UnusableFile:
    return UnusableFile(
        name,
        f"The file {what}, which no crawl does; it looks like a zip bomb. If it is not, unpack it and import the CSV "
        "itself.",
        line=line,
    )


def not_decodable(name: str, encoding: str, error: UnicodeDecodeError, line: int) -> UnusableFile:
    """The message for bytes that are no text in `encoding`, with a guess at what they may be."""
    byte = error.object[error.start]
    guess = (
        encodings.guess(error.object[max(0, error.start - 2000) : error.start + 2**17]) if encoding == "utf-8" else None
    )
    what_to_do = gettext("Save the file as UTF-8, or say which encoding it has.")
    if guess is not None and guess.mostly_utf8:
        what_to_do = gettext(
            "The rest of the file is UTF-8, so this row is damaged. Export the file again, or repair the row."
        )
    elif guess is not None and guess.encoding:
        piece = _around(error.object, error.start).decode(guess.encoding, "ignore").strip()
        may_be = gettext("It may be %(encoding)s: so read, it says “%(piece)s”.")
        what_to_do = f"{may_be % {'encoding': gettext(ENCODINGS[guess.encoding]), 'piece': piece}} {what_to_do}"
    said = gettext("The byte %(byte)s is not %(encoding)s.")
    said %= {"byte": f"0x{byte:02X}", "encoding": gettext(encoding_label(encoding))}
    text = f"{said} {what_to_do}"
    if encoding.startswith("utf-16") or (guess is not None and guess.mostly_utf8):  # it is known; a part is damaged
        return UnusableFile(name, text, line=line)
    return NotDecodable(name, text, line=line, guess=guess.encoding if guess is not None else "")


def _around(data: bytes, place: int) -> bytes:
    """The bytes about a place, some words at most, within its cell."""
    before = re.split(rb'[\r\n\t";|]|,(?! )', data[max(0, place - 30) : place])[-1]
    after = re.split(rb'[\r\n\t";|]|,(?! )', data[place : place + 30])[0]
    return before + after


def line_breaks(texts: Sequence[str]) -> int:
    """How many line breaks of any kind the texts hold."""
    breaks = 0
    for text in texts:
        returns = text.count("\r")
        breaks += text.count("\n") + (returns - text.count("\r\n") if returns else 0)
    return breaks
