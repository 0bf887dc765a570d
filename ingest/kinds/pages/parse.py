"""Rows of a pages file to what is staged for the table of pages. No database here."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from itertools import compress
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import unquote, urljoin, urlsplit

from ingest.addresses.normalise import MAX_DEPTH, AnotherSite, NotAnAddress, clean_name, folder, folder_names, is_clean
from ingest.cells import values
from ingest.cells.markup import text_of
from ingest.fields.schema import columns_of
from ingest.files.column_names import header_key
from ingest.formats import screaming_frog, shopify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np

    from ingest.addresses.normalise import Site
    from ingest.fields.schema import Columns
    from ingest.fields.skipped import Skipped
    from ingest.files.table import Records

PathOfNames = tuple[str, ...]
HOME_SHARE = 0.9
_HOME = re.compile(
    r"home(?:page| page)?|start(?:seite|page)?|accueil|page d'accueil|inicio|início|página inicial|hem|forside|hjem"
    r"|strona główna|главная|ホーム|トップ|top|index|hauptseite|⌂|🏠",
    re.IGNORECASE,
)
_ONE_CELL_TRAIL = re.compile(r"[>›»→]|(?<=\s)[/|](?=\s)")  # single characters: the blanks around are cleaned away
_ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)
_SUFFIX = re.compile(r"[|·•–—:-]\s")


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
TRAFFIC = frozenset({"clicks", "impressions", "position"})


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
    """The paths of categories met so far, each with a number, in the order they were met.

    A breadcrumb that ends in the page itself makes a category of each page. Where the last name is the page's title or
    H1 the parser drops it; a shorter or older name only shows in the whole: OWN_CRUMBS and more of the paths that end
    at a depth, and most of them, then stand for one page alone and name it. The last name of these is dropped.
    """

    OWN_CRUMBS = 5

    def __init__(self) -> None:
        self.numbers: dict[PathOfNames, int] = {}
        self.rows: Counter[int] = Counter()
        self._only: dict[int, str] = {}  # number: key of the only page, of those that name it

    def number(self, path: PathOfNames) -> int | None:
        return self.numbers.setdefault(path, len(self.numbers)) if path else None

    def number_of(self, path: PathOfNames, key: str, is_named: Callable[[str], bool]) -> int | None:
        """As number(), of a breadcrumb of the page with that key; `is_named` tells whether a name may be the page's."""
        if not path:
            return None
        known = len(self.numbers)
        number = self.numbers.setdefault(path, known)
        if number == known and is_named(path[-1]):
            self._only[number] = key
        elif number in self._only and self._only[number] != key:
            del self._only[number]
        return number

    def count(self, numbers: Iterable[int | None]) -> None:
        """Notes the numbers of some rows."""
        self.rows.update(number for number in numbers if number is not None)

    def paths(self) -> list[PathOfNames]:
        """Path by number, without the page's own name and a “Home” that nearly all begin with; some may be empty."""
        home, own = self._home(), self._own_crumbs
        found = []
        for path, number in self.numbers.items():
            rest = path[:-1] if number in own else path
            found.append(rest[1:] if rest and rest[0] == home else rest)
        return found

    @property
    def own_crumbs(self) -> int:
        """How many paths ended in a page."""
        return len(self._own_crumbs)

    @cached_property
    def _own_crumbs(self) -> frozenset[int]:
        """The numbers of the paths whose last name is dropped; to be asked for when all rows were met."""
        inner: set[PathOfNames] = set()
        for path in self.numbers:
            while (path := path[:-1]) and path not in inner:
                inner.add(path)
        leaves: dict[int, list[int]] = {}
        for path, number in self.numbers.items():
            if path not in inner:
                leaves.setdefault(len(path), []).append(number)
        own: set[int] = set()
        for numbers in leaves.values():
            named = [number for number in numbers if number in self._only]
            if len(named) >= self.OWN_CRUMBS and len(named) * 2 > len(numbers):
                own.update(named)
        return frozenset(own)

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
        json_ld: bool = False,
        markup: bool = False,
    ) -> None:
        """`json_ld` and `markup` say that the breadcrumb is JSON-LD and the main text HTML."""
        self.site, self.skipped, self.mapping, self.markup = site, skipped, mapping, markup
        self.width = len(header)
        columns = columns_of(mapping)
        self.at = {name: [header.index(column) for column in found] for name, found in columns.items()}
        self.urls_at = self.at["url"]
        self.prefix = next(iter(mapping.get("prefix", [])), "")
        self.source = "folders" if "breadcrumb" not in mapping else "json-ld" if json_ld else "columns"
        self.trails = Trails()
        self.not_pages = 0
        self.more_rows = 0
        self.products = _Products.of(header, mapping)
        self._left_out: list[tuple[int, str, str, str, str]] = []

    @property
    def filled(self) -> list[str]:
        """The columns of the pages table that the file speaks about, but for those that traffic is read from."""
        others = {"url", "vector", "breadcrumb", "content_type", "indexability", *TRAFFIC}
        direct = set(self.at) - others
        if self.products is not None or {"indexability", "status_code", "canonical_link"} & set(self.at):
            direct |= {"indexable", "indexability_status"}
        return sorted(direct)

    @property
    def has_traffic(self) -> bool:
        return not TRAFFIC.isdisjoint(self.at)

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
        for name, parse in self.NUMBERS:
            if name in self.at:
                columns[name] = self._told(name, parse, columns, cells[self.at[name][0]])
        cells = self._keep_pages(columns, cells)
        if "headings" in self.at:
            columns["headings"] = [_filled(row) for row in zip(*(cells[i] for i in self.at["headings"]), strict=True)]
        if "body" in self.at:
            rows = zip(*(cells[i] for i in self.at["body"]), strict=True)
            columns["body"] = ["\n\n".join(_filled(map(text_of, row) if self.markup else row)) for row in rows]
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

    def _told(
        self, name: str, parse: Callable[[str], Any], columns: dict[str, list[Any]], cells: Sequence[str]
    ) -> list[Any]:
        """What the cells of a column say, each that differs parsed once; None where one is empty or not understood."""
        known, bad = values.of_cells(parse, cells)
        if bad:
            for line, url, cell in zip(columns["line"], columns["url"], cells, strict=True):
                if cell in bad:
                    self._leave_out(line, "bad_cell", url, cell.strip(), column=self.mapping[name][0])
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

    def worth(self, url: str, key: str, status_code: int | None, indexable: bool, canonical_link: str) -> int:
        """How well a row stands for its page where several do, see loader.BETTER_ROW.

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

    # -------------------------------------------------------------------------------------------- categories

    def _categories(self, columns: dict[str, list[Any]], cells: Sequence[Sequence[str]]) -> list[int | None]:
        """The number of each row's trail."""
        if self.source == "folders":
            starts = list(map(folder, columns["canonical_url"]))
            names = {start: folder_names(start) for start in dict.fromkeys(starts)}
            known = {start: self.trails.number(path[:MAX_DEPTH]) for start, path in names.items()}
            numbers = list(map(known.__getitem__, starts))
            if max(map(len, names.values()), default=0) > MAX_DEPTH:
                for line, url, start in zip(columns["line"], columns["url"], starts, strict=True):
                    self._cut(line, url, names[start])
        else:
            trail = self._structured_trail if self.source == "json-ld" else self._column_trail
            if self.products is not None:
                trail = self.products.trail
            nothing = [""] * len(columns["line"])
            rows = zip(
                *(columns["line"], columns["url"], columns["canonical_url"]),
                *(columns.get("title", nothing), columns.get("h1", nothing), columns.get("canonical_link", nothing)),
                zip(*(cells[index] for index in self.at["breadcrumb"]), strict=True),
                strict=True,
            )
            found = ((row, self._cut(row.line, row.url, trail(row))) for row in map(_Row._make, rows))
            if self.source == "columns" and self.products is None:
                numbers = [
                    self.trails.number_of(path, row.canonical_url, partial(_may_be_page, row=row))
                    for row, path in found
                ]
            else:
                numbers = [self.trails.number(path) for _, path in found]
        self.trails.count(numbers)
        return numbers

    def _cut(self, line: int, url: str, path: PathOfNames) -> PathOfNames:
        """A path of MAX_DEPTH names at most; what is cut is listed."""
        if len(path) > MAX_DEPTH:
            self._leave_out(line, "deep_category", url, path[MAX_DEPTH])
        return path[:MAX_DEPTH]

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
        """The last entry is the page where it has no address, as the standard allows for the page alone, or where its
        address is one of the page's."""
        name, address = crumb
        if not address or address == row.url or _is_page_itself(name, row):
            return True
        own = {self._bare_key(link, row.url) for link in (row.url, row.canonical_link) if link}
        return self._bare_key(address, row.url) in own

    def _bare_key(self, address: str, base: str) -> str:
        """An address of a page without what tells no pages apart: scheme, a leading `www.`, a slash at the end.

        A relative one is read against `base`; one that is none of the site comes back as it is.
        """
        try:
            key = self.site.canonical_url(address if _ABSOLUTE.match(address) else urljoin(base, address))
        except (ValueError, AnotherSite):
            return address
        path, mark, query = key.partition("://")[2].removeprefix("www.").partition("?")
        return f"{path.rstrip('/')}{mark}{query}"


