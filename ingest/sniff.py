"""What a file is before it is read: compression, encoding, delimiter, header row. And the reading itself, streamed.

A file is never held whole: memory is bounded by MAX_CELL and the size of a chunk, whatever the file's size. Bombs
are refused while unpacking, by the unpacked size and by its ratio to the packed size.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import unicodedata
import zipfile
import zlib
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import IO, TYPE_CHECKING, cast

import numpy as np
from charset_normalizer import from_bytes
from django.conf import settings

from ingest.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

CHUNK = 2**20
HEAD = 2**18
MAX_CELL = 2**23  # characters
MAX_LINE = 2 * MAX_CELL
PIECE = 2**18  # bytes unpacked at once
MAX_RATIO, RATIO_FROM = 500, 2**23  # a CSV packs 10 to 100 times; a bomb of zeros 1,000 times
DELIMITERS = (",", ";", "\t", "|")
ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "cp1252": "Windows, Western European (cp1252)",
    "cp1250": "Windows, Central European (cp1250)",
    "cp1251": "Windows, Cyrillic (cp1251)",
    "iso8859-15": "ISO 8859-15, Western European",
    "shift_jis": "Shift JIS, Japanese",
    "gb18030": "GB 18030, Chinese",
    "big5": "Big5, Chinese",
    "euc_kr": "EUC-KR, Korean",
}

csv.field_size_limit(MAX_CELL)

_MAGIC = (
    (b"%PDF", "a PDF"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook (.xls)"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"\x89PNG", "an image"),
    (b"SQLite format 3", "an SQLite database"),
)
_SEPARATOR_LINE = re.compile(r'^"?sep=(.)"?\s*$', re.IGNORECASE)


@dataclass(frozen=True)
class Format:
    """How a file is to be read. `header` holds unique names; data begin after `header_records` records."""

    compression: str
    member: str
    encoding: str
    delimiter: str
    header: tuple[str, ...]
    header_line: int
    header_records: int

    def describe(self) -> dict[str, str | int]:
        """For the report and the preview."""
        names = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
        return {
            "encoding": ENCODINGS.get(self.encoding, self.encoding),
            "delimiter": names[self.delimiter],
            "packed": f"{self.compression} ({self.member})" if self.member else self.compression or "no",
            "header_line": self.header_line,
        }


def header_key(name: str) -> str:
    """The form in which column names are compared: no case, accents or punctuation; `H1-1` becomes `h1 1`."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    return " ".join(re.sub(r"[\W_]+", " ", plain.casefold()).split())


# ---------------------------------------------------------------------------------------------------- unpacking


class _Text:
    """The unpacked bytes of a source as text without NUL and byte order mark, with bounds on what comes out.

    Raises FileError with the line for bytes that the encoding does not know, for data cut off and for bombs.
    """

    def __init__(self, source: IO[bytes], name: str, encoding: str, packed: int | None) -> None:
        self.source, self.name, self.encoding, self.packed = source, name, encoding, packed
        self.decoder = codecs.getincrementaldecoder(encoding)("strict")
        self.unpacked = 0
        self.newlines = 0

    def __iter__(self) -> Iterator[str]:
        """Pieces of the text."""
        mark: str | None = "\ufeff"
        chunk = b"-"
        while chunk:
            chunk = self._read()
            self._check_size(len(chunk))
            try:
                text = self.decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                before = error.object[: error.start].decode(self.encoding, "ignore").count("\n")
                raise not_decodable(self.name, self.encoding, error, self.newlines + before + 1) from None
            self.newlines += text.count("\n")
            if text:
                text = text.removeprefix(mark or "")
                yield text.replace("\0", "") if "\0" in text else text
                mark = None

    def _read(self) -> bytes:
        try:
            return self.source.read(PIECE)
        except EOFError:
            raise FileError(
                self.name,
                "The packed file ends in the middle: the upload or the export was cut off. Make it again.",
                line=self.newlines + 1,
            ) from None
        except (zlib.error, zipfile.BadZipFile, gzip.BadGzipFile) as error:
            raise FileError(
                self.name, f"The packed file is damaged ({error}). Pack it again.", line=self.newlines + 1
            ) from None

    def _check_size(self, more: int) -> None:
        self.unpacked += more
        if self.packed is None:
            return
        if self.unpacked > settings.UNPACKED_MAX_MB * 2**20:
            raise FileError(
                self.name,
                f"Unpacked, the file is larger than {settings.UNPACKED_MAX_MB:,} MB. Split it, or let the "
                "administrator raise UNPACKED_MAX_MB.",
                line=self.newlines + 1,
            )
        if self.unpacked > RATIO_FROM and self.unpacked > MAX_RATIO * self.packed:
            raise FileError(
                self.name,
                f"The file unpacks to more than {MAX_RATIO} times its size, which no crawl does; it looks like a zip "
                "bomb. If it is not, unpack it and import the CSV itself.",
                line=self.newlines + 1,
            )


