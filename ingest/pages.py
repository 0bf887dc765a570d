"""Rows of a pages file to what is staged for the table of pages. No database here."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from itertools import compress
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from ingest import values
from ingest.normalise import AnotherSite, NotAnAddress, clean_name, folder, folder_names
from ingest.readers import screaming_frog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np

    from ingest.normalise import Site
    from ingest.schema import Columns
    from ingest.skipped import Skipped
    from ingest.sniff import Records

PathOfNames = tuple[str, ...]
HOME_SHARE = 0.9
_HOME = re.compile(
    r"home(?:page| page)?|start(?:seite|page)?|accueil|page d'accueil|inicio|início|página inicial|hem|forside|hjem"
    r"|strona główna|главная|ホーム|トップ|top|index|hauptseite|⌂|🏠",
    re.IGNORECASE,
)
_ONE_CELL_TRAIL = re.compile(r"\s*[>›»→]\s*|\s+[/|]\s+")
_SUFFIX = re.compile(r"\s*[|·•–—:-]\s")


# What is staged of a page: a line of the file, and the columns of the table of pages.
COLUMNS = (
    *("line", "url", "canonical_url", "html", "title", "h1", "headings", "description", "body", "language"),
    *("word_count", "status_code", "indexable", "indexability_status", "canonical_link", "redirect_url"),
    *("crawl_depth", "last_modified", "clicks", "impressions", "position", "category"),
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


class Trails:
    """The paths of categories met so far, each with a number, in the order they were met."""

    def __init__(self) -> None:
        self.numbers: dict[PathOfNames, int] = {}
        self.rows: Counter[int] = Counter()

    def number(self, path: PathOfNames) -> int | None:
        return self.numbers.setdefault(path, len(self.numbers)) if path else None

    def count(self, numbers: Iterable[int | None]) -> None:
        """Notes the numbers of some rows."""
        self.rows.update(number for number in numbers if number is not None)

    def paths(self) -> list[PathOfNames]:
        """Path by number, without a “Home” that nearly all rows begin with; one may come out empty."""
        home = self._home()
        return [path[1:] if path[0] == home else path for path in self.numbers]

    def _home(self) -> str | None:
        rows: Counter[str] = Counter()
        for path, number in self.numbers.items():
            rows[path[0]] += self.rows[number]
        for name, count in rows.most_common(1):
            if _HOME.fullmatch(name) and count >= HOME_SHARE * rows.total():
                return name
        return None


class PageParser:
    """Parses the rows of one pages file.

    `source` says where categories come from: `columns`, `json-ld`, `folders`. Rows and cells that are left out go to
    `skipped`; rows that are no pages (scripts, images) are counted in `not_pages`.
    """

    NUMBERS: tuple[tuple[str, Callable[[str], Any]], ...] = (
        ("status_code", values.parse_status_code),
        ("word_count", values.parse_count),
        ("crawl_depth", values.parse_count),
        ("last_modified", values.parse_time),
        ("clicks", values.parse_count),
        ("impressions", values.parse_count),
        ("position", values.parse_position),
    )
    TEXTS = ("title", "h1", "description", "language", "indexability_status", "canonical_link", "redirect_url")
    LIMITS = {"language": 35, "indexability_status": 100}

    def __init__(self, header: Sequence[str], mapping: Columns, site: Site, skipped: Skipped, json_ld: bool) -> None:
        self.site, self.skipped, self.mapping = site, skipped, mapping
        self.width = len(header)
        self.at = {name: [header.index(column) for column in columns] for name, columns in mapping.items()}
        self.url_at = self.at["url"][0]
        self.source = "folders" if "breadcrumb" not in mapping else "json-ld" if json_ld else "columns"
        self.trails = Trails()
        self.not_pages = 0
        self._left_out: list[tuple[int, str, str, str, str]] = []

    @property
    def filled(self) -> list[str]:
        """The columns of the pages table that the file speaks about."""
        direct = {
            name for name in self.at if name not in ("url", "vector", "breadcrumb", "content_type", "indexability")
        }
        if {"indexability", "status_code", "canonical_link"} & set(self.at):
            direct |= {"indexable", "indexability_status"}
        return sorted(direct)

    def parse_all(self, records: Records) -> Pages:
        """The pages of many rows."""
        lines, cells = self._of_width(records)
        urls = [url.strip() for url in cells[self.url_at]]
        keys = [self._key(line, url) for line, url in zip(lines, urls, strict=True)]
        columns: dict[str, list[Any]] = {"line": list(lines), "url": urls, "canonical_url": keys}
        cells = _keep(columns, cells, [key is not None for key in keys])
        lines, urls = columns["line"], columns["url"]
        for name in self.TEXTS:
            if name in self.at:
                most = self.LIMITS.get(name)
                texts = [text.strip() for text in cells[self.at[name][0]]]
                columns[name] = [text[:most] for text in texts] if most is not None else texts
        for name, parse in self.NUMBERS:
            if name in self.at:
                columns[name] = self._told(name, parse, columns, cells[self.at[name][0]])
        if "content_type" in self.at:
            cells = self._keep_pages(columns, cells)
        if "headings" in self.at:
            columns["headings"] = [_filled(row) for row in zip(*(cells[i] for i in self.at["headings"]), strict=True)]
        if "body" in self.at:
            rows = zip(*(cells[i] for i in self.at["body"]), strict=True)
            columns["body"] = ["\n\n".join(_filled(row)) for row in rows]
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
            else:
                url = row[self.url_at] if self.url_at < len(row) else ""
                self._leave_out(line, "bad_width", url, f"{len(row)} cells, not {self.width}")
        return lines, list(zip(*rows, strict=True)) or [()] * self.width

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

    def _told(
        self, name: str, parse: Callable[[str], Any], columns: dict[str, list[Any]], cells: Sequence[str]
    ) -> list[Any]:
        """What the cells of a column say, each that differs parsed once; None where one is empty or not understood."""
        known: dict[str, Any] = {}
        bad = set()
        for cell in set(cells):
            text = cell.strip()
            known[cell] = None
            try:
                known[cell] = parse(text) if text else None
            except ValueError:
                bad.add(cell)
        if bad:
            for line, url, cell in zip(columns["line"], columns["url"], cells, strict=True):
                if cell in bad:
                    self._leave_out(line, "bad_cell", url, cell.strip(), column=self.mapping[name][0])
        return list(map(known.__getitem__, cells))

    def _keep_pages(self, columns: dict[str, list[Any]], cells: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
        """Leaves the rows that are pages, and says which of them are HTML. Returns their cells."""
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
        if not {"indexability", "status_code", "canonical_link"} & set(self.at):
            return
        size = len(columns["line"])
        said: list[bool | None] = [None] * size
        if "indexability" in self.at:
            said = self._told("indexability", values.parse_indexable, columns, cells[self.at["indexability"][0]])
        reasons = columns.setdefault("indexability_status", [""] * size)
        codes, links = columns.get("status_code", [None] * size), columns.get("canonical_link", [""] * size)
        for n, (told, code, link) in enumerate(zip(said, codes, links, strict=True)):
            if told is None:
                reason = ""
                if code is not None and not 200 <= code < 300:
                    reason = _status_reason(code)
                elif link and not self._is_own(link, columns["canonical_url"][n]):
                    reason = "Canonicalised"
                said[n] = not reason
                reasons[n] = reasons[n] or reason
        columns["indexable"] = said

    def _is_own(self, address: str, canonical: str) -> bool:
        try:
            return self.site.canonical_url(address) == canonical
        except (NotAnAddress, AnotherSite):
            return False

    # -------------------------------------------------------------------------------------------- categories

    def _categories(self, columns: dict[str, list[Any]], cells: Sequence[Sequence[str]]) -> list[int | None]:
        """The number of each row's trail."""
        if self.source == "folders":
            starts = list(map(folder, columns["canonical_url"]))
            known = {start: self.trails.number(folder_names(start)) for start in dict.fromkeys(starts)}
            numbers = list(map(known.__getitem__, starts))
        else:
            trail = self._structured_trail if self.source == "json-ld" else self._column_trail
            nothing = [""] * len(columns["line"])
            rows = zip(
                *(columns["line"], columns["url"], columns["canonical_url"]),
                *(columns.get("title", nothing), columns.get("h1", nothing)),
                zip(*(cells[index] for index in self.at["breadcrumb"]), strict=True),
                strict=True,
            )
            numbers = [self.trails.number(trail(_Row(*row))) for row in rows]
        self.trails.count(numbers)
        return numbers

    def _column_trail(self, row: _Row) -> PathOfNames:
        filled = row.crumbs if len(row.crumbs) > 1 else _ONE_CELL_TRAIL.split(row.crumbs[0])
        names = [name for cell in filled if (name := clean_name(cell))]
        if names and _is_page_itself(names[-1], row):
            names.pop()
        return tuple(names)

    def _structured_trail(self, row: _Row) -> PathOfNames:
        for text in row.crumbs:
            if "BreadcrumbList" not in text:
                continue
            try:
                crumbs = values.parse_json_ld(text)
            except ValueError:
                column = self.mapping["breadcrumb"][0]
                self._leave_out(row.line, "bad_cell", row.url, text[:200], column=column)
                continue
            if crumbs and self._last_is_page(crumbs[-1], row):
                crumbs.pop()
            return tuple(name for crumb, _ in crumbs if (name := clean_name(crumb)))
        return ()

    def _last_is_page(self, crumb: tuple[str, str], row: _Row) -> bool:
        """The last entry is the page where it has no address, as the standard allows for the page alone."""
        name, address = crumb
        return not address or self._is_own(address, row.canonical_url) or _is_page_itself(name, row)


class _Row(NamedTuple):
    """What tells a page's own entry in its breadcrumb; `crumbs` are the breadcrumb's cells."""

    line: int
    url: str
    canonical_url: str
    title: str
    h1: str
    crumbs: tuple[str, ...]


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


def _is_page_itself(crumb: str, row: _Row) -> bool:
    folded = crumb.casefold()
    title = row.title.casefold()
    if folded in (row.h1.casefold(), title):
        return True
    return title.startswith(folded) and _SUFFIX.match(title, len(folded)) is not None


def _status_reason(code: int) -> str:
    if code == 0:
        return "No Response"
    return {3: "Redirected", 4: "Client Error", 5: "Server Error"}.get(code // 100, f"Status {code}")
