"""Rows of a file of search queries to queries of pages. No database here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ingest.addresses.destinations import reason_without_page
from ingest.cells import values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ingest.addresses.destinations import PageFinder
    from ingest.fields.mapping import Columns
    from ingest.fields.skipped import Skipped
    from ingest.files.table import Records

MAX_QUERY = 2_000


class QueryRow(NamedTuple):
    """A query as staged: the page's id; None stands for a number that the file does not give."""

    page: int
    query: str
    clicks: int | None
    impressions: int | None
    position: float | None
    importance: float | None


class QueryParser:
    """Parses the rows of one file of queries. Rows and cells that are left out go to `skipped`; `moved` counts rows of
    pages that lead to another page."""

    NUMBERS: tuple[tuple[str, Callable[[str], Any]], ...] = (
        ("clicks", values.parse_count),
        ("impressions", values.parse_count),
        ("position", values.parse_position),
        ("importance", values.parse_importance),
    )

    def __init__(self, header: Sequence[str], mapping: Columns, pages: PageFinder, skipped: Skipped) -> None:
        at = {name: header.index(columns[0]) for name, columns in mapping.items()}
        self.width = len(header)
        self.pages, self.skipped, self.mapping = pages, skipped, mapping
        self.url_at, self.query_at = at["url"], at["query"]
        self.numbers = [(name, at.get(name), parse) for name, parse in self.NUMBERS]
        self.moved = 0

    @property
    def filled(self) -> list[str]:
        """The numbers that the file speaks about."""
        return [name for name, place, _ in self.numbers if place is not None]

    def parse(self, line: int, cells: Sequence[str]) -> QueryRow | None:
        """The query of a row; None where the row is skipped."""
        if len(cells) != self.width:
            self.skipped.add(line, "bad_width", value=f"{len(cells)} cells, not {self.width}")
            return None
        address = cells[self.url_at]
        page = self._page(line, address)
        if page is None:
            return None
        query = " ".join(cells[self.query_at].split())[:MAX_QUERY].rstrip()
        if not query:
            self.skipped.add(line, "no_query", column=self.mapping["query"][0], address=address)
            return None
        end = self.pages.moves.end_of(page)
        self.moved += end != page
        return QueryRow(end, query, *(self._number(line, cells, *number) for number in self.numbers))

    def parse_all(self, records: Records) -> list[QueryRow]:
        """The queries of many rows."""
        return [row for row in map(self.parse, records.lines, records.rows) if row is not None]

    def _page(self, line: int, address: str) -> int | None:
        found = self.pages.find(address)
        if isinstance(found, int):
            return found
        reason = reason_without_page(found, address)
        self.skipped.add(line, reason, column=self.mapping["url"][0], address=address)
        return None

    def _number(
        self, line: int, cells: Sequence[str], name: str, place: int | None, parse: Callable[[str], Any]
    ) -> Any:
        text = cells[place].strip() if place is not None else ""
        if not text:
            return None
        try:
            return parse(text)
        except ValueError as error:
            reason, value = values.why_left_out(error, text)
            self.skipped.add(line, reason, column=self.mapping[name][0], address=cells[self.url_at], value=value)
            return None
