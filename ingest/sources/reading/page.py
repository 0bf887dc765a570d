"""A page to its text, its links and what its head says."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from ingest.sources.reading import breadcrumbs, dates
from ingest.sources.reading.decode import decode
from ingest.sources.reading.document import flatten, parse
from ingest.sources.reading.head import Head, plain
from ingest.sources.reading.main_text import find_main_text
from ingest.sources.reading.outline import HEADINGS, outline
from ingest.sources.reading.page_links import page_links
from ingest.sources.reading.scripts import json_ld, needs_browser
from ingest.sources.reading.site_names import SEPARATORS
from ingest.sources.reading.text_writer import write
from ingest.sources.reading.types import ReadPage

if TYPE_CHECKING:
    from ingest.sources.reading.document import Document
    from ingest.sources.reading.site_template import SiteTemplate

MAX_LANGUAGE = 35
MAX_H1S = 50  # that are looked at
_WORD = re.compile(r"[^\W_]+")


def read_page(html: bytes | str, url: str, template: SiteTemplate | None = None, *, content_type: str = "") -> ReadPage:
    """Reads a page of a site. `url` is the address it was fetched from, `template` what its pages have in common."""
    tree = parse(html if isinstance(html, str) else decode(html, content_type))
    head = Head(tree, url)
    document = flatten(tree)
    page = outline(document)
    main = find_main_text(page, template)
    written = write(document, main.root, main.left_out, main.zones)
    links = page_links(page, main, written, head, template)
    data = json_ld(document)
    return ReadPage(
        title=head.title,
        h1=_h1(document, head.title),
        headings=written.headings,
        description=head.meta(("description", "og:description")),
        language=_language(document, head),
        canonical=head.canonical,
        robots=head.robots,
        hreflang=head.hreflang,
        next_page=head.next_page,
        previous_page=head.previous_page,
        breadcrumb=breadcrumbs.breadcrumb(document, data),
        published=dates.published(document, head, data),
        modified=dates.modified(document, head, data),
        text=written.text,
        links=links,
        word_count=len(written.text.split()),
        needs_browser=needs_browser(document, written.text),
    )


def _h1(document: Document, title: str) -> str:
    """The H1; of several the first of whose words more than half stand in the title. Where there is none, each names a
    section and not the page, whose name is its title. So does a single one of whose words less than half stand in the
    title, below another heading that says what the title does."""
    read = ((place, plain(document.text_below(place))) for place, name in enumerate(document.names) if name == "h1")
    found = [(place, h1) for place, h1 in islice(read, MAX_H1S) if h1]
    titled = _words(title)
    if len(found) > 1 and titled:
        return next((h1 for _, h1 in found if 2 * len(_words(h1) & titled) > len(_words(h1))), "")
    place, h1 = next(iter(found), (0, ""))
    is_section = 2 * len(_words(h1) & titled) < len(_words(h1)) and _titled_above(document, place, title)
    return "" if is_section else h1


def _titled_above(document: Document, place: int, title: str) -> bool:
    """Whether a heading before a place says what the longest part of a title does, which is not the site's name."""
    named = _words(max(SEPARATORS.split(title), key=len))
    headings = (_words(document.text_below(at)) for at, name in enumerate(document.names[:place]) if name in HEADINGS)
    return any(2 * len(words & named) > max(len(words), len(named)) for words in islice(headings, MAX_H1S))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _language(document: Document, head: Head) -> str:
    attributes = document.attributes[0] if len(document) else {}
    stated = attributes.get("lang") or attributes.get("xml:lang") or head.meta(("content-language", "og:locale"))
    return plain(stated).replace("_", "-")[:MAX_LANGUAGE]
