"""What a file is before it is read: compression, encoding, delimiter, header row. And the reading itself, streamed.

A file is never held whole: memory is bounded by MAX_LINE and the size of a chunk, whatever the file's size. Bombs
are refused while unpacking, by the unpacked size and by its ratio to the packed size. Whatever a decoder makes of
damaged bytes ends as an UnusableFile, in `_unpacking`; the time it takes is linear in the file's size.
"""

from __future__ import annotations

import codecs
import csv
import errno
import io
import lzma
import re
import struct
import unicodedata
import zipfile
import zlib
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import IO, TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from django.conf import settings

from ingest.errors import UnusableFile
from ingest.files import encodings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

CHUNK = 2**20
HEAD = 2**18
MAX_CELL = 2**23  # characters
MAX_LINE = 2 * MAX_CELL  # characters of a line, and of a record of several lines
MAX_COLUMNS = 2_000  # a crawl with every extraction has some hundreds
MAX_NAME = 200  # characters of a column's name
PIECE = 2**18  # bytes unpacked at once
SMALL_PIECE = 2**12  # packed bytes at once where the decoder does not bound what comes out of them
# A CSV packs 10 to 100 times; a bomb of zeros 1,000 times. Small files are let be: a table of equal cells packs better.
MAX_RATIO, RATIO_FROM = 500, 2**20
MAX_ROWS_A_BYTE, ROWS_FROM = 5, 100_000  # rows for each packed byte: a crawl of links comes to one or two
MAX_BLANK, MAX_BLANK_A_ROW = 100_000, 10  # lines
MAX_DIRECTORY = 2**20  # bytes of an archive's list of its files: some ten thousand
MAX_DICTIONARY_MB = 128  # memory that unpacking LZMA may ask for; the highest level of 7-Zip asks for 64
EMPTY_MEMBERS = 1_000  # gzip streams in succession that hold nothing
DELIMITERS = (",", ";", "\t", "|")
ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "cp1252": "Windows, Western European (cp1252)",
    "cp1250": "Windows, Central European (cp1250)",
    "cp1251": "Windows, Cyrillic (cp1251)",
    "iso8859-15": "ISO 8859-15, Western European",
    "mac_roman": "Macintosh, Western European",
    "cp1254": "Windows, Turkish (cp1254)",
    "cp1253": "Windows, Greek (cp1253)",
    "cp1257": "Windows, Baltic (cp1257)",
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
_GZIP, _ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")
# Zeros that stand in place of text: several in a row, or all that a line or a cell holds. A single one within a text
# may come from the page itself.
_ZEROS = re.compile(r"\0{4}|(?<![^\r\n,;\t|\"])\0+(?![^\r\n,;\t|\"\0])")
_ZEROS_TEXT = "Zeros stand here in place of a part of the text: the file is damaged. Export it again."
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
            "encoding": _label(self.encoding),
            "delimiter": names[self.delimiter],
            "packed": f"{self.compression} ({self.member})" if self.member else self.compression or "no",
            "header_line": self.header_line,
        }


def _label(encoding: str) -> str:
    return ENCODINGS[encoding.removesuffix("-le").removesuffix("-be")]


def header_key(name: str) -> str:
    """The form in which column names are compared: no case, accents or punctuation; `H1-1` becomes `h1 1`.

    Only the first MAX_NAME characters are looked at: sorting a long run of accents takes quadratic time.
    """
    plain = "".join(c for c in unicodedata.normalize("NFKD", name[:MAX_NAME]) if not unicodedata.combining(c))
    return " ".join(re.sub(r"[\W_]+", " ", plain.casefold()).split())


# ---------------------------------------------------------------------------------------------------- unpacking


