"""The links of a page: where to, with which words, in which block, and where in the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.sources.reading import lists
from ingest.sources.reading.head import MAX_LINKS, NOT_FOLLOWED, plain
from ingest.sources.reading.types import ASIDE, CONTENT, LIST, NAVIGATION, PageLink
from ingest.sources.reading.zones import UNSEEN

if TYPE_CHECKING:
    from ingest.sources.reading.document import Document
    from ingest.sources.reading.head import Head
    from ingest.sources.reading.main_text import MainText
    from ingest.sources.reading.outline import Outline
    from ingest.sources.reading.site_template import SiteTemplate
    from ingest.sources.reading.text_writer import Written

# What links say of themselves that no editor writes into a sentence.
_PAGERS = frozenset(("prev", "previous", "next", "up", "start", "home"))
_OF_LISTS = _PAGERS | {"tag", "category", "author", "bookmark", "ugc"}


def page_links(
    page: Outline, main: MainText, written: Written, head: Head, template: SiteTemplate | None
) -> list[PageLink]:
    """In the order of the page, as many as MAX_LINKS."""
    document = page.document
    element_of = _blocks_of_links(page)
    is_list = main.is_list and lists.is_of_site(head.url, targets := _targets(page, main, written, head))
    is_list = is_list and (main.is_dated or not lists.is_index(head.url, targets, template))
    links: list[PageLink] = []
    for place, name in enumerate(document.names):
        if name not in ("a", "area") or main.zones[place] == UNSEEN:
            continue
        attributes = document.attributes[place]
        target = head.resolver.resolve(attributes.get("href") or "") if attributes.get("href") is not None else ""
        if not target:
            continue
        if len(links) >= MAX_LINKS:
            break
        rel = (attributes.get("rel") or "").lower().split()
        follow = head.follows and not NOT_FOLLOWED.intersection(rel)
        found = written.places.get(place) if not is_list and _OF_LISTS.isdisjoint(rel) else None
        if found is not None and "\n" not in (anchor := written.text[found[0] : found[1]]):
            links.append(PageLink(target, anchor, CONTENT, follow, found[0]))
            continue
        anchor = plain(document.text_below(place)) or _alternative(document, place)
        block = _block(page, main, place, element_of)
        if block == CONTENT and is_list:
            block = LIST
        elif block == CONTENT and not _OF_LISTS.isdisjoint(rel):
            block = NAVIGATION if not _PAGERS.isdisjoint(rel) else ASIDE
        links.append(PageLink(target, anchor, block, follow))
    return links


def _targets(page: Outline, main: MainText, written: Written, head: Head) -> list[str]:
    """Where the links of the text lead to, but for those within the page."""
    attributes = page.document.attributes
    hrefs = (attributes[place].get("href") or "" for place in written.places if not main.zones[place])
    return [target for href in hrefs if href[:1] != "#" and (target := head.resolver.resolve(href))]


def _block(page: Outline, main: MainText, place: int, element_of: dict[int, int]) -> str:
    """The zone of a link; without one it is content below the root of the text, navigation where its block repeats."""
    if main.zones[place]:
        return main.zones[place]
    if element_of.get(place) in main.repeated:
        return NAVIGATION
    return CONTENT if main.root <= place < page.document.ends[main.root] else ASIDE


def _blocks_of_links(page: Outline) -> dict[int, int]:
    """The element whose block holds a link, for links with words."""
    document = page.document
    elements = {block.element for block in page.blocks}
    found = {}
    for place, name in enumerate(document.names):
        if name == "a":
            found[place] = next((above for above in document.ancestors(place) if above in elements), 0)
    return found


def _alternative(document: Document, place: int) -> str:
    attributes = document.attributes[place]
    if attributes.get("alt"):
        return plain(attributes["alt"])
    for inner in range(place + 1, document.ends[place]):
        if document.names[inner] == "img" and document.attributes[inner].get("alt"):
            return plain(document.attributes[inner]["alt"])
    return ""
