"""Rows of a pages file to what is staged for the table of pages. No database here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import compress
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from ingest.addresses.normalise import MAX_DEPTH, AnotherSite, NotAnAddress, folder, folder_names
from ingest.cells import values
from ingest.formats import screaming_frog
from ingest.kinds.pages.address_order import address_worth
from ingest.kinds.pages.breadcrumbs import BreadcrumbReader, CrumbRow, is_in_h1, may_be_page
from ingest.kinds.pages.category_paths import CategoryPaths
from ingest.kinds.pages.fields import FIELDS
from ingest.kinds.pages.products import Products
from ingest.kinds.traffic.fields import SEARCH_NUMBERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np

    from ingest.addresses.normalise import Site
    from ingest.fields.mapping import Columns
    from ingest.fields.skipped import Skipped
    from ingest.files.table import Records
    from ingest.kinds.pages.category_paths import PathOfNames

# What is staged of a page: a line of the file, and the columns of the table of pages.
COLUMNS = (
    *("line", "url", "canonical_url", "html", "title", "h1", "headings", "description", "body", "language"),
    *("word_count", "status_code", "indexable", "indexability_status", "canonical_link", "redirect_url"),
    *("crawl_depth", "value", "authority", "last_modified", "clicks", "impressions", "position", "category"),
    *("detected_language", "language_sureness"),
)
TEXTS = frozenset(
    {"url", "canonical_url", "title", "h1", "description", "body", "language", "indexability_status"}
    | {"canonical_link", "redirect_url"}
)
LISTS = frozenset({"headings"})


@dataclass
class Pages:
    """Pages as columns of one length, by names of COLUMNS, those that the file speaks about; with vectors by line.

    None stands for an empty cell of a number or time; text is never None.
    """

    columns: dict[str, list[Any]]
    vectors: list[tuple[int, np.ndarray, bytes]]

    def __len__(self) -> int:
        return len(self.columns["line"])


class PageParser:
    """Parses the rows of one pages file.

    `source` says where categories come from: `columns`, `json-ld`, `folders`. Rows and cells that are left out go to
    `skipped`; rows that are no pages (scripts, images) are counted in `not_pages`, further rows of a shop's product in
    `more_rows`.
    """

    NUMBERS: tuple[tuple[str, Callable[[str], Any]], ...] = (
        ("status_code", values.parse_status_code),
        ("word_count", values.parse_count),
        ("crawl_depth", values.parse_count),
        ("value", values.parse_value),
        ("authority", values.parse_value),
        ("last_modified", values.parse_time),
        ("clicks", values.parse_count),
        ("impressions", values.parse_count),
        ("position", values.parse_position),
    )
    TEXTS = ("title", "h1", "description", "language", "indexability_status", "canonical_link", "redirect_url")
    LIMITS = {"language": 35, "indexability_status": 100}

    def __init__(
        self,
        header: Sequence[str],
        mapping: Columns,
        site: Site,
        skipped: Skipped,
        *,
        json_ld: bool,
        read_text: Callable[[str], str],
    ) -> None:
        """`json_ld` says that the breadcrumb is JSON-LD; `read_text` gives the text of a cell of main text."""
        self.site, self.skipped, self.mapping, self.read_text = site, skipped, mapping, read_text
        self.width = len(header)
        columns = FIELDS.columns_of(mapping)
        self.at = {name: [header.index(column) for column in found] for name, found in columns.items()}
        self.urls_at = self.at["url"]
        self.prefix = next(iter(mapping.get("prefix", [])), "")
        self.source = "folders" if "breadcrumb" not in mapping else "json-ld" if json_ld else "columns"
        self.category_paths = CategoryPaths()
        self.not_pages = 0
        self.more_rows = 0
        self.products = Products.of(header, mapping)
        self._left_out: list[tuple[int, str, str, str, str]] = []

    @property
    def filled(self) -> list[str]:
        """The columns of the pages table that the file speaks about, but for those that traffic is read from."""
        others = {"url", "vector", "breadcrumb", "content_type", "indexability", *SEARCH_NUMBERS}
        direct = set(self.at) - others
        if self.products is not None or {"indexability", "status_code", "canonical_link"} & set(self.at):
            direct |= {"indexable", "indexability_status"}
        return sorted(direct)

    @property
    def has_traffic(self) -> bool:
        return not set(SEARCH_NUMBERS).isdisjoint(self.at)

    def parse_all(self, records: Records) -> Pages:
        """The pages of many rows."""
        lines, cells = self._of_width(records)
        if self.products is not None:
            first = self.products.are_first(cells)
            self.more_rows += len(first) - sum(first)
            lines, cells = list(compress(lines, first)), [list(compress(column, first)) for column in cells]
        urls = self._addresses(cells)
        keys = [self._key(line, url) for line, url in zip(lines, urls, strict=True)]
        columns: dict[str, list[Any]] = {"line": list(lines), "url": urls, "canonical_url": keys}
        cells = _keep(columns, cells, [key is not None for key in keys])
        lines, urls = columns["line"], columns["url"]
        for name in self.TEXTS:
            if name in self.at:
                most = self.LIMITS.get(name)
                texts = [text.strip() for text in cells[self.at[name][0]]]
                columns[name] = [text[:most] for text in texts] if most is not None else texts
        if "h1" in columns:
            columns["h1"] = list(map(values.heading, columns["h1"]))
        for name, parse in self.NUMBERS:
            if name in self.at:
                columns[name] = self._parsed(name, parse, columns, cells[self.at[name][0]])
        cells = self._keep_pages(columns, cells)
        if "headings" in self.at:
            columns["headings"] = [
                list(filter(None, map(values.heading, row)))
                for row in zip(*(cells[i] for i in self.at["headings"]), strict=True)
            ]
        if "body" in self.at:
            rows = zip(*(cells[i] for i in self.at["body"]), strict=True)
            columns["body"] = ["\n\n".join(_filled(map(self.read_text, row))) for row in rows]
        self._indexable(columns, cells)
        columns["category"] = self._categories(columns, cells)
        vectors = self._vectors(columns, cells) if "vector" in self.at else []
        for line, reason, column, url, value in sorted(self._left_out, key=itemgetter(0)):
            self.skipped.add(line, reason, column=column, address=url, value=value)
        self._left_out.clear()
        return Pages(columns, vectors)

    def _of_width(self, records: Records) -> tuple[Sequence[int], Sequence[Sequence[str]]]:
        """Lines, and cells by column, of the rows that are as wide as the header."""
        if records.columns is not None:
            return records.lines, records.columns
        lines, rows = [], []
        for line, row in zip(records.lines, records.rows, strict=True):
            if len(row) == self.width:
                lines.append(line)
                rows.append(row)
            elif self._is_no_page(row):
                self.not_pages += 1
            else:
                self._leave_out(line, "bad_width", self._address(row), f"{len(row)} cells, not {self.width}")
        return lines, list(zip(*rows, strict=True)) or [()] * self.width

    def _address(self, row: Sequence[str]) -> str:
        """The address in a row of any width."""
        return next(filter(None, (row[place].strip() for place in self.urls_at if place < len(row))), "")

    def _is_no_page(self, row: Sequence[str]) -> bool:
        """Whether a row of another width than the header's is one of a script, a style or a picture.

        Rows that lack their last cells are common among those, and nothing is lost with them.
        """
        if screaming_frog.is_asset(self._address(row)):
            return True
        place = self.at.get("content_type", [self.width])[0]
        kind = row[place].strip() if place < len(row) else ""
        return screaming_frog.is_content_type(kind) and not screaming_frog.is_html(kind)

    def _addresses(self, cells: Sequence[Sequence[str]]) -> list[str]:
        """Each row's address in full, out of the first of its columns that the row fills."""
        urls = [url.strip() for url in cells[self.urls_at[0]]]
        for place in self.urls_at[1:]:
            if all(urls):
                break
            urls = [url or other.strip() for url, other in zip(urls, cells[place], strict=True)]
        full = self.site.full_address
        return [url if url.startswith(("https://", "http://")) else full(url, self.prefix) for url in urls]

    def _leave_out(self, line: int, reason: str, url: str, value: str = "", *, column: str = "") -> None:
        """Notes a row or cell for `skipped`, where they stand by line."""
        self._left_out.append((line, reason, column, url, value))

    def _key(self, line: int, url: str) -> str | None:
        column = self.mapping["url"][0]
        if not url:
            self._leave_out(line, "no_address", "", column=column)
            return None
        try:
            return self.site.canonical_url(url)
        except NotAnAddress:
            self._leave_out(line, "bad_address", url, column=column)
        except AnotherSite:
            self._leave_out(line, "another_site", url, column=column)
        return None

    def _parsed(
        self, name: str, parse: Callable[[str], Any], columns: dict[str, list[Any]], cells: Sequence[str]
    ) -> list[Any]:
        """What the cells of a column say, each that differs parsed once; None where one is empty or left out."""
        known, bad = values.of_cells(parse, cells)
        if bad:
            for line, url, cell in zip(columns["line"], columns["url"], cells, strict=True):
                if cell in bad:
                    reason, value = bad[cell]
                    self._leave_out(line, reason, url, value, column=self.mapping[name][0])
        return list(map(known.__getitem__, cells))

    def _keep_pages(self, columns: dict[str, list[Any]], cells: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
        """Leaves the rows that are pages, and says which of them are HTML where the file does. Returns their cells."""
        if "content_type" not in self.at:
            kept = [not screaming_frog.is_asset(url) for url in columns["url"]]
            self.not_pages += len(kept) - sum(kept)
            return _keep(columns, cells, kept)
        types = [cell.strip() for cell in cells[self.at["content_type"][0]]]
        codes = columns.get("status_code") or [None] * len(types)
        columns["html"] = list(map({kind: screaming_frog.is_html(kind) for kind in set(types)}.__getitem__, types))
        kept = list(map(screaming_frog.is_page, types, codes, columns["url"]))
        self.not_pages += len(kept) - sum(kept)
        return _keep(columns, cells, kept)

    def _vectors(
        self, columns: dict[str, list[Any]], cells: Sequence[Sequence[str]]
    ) -> list[tuple[int, np.ndarray, bytes]]:
        """Lines, unit vectors and the sha256 of their cells, of the rows that have one."""
        column, found = self.mapping["vector"][0], []
        for line, url, cell in zip(columns["line"], columns["url"], cells[self.at["vector"][0]], strict=True):
            text = cell.strip()
            try:
                if text:
                    found.append((line, values.parse_vector(text), sha256(text.encode()).digest()))
            except ValueError as error:
                self._leave_out(line, "bad_vector", url, f"{error}: {text[:60]}", column=column)
        return found

    def _indexable(self, columns: dict[str, list[Any]], cells: Sequence[Sequence[str]]) -> None:
        """As the file says; where it does not, a page that answers 200 and is its own canonical."""
        if self.products is not None:
            hidden = self.products.why_hidden(cells)
            columns["indexable"] = [not reason for reason in hidden]
            columns["indexability_status"] = hidden
            return
        if not {"indexability", "status_code", "canonical_link"} & set(self.at):
            return
        size = len(columns["line"])
        stated: list[bool | None] = [None] * size
        if "indexability" in self.at:
            stated = self._parsed("indexability", values.parse_indexable, columns, cells[self.at["indexability"][0]])
        reasons = columns.setdefault("indexability_status", [""] * size)
        codes, links = columns.get("status_code", [None] * size), columns.get("canonical_link", [""] * size)
        for n, (is_indexable, code, link) in enumerate(zip(stated, codes, links, strict=True)):
            if is_indexable is None:
                reason = ""
                if code is not None and not 200 <= code < 300:
                    reason = _status_reason(code)
                elif link and not self._is_own(link, columns["canonical_url"][n]):
                    reason = "Canonicalised"
                stated[n] = not reason
                reasons[n] = reasons[n] or reason
        columns["indexable"] = stated

    def worth(self, url: str, key: str, status_code: int | None, indexable: bool, canonical_link: str) -> int:
        """How well a row stands for its page where several do, see stage.BETTER_ROW.

        16 where it answers 200, 8 where it is indexable, 4 where it is its own canonical or states none, 2 where its
        address is the page's key, 1 where that has neither tracking parameters nor a fragment; added up.
        """
        answers, is_own = status_code == 200, not canonical_link or self._is_own(canonical_link, key)
        return 16 * answers + 8 * indexable + 4 * is_own + address_worth(url, key)

    def _is_own(self, address: str, canonical: str) -> bool:
        try:
            return self.site.canonical_url(address) == canonical
        except (NotAnAddress, AnotherSite):
            return False

    def _categories(self, columns: dict[str, list[Any]], cells: Sequence[Sequence[str]]) -> list[int | None]:
        """The number of each row's path."""
        if self.source == "folders":
            starts = list(map(folder, columns["canonical_url"]))
            names = {start: folder_names(start) for start in dict.fromkeys(starts)}
            known = {start: self.category_paths.number(path[:MAX_DEPTH]) for start, path in names.items()}
            numbers = list(map(known.__getitem__, starts))
            if max(map(len, names.values()), default=0) > MAX_DEPTH:
                for line, url, start in zip(columns["line"], columns["url"], starts, strict=True):
                    self._cut(line, url, names[start])
        else:
            reader = BreadcrumbReader(self.site, self.mapping["breadcrumb"][0], self._leave_out)
            path_of = reader.from_json_ld if self.source == "json-ld" else reader.from_columns
            if self.products is not None:
                path_of = self.products.path_of
            nothing = [""] * len(columns["line"])
            rows = zip(
                *(columns["line"], columns["url"], columns["canonical_url"]),
                *(columns.get("title", nothing), columns.get("h1", nothing), columns.get("canonical_link", nothing)),
                zip(*(cells[index] for index in self.at["breadcrumb"]), strict=True),
                strict=True,
            )
            found = ((row, self._cut(row.line, row.url, path_of(row))) for row in map(CrumbRow._make, rows))
            if self.source == "columns" and self.products is None:
                numbers = [
                    self.category_paths.number_of(
                        path, row.canonical_url, partial(may_be_page, row=row), partial(is_in_h1, row=row)
                    )
                    for row, path in found
                ]
            else:
                numbers = [self.category_paths.number(path) for _, path in found]
        self.category_paths.count(numbers)
        return numbers

    def _cut(self, line: int, url: str, path: PathOfNames) -> PathOfNames:
        """A path of MAX_DEPTH names at most; what is cut is listed."""
        if len(path) > MAX_DEPTH:
            self._leave_out(line, "deep_category", url, path[MAX_DEPTH])
        return path[:MAX_DEPTH]


def _filled(cells: Iterable[str]) -> list[str]:
    return [text for cell in cells if (text := cell.strip())]


def _keep(
    columns: dict[str, list[Any]], cells: Sequence[Sequence[str]], kept: Sequence[bool]
) -> Sequence[Sequence[str]]:
    """Leaves some rows of `columns`, in place. Returns their cells."""
    if all(kept):
        return cells
    for name, column in columns.items():
        columns[name] = list(compress(column, kept))
    return [list(compress(column, kept)) for column in cells]


def _status_reason(code: int) -> str:
    if code == 0:
        return "No Response"
    return {3: "Redirected", 4: "Client Error", 5: "Server Error"}.get(code // 100, f"Status {code}")