def not_decodable(name: str, encoding: str, error: UnicodeDecodeError, line: int) -> FileError:
    """The message for bytes that are no text in `encoding`, with a guess at what they may be."""
    byte = error.object[error.start]
    guess = from_bytes(error.object[max(0, error.start - 2000) : error.start + 2000]).best()
    known = {codecs.lookup(code).name: label for code, label in ENCODINGS.items()}
    label = known.get(codecs.lookup(guess.encoding).name) if guess is not None else None
    hint = f" It may be {label}." if label and encoding == "utf-8" else ""
    return FileError(
        name,
        f"The byte 0x{byte:02X} is not {ENCODINGS.get(encoding, encoding)}.{hint} Save the file as UTF-8, or say which "
        "encoding it has.",
        line=line,
    )


def _choose_member(archive: zipfile.ZipFile, name: str, preferred: Collection[str]) -> zipfile.ZipInfo:
    names = [info.filename for info in archive.infolist()]
    if "[Content_Types].xml" in names or "mimetype" in names:
        raise FileError(name, "This is a spreadsheet (Excel or OpenDocument), not a CSV. Save it as CSV UTF-8.")
    members = [
        info
        for info in archive.infolist()
        if not info.is_dir()
        and "__MACOSX" not in info.filename
        and not info.filename.rpartition("/")[2].startswith(".")
        and info.filename.lower().endswith((".csv", ".tsv", ".txt"))
    ]
    if len(members) > 1:
        wanted = [info for info in members if info.filename.rpartition("/")[2].lower() in preferred]
        members = wanted if len(wanted) == 1 else members
    if not members:
        raise FileError(name, f"The archive holds no CSV file, only: {', '.join(names[:5]) or 'nothing'}.")
    if len(members) > 1:
        listed = ", ".join(info.filename for info in members[:5])
        raise FileError(name, f"The archive holds several CSV files ({listed}). Pack the one to import alone.")
    if members[0].flag_bits & 0x1:
        raise FileError(name, "The archive is protected by a password. Unpack it and import the CSV itself.")
    return members[0]


@dataclass
class _Opened:
    raw: IO[bytes]
    source: IO[bytes]
    compression: str
    member: str


def _open(stack: ExitStack, path: Path, name: str, preferred: Collection[str]) -> _Opened:
    raw = stack.enter_context(path.open("rb"))
    magic = raw.read(16)
    raw.seek(0)
    for start, what in _MAGIC:
        if magic.startswith(start):
            raise FileError(name, f"This is {what}, not a CSV. Export the table as CSV, plain or in a .gz or .zip.")
    if magic.startswith(b"\x1f\x8b"):
        unpacking = cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
        return _Opened(raw, stack.enter_context(unpacking), "gzip", "")
    if magic.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        try:
            archive = stack.enter_context(zipfile.ZipFile(raw))
            member = _choose_member(archive, name, preferred)
            return _Opened(raw, stack.enter_context(archive.open(member)), "zip", member.filename)
        except (zipfile.BadZipFile, NotImplementedError) as error:
            raise FileError(name, f"The archive cannot be opened ({error}): it is cut off or damaged.") from None
    return _Opened(raw, raw, "", "")


