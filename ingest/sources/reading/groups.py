"""Boxes that name other pages, told by what they have in common on the pages of a site, whatever the words and the
language: the parts of a series, the chapters of a guide, the talks of an event, what others asked.

A box is a run of lines that are links, with the page's own name among them, not linked, or without it. The pages of a
group name each other, which lists of editors do now and then. So a run is a box where at least five pages all have the
same one, or where nearly all that stand below the same words, or at the same end of texts, name pages that name back.
Within texts it is one, too, where many pages have it below the same words, and always as many names, or at the same
place.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import numpy as np

from ingest.sources.reading import pagers
from ingest.sources.reading.lists import LABEL, LETTERS_BESIDE, PROSE
from ingest.sources.reading.site_names import folded, page_key, page_number
from ingest.sources.reading.text_lines import letters, lines_of, words_beside

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from ingest.sources.reading.site_names import SiteNames
    from ingest.sources.reading.text_lines import Line, Link

FEWEST, SHARE = 5, 0.02  # pages with runs of a kind, and of those that have a text
ALIKE, NAMED_BACK = 0.8, 0.6  # of the runs of a kind that are boxes; of the pages that a run names
SAME_SET = 3  # pages that name the same group
WHOLE = 0.8  # of a group's pages that have its box
FIXED, SAME_SIZE = 3, 0.9  # names in the runs of a kind, and of these
OF_TEXTS = 0.1  # pages that have one run of a kind, of those that have a text
BESIDE = 0.5  # letters beside the links of an item, of those of its links
SIGNS = 20  # the same of figures, signs and blanks
OWN = 300  # characters of a line that names its own page
AROUND_NAME = 4  # words before it and after it, such as “Part 3:” and “(you are here)”
FIRST_WORDS = 2  # of a label, whatever follows them: “More by”
# What the lowest bits of the number of a kind say: where it stands, and whether words tell it.
_ABOVE, _WITHIN, _BELOW, _HAS_WORDS = 1, 2, 4, 8
_SIDES = _ABOVE | _WITHIN | _BELOW
_WORD = re.compile(r"[^\W\d_]+")
_PART = re.compile(r"[^\W_]+")


class Run(NamedTuple):
    """Lines of links, one after another: `lines` are their numbers with that of the page's own name, `label` that of
    the line above that introduces them, if there is one. `targets` are numbers of the other pages that they name,
    `kinds` those of the kinds of runs that it is of (0: none). `above` counts the lines above it that are in no other
    run."""

    lines: list[int]
    label: int | None
    targets: list[int]
    kinds: tuple[int, int]
    above: int


class Groups(NamedTuple):
    """`kinds` of runs that are boxes, numbers of sets of pages that name each other, and kinds of `pagers`."""

    kinds: frozenset[int] = frozenset()
    sets: frozenset[int] = frozenset()
    pagers: frozenset[int] = frozenset()

    def to_json(self) -> dict[str, Any]:
        return {"kinds": sorted(self.kinds), "sets": sorted(self.sets), "pagers": sorted(self.pagers)}

    def with_earlier(self, stored: dict[str, Any]) -> Groups:
        pagers = self.pagers | {*stored.get("pagers", ())}
        return Groups(self.kinds | {*stored["kinds"]}, self.sets | {*stored["sets"]}, pagers)

    def __bool__(self) -> bool:
        return bool(self.kinds or self.sets or self.pagers)


def lines_of_groups(
    url: str, text: str, links: Sequence[Link], lines: Sequence[Line], names: SiteNames, known: Groups
) -> set[int]:
    """The numbers of the lines of a page that are boxes, with the words above them, or pagers."""
    found = pagers.lines_of_pagers(text, links, lines, known.pagers) if known.pagers else set()
    for run in runs(url, text, links, lines, names):
        is_kind = not known.kinds.isdisjoint(run.kinds)
        if is_kind or _set_number({*run.targets, page_number(url)}) in known.sets:
            found.update(run.lines)
            if run.label is not None and (is_kind or not lines[run.label].links):
                found.add(run.label)
    return found


def runs(url: str, text: str, links: Sequence[Link], lines: Sequence[Line], names: SiteNames) -> Iterator[Run]:
    """The runs of links in a text."""
    page = _Page(page_key(url), text, links, lines, names)
    if not any(map(page.is_item, range(len(lines)))):
        return
    prose = [number for number, line in enumerate(lines) if line.beside >= PROSE]
    number = in_runs = 0
    while number < len(lines):
        if not page.is_item(number):
            number += 1
            continue
        first, number = page.run_from(number)
        if targets := page.targets(range(first, number)):
            label, words = page.label(first)
            side = _ABOVE if not prose or prose[0] >= first else _BELOW if prose[-1] < number else _WITHIN
            yield Run([*range(first, number)], label, targets, _kinds(side, words), first - in_runs)
            in_runs += number - first + (label is not None)


class _Page(NamedTuple):
    key: str
    text: str
    links: Sequence[Link]
    lines: Sequence[Line]
    names: SiteNames

    def is_item(self, number: int) -> bool:
        """Whether a line is links, with a time or a person beside them at most."""
        line = self.lines[number]
        if not line.links:
            return False
        most = max(LETTERS_BESIDE, BESIDE * line.linked)
        if line.beside > most + SIGNS:
            return False
        return line.beside <= most or sum(map(letters, words_beside(self.text, line, self.links))) <= most

    def run_from(self, number: int) -> tuple[int, int]:
        """The first line of the run that an item begins, and the one after its last. Names in one line with words
        before them are a run of their own."""
        if self.is_whole(number):
            return number, number + 1
        first = number - (number > 0 and self.names_itself(number - 1))
        while number < len(self.lines) and (self.is_item(number) or self.is_own_item(number)):
            if self.is_whole(number):
                break
            number += 1
        return first, number

    def is_whole(self, number: int) -> bool:
        return len(self.lines[number].links) > 1 and bool(self.words_before(number))

    def words_before(self, number: int) -> list[str]:
        """The words of a line before its first link."""
        return _WORD.findall(words_beside(self.text, self.lines[number], self.links)[0].casefold())

    def is_own_item(self, number: int) -> bool:
        """Whether a line within a run is the page itself: by its name, or by the word that the others begin with."""
        if self.names_itself(number):
            return True
        line, above = self.lines[number], self.lines[number - 1]
        if line.links or line.size > LABEL or number + 1 == len(self.lines) or not self.is_item(number + 1):
            return False
        first = _WORD.match(self.text, line.start)
        return first is not None and self.text.startswith(first[0], above.start)

    def names_itself(self, number: int) -> bool:
        line = self.lines[number]
        if line.links or line.size > OWN:
            return False
        words = _PART.findall(self.text[line.start : line.end])
        return any(
            self.names.is_name(self.key, folded("".join(words[before : len(words) - after])))
            for before in range(min(AROUND_NAME, len(words)))
            for after in range(min(AROUND_NAME, len(words) - before))
        )

    def targets(self, numbers: Iterable[int]) -> list[int]:
        links = (self.links[at] for number in numbers for at in self.lines[number].links)
        return list(dict.fromkeys(page_number(link.target) for link in links if page_key(link.target) != self.key))

    def label(self, first: int) -> tuple[int | None, list[str]]:
        """The short line above a run, and its words beside its links; of names in one line the words before them."""
        if self.is_whole(first):
            return None, self.words_before(first)
        if not first or self.lines[first - 1].beside >= PROSE:
            return None, []
        above = self.lines[first - 1]
        return first - 1, _WORD.findall(" ".join(words_beside(self.text, above, self.links)).casefold())


def _kinds(side: int, words: list[str]) -> tuple[int, int]:
    """Numbers of where a run stands, and below which words: by all of them, and by the first. Within the text words
    have to tell it."""
    if not words:
        return (0 if side == _WITHIN else side), 0
    said = [" ".join(words), "\n" + " ".join(words[:FIRST_WORDS])]
    whole, beginning = (crc32(text.encode("utf-8", "replace")) << 4 | side | _HAS_WORDS for text in said)
    return whole, beginning if len(words) > FIRST_WORDS else 0


def _set_number(pages: Iterable[int]) -> int:
    whole = array("Q", sorted(pages)).tobytes()
    return int.from_bytes(blake2b(whole, digest_size=7).digest(), "little")


class _Seen:
    """What is kept of the runs of a site: 8 bytes for each name, and some 60 for each run."""

    def __init__(self) -> None:
        self.pages, self.targets, self.starts = array("Q"), array("Q"), array("Q")  # the first two for each name
        self.named, self.closed = array("Q"), array("Q")  # numbers of the set that is named, and with the page itself
        self.sizes, self.above = array("L"), array("L")
        self.kinds: tuple[array[int], array[int]] = array("Q"), array("Q")

    def add(self, page: int, run: Run) -> None:
        self.starts.append(len(self.targets))
        self.targets.extend(run.targets)
        self.pages.extend([page] * len(run.targets))
        self.named.append(_set_number(run.targets))
        self.closed.append(_set_number({*run.targets, page}))
        self.sizes.append(len(run.targets))
        self.above.append(run.above)
        for kinds, kind in zip(self.kinds, run.kinds, strict=True):
            kinds.append(kind)


def learn(pages: Iterable[tuple[str, str, Sequence[Link]]], names: SiteNames) -> Groups:
    """Learns from all pages of a site, as (address, text, links)."""
    seen, seen_pagers, texts = _Seen(), pagers.Seen(names), 0
    for url, text, links in pages:
        texts += len(text) >= PROSE
        if links:
            page = page_number(url)
            lines = lines_of(text, links)
            seen_pagers.add(page, text, links, lines)
            found = runs(url, text, links, lines, names)
            for run in {tuple(run.targets): run for run in found}.values():
                seen.add(page, run)
    known_pagers = seen_pagers.learned(texts)
    if not seen.sizes:
        return Groups(pagers=known_pagers)
    closed, sizes = np.asarray(seen.closed), np.asarray(seen.sizes)
    times = _times(closed, closed)
    whole = times >= np.maximum(FEWEST, WHOLE * (sizes + 1))
    return Groups(_learned_kinds(seen, texts), frozenset(closed[whole].tolist()), known_pagers)


def _times(numbers: NDArray[np.uint64], among: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How often each of the numbers is among others."""
    known, counts = np.unique(among, return_counts=True)
    at = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    return np.where(known[at] == numbers, counts[at], 0)