class _Row(NamedTuple):
    """What tells a page's own entry in its breadcrumb; `crumbs` are the breadcrumb's cells."""

    line: int
    url: str
    canonical_url: str
    title: str
    h1: str
    canonical_link: str
    crumbs: tuple[str, ...]


class _Products:
    """What is particular to a shop's product file: several rows a product, and its own ways to say what is live."""

    def __init__(self, at: dict[str, int], is_tags: bool) -> None:
        self.at, self.is_tags = at, is_tags
        self._seen: set[str] = set()

    @classmethod
    def of(cls, header: Sequence[str], mapping: Columns) -> Self | None:
        """None where the file is none of products, or its address comes from another column than the handle."""
        if not shopify.is_products(header) or mapping["url"] != [shopify.column(header, "url")]:
            return None
        columns = {field: shopify.column(header, field) for field in shopify.NAMES}
        at = {field: header.index(column) for field, column in columns.items() if column is not None}
        return cls(at, [header_key(column) for column in mapping.get("breadcrumb", [])] == ["tags"])

    def are_first(self, cells: Sequence[Sequence[str]]) -> list[bool]:
        """Which rows begin a product: the first with its handle that has a title."""
        first = []
        for handle, title in zip(cells[self.at["url"]], cells[self.at["title"]], strict=True):
            begins = bool(title.strip()) and handle not in self._seen
            if begins:
                self._seen.add(handle)
            first.append(begins)
        return first

    def why_hidden(self, cells: Sequence[Sequence[str]]) -> list[str]:
        """Why each product cannot be found; empty where it can."""
        nothing = [""] * len(cells[0])
        status, published = (
            cells[self.at[field]] if field in self.at else nothing for field in ("indexability_status", "indexability")
        )
        return list(map(shopify.why_hidden, status, published))

    def trail(self, row: _Row) -> PathOfNames:
        """The category in a product's type, its taxonomy or its first tag: never the product itself."""
        cell = shopify.category(row.crumbs[0])
        names = [shopify.first_tag(cell)] if self.is_tags else _ONE_CELL_TRAIL.split(cell)
        return tuple(name for text in names if (name := clean_name(text)))