# ---------------------------------------------------------------------------------------------------- sniffing


def inspect(
    path: Path, name: str, *, known: Collection[str], preferred: Collection[str] = (), encoding: str = ""
) -> Format:
    """Looks at the first HEAD bytes of a file.

    `known` are column names in the form of header_key(), by which the header row and the delimiter are recognised;
    `preferred` are names of files to take out of an archive that holds several; `encoding` is the user's word, or
    empty to find out. Raises FileError.
    """
    with ExitStack() as stack:
        opened = _open(stack, path, name, preferred)
        probe = _Text(opened.source, name, "latin-1", path.stat().st_size if opened.compression else None)
        head = b""
        while len(head) < HEAD and (chunk := probe._read()):
            head += chunk
            probe._check_size(len(chunk))
        compression, member = opened.compression, opened.member
    if not head.strip():
        raise FileError(name, "The file is empty.")
    encoding = encoding or _find_encoding(name, head)
    text = codecs.getincrementaldecoder(encoding)("ignore").decode(head).lstrip("\ufeff").replace("\0", "")
    if re.match(r"\s*<(!doctype|html|\?xml)", text, re.IGNORECASE):
        raise FileError(name, "This is a web page or XML, not a CSV: the download may have been a sign-in page.")
    if not text.strip():
        raise FileError(name, "The file is empty.")
    delimiter, records = _find_delimiter(text, known)
    index = _find_header(records, known)
    line, cells = records[index]
    return Format(compression, member, encoding, delimiter, unique_names(cells), line, index + 1)


def _find_encoding(name: str, head: bytes) -> str:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    sample = head[:4096]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if odd > len(sample) / 4 > even:
        return "utf-16-le"
    if even > len(sample) / 4 > odd:
        return "utf-16-be"
    if sample.count(0) > len(sample) / 100:
        raise FileError(name, "This is not text but a binary file. Export the table as CSV.")
    try:
        codecs.getincrementaldecoder("utf-8")("strict").decode(head)
    except UnicodeDecodeError as error:
        raise not_decodable(name, "utf-8", error, head[: error.start].count(b"\n") + 1) from None
    return "utf-8"


def _first_records(text: str, delimiter: str, most: int = 20) -> list[tuple[int, list[str]]]:
    """The first records with the line each begins on; blank ones included, as the reader counts them."""
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
    return sum(header_key(cell) in known for cell in record)


def _find_delimiter(text: str, known: Collection[str]) -> tuple[str, list[tuple[int, list[str]]]]:
    said = _SEPARATOR_LINE.match(text.split("\n", 1)[0].rstrip("\r"))
    if said and said[1] in DELIMITERS:
        return said[1], _first_records(text, said[1])

    def worth(delimiter: str) -> tuple[int, int]:
        records = [record for _, record in _first_records(text, delimiter)]
        if not records:
            return (0, 0)
        width, times = Counter(map(len, records)).most_common(1)[0]
        return (max(_known_cells(record, known) for record in records[:10]), width * times)

    best = max(DELIMITERS, key=worth)
    return best, _first_records(text, best)


def _find_header(records: list[tuple[int, list[str]]], known: Collection[str]) -> int:
    """The record among the first ten with the most known names, else the first as wide as most are."""
    scores = [_known_cells(record, known) for _, record in records[:10]]
    if any(scores):
        return scores.index(max(scores))
    width = Counter(len(record) for _, record in records).most_common(1)[0][0]
    return next(
        i for i, (_, record) in enumerate(records) if len(record) == width and not _SEPARATOR_LINE.match(record[0])
    )


