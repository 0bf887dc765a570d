"""The text of a page by its lines, and the links in each: what is looked at once all pages of a site are read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ingest.sources.reading.lists import PROSE
from ingest.sources.reading.types import CONTENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Link(Protocol):
    """As it was read: `place` is that in the text, None for a link that is not there."""

    @property
    def target(self) -> str: ...
    @property
    def anchor(self) -> str: ...
    @property
    def block(self) -> str: ...
    @property
    def place(self) -> int | None: ...


@dataclass(slots=True)
class Line:
    """From `start` to `end` in the text. `links` are numbers of the page's links, `linked` the characters of these."""

    start: int
    end: int
    links: list[int] = field(default_factory=list)
    linked: int = 0

    @property
    def size(self) -> int:
        return self.end - self.start

    @property
    def beside(self) -> int:
        return self.size - self.linked


def lines_of(text: str, links: Sequence[Link]) -> list[Line]:
    """The lines of a text with the links that are editors' so far."""
    placed = [
        (link.place, number) for number, link in enumerate(links) if link.place is not None and link.block == CONTENT
    ]
    placed.sort(reverse=True)
    found, start = [], 0
    for words in text.split("\n"):
        line = Line(start, start + len(words))
        while placed and placed[-1][0] < line.end:
            _, number = placed.pop()
            line.links.append(number)
            line.linked += len(links[number].anchor)
        found.append(line)
        start = line.end + 1
    return found


def edges_of(lines: Sequence[Line]) -> Iterator[tuple[int, bool]]:
    """The lines with links before the first that is running text, and after the last, and whether it is after."""
    prose = [number for number, line in enumerate(lines) if line.beside >= PROSE]
    if prose:
        for number, line in enumerate(lines):
            if line.links and not prose[0] <= number <= prose[-1]:
                yield number, number > prose[-1]


def letters(text: str) -> int:
    """How many letters a text has."""
    return sum(map(str.isalpha, text))


def words_beside(text: str, line: Line, links: Sequence[Link]) -> list[str]:
    """The pieces of a line between its links, one more than these."""
    pieces, at = [], line.start
    for number in line.links:
        place = links[number].place or 0
        pieces.append(text[at:place])
        at = place + len(links[number].anchor)
    return [*pieces, text[at : line.end]]
