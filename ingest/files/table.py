"""The records of a table below its header, streamed: in blocks of whole lines, as rows or as columns.

A file is never held whole: memory is bounded by MAX_LINE and the size of a piece, whatever the file's size.
"""

from __future__ import annotations

import csv
import io
from contextlib import ExitStack
from itertools import accumulate, islice
from typing import TYPE_CHECKING

import numpy as np

from ingest.errors import UnusableFile
from ingest.files.text import ZEROS, ZEROS_TEXT, DecodedText, bomb, line_breaks
from ingest.files.unpack import open_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from ingest.files.sniff import Format

MAX_CELL = 2**23  # characters
MAX_LINE = 2 * MAX_CELL  # characters of a line, and of a record of several lines
MAX_ROWS_A_BYTE, ROWS_FROM = 5, 100_000  # rows for each packed byte: a crawl of links comes to one or two
MAX_BLANK, MAX_BLANK_A_ROW = 100_000, 10  # lines

csv.field_size_limit(MAX_CELL)


class Records:
    """Some records of a file with the line each begins on, as rows or as columns, whichever is asked for."""

    def __init__(self, lines: Sequence[int], width: int, rows: list[list[str]], columns: list[list[str]]) -> None:
        self.lines = lines
        self._width, self._rows, self._columns = width, rows, columns

    @classmethod
    def of(cls, rows: list[list[str]], width: int, first_line: int) -> Records:
        """Rows of a source that has one a line; `width` is the header's."""
        return cls(range(first_line, first_line + len(rows)), width, rows, [])

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
    where that has no end, and 0 where it has one. Many honest files end so, and so does one cut off in its last cell;
    where that cell is in quotes, it has an end, and the line counts as one that has.
    """

    def __init__(self, path: Path, name: str, format: Format, preferred: Collection[str] = ()) -> None:
        self.path, self.name, self.format, self.preferred = path, name, format, preferred
        self.size = path.stat().st_size
        self.position = self.open_line = 0

    def find_open_line(self) -> int:
        """As `open_line`, of a plain file; 0 of a packed one, which takes too long to unpack for a look."""
        if self.format.compression or self._ends_a_line():
            return 0
        with ExitStack() as stack:
            opened = open_file(stack, self.path, self.name, self.preferred)
            text = DecodedText(opened.source, self.name, self.format.encoding, None)
            last = ""
            for piece in text:
                last = (last + piece).rpartition("\n")[2]
            return 0 if self._is_whole(last) else text.newlines + 1

    def _is_whole(self, line: str) -> bool:
        """Whether a last line without an end is a whole row: its last cell is in quotes, and closes them."""
        try:
            cells = next(csv.reader([line], delimiter=self.format.delimiter, strict=True), [])
        except csv.Error:
            return False
        if not cells or len(cells) < len(self.format.header):
            return False
        quoted = cells[-1].replace('"', '""')
        return line.endswith(f'{self.format.delimiter}"{quoted}"')

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
            opened = open_file(stack, self.path, self.name, self.preferred)
            packed = self.size if self.format.compression else None
            blocks = _Blocks(DecodedText(opened.source, self.name, self.format.encoding, packed))
            rows = 0
            for records in self._records(blocks):
                self.position = opened.raw.tell()
                rows += len(records)
                if packed and rows > max(ROWS_FROM, MAX_ROWS_A_BYTE * packed):
                    raise bomb(self.name, f"holds more than {MAX_ROWS_A_BYTE} rows for each of its bytes", blocks.line)
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
                lines = list(accumulate((1 + line_breaks(row) for row in rows), initial=start))
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
        self.open_line = start - 1 if blocks.cut_off and not self._is_whole(blocks.last_line) else 0
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


class _Blocks:
    """A text in blocks of whole lines, without NUL. `cut_off`: the last block does not end with a line break.

    Raises UnusableFile with the line for zeros in place of text: a row of them would vanish without a word.

    The reader sets `line`, the line of the first record not read yet, and `held`, the characters of that record which
    it has been given: the next block is as long at least, so that reading the record again and again takes linear time.
    """

    def __init__(self, text: DecodedText) -> None:
        self.text = text
        self.line = 1
        self.held = 0
        self.cut_off = False
        self.last_line = ""  # where it was cut off

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
            self.cut_off, self.last_line = not rest.endswith(("\r", "\n")), rest
            yield self._without_zeros(rest)

    def _without_zeros(self, lines: str, after: str = "") -> str:
        """The lines without NUL; `after` is what was read beyond them."""
        if "\0" not in lines:
            return lines
        if found := ZEROS.search(lines):
            line = self.text.newlines - line_breaks([lines[found.start() :] + after]) + 1
            raise UnusableFile(self.text.name, ZEROS_TEXT, line=line)
        return lines.replace("\0", "")


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
    if end == "\r\n" and ((raw[breaks - 1] != ord("\r")).any() or block.count("\r") > len(breaks)):
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
    one_line = block.replace(end, delimiter)
    cells = one_line[len(edge) : -1 - len(edge)].split(f"{edge}{delimiter}{edge}")
    return [cells[at::width] for at in range(width)]


def _is_unfinished(error: csv.Error) -> bool:
    """Whether the text ended in the middle of a record."""
    return "unexpected end of data" in str(error)


def _from_line(block: str, lines_before: int) -> str:
    """The block without its first lines."""
    lines = io.StringIO(block, newline="")
    return "".join(islice(lines, lines_before, None))
