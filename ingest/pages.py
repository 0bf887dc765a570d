"""Rows of a pages file to what is staged for the table of pages. No database here."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ingest import values
from ingest.normalise import AnotherSite, NotAnAddress, clean_name, folders
from ingest.readers import screaming_frog

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    import numpy as np

    from ingest.normalise import Site
    from ingest.schema import Columns
    from ingest.skipped import Skipped

PathOfNames = tuple[str, ...]
HOME_SHARE = 0.9
_HOME = re.compile(
    r"home(?:page| page)?|start(?:seite|page)?|accueil|page d'accueil|inicio|início|página inicial|hem|forside|hjem"
    r"|strona główna|главная|ホーム|トップ|top|index|hauptseite|⌂|🏠",
    re.IGNORECASE,
)
_ONE_CELL_TRAIL = re.compile(r"\s*[>›»→]\s*|\s+[/|]\s+")
_SUFFIX = re.compile(r"\s*[|·•–—:-]\s")


@dataclass(slots=True)
class PageRow:
    """One page as staged. None stands for an empty cell of a number or time; text is never None."""

    line: int
    url: str
    canonical_url: str
    html: bool = True
    title: str = ""
    h1: str = ""
    headings: list[str] = field(default_factory=list)
    description: str = ""
    body: str = ""
    language: str = ""
    word_count: int | None = None
    status_code: int | None = None
    indexable: bool = True
    indexability_status: str = ""
    canonical_link: str = ""
    redirect_url: str = ""
    crawl_depth: int | None = None
    last_modified: datetime | None = None
    clicks: int | None = None
    impressions: int | None = None
    position: float | None = None
    category: int | None = None


class Trails:
    """The paths of categories met so far, each with a number, in the order they were met."""

    def __init__(self) -> None:
        self.numbers: dict[PathOfNames, int] = {}
        self.rows: Counter[int] = Counter()

    def number(self, path: PathOfNames) -> int | None:
        if not path:
            return None
        number = self.numbers.setdefault(path, len(self.numbers))
        self.rows[number] += 1
        return number

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
    TEXTS = (
        *("title", "h1", "description", "language", "indexability_status", "canonical_link", "redirect_url"),
        "content_type",
    )
    LIMITS = {"language": 35, "indexability_status": 100}

    def __init__(self, header: Sequence[str], mapping: Columns, site: Site, skipped: Skipped, json_ld: bool) -> None:
        self.site, self.skipped, self.mapping = site, skipped, mapping
        self.width = len(header)
        self.at = {name: [header.index(column) for column in columns] for name, columns in mapping.items()}
        self.texts = [(name, self.at[name][0]) for name in self.TEXTS if name in self.at]
        self.numbers = [(name, self.at[name][0], parse) for name, parse in self.NUMBERS if name in self.at]
        self.url_at = self.at["url"][0]
        self.source = "folders" if "breadcrumb" not in mapping else "json-ld" if json_ld else "columns"
        self.trails = Trails()
        self.not_pages = 0

    @property
    def filled(self) -> list[str]:
        """The columns of the pages table that the file speaks about."""
        direct = {
            name for name in self.at if name not in ("url", "vector", "breadcrumb", "content_type", "indexability")
        }
        if {"indexability", "status_code", "canonical_link"} & set(self.at):
            direct |= {"indexable", "indexability_status"}
        return sorted(direct)

    def parse(self, line: int, cells: Sequence[str]) -> PageRow | None:
        """The page of a row; None where the row is skipped or is no page."""
        if len(cells) != self.width:
            address = cells[self.url_at] if self.url_at < len(cells) else ""
            self.skipped.add(line, "bad_width", address=address, value=f"{len(cells)} cells, not {self.width}")
            return None
        url = cells[self.url_at].strip()
        canonical = self._canonical(line, url)
        if canonical is None:
            return None
        row = PageRow(line, url, canonical)
        content_type = ""
        for name, index in self.texts:
            text = cells[index].strip()
            if name == "content_type":
                content_type = text
            elif text:
                setattr(row, name, text[: self.LIMITS.get(name)])
        for name, index, parse in self.numbers:
            text = cells[index].strip()
            if text:
                try:
                    setattr(row, name, parse(text))
                except ValueError:
                    self._bad_cell(line, name, url, text)
        if "content_type" in self.at:
            if not screaming_frog.is_page(content_type, row.status_code, url):
                self.not_pages += 1
                return None
            row.html = screaming_frog.is_html(content_type)
        self._many(row, cells)
        self._indexable(row, cells)
        row.category = self.trails.number(self._trail(row, cells))
        return row

    def vector(self, line: int, url: str, cells: Sequence[str]) -> tuple[np.ndarray, bytes] | None:
        """The unit vector of a row with the sha256 of its cell; None where there is none or it is broken."""
        text = cells[self.at["vector"][0]].strip()
        if not text:
            return None
        try:
            return values.parse_vector(text), sha256(text.encode()).digest()
        except ValueError as error:
            column = self.mapping["vector"][0]
            self.skipped.add(line, "bad_vector", column=column, address=url, value=f"{error}: {text[:60]}")
            return None

    def _canonical(self, line: int, url: str) -> str | None:
        column = self.mapping["url"][0]
        if not url:
            self.skipped.add(line, "no_address", column=column)
            return None
        try:
            return self.site.canonical_url(url)
        except NotAnAddress:
            self.skipped.add(line, "bad_address", column=column, address=url)
        except AnotherSite:
            self.skipped.add(line, "another_site", column=column, address=url)
        return None

    def _bad_cell(self, line: int, name: str, url: str, text: str) -> None:
        self.skipped.add(line, "bad_cell", column=self.mapping[name][0], address=url, value=text)

    def _many(self, row: PageRow, cells: Sequence[str]) -> None:
        for name in ("headings", "body"):
            if name in self.at:
                parts = [part for index in self.at[name] if (part := cells[index].strip())]
                setattr(row, name, parts if name == "headings" else "\n\n".join(parts))

    def _indexable(self, row: PageRow, cells: Sequence[str]) -> None:
        """As the file says; where it does not, a page that answers 200 and is its own canonical."""
        if "indexability" in self.at:
            text = cells[self.at["indexability"][0]].strip()
            if text:
                try:
                    row.indexable = values.parse_indexable(text)
                    return
                except ValueError:
                    self._bad_cell(row.line, "indexability", row.url, text)
        if row.status_code is not None and not 200 <= row.status_code < 300:
            row.indexable = False
            row.indexability_status = row.indexability_status or _status_reason(row.status_code)
        elif row.canonical_link and not self._is_own(row.canonical_link, row.canonical_url):
            row.indexable = False
            row.indexability_status = row.indexability_status or "Canonicalised"

    def _is_own(self, address: str, canonical: str) -> bool:
        try:
            return self.site.canonical_url(address) == canonical
        except (NotAnAddress, AnotherSite):
            return False

    # -------------------------------------------------------------------------------------------- categories

    def _trail(self, row: PageRow, cells: Sequence[str]) -> PathOfNames:
        if self.source == "folders":
            return folders(row.canonical_url)
        if self.source == "json-ld":
            return self._structured_trail(row, cells)
        return self._column_trail(row, cells)

    def _column_trail(self, row: PageRow, cells: Sequence[str]) -> PathOfNames:
        filled = [cells[index] for index in self.at["breadcrumb"]]
        if len(filled) == 1:
            filled = _ONE_CELL_TRAIL.split(filled[0])
        names = [name for cell in filled if (name := clean_name(cell))]
        if names and _is_page_itself(names[-1], row):
            names.pop()
        return tuple(names)

    def _structured_trail(self, row: PageRow, cells: Sequence[str]) -> PathOfNames:
        for index in self.at["breadcrumb"]:
            text = cells[index]
            if "BreadcrumbList" not in text:
                continue
            try:
                crumbs = values.parse_json_ld(text)
            except ValueError:
                self._bad_cell(row.line, "breadcrumb", row.url, text[:200])
                continue
            if crumbs and self._last_is_page(crumbs[-1], row):
                crumbs.pop()
            return tuple(name for crumb, _ in crumbs if (name := clean_name(crumb)))
        return ()

    def _last_is_page(self, crumb: tuple[str, str], row: PageRow) -> bool:
        """The last entry is the page where it has no address, as the standard allows for the page alone."""
        name, address = crumb
        return not address or self._is_own(address, row.canonical_url) or _is_page_itself(name, row)


def _is_page_itself(crumb: str, row: PageRow) -> bool:
    folded = crumb.casefold()
    title = row.title.casefold()
    if folded in (row.h1.casefold(), title):
        return True
    return title.startswith(folded) and _SUFFIX.match(title, len(folded)) is not None


def _status_reason(code: int) -> str:
    if code == 0:
        return "No Response"
    return {3: "Redirected", 4: "Client Error", 5: "Server Error"}.get(code // 100, f"Status {code}")
