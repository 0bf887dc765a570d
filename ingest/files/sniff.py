"""What a file is before it is read: compression, encoding, delimiter, header row."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext, gettext_noop

from ingest.errors import UnusableFile
from ingest.files.column_names import header_key, unique_names
from ingest.files.text import ZEROS_TEXT, DecodedText, encoding_label, line_breaks, not_decodable
from ingest.files.unpack import GZIP, ZIP, check_magic, open_file
from linker.wording import number

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

HEAD = 2**18
MAX_COLUMNS = 2_000  # a crawl with every extraction has some hundreds
DELIMITERS = {
    ",": gettext_noop("comma"),
    ";": gettext_noop("semicolon"),
    "\t": gettext_noop("tab"),
    "|": gettext_noop("bar"),
}
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")  # bytes that no text has in any encoding but UTF-16
BINARY = gettext_noop(
    "This is not text but a binary file, such as a program's own format, a picture or an archive. Export the table as "
    "CSV in the program that it comes from, and import that file."
)
_SEPARATOR_LINE = re.compile(r'^"?sep=(.?)"?\s*$', re.IGNORECASE)  # without the mark where that parted its cells


@dataclass(frozen=True)
class Format:
    """How a file is to be read. `header` holds unique names; data begin after `header_records` records. A file without
    a header has columns named by their places, and its `header_line` is 0."""

    compression: str
    member: str
    encoding: str
    delimiter: str
    header: tuple[str, ...]
    header_line: int
    header_records: int

    def describe(self) -> dict[str, str | int]:
        """For the report and the preview."""
        described: dict[str, str | int] = {
            "encoding": encoding_label(self.encoding),
            "delimiter": DELIMITERS[self.delimiter],
            "packed": f"{self.compression} ({self.member})" if self.member else self.compression or "no",
        }
        return described | ({"header_line": self.header_line} if self.header_line else {})


def inspect(
    path: Path,
    name: str,
    *,
    known: Collection[str],
    preferred: Collection[str] = (),
    encoding: str = "",
    delimiter: str = "",
    no_header: bool = False,
) -> Format:
    """Looks at the first HEAD bytes of a file.

    `known` are column names in the form of header_key(), by which the header row and the delimiter are recognised;
    `preferred` are names of files to take out of an archive that holds several; `encoding` and `delimiter` are the
    user's word, or empty to find out; `no_header` is the user's word too. Raises UnusableFile.
    """
    head, compression, member = _read_head(path, name, preferred)
    check_magic(name, head)
    if compression and head.startswith((GZIP, *ZIP)):
        raise UnusableFile(name, gettext("The file is packed twice. Unpack it once, or import the CSV itself."))
    if not head.strip():
        raise UnusableFile(name, gettext("The file is empty."))
    if encoding in ("", "utf-16"):
        encoding = _find_encoding(name, head, encoding)
    text = codecs.getincrementaldecoder(encoding)("ignore").decode(head).lstrip("\ufeff").replace("\0", "")
    if re.match(r"\s*<(!doctype|html|\?xml)", text, re.IGNORECASE):
        said = gettext("This is a web page or XML, not a CSV: the download may have been a sign-in page.")
        raise UnusableFile(name, said)
    if not text.strip():
        raise UnusableFile(name, gettext("The file is empty."))
    delimiter, records = _find_delimiter(text, known, delimiter)
    if no_header:
        above, width = _rows_above(name, records)
        return Format(compression, member, encoding, delimiter, unique_names([""] * width), 0, above)
    line, cells, above = _find_names(name, records, known, is_cut=len(head) >= HEAD)
    return Format(compression, member, encoding, delimiter, unique_names(cells), line, above)


def _find_names(
    name: str, records: list[tuple[int, list[str]]], known: Collection[str], *, is_cut: bool
) -> tuple[int, list[str], int]:
    """The header's line and cells, and how many records there are down to it.

    `is_cut` says that the text goes on. Raises UnusableFile.
    """
    index = _find_header(name, records, known)
    line, cells = records[index]
    _check_width(name, line, cells)
    if index == len(records) - 1 and is_cut:
        said = gettext("The header does not end within the first %(bytes)s bytes; is this a table with a header?")
        raise UnusableFile(name, said % {"bytes": number(HEAD)}, line=line)
    return line, cells, index + 1


def _rows_above(name: str, records: list[tuple[int, list[str]]]) -> tuple[int, int]:
    """How many records of a file without a header are comments, titles or blank above its rows; and the rows' width."""
    index = _first_of_the_width(name, records)
    line, cells = records[index]
    _check_width(name, line, cells)
    return index, len(cells)


def _check_width(name: str, line: int, cells: list[str]) -> None:
    """Raises UnusableFile for a row of too many columns."""
    if len(cells) > MAX_COLUMNS:
        raise UnusableFile(
            name,
            gettext("The header has %(columns)s columns, more than %(most)s. Leave out those that are not needed.")
            % {"columns": number(len(cells)), "most": number(MAX_COLUMNS)},
            line=line,
        )


def _read_head(path: Path, name: str, preferred: Collection[str]) -> tuple[bytes, str, str]:
    """The first HEAD bytes, unpacked; how the file is packed, and the name of the file taken out of an archive."""
    with ExitStack() as stack:
        opened = open_file(stack, path, name, preferred)
        probe = DecodedText(opened.source, name, "latin-1", path.stat().st_size if opened.compression else None)
        head = b""
        while len(head) < HEAD and (chunk := probe.read()):
            head += chunk
            probe.count_lines(chunk.decode("latin-1"))
            probe.check_size(len(chunk))
    return head, opened.compression, opened.member


