"""Lines of links that a site sets above and below its texts, told once all pages are read: by words that stand on many
pages (“part 3 of a series”), and by targets that are lists (“#hills #rivers”)."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from ingest.sources.reading.lists import AT_EDGES, LABEL, PROSE
from ingest.sources.reading.site_names import page_key
from ingest.sources.reading.text_lines import lines_of, words_beside

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ingest.sources.reading.text_lines import Line, Link

FEWEST, SHARE = 5, 0.15  # pages with the words or with such a line, and of those that have a text
FIRST_WORDS = 2  # that stand on most pages before one link, whatever follows them: “Next in hills:”
_WORD = re.compile(r"[^\W\d_]+")


class Surroundings(NamedTuple):
    """`leads` are numbers of words around links; `of_lists` tells whether lines of lists alone stand above texts and
    below them; `lists` are hashes of the addresses of lists."""

    leads: frozenset[int]
    of_lists: tuple[bool, bool]
    lists: Collection[int]

    def to_json(self) -> dict[str, Any]:
        return {"leads": sorted(self.leads), "of_lists": self.of_lists}

    def with_earlier(self, stored: dict[str, Any] | None) -> Surroundings:
        """With what was learned before, as `to_json` gave it."""
        if stored is None:
            return self
        above, below = stored["of_lists"]
        of_lists = self.of_lists[0] or above, self.of_lists[1] or below
        return self._replace(leads=self.leads | {*stored["leads"]}, of_lists=of_lists)

    def __bool__(self) -> bool:
        return bool(self.leads) or any(self.of_lists)


def list_key(url: str) -> int:
    return crc32(page_key(url).encode("utf-8", "replace"))


def learn(pages: Iterable[tuple[str, Sequence[Link]]], lists: Collection[int]) -> Surroundings:
    """Learns from some pages of a site, as (text, links)."""
    texts = 0
    on_pages, anywhere, at_edges = Counter[int](), Counter[int](), Counter[int]()
    of_lists = [0, 0]
    for text, links in pages:
        lines = lines_of(text, links)
        edges = dict(_edges(lines))
        texts += any(line.beside >= PROSE for line in lines)
        found: set[int] = set()
        for number, line in enumerate(lines):
            if line.links:
                leads = _leads(text, links, line)
                anywhere.update(leads)
                if number in edges:
                    found.update(leads)
                    at_edges.update(leads)
        on_pages.update(found)
        for is_end in (False, True):
            of_lists[is_end] += any(
                end == is_end and _names_lists(text, links, lines[number], lists) for number, end in edges.items()
            )
    least = max(FEWEST, SHARE * texts)
    kept = frozenset(
        lead for lead, count in on_pages.items() if count >= least and at_edges[lead] >= AT_EDGES * anywhere[lead]
    )
    return Surroundings(kept, (of_lists[0] >= least, of_lists[1] >= least), lists)


def lines_of_site(text: str, links: Sequence[Link], lines: Sequence[Line], known: Surroundings) -> list[int]:
    """The numbers of the lines that the site sets around a text."""
    return [
        number
        for number, is_end in _edges(lines)
        if not known.leads.isdisjoint(_leads(text, links, lines[number]))
        or (known.of_lists[is_end] and _names_lists(text, links, lines[number], known.lists))
    ]


def _edges(lines: Sequence[Line]) -> Iterator[tuple[int, bool]]:
    """The lines with links before the first that is running text, and after the last, and whether it is after."""
    prose = [number for number, line in enumerate(lines) if line.beside >= PROSE]
    if prose:
        for number, line in enumerate(lines):
            if line.links and not prose[0] <= number <= prose[-1]:
                yield number, number > prose[-1]


def _leads(text: str, links: Sequence[Link], line: Line) -> set[int]:
    """Numbers of the words around the links of a line, and of the first of those before one link."""
    pieces = words_beside(text, line, links)
    words = [_WORD.findall(piece.casefold()) for piece in pieces]
    around = " ".join(word for piece in words for word in piece)
    found = {around} if around else set()
    if len(line.links) == 1 and len(words[0]) > FIRST_WORDS and not words[1]:
        found.add("\n" + " ".join(words[0][:FIRST_WORDS]))
    return {crc32(said.encode("utf-8", "replace")) for said in found}


def _names_lists(text: str, links: Sequence[Link], line: Line, lists: Collection[int]) -> bool:
    """Whether a line is links to lists of pages, with few words beside them."""
    return (
        bool(line.links)
        and line.beside <= LABEL
        and all(list_key(links[number].target) in lists for number in line.links)
    )
