"""Where an anchor came from, in words."""

from __future__ import annotations

EDITOR = "editor"  # of words that an editor wrote or picked
WORDS = {
    EDITOR: "Editor",
    "h1": "H1",
    "title": "Title",
    "heading": "Heading",
    "description": "Description",
    "anchor": "Anchor in use",
    "query": "Search query",
    "url": "Address",
    "text": "The donor’s words",
}


def source_label(source: str, impressions: int | None = None) -> str:
    """ "Search query, 1,200 impressions", "H1" ...; a source without words of its own is said as it is stored."""
    words = WORDS.get(source, source)
    return f"{words}, {impressions:,} impression{'' if impressions == 1 else 's'}" if impressions is not None else words
