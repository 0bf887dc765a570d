"""Finds the role of a page. Where the evidence is thin the page is an article, which may give and receive links."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

import re2

from linker.engine.roles import sayings, words
from linker.engine.roles.days import days_in, days_in_address, end_of_month_in
from linker.engine.roles.policy import PageRole
from linker.engine.roles.words import keys, phrases, plain

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date


class PageFacts(NamedTuple):
    """What is known of a page.

    `text` is the beginning of its main text, empty where the import brought none; `words` are those of all of it, None
    where it was not counted. `links_out` are the distinct pages that its text links to and `link_share` the share of
    the text that is links; `links_in` are the distinct pages whose text links here, `menu_share` the share of the
    site's pages whose menus and footers do. `below` counts the pages that lie below it, by their addresses or by the
    category tree. `listed` are the pages that it names where its text is nothing but their names, as the crawl found.
    `is_of_calendar`: it is one of the months of a calendar without an end, as the crawl found."""

    url: str
    title: str = ""
    h1: str = ""
    language: str = ""
    text: str = ""
    words: int | None = None
    links_out: int = 0
    link_share: float = 0.0
    links_in: int = 0
    menu_share: float = 0.0
    below: int = 0
    listed: int = 0
    is_of_calendar: bool = False


class Found(NamedTuple):
    """The role with what speaks for it, to follow "found:"; `day` is the last day of an event."""

    role: PageRole
    why: str = ""
    day: date | None = None


@dataclass(frozen=True)
class SiteFacts:
    """What is known of the site. `texts_tell`: nearly all of its pages have a text that is worth reading, so that one
    without is an exception, and not the way the site was crawled. `sells_in`: parts of addresses below which most pages
    have a price, see `sections_with_prices`. `menus_tell`: menus and footers lead to a few pages alone, and not to all,
    as those of a handbook do. `has_root`: there is a page at the site's own address, so that “/home” is another."""

    base_url: str
    texts_tell: bool = False
    sells_in: frozenset[str] = frozenset()
    menus_tell: bool = True
    has_root: bool = False


THIN_WORDS = 15  # fewer say nothing
SHORT_WORDS = 150  # a list's own words
HEADING_WORDS = 40  # no more than what comes above a list
FEW_BELOW, FEW_LINKS = 2, 2
FEWEST_LISTED = 3  # pages that a list names, whatever it says of them; of fewer it says no more than above a list
EVENT_WORDS = 250  # more is a report, a recording or a transcript
LINKED = 2  # pages whose texts link to a page: editors have chosen it, whatever it looks like
LABEL = 40  # characters of a line that is a label
BEGINNING = 600  # characters of a text in which an event says its day
MANY_BELOW, MANY_LINKS, NOTHING_BUT_LINKS, MOSTLY_LINKS, PARTLY_LINKS = 5, 5, 0.7, 0.5, 0.3
IN_MENUS = 0.3
DEEPEST_LIST = 2  # parts of an address before what is listed

_CLEAR, _MAYBE = keys(words.CLEAR_UTILITY), keys(words.MAYBE_UTILITY) | keys(words.SEARCHES)
_NAMES = phrases(words.CLEAR_UTILITY) | phrases(words.MAYBE_UTILITY) | phrases(words.SEARCHES)
_ABOUT = keys(words.ABOUT)
_SEARCHES, _FILLERS = keys(words.SEARCHES), keys(words.FILLERS)
_MACHINERY, _ABOVE = keys(words.MACHINERY), keys(words.ABOVE_UTILITY)
_LISTS, _MAYBE_LISTS, _LIST_NAMES = keys(words.LISTS), keys(words.MAYBE_LISTS), phrases(words.LIST_NAMES)
_EVENTS, _EVENT_NAMES, _LOOKS_BACK = keys(words.EVENTS), phrases(words.EVENT_NAMES), phrases(words.LOOKS_BACK)
_LOOKS_BACK_FOLDERS = phrases(words.LOOKS_BACK_FOLDERS)
_LOOKS_BACK_ENDINGS, _WHO_WAS_THERE = tuple(keys(words.LOOKS_BACK_ENDINGS)), phrases(words.WHO_WAS_THERE)
_AFTERWARDS, _ANNOUNCES = phrases(words.AFTERWARDS), phrases(words.ANNOUNCES)
_PRODUCTS, _BUYING = keys(words.PRODUCTS), phrases(words.BUYING)
_PRICE = re2.compile(r"(?i)(?:[€£$₹]|\b(?:EUR|USD|GBP|CHF|Rs\.?|INR)) ?\d|\d ?(?:€|EUR\b|USD\b|CHF\b|Fr\.)")
_ENDING = re.compile(r"(?i)\.(?:html?|php|aspx?|jsp)$")
_NO_LETTERS = {code: None for code in range(128) if not chr(code).isalnum()}
_SEPARATORS = re.compile(r"(?<!\s)\s+[|–—·•»«:-]+\s+|:\s+")


