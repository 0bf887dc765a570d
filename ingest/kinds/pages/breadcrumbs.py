"""The path of categories that a page's breadcrumb names, without the page itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, Protocol
from urllib.parse import unquote, urljoin, urlsplit

from ingest.addresses.normalise import AnotherSite, clean_name
from ingest.cells import values
from ingest.files.column_names import header_key

if TYPE_CHECKING:
    from ingest.addresses.normalise import Site
    from ingest.kinds.pages.category_paths import PathOfNames

ONE_CELL_PATH = re.compile(r"[>›»→]|(?<=\s)[/|](?=\s)")  # single characters: the blanks around are cleaned away
_ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)
_SUFFIX = re.compile(r"[|·•–—:-]\s")


class LeaveOut(Protocol):
    """Notes a row, or a cell of a column, that is not imported; `reason` is a key of ingest.fields.skipped.REASONS."""

    def __call__(self, line: int, reason: str, url: str, value: str = "", *, column: str = "") -> None: ...


class CrumbRow(NamedTuple):
    """What tells a page's own entry in its breadcrumb; `crumbs` are the breadcrumb's cells."""

    line: int
    url: str
    canonical_url: str
    title: str
    h1: str
    canonical_link: str
    crumbs: tuple[str, ...]


class BreadcrumbReader:
    """Reads a page's path of categories out of its breadcrumb.

    `leave_out` is called for cells that cannot be read; `column` is the breadcrumb's.
    """

    def __init__(self, site: Site, column: str, leave_out: LeaveOut) -> None:
        self.site, self.column, self.leave_out = site, column, leave_out

    def from_columns(self, row: CrumbRow) -> PathOfNames:
        filled = row.crumbs if len(row.crumbs) > 1 else ONE_CELL_PATH.split(row.crumbs[0])
        names = [name for cell in filled if (name := clean_name(cell))]
        if names and _is_page_itself(names[-1], row):
            names.pop()
        return tuple(names)

    def from_json_ld(self, row: CrumbRow) -> PathOfNames:
        for text in row.crumbs:
            if "BreadcrumbList" not in text:
                continue
            try:
                crumbs = values.parse_json_ld(text)
            except ValueError:
                self.leave_out(row.line, "bad_cell", row.url, text[:200], column=self.column)
                continue
            if crumbs and self._last_is_page(crumbs[-1], row):
                crumbs.pop()
            return tuple(name for crumb, _ in crumbs if (name := clean_name(crumb)))
        return ()

    def _last_is_page(self, crumb: tuple[str, str], row: CrumbRow) -> bool:
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


def _is_page_itself(crumb: str, row: CrumbRow) -> bool:
    folded = crumb.casefold()
    title = row.title.casefold()
    if folded in (row.h1.casefold(), title):
        return True
    return title.startswith(folded) and _SUFFIX.match(title[len(folded) :].lstrip()) is not None


def is_in_h1(crumb: str, row: CrumbRow) -> bool:
    """Whether a breadcrumb's last name is a shortened H1: two words or more that follow each other there and make more
    than half of it. One page alone has such a name where it is the page's own."""
    name, h1 = (header_key(text).split() for text in (crumb, row.h1))
    if len(name) < 2 or 2 * len(name) <= len(h1):
        return False
    return any(h1[start : start + len(name)] == name for start in range(len(h1) - len(name) + 1))


def may_be_page(crumb: str, row: CrumbRow) -> bool:
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
