"""A page as a reader would find it, made of the text that an import holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from linker.engine.text.clean import collapse, visible
from linker.engine.text.sentences import find_phrase, reads_as

if TYPE_CHECKING:
    from linker.models import Page

MAX_PARAGRAPHS = 400
MAX_PHRASE = 200


@dataclass(frozen=True)
class TextParagraph:
    """A paragraph in three parts, of which the middle one is the words looked for; mostly empty."""

    before: str
    words: str = ""
    after: str = ""
    is_heading: bool = False


@dataclass(frozen=True)
class PageText:
    """`is_cut`: the page goes on."""

    paragraphs: tuple[TextParagraph, ...]
    is_cut: bool


def page_text(page: Page, words: str = "", place: tuple[int, int] | None = None) -> PageText:
    """The page's text by paragraphs, its headings known by their words, and `words` marked: at their place, from
    character to character of the text, or else the first time they stand there."""
    words = words[:MAX_PHRASE]
    if place is not None and not reads_as(page.body, *place, words):
        place = None
    headings = {collapse(visible(heading)) for heading in (page.h1, *page.headings)}
    found, following = False, 0
    paragraphs: list[TextParagraph] = []
    for line in page.body.split("\n"):
        first, following = following, following + len(line) + 1
        if not line.strip():
            continue
        if len(paragraphs) == MAX_PARAGRAPHS:
            return PageText(tuple(paragraphs), is_cut=True)
        span = None
        if place is not None:
            span = (place[0] - first, place[1] - first) if first <= place[0] and place[1] < following else None
        elif words and not found:
            span = find_phrase(line, words)
        if span is None:
            shown = collapse(visible(line))
            paragraphs.append(TextParagraph(shown, is_heading=shown in headings))
        else:
            found = True
            start, end = span
            paragraphs.append(TextParagraph(visible(line[:start]), visible(line[start:end]), visible(line[end:])))
    return PageText(tuple(paragraphs), is_cut=False)
