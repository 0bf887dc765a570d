"""At which page an address ends: the one rule for links, traffic and search queries. No database here.

An address means the page with its key (Site.canonical_url), and so without fragment and tracking parameters. Where the
project has no such page, it means the one under the other scheme, http or https, and with or without a leading `www.`.
From that page, redirects and canonicals lead on, see destinations().
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field, replace
from itertools import product, repeat
from typing import TYPE_CHECKING, NamedTuple, Self
from urllib.parse import urljoin

import numpy as np

from ingest.addresses.normalise import AnotherSite, NotAnAddress
from ingest.memo import Memo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from ingest.addresses.normalise import Site


class KnownPage(NamedTuple):
    """A page that may lead to another. `gone`: it is missing from the newest crawl, or answered with 404 or 410."""

    page: int
    url: str
    redirect: str
    canonical: str
    indexable: bool
    gone: bool


@dataclass(frozen=True)
class Moves:
    """Pages that lead to another one, ascending, and the page at which each ends; int64 [n]. Others stay themselves.

    `lost` [m] redirect to an address that no page has; they are theirs, too.
    """

    page: NDArray[np.int64]
    end: NDArray[np.int64]
    lost: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.page)

    @classmethod
    def of(cls, page: NDArray[np.int64], end: NDArray[np.int64]) -> Self:
        """From pages in any order, each once."""
        order = np.argsort(page)
        return cls(page[order], end[order])

    def ends_of(self, pages: NDArray[np.int64]) -> NDArray[np.int64]:
        """The pages at which these [n] end."""
        if not len(self.page):
            return pages
        places = np.minimum(np.searchsorted(self.page, pages), len(self.page) - 1)
        return np.where(self.page[places] == pages, self.end[places], pages)

    def end_of(self, page: int) -> int:
        """As `ends_of`, of one page."""
        if not len(self.page):
            return page
        place = int(self.page.searchsorted(page))
        return int(self.end[place]) if place < len(self.page) and self.page[place] == page else page

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Each page with its end."""
        return zip(self.page.tolist(), self.end.tolist(), strict=True)