def unique_names(cells: list[str]) -> tuple[str, ...]:
    """Names of columns: an empty one becomes `Column 3`, a repeated one `Name (2)`."""
    names: list[str] = []
    for number, cell in enumerate(cells, 1):
        name = base = " ".join(cell.split()) or f"Column {number}"
        times = 1
        while name in names:
            times += 1
            name = f"{base} ({times})"
        names.append(name)
    return tuple(names)


# ----------------------------------------------------------------------------------------------------- reading


class _Blocks:
    """A text in blocks of whole lines. `cut_off`: the last block does not end with a line break.

    `line`, which the reader sets, is the line of the first record not read yet.
    """

    def __init__(self, text: _Text) -> None:
        self.text = text
        self.line = 1
        self.cut_off = False

    def __iter__(self) -> Iterator[str]:
        rest = ""
        for piece in self.text:
            piece = rest + piece
            # A carriage return at the very end may have its line feed in the next piece.
            end = max(piece.rfind("\n"), piece.rfind("\r", 0, -1)) + 1
            block, rest = piece[:end], piece[end:]
            if block:
                self.cut_off = False
                yield block
            if len(rest) >= MAX_LINE:
                raise FileError(self.text.name, f"The line is longer than {MAX_LINE:,} characters.", line=self.line)
        if rest:
            self.cut_off = not rest.endswith("\r")
            yield rest


def _breaks(texts: Sequence[str]) -> int:
    """How many line breaks of any kind the texts hold."""
    return sum(text.count("\n") + text.count("\r") - text.count("\r\n") for text in texts)


def _plain_columns(block: str, delimiter: str, width: int) -> list[list[str]] | None:
    """The cells of a block of whole lines by column, where it takes no parser to tell them apart.

    That is so where each line has `width` cells, all of them in quotes or none, without a quote or line break inside.
    None where it is not so.
    """
    if width < 2 or len(block) > MAX_CELL:
        return None
    end = "\r\n" if "\r" in block else "\n"
    if not block.endswith(end):
        return None
    raw = np.frombuffer(block.encode(), dtype=np.uint8)
    breaks = np.flatnonzero(raw == ord("\n"))
    if "\r" in block and (np.count_nonzero(raw == ord("\r")) > len(breaks) or (raw[breaks - 1] != ord("\r")).any()):
        return None
    if block.startswith('"'):
        quotes = np.flatnonzero(raw == ord('"'))
        ends = quotes[1::2] + 1
        after = ends[:-1] + 1 + (raw[ends[:-1]] == ord("\r"))
        if len(quotes) != 2 * width * len(breaks) or (quotes[2::2] != after).any():
            return None
        marks, last, edge = raw[ends], ord(end[0]), '"'
    else:
        marks, last, edge = raw[(raw == ord(delimiter)) | (raw == ord("\n"))], ord("\n"), ""
        if '"' in block or len(marks) != width * len(breaks):
            return None
    by_line = marks.reshape(-1, width)
    if (by_line[:, :-1] != ord(delimiter)).any() or (by_line[:, -1] != last).any():
        return None
    one_line = raw[raw != ord("\r")]
    one_line[one_line == ord("\n")] = ord(delimiter)
    cells = one_line[len(edge) : -1 - len(edge)].tobytes().decode().split(f"{edge}{delimiter}{edge}")
    return [cells[at::width] for at in range(width)]


def _is_unfinished(error: csv.Error) -> bool:
    """Whether the text ended in the middle of a record."""
    return "unexpected end of data" in str(error)


def _from_line(block: str, lines_before: int) -> str:
    """The block without its first lines."""
    lines = io.StringIO(block, newline="")
    return "".join(islice(lines, lines_before, None))


class Records:
    """Some records of a file with the line each begins on, as rows or as columns, whichever is asked for."""

    def __init__(self, lines: Sequence[int], width: int, rows: list[list[str]], columns: list[list[str]]) -> None:
        self.lines = lines
        self._width, self._rows, self._columns = width, rows, columns

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def rows(self) -> Sequence[Sequence[str]]:
        """The records' cells, as many as there are in each."""
        return self._rows or list(zip(*self._columns, strict=True))

    @property
    def columns(self) -> Sequence[Sequence[str]] | None:
        """The cells by column of the header; None where a record has more or fewer."""
        if self._columns:
            return self._columns
        return list(zip(*self._rows, strict=True)) if {*map(len, self._rows)} == {self._width} else None