def find_role(page: PageFacts, site: SiteFacts) -> Found:
    """The role of a page, with its evidence."""
    if page.is_of_calendar:
        return Found(PageRole.UTILITY, sayings.OF_CALENDAR.said())
    path = _path(page.url)
    found = _home(page, path, site) or _utility(page, path, site)
    return (
        found
        or _list(page)
        or _product(page, path, site)
        or _event(page, path)
        or _hub(page, path, site)
        or _thin(page, site)
        or _ARTICLE
    )


_ARTICLE = Found(PageRole.ARTICLE)


class _Path(NamedTuple):
    """`parts` of the address's path, plain and without spaces, without a language at its beginning (`language`)."""

    parts: tuple[str, ...]
    language: str
    query: str


class _Above(NamedTuple):
    """What the parts of an address before the last one say: the part below which there are products, events, lists and,
    where the page looks like one, lists as well; "" for none. `may_hold_utility`: a utility page may lie there."""

    product: str
    event: str
    lists: str
    maybe_lists: str
    may_hold_utility: bool


@lru_cache(maxsize=2**14)
def _above(parts: tuple[str, ...]) -> _Above:
    """Many pages share these parts, which are looked at once."""

    def first(names: frozenset[str], among: tuple[str, ...]) -> str:
        return next((part for part in among if part in names), "")

    return _Above(
        product=first(_PRODUCTS, parts),
        event=first(_EVENTS, parts),
        lists=first(_LISTS, parts[:DEEPEST_LIST]),
        maybe_lists=first(_LISTS | _MAYBE_LISTS, parts[:DEEPEST_LIST]),
        may_hold_utility=all(part in _ABOVE for part in parts),
    )


_UNREADABLE = _Path(("?",), "", "")


def _path(url: str) -> _Path:
    """The parts of an address. What comes before the last slash, which many pages share, is read once."""
    above, _, last = url.rstrip("/").rpartition("/")
    if "?" not in url and "#" not in url and "%" not in url and last.isprintable() and not above.endswith("/"):
        folder = _read_path(above)
        if folder.parts and folder != _UNREADABLE:
            return _Path((*folder.parts, _key(last)), folder.language, "")
    return _read_path(url)


@lru_cache(maxsize=2**14)
def _read_path(url: str) -> _Path:
    try:
        split = urlsplit(url)
    except ValueError:
        return _UNREADABLE
    raw = [part for part in unquote(split.path).split("/") if part]
    language = ""
    if raw and raw[0].lower().replace("_", "-").split("-")[0] in words.LANGUAGES and len(raw[0]) in (2, 5):
        language, raw = raw[0].lower()[:2], raw[1:]
    return _Path(tuple(map(_key, raw)), language, split.query)


def _key(part: str) -> str:
    """A part of an address without its ending, plain and without spaces."""
    part = _ENDING.sub("", part) if "." in part else part
    if not part.isascii():
        return plain(part).replace(" ", "")
    part = part.lower().replace("-", "")
    return part if part.isalnum() else part.translate(_NO_LETTERS)


@lru_cache(maxsize=8)
def _base_parts(base_url: str) -> tuple[str, ...]:
    return _path(base_url).parts


def _home(page: PageFacts, path: _Path, site: SiteFacts) -> Found | None:
    parts = path.parts
    if parts[-1:] in (("index",), ("home",), ("default",)) and not (site.has_root and not path.language):
        parts = parts[:-1]
    if path.query or parts != _base_parts(site.base_url):
        return None
    if path.language and page.language and not page.language.lower().startswith(path.language):
        return None  # the section /it/ of an English site
    return Found(PageRole.HOME, sayings.FIRST_PAGE.said())


# ---------------------------------------------------------------------------------------------------------- utility