@contextmanager
def _unpacking(name: str, line: int | None = None) -> Iterator[None]:
    """The one place where what the decoders raise for damaged bytes becomes a message.

    gzip: EOFError, zlib.error. zip: BadZipFile, and by its members' methods zlib.error, lzma.LZMAError, OSError
    (bzip2), EOFError; NotImplementedError for methods unknown; RuntimeError for passwords; UnicodeDecodeError,
    struct.error, ValueError and OverflowError for a directory with impossible names, lengths and places; MemoryError.
    What the disk itself raises is raised on. `line` is told of a file that ends too soon alone: where other damage
    lies, in a piece of which nothing is unpacked or in an archive whose checksum is wrong, nobody knows.
    """
    try:
        yield
    except UnusableFile:
        raise
    except EOFError:
        text = "The packed file ends in the middle: the upload or the export was cut off. Make it again."
        raise UnusableFile(name, text, line=line) from None
    except NotImplementedError:
        text = "The archive is packed by a method that cannot be read here. Pack it as an ordinary .zip or .gz."
        raise UnusableFile(name, text) from None
    except DAMAGE as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):  # EINVAL: a place before the start
            raise
        told = f" ({str(error)[:200]})" if isinstance(error, zipfile.BadZipFile | zlib.error) and str(error) else ""
        text = f"The packed file is cut off or damaged{told}. Pack it again."
        raise UnusableFile(name, text) from None


DAMAGE = (
    *(OSError, ValueError, OverflowError, RuntimeError, IndexError, MemoryError),
    *(struct.error, zlib.error, lzma.LZMAError, zipfile.BadZipFile),
)