class Table:
    """The records of a file below its header, streamed. May be iterated several times.

    `position` of `size` packed bytes were read so far.
    """

    def __init__(self, path: Path, name: str, format: Format, preferred: Collection[str] = ()) -> None:
        self.path, self.name, self.format, self.preferred = path, name, format, preferred
        self.size = path.stat().st_size
        self.position = 0

    def __iter__(self) -> Iterator[tuple[int, Sequence[str]]]:
        """Yields (line the record begins on, cells), as many cells as there are; blank records are left out.

        Raises FileError with the line where the file is cut off, badly quoted or not in its encoding.
        """
        for records in self.chunks():
            yield from zip(records.lines, records.rows, strict=True)

    def chunks(self) -> Iterator[Records]:
        """The same, the records of about a PIECE of the file together."""
        with ExitStack() as stack:
            opened = _open(stack, self.path, self.name, self.preferred)
            packed = self.size if self.format.compression else None
            blocks = _Blocks(_Text(opened.source, self.name, self.format.encoding, packed))
            for records in self._records(blocks):
                self.position = opened.raw.tell()
                yield records
            self.position = self.size

    def _records(self, blocks: _Blocks) -> Iterator[Records]:
        width, headers = len(self.format.header), self.format.header_records
        start, short = 1, 0
        last: tuple[int, Sequence[str]] = (1, [])
        rest = ""  # of a block: a record that ends in the next one
        error: csv.Error | None = None
        for block in blocks:
            block, rest, error, first = rest + block, "", None, start
            rows: list[list[str]] = []
            columns = _plain_columns(block, self.format.delimiter, width)
            if columns is not None:
                lines: Sequence[int] = range(start, start + len(columns[0]) + 1)
                last = (lines[-2], [column[-1] for column in columns])
                columns = [column[headers:] for column in columns] if headers else columns
            else:
                columns = []
                reader = csv.reader(io.StringIO(block, newline=""), delimiter=self.format.delimiter, strict=True)
                try:
                    rows.extend(reader)  # keeps those read before an error
                except csv.Error as raised:
                    error = raised
                lines = list(accumulate((1 + _breaks(row) for row in rows), initial=start))
                if rows:
                    last = (lines[len(rows) - 1], rows[-1])
            start = blocks.line = lines[-1]
            read = len(lines) - 1
            lines = lines[headers:-1]
            rows, headers = rows[headers:], max(0, headers - read)
            if not all(rows):
                lines = [line for line, row in zip(lines, rows, strict=True) if row]
                rows = [row for row in rows if row]
            short += sum(map(width.__gt__, map(len, rows)))
            if len(lines):
                yield Records(lines, width, rows, columns)
            if error is not None:
                if not _is_unfinished(error):
                    break
                rest = _from_line(block, lines_before=start - first)
        if error is not None:
            raise self._quoting_error(error, start) from None
        line, row = last
        if short == 1 and len(row) < width and blocks.cut_off:
            raise FileError(
                self.name,
                f"The last line has {len(row)} of {width} columns and no end: the file was cut off. Export it again.",
                line=line,
            )

    def _quoting_error(self, error: csv.Error, line: int) -> FileError:
        if _is_unfinished(error):
            text = (
                "The row that begins here opens a quote that is never closed: the file was cut off, or a quote is "
                "missing. Export it again."
            )
        elif "field larger" in str(error):
            text = (
                f"A cell in the row that begins here is longer than {MAX_CELL:,} characters; most likely a quote is "
                "not closed."
            )
        else:
            text = f"The quoting of this row is broken ({error}). Quotes inside a quoted cell must be doubled."
        return FileError(self.name, text, line=line)