NO_MOVES = Moves(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def destinations(pages: Iterable[KnownPage], find: Callable[[str, str], int], *, of_links: bool = False) -> Moves:
    """Where the pages of a project lead in the end. `pages` holds all of them that redirect, name a canonical or are
    gone; `find` gives the page of an address that is on the page of another (PageFinder.find_on), 0 for none.

    A redirect is followed to the end of its chain, as far as the pages are known, and from pages that are missing too:
    crawls lose sight of a redirect as soon as nothing links to it, while people still come by it. Pages that redirect
    in a circle stay where they are.

    A canonical is followed, several in turn, where somebody who follows it arrives: at a page of the project that is
    not gone and does not redirect elsewhere or in a circle. What a page named that is gone itself counts no more, nor
    does the canonical of a page that redirects. A canonical that leads back to its own page, as where http redirects
    to https and https names http, names the page itself; pages whose canonicals form a circle stay where they are.

    `of_links`: a link to an indexable page stays one to that page, whatever its canonical. Such a page is an acceptor
    of its own, so a link that counted for another page would be suggested again to a donor that has it. Clicks and
    queries do no such harm, and tell of the page that the site's owner wants to be found.
    """
    redirects, canonicals, gone = array("q"), array("q"), array("q")
    for known in pages:
        if known.gone:
            gone.append(known.page)
        if known.redirect:
            redirects.extend((known.page, find(known.url, known.redirect)))
        elif known.canonical and not known.gone and not (of_links and known.indexable):
            canonicals.extend((known.page, find(known.url, known.canonical)))
    page, to = _steps(redirects)
    redirected = _followed(page[to != 0], to[to != 0])
    lost = page[to == 0]
    astray = np.setdiff1d(page, redirected.page)
    page, to = _steps(canonicals)
    to = redirected.ends_of(to)
    arrives = (to != 0) & (to != page) & ~np.isin(to, astray) & ~np.isin(to, np.array(gone, dtype=np.int64))
    named = _followed(page[arrives], to[arrives])
    moves = Moves.of(
        np.concatenate([redirected.page, named.page]), np.concatenate([named.ends_of(redirected.end), named.end])
    )
    return replace(moves, lost=lost)


def _steps(pairs: array[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pages and where each leads, without those that lead to themselves."""
    page, to = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return page[page != to], to[page != to]


def _followed(page: NDArray[np.int64], to: NDArray[np.int64]) -> Moves:
    """Steps from pages, each once, followed to their ends; without those that come into a circle.

    Each round doubles the steps taken, so that a chain through a million pages is followed in twenty rounds.
    """
    steps = Moves.of(page, to)
    own = np.arange(len(steps))
    next_step = np.minimum(np.searchsorted(steps.page, steps.end), len(steps) - 1)
    is_last = steps.page[next_step] != steps.end
    last = np.where(is_last, own, next_step)
    for _ in range(len(steps).bit_length()):
        last = last[last]
    arrives = is_last[last]
    return Moves(steps.page[arrives], steps.end[last][arrives])


def reason_without_page(found: str, address: str, unknown: str = "page_unknown") -> str:
    """The reason for leaving out a row whose address means no page, from what PageFinder found; `unknown` is the reason
    where the address is one of the site that no page has."""
    reasons = {"bad": "bad_address" if address.strip() else "no_address", "external": "another_site"}
    return reasons.get(found, unknown)


class PageFinder:
    """Finds pages by address. Addresses are mostly written as their key is; others are remembered for a while.

    Paths, and addresses without a scheme, are those of the site.
    """

    def __init__(self, ids: dict[str, int], site: Site) -> None:
        self.ids, self.site, self.moves = ids, site, NO_MOVES
        scheme, _, rest = site.base_url.partition("://")
        self._scheme, self._host = scheme, rest.partition("/")[0].lower().removeprefix("www.")
        self.memo = Memo()

    def find(self, address: str) -> int | str:
        """The id of the page that the address means, or why there is none: `unknown`, `external`, `bad`."""
        found: int | str | None = self.ids.get(address) or self.memo.get(address)
        return self.memo.keep(address, self._look(address)) if found is None else found

    def find_all(self, addresses: Sequence[str]) -> NDArray[np.int64]:
        """The pages' ids [n]; 0 where there is none, or where a “#” at the end tells a placeholder."""
        found = np.fromiter(map(self.ids.get, addresses, repeat(0)), dtype=np.int64, count=len(addresses))
        missing = np.flatnonzero(found == 0).tolist()
        if missing:
            others = {address: self._page(address) for address in {addresses[n] for n in missing}}
            found[missing] = [others[addresses[n]] for n in missing]
        return found

    def find_end(self, address: str) -> int | str:
        """As `find`, the page at which the address ends."""
        found = self.find(address)
        return self.moves.end_of(found) if isinstance(found, int) else found

    def find_on(self, url: str, address: str) -> int:
        """The id of the page meant by an address that is on the page at `url` and may be relative to it; 0 for
        none."""
        if address in self.ids:
            return self.ids[address]
        try:
            found = self._look(urljoin(url, self._whole(address.strip())))
        except ValueError:  # of urljoin: a host in brackets that is none
            return 0
        return found if isinstance(found, int) else 0

    def key(self, address: str) -> str:
        """The key of an address as it is written. Raises NotAnAddress and AnotherSite."""
        return self.site.canonical_url(self.in_full(address))

    def forms(self, address: str) -> list[str]:
        """The keys under which the page at an address is looked for; none where the site has no such address."""
        try:
            return list(self._forms(address)) if address.strip() else []
        except (NotAnAddress, AnotherSite):
            return []

    def _forms(self, address: str) -> Iterator[str]:
        return variants(self.site.canonical_url(self._whole(address.strip())))

    def in_full(self, address: str) -> str:
        """An address as it is written, completed by the scheme, or by the site's host."""
        return self.site.full_address(self._whole(address.strip()))

    def _page(self, address: str) -> int:
        found = self.find(address)
        return found if isinstance(found, int) and not address.rstrip().endswith("#") else 0

    def _look(self, address: str) -> int | str:
        if not address.strip():
            return "bad"
        try:
            return next((self.ids[form] for form in self._forms(address) if form in self.ids), "unknown")
        except NotAnAddress:
            return "bad"
        except AnotherSite:
            return "external"

    def _whole(self, address: str) -> str:
        start = address.partition("/")[0].lower().removeprefix("www.")
        return f"{self._scheme}://{address}" if start == self._host else address


def variants(key: str) -> Iterator[str]:
    """A page's key, then the same under the other scheme, and with or without a leading `www.`."""
    scheme, _, rest = key.partition("://")
    bare = rest.removeprefix("www.")
    hosts = (rest, bare if bare != rest else f"www.{rest}")
    for host, start in product(hosts, (scheme, "http" if scheme == "https" else "https")):
        yield f"{start}://{host}"