class _File(io.BufferedReader):
    """A file that is never read by a great piece: zipfile takes an archive's whole directory at once."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            size = MAX_DIRECTORY
        if size > MAX_DIRECTORY:
            raise zipfile.BadZipFile("its list of files is too long")
        return super().read(size)


class _Gzip:
    """Unpacks gzip by zlib itself, whose time is linear whatever the headers say."""

    def __init__(self, raw: IO[bytes]) -> None:
        self.raw = raw
        self.packed = b""
        self.stream: Any = None  # of the member begun
        self.empty = 0  # members in succession that held nothing
        self.held = False

    def read(self, size: int) -> bytes:
        """At most `size` bytes, fewer at the end only. Raises zlib.error, EOFError."""
        parts: list[bytes] = []
        while size > 0 and (self.packed or self._more()):
            if self.stream is None:
                self.packed = self.packed.lstrip(b"\0")  # padding
                if not self.packed:
                    continue
                self.stream, self.held = zlib.decompressobj(wbits=31), False
            part = self.stream.decompress(self.packed, size)
            self.packed = self.stream.unconsumed_tail
            size -= len(part)
            if part:
                parts.append(part)
                self.held = True
            if self.stream.eof:
                self._end_member()
        if not parts and self.stream is not None:
            raise EOFError
        return b"".join(parts)

    def _more(self) -> bool:
        self.packed = self.raw.read(2**14)
        return bool(self.packed)

    def _end_member(self) -> None:
        self.packed, self.stream = self.stream.unused_data, None
        self.empty = 0 if self.held else self.empty + 1
        if self.empty > EMPTY_MEMBERS:
            raise zlib.error("it is made of empty parts")


class _Member:
    """A file of an archive, unpacked in small pieces: bzip2 and LZMA do not bound what comes out of a piece."""

    def __init__(self, member: IO[bytes]) -> None:
        self.member = member

    def read(self, size: int) -> bytes:
        parts = []
        while size > 0 and (part := self.member.read(min(size, SMALL_PIECE))):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


class _Source(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Text:
    """The unpacked bytes of a source as text without byte order mark, with bounds on what comes out.

    Raises UnusableFile with the line for bytes that the encoding does not know, for data cut off and for bombs.
    """

    def __init__(self, source: _Source, name: str, encoding: str, packed: int | None) -> None:
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
            chunk = self._read()
            self._check_size(len(chunk))
            try:
                text = self.decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                # Of UTF-16, the error knows which end comes first, which only the start of the file tells.
                self._count(error.object[: error.start].decode(error.encoding, "ignore"))
                raise not_decodable(self.name, self.encoding, error, self.newlines + 1) from None
            self._count(text)
            if text:
                yield text.lstrip("\ufeff") if first else text
                first = False

    def _count(self, text: str) -> None:
        self.newlines += _breaks([text]) - (self._half_break and text.startswith("\n"))
        self._half_break = text.endswith("\r") if text else self._half_break

    def _read(self) -> bytes:
        with _unpacking(self.name, self.newlines + 1):
            return self.source.read(PIECE)

    def _check_size(self, more: int) -> None:
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
            told = f"unpacks to more than {MAX_RATIO} times its size"
            raise _bomb(self.name, told, self.newlines + 1)


def _bomb(name: str, told: str, line: int) -> UnusableFile:
    return UnusableFile(
        name,
        f"The file {told}, which no crawl does; it looks like a zip bomb. If it is not, unpack it and import the CSV "
        "itself.",
        line=line,
    )


def not_decodable(name: str, encoding: str, error: UnicodeDecodeError, line: int) -> UnusableFile:
    """The message for bytes that are no text in `encoding`, with a guess at what they may be."""
    byte = error.object[error.start]
    told = (
        encodings.guess(error.object[max(0, error.start - 2000) : error.start + 2**17]) if encoding == "utf-8" else None
    )
    what_to_do = "Save the file as UTF-8, or say which encoding it has."
    if told is not None and told.mostly_utf8:
        what_to_do = "The rest of the file is UTF-8, so this row is damaged. Export the file again, or repair the row."
    elif told is not None and told.encoding:
        piece = _around(error.object, error.start).decode(told.encoding, "ignore").strip()
        what_to_do = f"It may be {ENCODINGS[told.encoding]}: so read, it says “{piece}”. {what_to_do}"
    return UnusableFile(name, f"The byte 0x{byte:02X} is not {_label(encoding)}. {what_to_do}", line=line)


def _around(data: bytes, place: int) -> bytes:
    """The bytes about a place, some words at most, within its cell."""
    before = re.split(rb'[\r\n\t";|]|,(?! )', data[max(0, place - 30) : place])[-1]
    after = re.split(rb'[\r\n\t";|]|,(?! )', data[place : place + 30])[0]
    return before + after


def _choose_member(archive: zipfile.ZipFile, name: str, preferred: Collection[str]) -> zipfile.ZipInfo:
    names = [info.filename for info in archive.infolist()]
    if "[Content_Types].xml" in names or "mimetype" in names:
        raise UnusableFile(name, "This is a spreadsheet (Excel or OpenDocument), not a CSV. Save it as CSV UTF-8.")
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
        raise UnusableFile(name, f"The archive holds no CSV file, only: {_listed(names) or 'nothing'}.")
    if len(members) > 1:
        listed = _listed([info.filename for info in members])
        raise UnusableFile(name, f"The archive holds several CSV files ({listed}). Pack the one to import alone.")
    if members[0].flag_bits & 0x1:
        raise UnusableFile(name, "The archive is protected by a password. Unpack it and import the CSV itself.")
    return members[0]


def _listed(names: Sequence[str]) -> str:
    """Names as an archive has them, which may be of any length and hold anything."""
    return ", ".join("".join(filter(str.isprintable, name))[:100] for name in names[:5])


@dataclass
class _Opened:
    raw: IO[bytes]
    source: _Source
    compression: str
    member: str


def _open(stack: ExitStack, path: Path, name: str, preferred: Collection[str]) -> _Opened:
    raw = stack.enter_context(_File(path.open("rb", buffering=0)))
    magic = raw.read(16)
    raw.seek(0)
    _check_magic(name, magic)
    if magic.startswith(_GZIP):
        return _Opened(raw, _Gzip(raw), "gzip", "")
    if magic.startswith(_ZIP):
        with _unpacking(name):
            archive = stack.enter_context(zipfile.ZipFile(raw))
            member = _choose_member(archive, name, preferred)
            source = stack.enter_context(open_member(archive, member, name))
            return _Opened(raw, source, "zip", _listed([member.filename]))
    return _Opened(raw, raw, "", "")


@contextmanager
def open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """A zip file, whose directory is not taken into the memory where it is too long. Raises as zipfile does."""
    with _File(path.open("rb", buffering=0)) as raw, zipfile.ZipFile(raw) as archive:
        yield archive


@contextmanager
def open_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> Iterator[_Source]:
    """A file of an archive, unpacked in bounded memory. Raises as zipfile does, and UnusableFile."""
    if member.compress_type == zipfile.ZIP_LZMA:
        _check_dictionary(name, cast("IO[bytes]", archive.fp), member)
    with archive.open(member) as source:
        plain = member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        yield source if plain else _Member(source)


def _check_magic(name: str, head: bytes) -> None:
    for start, what in _MAGIC:
        if head.startswith(start):
            raise UnusableFile(name, f"This is {what}, not a CSV. Export the table as CSV, plain or in a .gz or .zip.")


def _check_dictionary(name: str, raw: IO[bytes], member: zipfile.ZipInfo) -> None:
    """LZMA reserves the memory its header asks for: after the member's own header and names come a version, the length
    of the properties, a byte of them and that size."""
    raw.seek(member.header_offset + 26)
    names = sum(struct.unpack("<HH", raw.read(4)))
    raw.seek(names, io.SEEK_CUR)
    [size] = struct.unpack("<5xI", raw.read(9))
    if size > MAX_DICTIONARY_MB * 2**20:
        raise UnusableFile(
            name,
            f"Unpacking the archive would take more than {MAX_DICTIONARY_MB} MB of memory. Pack it as an ordinary .zip "
            "or .gz.",
        )


# ---------------------------------------------------------------------------------------------------- sniffing


def inspect(
    path: Path, name: str, *, known: Collection[str], preferred: Collection[str] = (), encoding: str = ""
) -> Format:
    """Looks at the first HEAD bytes of a file.

    `known` are column names in the form of header_key(), by which the header row and the delimiter are recognised;
    `preferred` are names of files to take out of an archive that holds several; `encoding` is the user's word, or
    empty to find out. Raises UnusableFile.
    """
    with ExitStack() as stack:
        opened = _open(stack, path, name, preferred)
        probe = _Text(opened.source, name, "latin-1", path.stat().st_size if opened.compression else None)
        head = b""
        while len(head) < HEAD and (chunk := probe._read()):
            head += chunk
            probe._count(chunk.decode("latin-1"))
            probe._check_size(len(chunk))
        compression, member = opened.compression, opened.member
    _check_magic(name, head)
    if compression and head.startswith((_GZIP, *_ZIP)):
        raise UnusableFile(name, "The file is packed twice. Unpack it once, or import the CSV itself.")
    if not head.strip():
        raise UnusableFile(name, "The file is empty.")
    if encoding in ("", "utf-16"):
        encoding = _find_encoding(name, head, encoding)
    text = codecs.getincrementaldecoder(encoding)("ignore").decode(head).lstrip("\ufeff").replace("\0", "")
    if re.match(r"\s*<(!doctype|html|\?xml)", text, re.IGNORECASE):
        raise UnusableFile(name, "This is a web page or XML, not a CSV: the download may have been a sign-in page.")
    if not text.strip():
        raise UnusableFile(name, "The file is empty.")
    delimiter, records = _find_delimiter(text, known)
    index = _find_header(name, records, known)
    line, cells = records[index]
    if len(cells) > MAX_COLUMNS:
        raise UnusableFile(
            name,
            f"The header has {len(cells):,} columns, more than {MAX_COLUMNS:,}. Leave out those that are not needed.",
            line=line,
        )
    if index == len(records) - 1 and len(head) >= HEAD:
        raise UnusableFile(
            name, f"The header does not end within the first {HEAD:,} bytes; is this a table with a header?", line=line
        )
    return Format(compression, member, encoding, delimiter, unique_names(cells), line, index + 1)


def utf_16_by_zeros(sample: bytes) -> str:
    """Which UTF-16 a text without a mark is in, by where its zeros are; empty where it is in neither."""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if odd > len(sample) / 4 > even:
        return "utf-16-le"
    return "utf-16-be" if even > len(sample) / 4 > odd else ""


def _find_encoding(name: str, head: bytes, said: str) -> str:
    """UTF-16 or UTF-8; `said` is UTF-16 or nothing. UTF-16 without a mark is told by where its zeros are."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    sample = head[:4096]
    if unmarked := utf_16_by_zeros(sample):
        return unmarked
    if said:
        return "utf-16-be" if sample[::2].count(0) > sample[1::2].count(0) else "utf-16-le"
    if sample.count(0) > len(sample) / 100:
        raise _zeros(name, sample)
    try:
        codecs.getincrementaldecoder("utf-8")("strict").decode(head)
    except UnicodeDecodeError as error:
        raise not_decodable(name, "utf-8", error, _lines_in(head[: error.start]) + 1) from None
    return "utf-8"


