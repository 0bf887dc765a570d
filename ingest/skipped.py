"""What an import left out, row by row: counted by reason, and listed in a CSV for download."""

from __future__ import annotations

import csv
from collections import Counter
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from pathlib import Path

MAX_LISTED = 200_000  # rows listed for one reason; the counts go on
MAX_CELL = 2_000
COLUMNS = ("line", "column", "reason", "address", "value")

# Reasons for which a row, or a cell of it, is not imported.
REASONS = {
    "no_address": "The row has no address",
    "bad_address": "The address is not an http or https URL",
    "another_site": "The address belongs to another site",
    "bad_width": "The row has more or fewer cells than the header",
    "duplicate": "The same page stands in another row of the file, which was taken",
    "unknown_page": "The address is not a page of the project, and the file has no titles to make one",
    "bad_cell": "The cell was not understood and left empty",
    "bad_vector": "The embedding vector was not understood",
    "vector_length": "The embedding vector has another length than most",
    "no_query": "The row has no query; Search Console leaves out the words of rare ones",
    "page_of_query_unknown": "The query's address is not a page of the project",
    "unknown_source": "The link's source is not a page of the project",
    "unknown_target": "The link's target is not a page of the project",
}


def safe_cell(text: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


class Skipped:
    """Collects left-out rows. With a path, lists them there; the file is made with the first one."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.counts: Counter[str] = Counter()
        self.listed = 0
        self._file: TextIO | None = None
        self.first: tuple[int, str, str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, line: int, reason: str, *, column: str = "", address: str = "", value: str = "") -> None:
        """`line` is where the row begins in the file; `reason` is a key of REASONS."""
        self.counts[reason] += 1
        if self.first is None:
            self.first = (line, reason, address)
        if self.path is None or self.counts[reason] > MAX_LISTED:
            return
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("w", encoding="utf-8-sig", newline="")
            self._writer = csv.writer(self._file)
            self._writer.writerow(COLUMNS)
        cells = (column, REASONS[reason], address, value)
        self._writer.writerow([line, *(safe_cell(cell[:MAX_CELL]) for cell in cells)])
        self.listed += 1
