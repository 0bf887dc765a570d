"""What the pages of a site have in common: texts that repeat, and where their own text stands."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

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


@dataclass(frozen=True, slots=True)
class SiteTemplate:
    """What was learned from `pages` pages of a site.

    `repeated` has the keys of what stands on many of them, `everywhere` on most; see Outline.keys. `cover` says for
    paths that a page's own text may stand below which part of it does, from 0 to 1, over all pages with the path.
    `boxes` are paths below which nothing stands but names and first words of other pages.
    """

    pages: int = 0
    repeated: frozenset[int] = frozenset()
    everywhere: frozenset[int] = frozenset()
    cover: dict[int, float] = field(default_factory=dict)
    boxes: frozenset[int] = frozenset()

    @classmethod
    def learn(cls, pages: Iterable[tuple[str, str]]) -> SiteTemplate:
        """Learns from pages as (address, HTML), as many as MAX_PAGES. Takes them in one pass, and keeps of each a few
        numbers a block."""
        seen: list[_Skeleton] = []
        counts: Counter[int] = Counter()
        for _, html in islice(pages, MAX_PAGES):
            page = outline(flatten(parse(html)))
            counts.update({*(block.key for block in page.blocks), *page.keys().values()})
            seen.append(_Skeleton(page))
        fewest = max(FEWEST_PAGES, REPEATED * len(seen))
        repeated = frozenset(key for key, count in counts.items() if count >= fewest)
        most = max(FEWEST_PAGES, MOST * len(seen))
        everywhere = frozenset(key for key in repeated if counts[key] >= most)
        return cls(len(seen), repeated, everywhere, _cover(seen, repeated), _boxes(seen))

    def to_json(self) -> dict[str, Any]:
        return {
            "pages": self.pages,
            "repeated": sorted(self.repeated),
            "everywhere": sorted(self.everywhere),
            "boxes": sorted(self.boxes),
            "cover": [[path, part] for path, part in sorted(self.cover.items())],
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> SiteTemplate:
        repeated, everywhere = frozenset(stored["repeated"]), frozenset(stored["everywhere"])
        return cls(stored["pages"], repeated, everywhere, dict(stored["cover"]), frozenset(stored["boxes"]))


class _Skeleton:
    """What is kept of a page while others are read: its blocks, and which of them each path holds."""

    def __init__(self, page: Outline) -> None:
        blocks = sorted(page.blocks, key=lambda block: block.first)[:MAX_BLOCKS]
        self.blocks = [(block.key, weigh(block) if not page.zones[block.element] else 0.0) for block in blocks]
        self.sizes = [(block.size, block.linked, block.size * block.is_teaser) for block in blocks]
        document = page.document
        spans: dict[tuple[int, int, int], None] = {}
        first = {block.first: number for number, block in enumerate(blocks)}
        starts = _counts_before(first, len(document))
        for place, path in enumerate(page.paths):
            if path and path != page.paths[document.parents[place]]:
                span = (path, starts[place], starts[document.ends[place]])
                if span[1] < span[2]:
                    spans[span] = None
        self.spans = list(spans)


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