def _lines_in(data: bytes) -> int:
    """How many line breaks there are in bytes of which the ASCII is told apart by itself."""
    return _breaks([data.decode("latin-1")])


def _zeros(name: str, sample: bytes) -> UnusableFile:
    """The message for zeros, with the line where they stand in a text: disks that are full or fail leave them."""
    before = sample[: sample.index(0)].decode("utf-8", "replace").lstrip("\ufeff")
    lines = _breaks([before])
    if lines and all(letter.isprintable() or letter in "\t\r\n" for letter in before) and "\ufffd" not in before:
        return UnusableFile(name, _ZEROS_TEXT, line=lines + 1)
    return UnusableFile(name, "This is not text but a binary file. Export the table as CSV.")


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
    return sum(header_key(cell) in known for cell in record[:MAX_COLUMNS])


def _find_delimiter(text: str, known: Collection[str]) -> tuple[str, list[tuple[int, list[str]]]]:
    said = _SEPARATOR_LINE.match(text.split("\n", 1)[0].rstrip("\r"))
    if said and said[1] in DELIMITERS:
        return said[1], _first_records(text, said[1])

    def worth(delimiter: str) -> tuple[int, int]:
        records = [record for _, record in _first_records(text, delimiter)]
        if not records:
            return (0, 0)
        width, times = Counter(map(len, records)).most_common(1)[0]
        return (max(_known_cells(records[n], known) for n in _header_places(records)), width * times)

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
    filled = [i for i, (_, record) in enumerate(records) if any(map(str.strip, record))]
    if not filled:
        raise UnusableFile(name, "The first rows are blank: there is no header.")
    named = [i for i in filled if not _SEPARATOR_LINE.match(records[i][1][0])] or filled
    width = Counter(len(records[i][1]) for i in named).most_common(1)[0][0]
    return next(i for i in named if len(records[i][1]) == width)