def utf_16_by_zeros(sample: bytes) -> str:
    """Which UTF-16 a text without a mark is in, by where its zeros are; empty where it is in neither."""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if odd > len(sample) / 4 > even:
        return "utf-16-le"
    return "utf-16-be" if even > len(sample) / 4 > odd else ""


def _find_encoding(name: str, head: bytes, wanted: str) -> str:
    """UTF-16 or UTF-8; `wanted` is UTF-16 or nothing. UTF-16 without a mark is recognised by where its zeros are."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    sample = head[:4096]
    if unmarked := utf_16_by_zeros(sample):
        return unmarked
    if wanted:
        return "utf-16-be" if sample[::2].count(0) > sample[1::2].count(0) else "utf-16-le"
    if sample.count(0) > len(sample) / 100:
        raise _zeros(name, sample)
    try:
        codecs.getincrementaldecoder("utf-8")("strict").decode(head)
    except UnicodeDecodeError as error:
        if len(_CONTROL.findall(sample)) > len(sample) / 50:
            raise UnusableFile(name, gettext(BINARY)) from None
        raise not_decodable(name, "utf-8", error, _lines_in(head[: error.start]) + 1) from None
    return "utf-8"


def _lines_in(data: bytes) -> int:
    """How many line breaks there are in bytes of an encoding that leaves ASCII as it is."""
    return line_breaks([data.decode("latin-1")])


def _zeros(name: str, sample: bytes) -> UnusableFile:
    """The message for zeros, with the line where they are in a text: disks that are full or fail leave them."""
    before = sample[: sample.index(0)].decode("utf-8", "replace").lstrip("\ufeff")
    lines = line_breaks([before])
    if lines and all(letter.isprintable() or letter in "\t\r\n" for letter in before) and "\ufffd" not in before:
        return UnusableFile(name, ZEROS_TEXT, line=lines + 1)
    return UnusableFile(name, gettext(BINARY))


def _first_records(text: str, delimiter: str) -> list[tuple[int, list[str]]]:
    """The first records with the line each begins on; blank ones included, as the reader counts them.

    More of them where the file begins with a comment: reports have a chart's table above the one that is wanted.
    """
    most = 2000 if text.startswith("#") else 20
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    records: list[tuple[int, list[str]]] = []
    line = 1
    try:
        for record in reader:
            records.append((line, record))
            line = reader.line_num + 1
            if len(records) == most:
                break
    except csv.Error:  # the reading proper says it, with the line
        pass
    return records


def _known_cells(record: list[str], known: Collection[str]) -> int:
    """How many of the names a record has, each once."""
    return len({key for cell in record[:MAX_COLUMNS] if (key := header_key(cell)) in known})


def _find_delimiter(text: str, known: Collection[str], wanted: str) -> tuple[str, list[tuple[int, list[str]]]]:
    """The delimiter, which is the user's where one is `wanted`, and the first records."""
    if wanted:
        return wanted, _first_records(text, wanted)
    separator = _SEPARATOR_LINE.match(text.split("\n", 1)[0].rstrip("\r"))
    if separator and separator[1] in DELIMITERS:
        return separator[1], _first_records(text, separator[1])

    def worth(delimiter: str) -> tuple[bool, bool, int, int]:
        records = [record for _, record in _first_records(text, delimiter)]
        if not records:
            return (False, False, 0, 0)
        width, times = Counter(map(len, records)).most_common(1)[0]
        names = max(_known_cells(records[n], known) for n in _header_places(records))
        # One known name may be a word between two commas of a text; rows that are equally wide are none by chance.
        return (names > 1, width > 1 and times == len(records), names, width * times)

    best = max(DELIMITERS, key=worth)
    return best, _first_records(text, best)


def _header_places(records: list[list[str]]) -> list[int]:
    """Where a header may stand: among the first ten records that are no comments, and right below a comment."""
    comments = [bool(record) and record[0].startswith("#") for record in records]
    plain = [n for n, is_comment in enumerate(comments) if not is_comment]
    below = [n for n in plain if n and comments[n - 1]]
    return sorted({*plain[:10], *below}) or [0]


def _find_header(name: str, records: list[tuple[int, list[str]]], known: Collection[str]) -> int:
    """The record with the most known names where a header may stand, else the first as wide as most are."""
    places = _header_places([record for _, record in records])
    scores = [_known_cells(records[n][1], known) for n in places]
    if any(scores):
        return places[scores.index(max(scores))]
    return _first_of_the_width(name, records)


def _first_of_the_width(name: str, records: list[tuple[int, list[str]]]) -> int:
    """The first record that is as wide as most are. Raises UnusableFile where all of them are blank."""
    filled = [i for i, (_, record) in enumerate(records) if any(map(str.strip, record))]
    if not filled:
        raise UnusableFile(name, gettext("The first rows are blank: there is no header."))
    named = [i for i in filled if not _SEPARATOR_LINE.match(records[i][1][0])] or filled
    width = Counter(len(records[i][1]) for i in named).most_common(1)[0][0]
    return next(i for i in named if len(records[i][1]) == width)