def address_worth(url: str, key: str) -> int:
    """How clean an address of a page is: 2 where it is the page's key, 1 where it has neither tracking parameters nor
    a fragment; added up."""
    return 2 * (url == key) + is_clean(url)


def address_order(url: str, key: str) -> tuple[int, int, str]:
    """Sorts a page's addresses, the one to know it by first: the cleanest, the shortest, by alphabet."""
    return -address_worth(url, key), len(url), url


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
    return title.startswith(folded) and _SUFFIX.match(title[len(folded) :].lstrip()) is not None


def _may_be_page(crumb: str, row: _Row) -> bool:
    """Whether a breadcrumb's last name may be a short or old one of the page, and not of what the page is in.

    It shares two thirds of its words with the title, the H1 or the last part of the address, and has more than half of
    the words there: “Roofing” does not name “Metal roofs and other roofing”. Nor does the name of a folder of the
    address: in /stoves/lite/ “Stoves” is no name of the page.
    """
    words = _words(crumb)
    *folders, last = urlsplit(row.canonical_url).path.rstrip("/").split("/")
    if not words or any(_words(folder) == words for folder in folders):
        return False
    for name in (last, row.h1, _SUFFIX.split(row.title, maxsplit=1)[0]):
        own = _words(name)
        if 3 * len(words & own) >= 2 * len(words) and 2 * len(words & own) > len(own):
            return True
    return False


def _words(text: str) -> set[str]:
    return set(header_key(unquote(text)).split())


def _status_reason(code: int) -> str:
    if code == 0:
        return "No Response"
    return {3: "Redirected", 4: "Client Error", 5: "Server Error"}.get(code // 100, f"Status {code}")