def _utility(page: PageFacts, path: _Path, site: SiteFacts) -> Found | None:
    if not path.parts:
        return None
    for part in path.parts[:2]:
        if part in _MACHINERY and len(path.parts) <= 3:
            return Found(PageRole.UTILITY, sayings.ADDRESS_HAS.said(part=part))
    last, above = path.parts[-1], path.parts[:-1]
    if not _above(above).may_hold_utility or (above and last in _SEARCHES):
        return None
    in_menus = site.menus_tell and page.menu_share >= IN_MENUS
    clear = last in _CLEAR
    if last in _ABOUT and page.words is not None and page.words <= HEADING_WORDS and not page.below:
        return Found(PageRole.UTILITY, sayings.ADDRESS_ENDS_AND_LITTLE.said(last=last))
    if not clear and last not in _MAYBE:
        return _by_name(page) if in_menus else None
    name = _utility_name(page)
    if name:
        return Found(PageRole.UTILITY, sayings.ADDRESS_ENDS_AND_IS_CALLED.said(last=last, name=name))
    if clear or in_menus or not (page.title or page.h1):
        saying = sayings.ADDRESS_ENDS_AND_IN_MENUS if in_menus else sayings.ADDRESS_ENDS
        return Found(PageRole.UTILITY, saying.said(last=last))
    return None


def _by_name(page: PageFacts) -> Found | None:
    """A page in many menus or footers that goes by such a name, whatever its address ends in (`/node/12`)."""
    for name in _names(page):
        if plain(name).replace(" ", "") in _CLEAR | _MAYBE:
            return Found(PageRole.UTILITY, sayings.CALLED_AND_IN_MENUS.said(name=name))
    return None


def _names(page: PageFacts) -> list[str]:
    """The page's names: its H1 and its title, whole and without what follows a separator."""
    found = [page.h1, page.title]
    for name in (page.h1, page.title):
        found += _SEPARATORS.split(name)[:1]
    return [name for name in dict.fromkeys(map(str.strip, found)) if name]


LONGEST_NAME = 5  # words


def _utility_name(page: PageFacts) -> str:
    """The name by which the page says what it is, beside the site's own and words such as "us" or "form": "Contact us",
    "The Example privacy policy". Empty where none does."""
    host = plain(_host(page.url)).replace(" ", "")
    for name in _names(page):
        said = plain(name).split()
        if len(said) > LONGEST_NAME:
            continue
        parts = [(first, last) for first in range(len(said)) for last in range(first + 1, len(said) + 1)]
        for first, last in parts:
            rest = [*said[:first], *said[last:]]
            if " ".join(said[first:last]) in _NAMES and all(
                word in _FILLERS or word in _NAMES or word in host for word in rest
            ):
                return name
    return ""


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0]


# ------------------------------------------------------------------------------------------------- products, events


MIN_PRICES, MIN_PRICED_SHARE = 10, 0.5  # pages of a section that sells, and their share of it
PRODUCT_PARTS = sorted(part.strip() for part in words.PRODUCTS.split(","))  # as addresses have them


