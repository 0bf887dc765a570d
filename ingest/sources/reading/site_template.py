"""What the pages of a site have in common: texts that repeat, and where their own text stands."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from ingest.sources.reading import edges, lists
from ingest.sources.reading.document import flatten, parse
from ingest.sources.reading.main_text import weigh
from ingest.sources.reading.outline import outline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ingest.sources.reading.outline import Outline

MAX_PAGES = 400  # learned from
FEWEST_PAGES = 3  # on which a text stands that repeats, or a path
REPEATED, MOST = 0.08, 0.3  # of the pages
MAX_BLOCKS = 2000  # of a page that are learned from
_LEAST_COVER = 0.3
# Of the text of a box: what is links or goes with them, and what are the first words of other pages, which a list of
# links does not have. The fewest of such a time.
IN_BOXES, TEASED, FEWEST_TEASERS = 0.8, 0.25, 2
# A list in a box of its own: of the pages that have what it stands in, of its text, and of a page's.
OF_HOLDERS, LEAST_LINKED, MOST_OF_PAGE = 0.6, 0.5, 0.5


@dataclass(frozen=True, slots=True)
class SiteTemplate:
    """What was learned from `pages` pages of a site.

    `repeated` has the keys of what stands on many of them, `everywhere` on most; see Outline.keys. `cover` says for
    paths that a page's own text may stand below which part of it does, from 0 to 1, over all pages with the path.
    `boxes` are paths below which nothing stands but names and first words of other pages; `leads` are the words that it
    writes around its own links before and after texts, see lists.leads. `lists` says of the pages' addresses, see
    lists.address_key, whether the page is a list of others. `rows` are those that
    it sets before and after its texts, see edges.learn.
    """

    pages: int = 0
    repeated: frozenset[int] = frozenset()
    everywhere: frozenset[int] = frozenset()
    cover: dict[int, float] = field(default_factory=dict)
    boxes: frozenset[int] = frozenset()
    leads: frozenset[int] = frozenset()
    lists: dict[int, bool] = field(default_factory=dict)
    rows: dict[int, int] = field(default_factory=dict)

    @classmethod
    def learn(cls, pages: Iterable[tuple[str, str]]) -> SiteTemplate:
        """Learns from pages as (address, HTML), as many as MAX_PAGES. Takes them in one pass, and keeps of each a few
        numbers a block."""
        seen: list[_Skeleton] = []
        counts: Counter[int] = Counter()
        for url, html in islice(pages, MAX_PAGES):
            page = outline(flatten(parse(html)))
            counts.update({*(block.key for block in page.blocks), *page.keys().values()})
            seen.append(_Skeleton(lists.address_key(url), page))
        fewest = max(FEWEST_PAGES, REPEATED * len(seen))
        repeated = frozenset(key for key, count in counts.items() if count >= fewest)
        most = max(FEWEST_PAGES, MOST * len(seen))
        everywhere = frozenset(key for key in repeated if counts[key] >= most)
        are_lists = {page.address: page.is_list(repeated) for page in seen}
        leads = _leads(seen)
        rows = edges.learn([page.edges for page in seen], edges.Known(everywhere, leads))
        return cls(len(seen), repeated, everywhere, _cover(seen, repeated), _boxes(seen), leads, are_lists, rows)

    def to_json(self) -> dict[str, Any]:
        return {
            "pages": self.pages,
            "repeated": sorted(self.repeated),
            "everywhere": sorted(self.everywhere),
            "boxes": sorted(self.boxes),
            "leads": sorted(self.leads),
            "lists": [[address, is_list] for address, is_list in sorted(self.lists.items())],
            "rows": [[key, size] for key, size in sorted(self.rows.items())],
            "cover": [[path, part] for path, part in sorted(self.cover.items())],
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> SiteTemplate:
        repeated, everywhere = frozenset(stored["repeated"]), frozenset(stored["everywhere"])
        boxes, leads = frozenset(stored["boxes"]), frozenset(stored.get("leads", ()))
        cover, are_lists = dict(stored["cover"]), dict(stored.get("lists", ()))
        rows = dict(stored.get("rows", ()))
        return cls(stored["pages"], repeated, everywhere, cover, boxes, leads, are_lists, rows)


class _Skeleton:
    """What is kept of a page while others are read: its blocks, and which of them each path holds."""

    def __init__(self, address: int, page: Outline) -> None:
        self.address = address
        blocks = sorted(page.blocks, key=lambda block: block.first)[:MAX_BLOCKS]
        self.blocks = [(block.key, weigh(block) if not page.zones[block.element] else 0.0) for block in blocks]
        own = [block for block in blocks if not page.zones[block.element]]
        self.leads = [*zip(lists.leads(page, own), lists.at_edges(own), strict=True)]
        self.edges = edges.pieces(page, own)
        self.names = [lists.names_pages(block) or (not block.linked and block.size <= lists.LABEL) for block in blocks]
        self.outside = [bool(page.zones[block.element]) for block in blocks]
        self.sizes = [(block.size, block.linked, block.size * block.is_teaser) for block in blocks]
        document = page.document
        spans: dict[tuple[int, int, int], None] = {}
        self.within: dict[int, int] = {}  # paths of elements with a class, and what they stand in
        first = {block.first: number for number, block in enumerate(blocks)}
        starts = _counts_before(first, len(document))
        for place, path in enumerate(page.paths):
            if path and path != page.paths[document.parents[place]]:
                span = (path, starts[place], starts[document.ends[place]])
                if span[1] < span[2]:
                    spans[span] = None
                    if document.attributes[place].get("class") and not page.zones[place]:
                        self.within[path] = page.paths[document.parents[place]]
        self.spans = list(spans)

    def is_list(self, repeated: frozenset[int]) -> bool:
        """Whether what is left without what repeats is little but names of pages."""
        total = listed = 0
        for (key, _), (size, linked, _), outside in zip(self.blocks, self.sizes, self.outside, strict=True):
            if key not in repeated and not outside:
                total += size
                listed += linked
        return listed >= IN_BOXES * total > 0


def _counts_before(first: dict[int, int], size: int) -> list[int]:
    counts, so_far = [], 0
    for place in range(size + 1):
        counts.append(so_far)
        so_far += place in first
    return counts


def _cover(pages: list[_Skeleton], repeated: frozenset[int]) -> dict[int, float]:
    held: dict[int, float] = {}
    total: dict[int, float] = {}
    on_pages: Counter[int] = Counter()
    for page in pages:
        sums = [0.0]
        for key, weight in page.blocks:
            sums.append(sums[-1] + (0.0 if key in repeated else weight))
        heaviest: dict[int, float] = {}
        for path, start, end in page.spans:
            heaviest[path] = max(heaviest.get(path, 0.0), sums[end] - sums[start])
        for path, weight in heaviest.items():
            held[path] = held.get(path, 0.0) + weight
            total[path] = total.get(path, 0.0) + sums[-1]
        on_pages.update(heaviest)
    return {
        path: round(held[path] / total[path], 4)
        for path, count in on_pages.items()
        if count >= FEWEST_PAGES and total[path] and held[path] >= _LEAST_COVER * total[path]
    }


def _boxes(pages: list[_Skeleton]) -> frozenset[int]:
    return _teasing(pages) | _lists(pages)


def _lists(pages: list[_Skeleton]) -> frozenset[int]:
    """Elements with a class of which nearly all pages that may have one do, and which hold little but links on all."""
    found: dict[int, list[float]] = {}
    holders: Counter[int] = Counter()
    within: dict[int, int] = {}
    for page in pages:
        sums = [(0, 0, 0)]
        for (size, linked, _), names in zip(page.sizes, page.names, strict=True):
            total, links, listed = sums[-1]
            sums.append((total + size, links + linked, listed + (size if names else 0)))
        within |= page.within
        holders.update({path for path, _, _ in page.spans})
        held: dict[int, list[int]] = {}
        for path, start, end in page.spans:
            if path in page.within:
                seen = held.setdefault(path, [0] * 3)
                for number in range(3):
                    seen[number] += sums[end][number] - sums[start][number]
        for path, (total, links, listed) in held.items():
            of_path = found.setdefault(path, [0.0] * 5)
            for number, value in enumerate((1, total, links, listed, total / sums[-1][0])):
                of_path[number] += value
    return frozenset(
        path
        for path, (times, total, links, listed, share) in found.items()
        if times >= max(FEWEST_PAGES, REPEATED * len(pages), OF_HOLDERS * holders[within[path]])
        and links >= LEAST_LINKED * total
        and listed >= IN_BOXES * total
        and share <= MOST_OF_PAGE * times
    )


def _teasing(pages: list[_Skeleton]) -> frozenset[int]:
    found: dict[int, list[int]] = {}
    for page in pages:
        sums = [(0, 0, 0, 0)]
        for size, linked, teased in page.sizes:
            total, links, about, teasers = sums[-1]
            either = max(linked, teased)
            sums.append((total + size, links + either, about + teased, teasers + (teased > 0)))
        for path, start, end in page.spans:
            seen = found.setdefault(path, [0] * 5)
            seen[0] += 1
            for number in range(4):
                seen[number + 1] += sums[end][number] - sums[start][number]
    return frozenset(
        path
        for path, (times, total, links, teased, teasers) in found.items()
        if times >= FEWEST_PAGES
        and links >= IN_BOXES * total
        and teased >= TEASED * total
        and teasers >= FEWEST_TEASERS * times
    )


def _leads(pages: list[_Skeleton]) -> frozenset[int]:
    on_pages: Counter[int] = Counter()
    times: Counter[int] = Counter()
    at_edges: Counter[int] = Counter()
    for page in pages:
        on_pages.update({lead for lead, _ in page.leads if lead})
        times.update(lead for lead, _ in page.leads if lead)
        at_edges.update(lead for lead, is_at_edge in page.leads if lead and is_at_edge)
    return frozenset(
        lead
        for lead, count in on_pages.items()
        if count >= lists.fewest(lead, len(pages)) and at_edges[lead] >= lists.AT_EDGES * times[lead]
    )
