"""Which addresses belong to a crawl, and in which form they are asked for. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import re2

from ingest.addresses.normalise import AnotherSite, NotAnAddress, Site, is_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ingest.sources.connectors.crawler.options import Options

MEMO = 100_000  # addresses that are remembered
MAX_LENGTH, MAX_SEGMENTS = 2_000, 24
MOST_CALENDARS, MOST_EXAMPLES = 1_000, 5
MAX_EXAMPLE = 200  # characters of an address that is shown
REPEATS = 4  # times that a segment of the path may stand in it, less one
FIRST_YEAR, YEARS_AHEAD = 1990, 3
# Addresses that differ in parameters alone: with one parameter it may be the number of a product, with several they are
# the answers of a filter, of which there is no end.
MOST_OF_ONE, MOST_OF_SEVERAL = 20_000, 1_000
_SESSION = re.compile(
    r"phpsessid|jsessionid|aspsessionid\w*|oscsid|zenid|cfid|cftoken|session_?id|sessid|_ncforminfo", re.IGNORECASE
)
_SHORT_SESSION, _NUMBER = "sid", re.compile(r"\d{1,9}")  # with a number it is that of a story or a shop
_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/?#]*", re.IGNORECASE)
_NUMBERS = re.compile(r"\d+")
# Not where words follow, as in the address of a text about a day: /1980-01-16-meeting/.
_YEAR_MONTH = re.compile(r"(?<!\d)(\d{4})[-/](?:0?[1-9]|1[0-2])(?!\d)(?!(?:-\d\d?)?-[^\W\d])")


@dataclass(frozen=True, slots=True)
class Asked:
    """An address of the crawl: `key` tells it apart, `url` is asked for; `pattern` is empty where it has no
    parameters, and else the same for all that differ in their values alone, of which there may be `most`."""

    key: str
    url: str
    pattern: str = ""
    most: int = 0


class Scope:
    """The addresses of a site that are asked for, by the options of a crawl."""

    def __init__(self, site: Site, options: Options) -> None:
        self.site = site
        self.own_form = site if not (site.strip_slash or site.strip_www) else Site(site.base_url)
        self.include = [re2.compile(pattern) for pattern in options.include]
        self.exclude = [re2.compile(pattern) for pattern in options.exclude]
        self.ignored = {name.casefold() for name in options.ignore_parameters}
        self.kept = {name.casefold() for name in options.keep_parameters}
        self.last_year = datetime.now(UTC).year + YEARS_AHEAD
        self.trapped: set[str] = set()  # keys of addresses left out as endless, as many as MEMO
        self.calendars: set[str] = set()  # forms of addresses of months too far ahead, as many as MOST_CALENDARS
        self.examples: dict[str, str] = {}  # an address of each form that was left out, as many as MOST_EXAMPLES
        self._known: dict[str, Asked | None] = {}

    def clean(self, url: str) -> str:
        """An address without fragment, session and parameters that are left out; as it is where it has none."""
        url = url.partition("#")[0]
        if ";" in url:
            url = _PATH_SESSION.sub("", url)
        head, mark, query = url.partition("?")
        if not mark:
            return url
        kept = [part for part in query.split("&") if self._is_kept(*part.partition("=")[::2])]
        return f"{head}?{'&'.join(kept)}" if kept else head

    def _is_kept(self, name: str, value: str) -> bool:
        folded = name.casefold()
        if folded == _SHORT_SESSION and not _NUMBER.fullmatch(value):
            return folded in self.kept
        if _SESSION.fullmatch(folded) or folded in self.ignored:
            return False
        return not self.kept or folded in self.kept

    def find(self, url: str) -> Asked | None:
        """How an address is asked for; None for one of another site, one that the options leave out, one that is none
        of a page, and one that belongs to an endless row."""
        try:
            return self._known[url]
        except KeyError:
            if len(self._known) >= MEMO:
                self._known.clear()
            found = self._known[url] = self._find(url)
            return found

    def leave_out_series(self, asked: Asked) -> None:
        """Notes an address as one of an endless series."""
        if len(self.trapped) < MEMO:
            self.trapped.add(asked.key)
        if len(self.calendars) < MOST_CALENDARS:
            self.calendars.add(form_of(asked.url))
        if len(self.examples) < MOST_EXAMPLES:
            self.examples.setdefault(form_of(asked.url), asked.url)

    def is_of_another_site(self, url: str) -> bool:
        """Whether an address that `find` leaves out is left out for that."""
        try:
            self.own_form.canonical_url(self.clean(url))
        except AnotherSite:
            return True
        except NotAnAddress:
            return False
        return False

    def _find(self, url: str) -> Asked | None:
        try:
            cleaned = self.clean(url)
            asked = self.own_form.canonical_url(cleaned)
            key = asked if self.own_form is self.site else self.site.canonical_url(cleaned)
        except (NotAnAddress, AnotherSite):
            return None
        if self.include and not any(pattern.search(asked) for pattern in self.include):
            return None
        if any(pattern.search(asked) for pattern in self.exclude):
            return None
        path, mark, query = asked.partition("?")
        if is_file(path):  # answers of other types are noted without being read; these are not even asked for
            return None
        if self._is_endless(asked, path):
            if len(self.trapped) < MEMO:
                self.trapped.add(key)
            if len(self.examples) < MOST_EXAMPLES:
                self.examples.setdefault(form_of(asked), asked[:MAX_EXAMPLE])
            return None
        if not mark:
            return Asked(key, asked)
        names = sorted({part.partition("=")[0] for part in query.split("&")})
        return Asked(key, asked, f"{path}?{'&'.join(names)}", MOST_OF_ONE if len(names) == 1 else MOST_OF_SEVERAL)

    def _is_endless(self, url: str, path: str) -> bool:
        """Whether an address belongs to a row that calendars and mistakes in relative links make without end."""
        if len(url) > MAX_LENGTH:
            return True
        segments = [segment for segment in path.split("/")[3:] if segment]
        if len(segments) > MAX_SEGMENTS:
            return True
        if len(segments) >= REPEATS and any(segments.count(segment) >= REPEATS for segment in set(segments)):
            return True
        years = [int(year) for year in _YEAR_MONTH.findall(url)]
        if any(year > self.last_year for year in years) and len(self.calendars) < MOST_CALENDARS:
            self.calendars.add(form_of(url))
        return any(not FIRST_YEAR <= year <= self.last_year for year in years)


def forms_above(url: str, forms: Collection[str]) -> Iterator[str]:
    """Those of these forms, without a slash at their ends, that an address has or lies below."""
    form = form_of(url).rstrip("/")
    while form:
        if form in forms:
            yield form
        form = form.rpartition("/")[0]


def form_of(url: str) -> str:
    """An address with 0 in place of each of its numbers: the same for all the months of a calendar."""
    return _NUMBERS.sub("0", url)