def sections_with_prices(pages: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The parts of addresses, such as “p” or “products”, below which most pages have a price; of some pages' addresses
    and the beginnings of their texts."""
    seen, priced = Counter[str](), Counter[str]()
    for url, text in pages:
        above = _above(_path(url).parts[:-1]).product
        seen[above] += 1
        priced[above] += _PRICE.search(text) is not None
    return frozenset(
        part for part, count in priced.items() if part and count >= max(MIN_PRICES, MIN_PRICED_SHARE * seen[part])
    )


def _product(page: PageFacts, path: _Path, site: SiteFacts) -> Found | None:
    above = _above(path.parts[:-1]).product
    if page.text and _PRICE.search(page.text):
        said = plain(page.text)
        buying = next((phrase for phrase in _BUYING if phrase in said), "")
        if buying:
            return Found(PageRole.PRODUCT, sayings.PRICE_AND_WORDS.said(words=buying))
        if above:
            return Found(PageRole.PRODUCT, sayings.ADDRESS_AND_PRICE.said(part=f"/{above}/"))
    if above in site.sells_in:
        return Found(PageRole.PRODUCT, sayings.PRICES_BELOW.said(part=f"/{above}/"))
    return None


def _event(page: PageFacts, path: _Path) -> Found | None:
    """A page in a section of events, or one that is called an event and names its day. Reports and minutes of one,
    posts that were written on that day or later, and what other texts link to stay articles."""
    if page.links_in >= LINKED or page.words is None or page.words > EVENT_WORDS or not page.text:
        return None
    title = f"{page.title} {page.h1}"
    named = plain(title).split()
    section = _above(path.parts[:-1]).event
    event = next((word for word in named if word in _EVENT_NAMES), "")
    if not (section or event) or _looks_back(named, page.url) or _is_over(page.text):
        return None
    days = days_in(title)
    in_address = days_in_address(page.url)
    if section:
        days = in_address or days
        if not days and path.parts[-2] == section:
            days = days_in(page.text[:BEGINNING])
        if days:
            why = sayings.ADDRESS_AND_DATED.said(part=f"/{section}/", day=max(days))
            return Found(PageRole.EVENT, why, max(days))
    day = max(days) if days else end_of_month_in(title)
    is_report = not section and day is not None and any(day <= written for written in in_address)
    if event and day is not None and not is_report:
        return Found(PageRole.EVENT, sayings.TITLE_AND_DATE.said(word=event), day)
    return None


def _looks_back(named: list[str], url: str) -> bool:
    """Whether a page's name, or the folder it is in, says that it reports on an event: “Minutes of ...”, /minutes/."""
    above = plain(unquote(url.partition("://")[2].rstrip("/").rpartition("/")[0].partition("/")[2])).split()
    if not _LOOKS_BACK_FOLDERS.isdisjoint(above):
        return True
    return any(word in _LOOKS_BACK or word.endswith(_LOOKS_BACK_ENDINGS) for word in (*named, *above))


def _is_over(text: str) -> bool:
    """Whether a text tells of an event that has taken place, with its slides, its recording or who was there."""
    said = plain(text)
    lines = text[:BEGINNING].split("\n")
    labels = (line.partition(":")[0] for line in lines if ":" in line or len(line) < LABEL)
    return any(phrase in said for phrase in _AFTERWARDS) or any(plain(label) in _WHO_WAS_THERE for label in labels)


# ------------------------------------------------------------------------------------------------------- hubs, thin


def _list(page: PageFacts) -> Found | None:
    """A page that is read as a list, whatever its address and its language: before a date makes an event of it."""
    few = page.listed < FEWEST_LISTED and page.link_share < PARTLY_LINKS
    if not page.listed or (few and (page.words or 0) > HEADING_WORDS * page.listed):
        return None
    return Found(PageRole.HUB, sayings.NAMES_PAGES.said(pages=f"{page.listed:,}"))


def _hub(page: PageFacts, path: _Path, site: SiteFacts) -> Found | None:
    if not path.parts:
        return None
    own = page.words is None or page.words <= SHORT_WORDS or page.link_share >= PARTLY_LINKS
    above_many = page.below >= MANY_BELOW
    is_bare = site.texts_tell and page.words is None
    above = _above(path.parts[:-1])
    lists = above.maybe_lists if page.below or page.links_out >= FEW_LINKS or is_bare else above.lists
    if lists and own and not _is_dated(path) and not any(part in _PRODUCTS for part in path.parts):
        return Found(PageRole.HUB, sayings.ADDRESS_HAS.said(part=f"/{lists}/"))
    if page.links_out >= MANY_LINKS and page.link_share >= NOTHING_BUT_LINKS:
        return Found(PageRole.HUB, sayings.MOSTLY_LINKS.said(share=f"{page.link_share:.0%}"))
    if page.words is not None and page.words <= HEADING_WORDS:
        if above_many or (page.below >= FEW_BELOW and page.link_share >= PARTLY_LINKS):
            return Found(PageRole.HUB, sayings.PAGES_BELOW.said(pages=f"{page.below:,}"))
        if page.links_out >= FEW_LINKS and page.link_share >= NOTHING_BUT_LINKS:
            return Found(PageRole.HUB, sayings.LINKS_AND_LITTLE.said(links=page.links_out))
    if own and page.below and all(part.isdigit() for part in path.parts):
        return Found(PageRole.HUB, sayings.ADDRESS_IS_DATE.said())
    is_index = path.parts[-1] == "index"
    if own and (above_many or is_index):
        for name in _names(page):
            if plain(name) in _LIST_NAMES or (is_index and "index" in plain(name)):
                return Found(PageRole.HUB, sayings.CALLED_WITH_PAGES_BELOW.said(name=name, pages=f"{page.below:,}"))
    if above_many and page.links_out >= MANY_LINKS and page.link_share >= MOSTLY_LINKS:
        why = sayings.PAGES_BELOW_AND_LINKS.said(pages=f"{page.below:,}", share=f"{page.link_share:.0%}")
        return Found(PageRole.HUB, why)
    return None


def _is_dated(path: _Path) -> bool:
    """Whether an article of a blog's archive: /archives/2015/05/03/name."""
    return any(part.isdigit() for part in path.parts[:-1]) and not path.parts[-1].isdigit()


def _thin(page: PageFacts, site: SiteFacts) -> Found | None:
    if not site.texts_tell or page.words is None or not page.text or page.links_in or page.below:
        return None
    if page.words >= THIN_WORDS or page.links_out >= FEW_LINKS:
        return None
    if not _ANNOUNCES.isdisjoint(plain(page.text).split()):
        return None
    why = sayings.ONE_WORD.said() if page.words == 1 else sayings.FEW_WORDS.said(words=page.words)
    return Found(PageRole.THIN, why)
