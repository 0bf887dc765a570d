"""Names and first words of other pages in a text, and pages that are little else.

A teaser says what its page says: a link with the page's name and the beginning of the page's own text, in whatever
mark-up. What an editor writes of a page beside its name are words of the editor's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ingest.sources.reading.lists import FEWEST_NAMED, LABEL, LETTERS_BESIDE, LISTED, PART_BESIDE, TEASER
from ingest.sources.reading.site_names import OPENING, folded, page_key
from ingest.sources.reading.text_lines import letters, words_beside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.sources.reading.site_names import SiteNames
    from ingest.sources.reading.text_lines import Line, Link

NEAR = 3  # lines between a name and the first words of its page
CARD = 40  # characters of a link that may hold both
WORDS_BEFORE = 30  # among which words these may begin
FEWEST_LETTERS = 40  # of first words that have no name above them
INTRODUCTION = 300  # characters that may stand above a list
_LETTERS = re.compile(r"[^\W\d_]")


def find_teasers(url: str, text: str, links: Sequence[Link], lines: Sequence[Line], names: SiteNames) -> set[int]:
    """The numbers of the lines that name a page and begin as its text does."""
    page = _Page(page_key(url), text, links, lines, names, {})
    found: set[int] = set()
    for number, line in enumerate(lines):
        for at in line.links:
            if page_key(links[at].target) != page.key:
                found.update(page.teaser(number, at))
    return found


class _Page(NamedTuple):
    key: str
    text: str
    links: Sequence[Link]
    lines: Sequence[Line]
    names: SiteNames
    begun: dict[int, list[str]]  # by places in the text, SiteNames.beginnings

    def teaser(self, number: int, at: int) -> range:
        """The lines of the teaser that a link belongs to, which is in the line of this number."""
        line, link, names = self.lines[number], self.links[at], self.names
        anchor, start = link.anchor, link.place or 0
        key, end = page_key(link.target), start + len(anchor)
        if names.is_name(key, folded(anchor)):
            if letters(self.text[line.start : start]) > LETTERS_BESIDE:
                return range(0)  # within a sentence
            if letters(self.text[end : line.end]) > LETTERS_BESIDE and self._opens(key, end, line.end):
                return range(number, number + 1)
            if not is_all_links(self.text, self.links, line):
                return range(0)
            for below in range(number + 1, min(number + 1 + NEAR, len(self.lines))):
                words = self.lines[below]
                is_teaser = words.beside >= OPENING and self._opens(key, words.start, words.end)
                if is_teaser or self._leads_on(key, below):
                    return range(number, below + 1)
                if self.lines[below].beside > LABEL:
                    break
        elif len(anchor) >= CARD:
            if line.beside <= LETTERS_BESIDE and self._is_card(key, anchor):
                return range(number, number + 1)
        elif end >= line.end - 2:
            for above in range(number, max(number - NEAR, -1), -1):
                if self._begins(key, self.lines[above]) and (above == number or self._is_headed(key, above)):
                    return range(above - self._is_headed(key, above), number + 1)
        return range(0)

    def _opens(self, key: str, start: int, end: int) -> bool:
        """Whether a line, or the rest of one, is the first words of a page; they may go on in the next line."""
        if end - start > TEASER:
            return False
        if start not in self.begun:
            self.begun[start] = self.names.beginnings(self.text[start : start + TEASER], WORDS_BEFORE)
        return self.names.opens(key, self.begun[start])

    def _is_card(self, key: str, anchor: str) -> bool:
        """Whether a link is the name of its page, and then the first words."""
        if not (beginnings := self.names.beginnings(anchor, WORDS_BEFORE)):
            return False
        letters = folded(anchor)
        return any(
            self.names.is_name(key, letters[: letters.find(beginning)]) and self.names.opens(key, [beginning])
            for beginning in beginnings
        )

    def _leads_on(self, key: str, number: int) -> bool:
        """Whether a line of some words ends with a link to the page that was named above: “Read more”."""
        line = self.lines[number]
        if not line.links or not FEWEST_LETTERS <= line.beside <= TEASER:
            return False
        last = self.links[line.links[-1]]
        return page_key(last.target) == key and (last.place or 0) + len(last.anchor) >= line.end - 2

    def _begins(self, key: str, line: Line) -> bool:
        """The same for a line that has no name of the page: it begins with them, and they are not this page's too."""
        if not FEWEST_LETTERS <= line.beside <= TEASER:
            return False
        beginnings = self.names.beginnings(self.text[line.start : line.start + TEASER])
        return self.names.opens(key, beginnings) and not self.names.opens(self.key, beginnings)

    def _is_headed(self, key: str, number: int) -> bool:
        """Whether the line above is the name of a page."""
        above = self.lines[number - 1]
        return number > 0 and self.names.is_name(key, folded(self.text[above.start : above.end]))


def is_list_of_names(
    text: str, links: Sequence[Link], lines: Sequence[Line], teasers: set[int], names: SiteNames
) -> bool:
    """Whether a text is names of pages, most with their first words, below a sentence or two at most."""
    covered = likely = introduction = left = 0
    named = teased = 0
    for number, line in enumerate(lines):
        first = links[line.links[0]] if line.links else None
        is_named = first is not None and names.is_name(page_key(first.target), folded(first.anchor))
        if number in teasers:
            covered += line.size
            teased += bool(line.links)
            named += bool(line.links)
            left = 0
        elif line.links and is_all_links(text, links, line):
            covered += line.size
            named += is_named
            left = TEASER
        elif is_named and first is not None and first.place == line.start:
            likely += line.size if line.size <= TEASER else 0
            named += 1
        elif not named:
            introduction += line.size
        elif line.links:
            left = 0
        elif line.size <= LABEL and lines[number - 1].links:
            covered += line.size
        else:
            likely += min(left, line.size)
            left = 0
    if not teased or 2 * teased < named:
        return False
    total = sum(line.size for line in lines) - min(introduction, INTRODUCTION)
    return (named >= FEWEST_NAMED or named == teased) and covered + likely >= LISTED * total


def is_all_links(text: str, links: Sequence[Link], line: Line) -> bool:
    """Whether a line is links, with a date or a word at most beside them."""
    beside = sum(map(letters, words_beside(text, line, links)))
    return beside <= max(LETTERS_BESIDE, PART_BESIDE * line.linked)
