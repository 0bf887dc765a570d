"""Lines of links that a site sets around its texts, told once all pages are read: by words that stand on many pages
(“part 3 of a series”), by targets that are lists (“#hills #rivers”), and by groups of pages that name each other."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from ingest.sources.reading.groups import Groups, lines_of_groups
from ingest.sources.reading.lists import AT_EDGES, FEW_WORDS, LABEL, PROSE
from ingest.sources.reading.site_names import folded, page_key, page_number
from ingest.sources.reading.text_lines import edges_of, letters, lines_of, words_beside

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from ingest.sources.reading.site_names import SiteNames
    from ingest.sources.reading.text_lines import Line, Link

FEWEST, SHARE = 5, 0.15  # pages with the words or with such a line, and of those that have a text
FIRST_WORDS = 2  # that stand on most pages before one link, whatever follows them: “Next in hills:”
NAMED, OTHERS = 0.8, 0.6  # of the lines with the same words: those whose links are names of pages, and of other ones
# Of what leads to the same pages again: the share of the texts with it, the fewest pages, and of the lines the most to
# one page. A plugin that takes the newest of a category names few pages, and each of them often.
OFTEN, VARIED, TO_ONE = 0.3, 20, 0.1
_LABEL_ENDS = (":", "–", "—", "→", "»", "›", "|", "：")
_WORD = re.compile(r"[^\W\d_]+")


class Surroundings(NamedTuple):
    """`leads` are numbers of words around links at the edges of texts, `frames` the same of words anywhere; `of_lists`
    tells whether lines of lists alone stand above texts and below them; `lists` are numbers of lists;
    `groups` are pages that name each other."""

    leads: frozenset[int]
    frames: frozenset[int]
    of_lists: tuple[bool, bool]
    lists: Collection[int]
    groups: Groups

    @classmethod
    def nothing(cls, lists: Collection[int]) -> Surroundings:
        return cls(frozenset(), frozenset(), (False, False), lists, Groups())

    def to_json(self) -> dict[str, Any]:
        return {
            "leads": sorted(self.leads),
            "frames": sorted(self.frames),
            "of_lists": self.of_lists,
            "groups": self.groups.to_json(),
        }

    def with_earlier(self, stored: dict[str, Any] | None) -> Surroundings:
        """With what was learned before, as `to_json` gave it."""
        if stored is None:
            return self
        above, below = stored["of_lists"]
        groups = self.groups.with_earlier(stored["groups"]) if "groups" in stored else self.groups
        return self._replace(
            leads=self.leads | {*stored["leads"]},
            frames=self.frames | {*stored.get("frames", ())},
            of_lists=(self.of_lists[0] or above, self.of_lists[1] or below),
            groups=groups,
        )

    def __bool__(self) -> bool:
        return bool(self.leads or self.frames or self.groups) or any(self.of_lists)


def learn(pages: Iterable[tuple[str, Sequence[Link]]], lists: Collection[int], names: SiteNames) -> Surroundings:
    """Learns from some pages of a site, as (text, links), all but its groups."""
    texts = 0
    on_pages, anywhere, at_edges = Counter[int](), Counter[int](), Counter[int]()
    frames = _Frames(names)
    of_lists = [0, 0]
    for text, links in pages:
        lines = lines_of(text, links)
        edges = dict(edges_of(lines))
        texts += any(line.beside >= PROSE for line in lines)
        found: set[int] = set()
        for number, line in enumerate(lines):
            if line.links:
                words = _words(text, links, line)
                leads = _leads(words)
                anywhere.update(leads)
                frames.add(text, links, line)
                if number in edges:
                    found.update(leads)
                    at_edges.update(leads)
        on_pages.update(found)
        frames.end_page()
        for is_end in (False, True):
            of_lists[is_end] += any(
                end == is_end and _names_lists(text, links, lines[number], lists) for number, end in edges.items()
            )
    least = max(FEWEST, SHARE * texts)
    kept = frozenset(
        lead for lead, count in on_pages.items() if count >= least and at_edges[lead] >= AT_EDGES * anywhere[lead]
    )
    of_lists_kept = of_lists[0] >= least, of_lists[1] >= least
    return Surroundings(kept, frames.learned(least, OFTEN * texts), of_lists_kept, lists, Groups())


class _Frames:
    """Sentences that a site writes around the names of other pages each time, wherever they stand in a text: “If you
    liked this, read also ...”; and labels before one of them: “Read next: ...”. An editor's that is written often names
    the same pages, or stands twice on a page."""

    def __init__(self, names: SiteNames) -> None:
        self.names = names
        self.on_pages = Counter[int]()
        self.lines: defaultdict[int, list[list[Link]]] = defaultdict(list)
        self.on_page: set[int] = set()

    def add(self, text: str, links: Sequence[Link], line: Line) -> None:
        if frame := _frame(text, links, line):
            self.on_page.add(frame)
            self.lines[frame].append([links[number] for number in line.links])

    def end_page(self) -> None:
        self.on_pages.update(self.on_page)
        self.on_page.clear()

    def learned(self, least: float, often: float) -> frozenset[int]:
        """Those on at least `least` pages; on `often` where they name the same pages again."""
        return frozenset(
            frame
            for frame, pages in self.on_pages.items()
            if pages >= least and self._is_of_site(pages, self.lines[frame], pages >= often)
        )

    def _is_of_site(self, pages: int, lines: list[list[Link]], is_often: bool) -> bool:
        targets = Counter(tuple(page_key(link.target) for link in line) for line in lines)
        is_varied = is_often and len(targets) >= VARIED and max(targets.values()) <= TO_ONE * pages
        if len(lines) > pages or (len(targets) < OTHERS * pages and not is_varied):
            return False
        named = sum(all(self.names.is_name(page_key(at.target), folded(at.anchor)) for at in line) for line in lines)
        return named >= NAMED * pages


def _words(text: str, links: Sequence[Link], line: Line) -> list[list[str]]:
    """The words of each piece of a line between its links."""
    return [_WORD.findall(piece.casefold()) for piece in words_beside(text, line, links)]


def _frame(text: str, links: Sequence[Link], line: Line) -> int:
    """A number of the words around the links of a line where they are a sentence, or a label before a link; else 0."""
    words = _words(text, links, line)
    is_sentence = sum(map(len, words)) >= FEW_WORDS
    return _around(words) if is_sentence or (words[0] and _is_labelled(text, links, line)) else 0


def _is_labelled(text: str, links: Sequence[Link], line: Line) -> bool:
    """Whether a line is one link behind a label."""
    before, *after = words_beside(text, line, links)
    return len(after) == 1 and before.rstrip().endswith(_LABEL_ENDS) and not letters(after[0])


def _around(words: Sequence[Sequence[str]]) -> int:
    return crc32(" ".join(word for piece in words for word in piece).encode("utf-8", "replace"))


def lines_of_site(
    url: str, text: str, links: Sequence[Link], lines: Sequence[Line], known: Surroundings, names: SiteNames
) -> set[int]:
    """The numbers of the lines that the site sets around a text."""
    found = {
        number
        for number, is_end in edges_of(lines)
        if not known.leads.isdisjoint(_leads(_words(text, links, lines[number])))
        or (known.of_lists[is_end] and _names_lists(text, links, lines[number], known.lists))
    }
    if known.frames:
        found.update(
            number for number, line in enumerate(lines) if line.links and _frame(text, links, line) in known.frames
        )
    if known.groups:
        found |= lines_of_groups(url, text, links, lines, names, known.groups)
    return found


def _leads(words: Sequence[Sequence[str]]) -> set[int]:
    """Numbers of the words around the links of a line, and of the first of those before one link."""
    found = {_around(words)} if any(words) else set()
    if len(words) == 2 and len(words[0]) > FIRST_WORDS and not words[1]:
        found.add(crc32(("\n" + " ".join(words[0][:FIRST_WORDS])).encode("utf-8", "replace")))
    return found


def _names_lists(text: str, links: Sequence[Link], line: Line, lists: Collection[int]) -> bool:
    """Whether a line is links to lists of pages, with few words beside them."""
    return (
        bool(line.links)
        and line.beside <= LABEL
        and all(page_number(links[number].target) in lists for number in line.links)
    )
