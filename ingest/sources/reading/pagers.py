"""Links to the page before and the page after, which a site sets above or below its texts.

They are told by their signs (“← Rivers”), if many pages have a line of such links alone; and, whatever their signs and
words, by naming each other in turn: the page after this one has this one as the page before.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ingest.sources.reading.lists import AT_EDGES
from ingest.sources.reading.site_names import folded, page_key, page_number
from ingest.sources.reading.text_lines import edges_of, words_beside

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from ingest.sources.reading.site_names import SiteNames
    from ingest.sources.reading.text_lines import Line, Link

BACK, ON = "←⟵⇐⬅◀◄«‹❮<", "→⟶⇒➡▶►»›❯>"  # signs of one look stand at the same place in both
FEWEST, SHARE = 5, 0.1  # pages with such links, and of those that have a text
MOST = 3  # links: the pages before and after, and that of all
ALIKE = 0.8  # of the pages with such signs: those with few of these links; of pairs: those that name each other in turn
POINT_BACK = 0.5  # of the pages with such signs, for “Read more →” points ahead alone; or as in surroundings.py:
NAMED, OTHERS = 0.8, 0.6  # of these pages: those whose links are names of pages, and how many pages these are
_IN_A_LINE, _IN_TWO = len(BACK), len(BACK) + 1  # the looks of two links, whatever their signs


class Row(NamedTuple):
    """Links at the beginning or end of a text: the numbers of their lines and of the links. `kind` is twice the number
    of their look, and one more at the end; `points_back` tells whether one has a sign to the page before."""

    kind: int
    lines: list[int]
    links: list[int]
    points_back: bool = False

    def is_pair(self) -> bool:
        return self.kind >> 1 >= _IN_A_LINE

    def is_whole(self) -> bool:
        return len(self.links) == 2 if self.is_pair() else len(self.links) <= MOST


def lines_of_pagers(text: str, links: Sequence[Link], lines: Sequence[Line], known: Collection[int]) -> set[int]:
    """The numbers of the lines of a page that are pagers; `known` are kinds of rows, as `Seen.learned` gives them."""
    found: set[int] = set()
    for row in _rows(text, links, lines):
        if row.kind in known and row.is_whole():
            found.update(row.lines)
    return found


class Seen:
    """What is kept of the pages of a site: 24 bytes for each that may have a pager."""

    def __init__(self, names: SiteNames) -> None:
        self.names = names
        self.pages, self.few, self.back, self.named = (Counter[int]() for _ in range(4))  # each by kinds
        self.within = Counter[int]()  # lines by looks
        self.targets: defaultdict[int, set[int]] = defaultdict(set)
        # By kinds: pages, those before and those after.
        self.pairs: defaultdict[int, list[array[int]]] = defaultdict(lambda: [array("Q") for _ in range(3)])

    def add(self, page: int, text: str, links: Sequence[Link], lines: Sequence[Line]) -> None:
        for row in _rows(text, links, lines):
            targets = [page_number(links[at].target) for at in row.links]
            if row.is_pair():
                for column, number in zip(self.pairs[row.kind], (page, targets[0], targets[-1]), strict=True):
                    column.append(number)
                continue
            self.pages[row.kind] += 1
            self.few[row.kind] += row.is_whole()
            self.back[row.kind] += row.points_back
            self.named[row.kind] += any(self._is_name(links[at]) for at in row.links)
            self.targets[row.kind].update(targets)
        at_edges = {number for number, _ in edges_of(lines)}
        for number, line in enumerate(lines):
            if line.links and number not in at_edges and (found := _signs(text, links, line)):
                self.within[found[0]] += 1

    def _is_name(self, link: Link) -> bool:
        return self.names.is_name(page_key(link.target), folded(link.anchor))

    def learned(self, texts: int) -> frozenset[int]:
        """The kinds of rows that are pagers, on a site with so many texts."""
        least = max(FEWEST, SHARE * texts)
        found = {kind for kind, pages in self.pages.items() if pages >= least and self._is_of_site(kind, pages)}
        for kind, columns in self.pairs.items():
            if _in_turn(*map(np.asarray, columns), least=least):
                found.add(kind)
        return frozenset(found)

    def _is_of_site(self, kind: int, pages: int) -> bool:
        if self.few[kind] < ALIKE * pages or pages < AT_EDGES * (pages + self.within[kind >> 1]):
            return False
        is_named = self.named[kind] >= NAMED * pages and len(self.targets[kind]) >= OTHERS * pages
        return is_named or self.back[kind] >= POINT_BACK * pages


def _in_turn(pages: NDArray[np.uint64], before: NDArray[np.uint64], after: NDArray[np.uint64], *, least: float) -> bool:
    """Whether the page after a page has this one before it, and the other way around; one link alone, on the first and
    last pages, stands for both."""
    whole = before != after
    ahead, behind = pages << np.uint64(32) | after, before << np.uint64(32) | pages
    turns = np.isin(ahead[whole], behind) & np.isin(behind[whole], ahead)
    return bool(turns.sum() >= max(least, ALIKE * whole.sum()))


def _rows(text: str, links: Sequence[Link], lines: Sequence[Line]) -> Iterator[Row]:
    """The rows of a page by their looks, and the outermost one or two links, if these stand alone."""
    found: dict[int, Row] = {}
    sides: tuple[list[int], list[int]] = ([], [])
    for number, is_end in edges_of(lines):
        sides[is_end].append(number)
        if signs := _signs(text, links, lines[number]):
            look, points_back = signs
            kind = look << 1 | is_end
            row = found.get(kind, Row(kind, [], []))
            found[kind] = Row(
                kind, [*row.lines, number], [*row.links, *lines[number].links], row.points_back or points_back
            )
    yield from found.values()
    for side, numbers in enumerate(sides):
        if outermost := _pair(text, links, lines, numbers[::-1] if side else numbers):
            look = _IN_A_LINE if len(outermost) == 1 else _IN_TWO
            yield Row(look << 1 | side, outermost, [at for number in outermost for at in lines[number].links])


def _pair(text: str, links: Sequence[Link], lines: Sequence[Line], numbers: Sequence[int]) -> list[int]:
    """The lines of the outermost links of a text in their order, if these are one or two and nothing beside them."""
    alone = [number for number in numbers[:2] if not _beside(text, links, lines[number])]
    if not alone or alone[0] != numbers[0] or len(lines[alone[0]].links) > 2:
        return []
    if len(alone) == 2 and abs(alone[1] - alone[0]) == 1 and all(len(lines[number].links) == 1 for number in alone):
        return sorted(alone)
    return alone[:1]


def _beside(text: str, links: Sequence[Link], line: Line) -> str:
    """Letters and digits beside the links of a line."""
    return folded("".join(words_beside(text, line, links)))


def _signs(text: str, links: Sequence[Link], line: Line) -> tuple[int, bool] | None:
    """The look of the signs of a line that is links alone, and whether one points back; None for other lines."""
    if len(line.links) > MOST or _beside(text, links, line):
        return None
    pieces = words_beside(text, line, links)
    found = []
    for number, (before, after) in zip(line.links, pairwise(pieces), strict=True):
        anchor = links[number].anchor.strip()
        begin, end = (before.rstrip()[-1:], anchor[:1]), (anchor[-1:], after.lstrip()[:1])
        starts = [sign for sign in begin if sign and sign in BACK + ON]
        ends = [sign for sign in end if sign and sign in BACK + ON]
        if bool(starts) != bool(ends):  # both are quotation marks
            found += [sign for sign in starts if sign in BACK] or ends
    if not found:
        return None
    return max(BACK.find(found[0]), ON.find(found[0])), any(sign in BACK for sign in found)
