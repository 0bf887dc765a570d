"""Rows of a file of clicks, impressions or hits to numbers of pages. No database here.

Such files say nothing about what a page is: they name it by whatever address people came by.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ingest.addresses.destinations import reason_without_page
from ingest.cells import values
from ingest.cells.periods import Period, parse_period
from ingest.kinds.traffic.fields import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from ingest.addresses.destinations import PageFinder
    from ingest.fields.mapping import Columns
    from ingest.fields.skipped import Skipped
    from ingest.files.table import Records

# What a row of sums has in place of an address.
_TOTALS = frozenset(
    {"grand total", "total", "totals", "gesamt", "gesamtsumme", "gesamtergebnis", "summe", "total general"}
    | {"reserved_total", "итого", "общий итог", "всего", "合計", "総計", "总计", "總計", "razem"}
    | {"total général", "totale", "totale complessivo", "total geral", "totaal", "eindtotaal", "suma", "suma końcowa"}
)
PARSERS: dict[str, Callable[[str], Any]] = {
    "clicks": values.parse_count,
    "impressions": values.parse_count,
    "position": values.parse_position,
    "hits": values.parse_count,
}
COUNTED = ("clicks", "impressions", "hits")  # what adds up


@dataclass
class Traffic:
    """Numbers of pages as columns of one length; a page may be there several times. None is an empty cell."""

    page: NDArray[np.int64]
    numbers: dict[str, list[Any]]

    def __len__(self) -> int:
        return len(self.page)


class TrafficParser:
    """Parses the rows of one file of traffic. Rows and cells that are left out go to `skipped`.

    `sums` adds up each number of COUNTED by where it went: `on_pages`, `on_unknown` (addresses that are no page),
    `skipped` (rows that cannot be read, other sites). Rows of totals are in none of them and are counted in
    `totals`; rows of further tables, below another comment, in `other_tables`. `moved` counts rows of pages that lead
    to another page, `period` spans the days in the rows.
    """

    def __init__(self, header: Sequence[str], mapping: Columns, pages: PageFinder, skipped: Skipped) -> None:
        self.at = {name: header.index(columns[0]) for name, columns in mapping.items()}
        self.width = len(header)
        self.pages, self.skipped, self.mapping = pages, skipped, mapping
        self.url_at, self.date_at = self.at["url"], self.at.get("date")
        self.filled = [name for name in NUMBERS if name in self.at]
        self.counted = [name for name in COUNTED if name in self.at]
        self.sums = {where: dict.fromkeys(self.counted, 0) for where in ("on_pages", "on_unknown", "skipped")}
        self.rows = Counter[str]()
        self.totals = self.other_tables = self.moved = 0
        self.period: Period | None = None
        self._left_out: list[tuple[int, str, str, str, str]] = []

    def parse_all(self, records: Records) -> Traffic:
        """The numbers of many rows."""
        lines, cells = self._of_width(*self._of_first_table(records))
        addresses = cells[self.url_at]
        ids = np.array(list(map(self.pages.ids.get, addresses, repeat(0))), dtype=np.int64)
        unknown: dict[int, str] = {}
        for n in np.flatnonzero(ids == 0).tolist():
            found = self.pages.find(addresses[n])
            if isinstance(found, int):
                ids[n] = found
            else:
                unknown[n] = found
        totals = {n for n in unknown if _is_total([column[n] for column in cells], self.url_at)}
        self.totals += len(totals)
        numbers = {name: self._parsed(name, lines, addresses, cells[self.at[name]], totals) for name in self.filled}
        if self.date_at is not None:
            self._note_days(lines, addresses, cells[self.date_at], totals)
        for n, why in unknown.items():
            if n not in totals:
                self._lose(lines[n], why, addresses[n], {name: numbers[name][n] for name in self.counted})
        kept = np.flatnonzero(ids)
        if len(kept) < len(ids):
            numbers = {name: [column[n] for n in kept.tolist()] for name, column in numbers.items()}
        for name in self.counted:
            self.sums["on_pages"][name] += sum(filter(None, numbers[name]))
        self.rows["on_pages"] += len(kept)
        for line, reason, column, url, value in sorted(self._left_out, key=itemgetter(0)):
            self.skipped.add(line, reason, column=column, address=url, value=value)
        self._left_out.clear()
        ends = self.pages.moves.ends_of(ids[kept])
        self.moved += int((ends != ids[kept]).sum())
        return Traffic(ends, numbers)

    def _of_first_table(self, records: Records) -> tuple[Sequence[int], Sequence[Sequence[str]], bool]:
        """Lines and cells of the records before the next comment, and whether the cells are by column."""
        columns = records.columns
        starts = columns[0] if columns is not None else [row[0] for row in records.rows]
        end = 0 if self.other_tables else next((n for n, cell in enumerate(starts) if cell[:1] == "#"), len(starts))
        self.other_tables += len(starts) - end
        if columns is not None:
            return records.lines[:end], [column[:end] for column in columns], True
        return records.lines[:end], records.rows[:end], False

    def _of_width(
        self, lines: Sequence[int], cells: Sequence[Sequence[str]], by_column: bool
    ) -> tuple[Sequence[int], Sequence[Sequence[str]]]:
        """Lines, and cells by column, of the rows that are as wide as the header. Sums may have a cell more."""
        if by_column:
            return lines, cells
        kept_lines, kept = [], []
        for line, row in zip(lines, cells, strict=True):
            if len(row) == self.width:
                kept_lines.append(line)
                kept.append(row)
            elif _is_total(row, self.url_at):
                self.totals += 1
            else:
                self._lose_row(line, row)
        return kept_lines, list(zip(*kept, strict=True)) or [()] * self.width

    def _lose_row(self, line: int, row: Sequence[str]) -> None:
        """A row with more or fewer cells than the header; what stands where its numbers should be still counts."""
        numbers = {}
        for name in self.counted:
            try:
                numbers[name] = PARSERS[name](row[self.at[name]].strip())
            except (IndexError, ValueError):
                numbers[name] = None
        self._count("skipped", numbers)
        url = row[self.url_at] if self.url_at < len(row) else ""
        self._left_out.append((line, "bad_width", "", url, f"{len(row)} cells, not {self.width}"))

    def _lose(self, line: int, why: str, address: str, numbers: dict[str, int | None]) -> None:
        self._count("on_unknown" if why == "unknown" else "skipped", numbers)
        reason = reason_without_page(why, address)
        value = ", ".join(f"{count} {name}" for name, count in numbers.items() if count is not None)
        self._left_out.append((line, reason, self.mapping["url"][0], address, value))

    def _count(self, where: str, numbers: Mapping[str, int | None]) -> None:
        self.rows[where] += 1
        for name, count in numbers.items():
            self.sums[where][name] += count or 0

    def _parsed(
        self,
        name: str,
        lines: Sequence[int],
        addresses: Sequence[str],
        cells: Sequence[str],
        totals: set[int],
    ) -> list[Any]:
        """What the cells of a column say, each that differs parsed once; None where one is empty or left out."""
        known, bad = values.of_cells(PARSERS[name], cells)
        if bad:
            self._list_bad(name, lines, addresses, cells, bad, totals)
        return list(map(known.__getitem__, cells))

    def _note_days(
        self, lines: Sequence[int], addresses: Sequence[str], cells: Sequence[str], totals: set[int]
    ) -> None:
        known, bad = values.of_cells(parse_period, cells)
        if bad:
            self._list_bad("date", lines, addresses, cells, bad, totals)
        found = [period for period in known.values() if period is not None]
        self.period = Period.spanning([*found, self.period] if self.period else found)

    def _list_bad(
        self,
        name: str,
        lines: Sequence[int],
        addresses: Sequence[str],
        cells: Sequence[str],
        bad: Mapping[str, tuple[str, str]],
        totals: set[int],
    ) -> None:
        for n, (line, address, cell) in enumerate(zip(lines, addresses, cells, strict=True)):
            if cell in bad and n not in totals:
                reason, value = bad[cell]
                self._left_out.append((line, reason, self.mapping[name][0], address, value))


def _is_total(cells: Sequence[str], url_at: int) -> bool:
    """Whether a row holds sums: it says so in place of an address, or in its first or last cell without one."""
    address = cells[url_at].strip() if url_at < len(cells) else ""
    labels = [address] if address else [cells[0], cells[-1]]
    return any(cell.strip().casefold() in _TOTALS for cell in labels)
