"""A page as a reader would find it, made of the text that an import holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from linker.engine.text.clean import collapse, visible
from linker.engine.text.sentences import find_phrase

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


def page_text(page: Page, words: str = "") -> PageText:
    """The page's text by paragraphs, its headings known by their words, and the first place of `words` marked."""
    lines = [line for line in page.body.split("\n") if line.strip()]
    headings = {collapse(visible(heading)) for heading in (page.h1, *page.headings)}
    found = False
    paragraphs = []
    for line in lines[:MAX_PARAGRAPHS]:
        span = find_phrase(line, words[:MAX_PHRASE]) if words and not found else None
        if span is None:
            shown = collapse(visible(line))
            paragraphs.append(TextParagraph(shown, is_heading=shown in headings))
        else:
            found = True
            start, end = span
            paragraphs.append(TextParagraph(visible(line[:start]), visible(line[start:end]), visible(line[end:])))
    return PageText(tuple(paragraphs), len(lines) > MAX_PARAGRAPHS)
