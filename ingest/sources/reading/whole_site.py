"""Once all pages of a site are read: which links of their texts are the site's after all, by what its pages say.

A page by itself, or beside some hundred others, does not tell a teaser from a sentence. What is found here is cut out
of the text, and its links lie beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ingest.sources.reading.lists import LABEL
from ingest.sources.reading.surroundings import lines_of_site
from ingest.sources.reading.teasers import find_teasers, is_list_of_names
from ingest.sources.reading.text_lines import lines_of
from ingest.sources.reading.types import ASIDE, CONTENT, LIST, NAVIGATION

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ingest.sources.reading.site_names import SiteNames
    from ingest.sources.reading.surroundings import Surroundings
    from ingest.sources.reading.text_lines import Line, Link


class Settled(NamedTuple):
    """A page as it is after all: its text, the new blocks of its links by their numbers, and the new places of those
    that stay in the text. `is_list`: all of it is a list of pages."""

    text: str
    blocks: dict[int, str]
    places: dict[int, int]
    is_list: bool = False


def settle(url: str, text: str, links: Sequence[Link], names: SiteNames) -> Settled | None:
    """What changes of a page; None where all of it is as it was read."""
    own = [number for number, link in enumerate(links) if link.block == CONTENT]
    if not own:
        return None
    lines = lines_of(text, links)
    teasers = find_teasers(url, text, links, lines, names)
    if is_list_of_names(text, links, lines, teasers, names):
        return Settled(text, dict.fromkeys(own, LIST), {}, is_list=True)
    if not teasers:
        return None
    return _without(text, links, lines, dict.fromkeys(teasers, ASIDE))


def settle_around(url: str, text: str, links: Sequence[Link], known: Surroundings, names: SiteNames) -> Settled | None:
    """The same, once lists and teasers are known, for the lines that the site sets around its texts."""
    lines = lines_of(text, links)
    found = lines_of_site(url, text, links, lines, known, names)
    return _without(text, links, lines, dict.fromkeys(found, NAVIGATION)) if found else None


def _without(text: str, links: Sequence[Link], lines: Sequence[Line], out: dict[int, str]) -> Settled:
    """A page without some of its lines, whose links get the blocks of these."""
    blocks = {number: block for line, block in out.items() for number in lines[line].links}
    beside = {links[number].target: block for number, block in blocks.items()}
    for number, link in enumerate(links):
        if link.place is None and link.block == CONTENT and link.target in beside:
            blocks[number] = beside[link.target]  # the picture of a teaser
    out_lines = {*out, *_headings(lines, out)}
    kept: list[str] = []
    places: dict[int, int] = {}
    size = 0
    for number, line in enumerate(lines):
        if number in out_lines:
            continue
        for at in line.links:
            places[at] = size + (links[at].place or 0) - line.start
        kept.append(text[line.start : line.end])
        size += line.size + 1
    return Settled("\n".join(kept), blocks, places)


def _headings(lines: Sequence[Line], out: Collection[int]) -> list[int]:
    """The short lines above lines that are left out up to the end of the text: “More stories”."""
    last = len(lines)
    while last - 1 in out:
        last -= 1
    if not 0 < last < len(lines):
        return []
    above = lines[last - 1]
    return [last - 1] if not above.links and above.size <= LABEL else []