def unique_names(cells: list[str]) -> tuple[str, ...]:
    """Names of columns: an empty one becomes `Column 3`, a repeated one `Name (2)`; of MAX_NAME characters at most."""
    names: dict[str, None] = {}
    times: Counter[str] = Counter()
    for number, cell in enumerate(cells, 1):
        name = base = " ".join(cell[: 2 * MAX_NAME].split())[:MAX_NAME] or f"Column {number}"
        times[base] += 1
        while name in names:
            times[base] += name != base
            name = f"{base} ({times[base]})"
        names[name] = None
    return tuple(names)


# ----------------------------------------------------------------------------------------------------- reading


class _Blocks:
    """A text in blocks of whole lines, without NUL. `cut_off`: the last block does not end with a line break.

    Raises UnusableFile with the line for zeros in place of text: a row of them would vanish without a word.

    The reader sets `line`, the line of the first record not read yet, and `held`, the characters of that record which
    it has been given: the next block is as long at least, so that reading the record again and again takes linear time.
    """

    def __init__(self, text: _Text) -> None:
        self.text = text
        self.line = 1
        self.held = 0
        self.cut_off = False

    def __iter__(self) -> Iterator[str]:
        rest = ""
        for piece in self.text:
            piece = rest + piece
            if len(piece) < self.held:
                rest = piece
                continue
            # A carriage return at the very end may have its line feed in the next piece.
            end = max(piece.rfind("\n"), piece.rfind("\r", 0, -1)) + 1
            block, rest = piece[:end], piece[end:]
            if block:
                self.cut_off = False
                yield self._without_zeros(block, rest)
            if len(rest) >= MAX_LINE:
                self._without_zeros(rest)
                raise UnusableFile(self.text.name, f"The line is longer than {MAX_LINE:,} characters.", line=self.line)
        if rest:
            self.cut_off = not rest.endswith(("\r", "\n"))
            yield self._without_zeros(rest)

    def _without_zeros(self, lines: str, after: str = "") -> str:
        """The lines without NUL; `after` is what was read beyond them."""
        if "\0" not in lines:
            return lines
        if found := _ZEROS.search(lines):
            line = self.text.newlines - _breaks([lines[found.start() :] + after]) + 1
            raise UnusableFile(self.text.name, _ZEROS_TEXT, line=line)
        return lines.replace("\0", "")


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

    `position` of `size` packed bytes were read so far. `open_line` is known once all of it is read: the last line,
    where that has no end, and 0 where it has one. Many honest files end so, and so does one cut off in its last cell.
    """

    def __init__(self, path: Path, name: str, format: Format, preferred: Collection[str] = ()) -> None:
        self.path, self.name, self.format, self.preferred = path, name, format, preferred
        self.size = path.stat().st_size
        self.position = self.open_line = 0

    def find_open_line(self) -> int:
        """The last line of a plain file where it has no end, else 0; 0 also of a packed file, which takes too long to
        unpack for a look."""
        if self.format.compression or self._ends_a_line():
            return 0
        with ExitStack() as stack:
            opened = _open(stack, self.path, self.name, self.preferred)
            text = _Text(opened.source, self.name, self.format.encoding, None)
            for _ in text:
                pass
            return text.newlines + 1

    def _ends_a_line(self) -> bool:
        """Whether the last byte of a plain file, or of its last character in UTF-16, ends a line."""
        with self.path.open("rb") as file:
            file.seek(-2, io.SEEK_END)
            last = file.read()
        return last.rstrip(b"\0").endswith((b"\n", b"\r"))

    def __iter__(self) -> Iterator[tuple[int, Sequence[str]]]:
        """Yields (line the record begins on, cells), as many cells as there are; blank records are left out.

        Raises UnusableFile with the line where the file is cut off, badly quoted or not in its encoding.
        """
        for records in self.chunks():
            yield from zip(records.lines, records.rows, strict=True)

    def chunks(self) -> Iterator[Records]:
        """The same, the records of about a PIECE of the file together."""
        with ExitStack() as stack:
            opened = _open(stack, self.path, self.name, self.preferred)
            packed = self.size if self.format.compression else None
            blocks = _Blocks(_Text(opened.source, self.name, self.format.encoding, packed))
            rows = 0
            for records in self._records(blocks):
                self.position = opened.raw.tell()
                rows += len(records)
                if packed and rows > max(ROWS_FROM, MAX_ROWS_A_BYTE * packed):
                    raise _bomb(self.name, f"holds more than {MAX_ROWS_A_BYTE} rows for each of its bytes", blocks.line)
                yield records
            self.position = self.size

    def _records(self, blocks: _Blocks) -> Iterator[Records]:
        width, headers = len(self.format.header), self.format.header_records
        start, short, seen, blank = 1, 0, 0, 0
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
            seen += len(lines)
            if not all(rows):
                blank += rows.count([])
                if blank > MAX_BLANK + MAX_BLANK_A_ROW * (seen - blank):
                    text = f"Of its first {seen:,} rows, {blank:,} are blank. Remove the blank lines."
                    raise UnusableFile(self.name, text, line=start)
                lines = [line for line, row in zip(lines, rows, strict=True) if row]
                rows = [row for row in rows if row]
            short += sum(map(width.__gt__, map(len, rows)))
            if len(lines):
                yield Records(lines, width, rows, columns)
            if error is not None:
                if not _is_unfinished(error):
                    break
                rest = _from_line(block, lines_before=start - first)
                if len(rest) >= MAX_LINE:
                    raise UnusableFile(
                        self.name,
                        f"The row that begins here is longer than {MAX_LINE:,} characters; most likely a quote is not "
                        "closed.",
                        line=start,
                    )
            blocks.held = len(rest)
        if error is not None:
            raise self._quoting_error(error, start) from None
        line, row = last
        self.open_line = start - 1 if blocks.cut_off else 0
        if short == 1 and len(row) < width and blocks.cut_off:
            raise UnusableFile(
                self.name,
                f"The last line has {len(row)} of {width} columns and no end: the file was cut off. Export it again.",
                line=line,
            )

    def _quoting_error(self, error: csv.Error, line: int) -> UnusableFile:
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
        return UnusableFile(self.name, text, line=line)