def _are_boxes(seen: _Seen) -> NDArray[np.bool_]:
    """Which runs name pages that name back, or the same ones as others do."""
    named, closed = np.asarray(seen.named), np.asarray(seen.closed)
    pages, targets = np.asarray(seen.pages), np.asarray(seen.targets)
    back = np.isin(targets << np.uint64(32) | pages, pages << np.uint64(32) | targets)
    mutual = np.add.reduceat(back.astype(np.int64), np.asarray(seen.starts).astype(np.int64))
    both = np.concatenate((named, closed))
    same = np.maximum(_times(named, both), _times(closed, both))
    found: NDArray[np.bool_] = (mutual >= NAMED_BACK * np.asarray(seen.sizes)) | (same >= SAME_SET)
    return found


class _Kind:
    """What is counted of the runs of a kind."""

    def __init__(self) -> None:
        self.times = self.pages = self.judged = self.boxes = 0
        self.page = -1
        self.sizes, self.above = Counter[int](), Counter[int]()

    def add(self, page: int, size: int, above: int, is_box: bool) -> None:
        self.times += 1
        self.pages += page != self.page
        self.page = page
        self.sizes[size] += 1
        self.above[above] += 1
        if size > 1:
            self.judged += 1
            self.boxes += is_box

    def names_back(self, texts: int) -> bool:
        return self.judged >= max(FEWEST, SHARE * texts) and self.boxes >= ALIKE * self.judged

    def repeats(self, texts: int) -> bool:
        """Whether many pages have one such run, always of the same number of names, or as far below the top: lists of
        editors have as many names as they need, below what they wrote."""
        if self.pages < max(FEWEST, OF_TEXTS * texts) or self.times > self.pages:
            return False
        [(size, alike)] = self.sizes.most_common(1)
        at_place = max(self.above[above] + self.above[above + 1] for above in list(self.above))
        return (size >= FIXED and alike >= SAME_SIZE * self.times) or at_place >= ALIKE * self.times


def _learned_kinds(seen: _Seen, texts: int) -> frozenset[int]:
    pages = np.asarray(seen.pages)[np.asarray(seen.starts).astype(np.int64)].tolist()
    boxes = _are_boxes(seen).tolist()
    found: set[int] = set()
    for kinds in seen.kinds:
        often = {kind for kind, times in Counter(kinds).items() if kind and times >= FEWEST}
        counted: defaultdict[int, _Kind] = defaultdict(_Kind)
        for kind, page, size, above, is_box in zip(kinds, pages, seen.sizes, seen.above, boxes, strict=True):
            if kind in often:
                counted[kind].add(page, size, above, is_box)
        for kind, of_kind in counted.items():
            if kind & _HAS_WORDS and kind & _WITHIN and of_kind.repeats(texts):
                found.update(kind & ~_SIDES | side for side in (_WITHIN, _ABOVE, _BELOW))
            elif of_kind.names_back(texts):
                found.add(kind)
    return frozenset(found)
