"""A link as HTML and as Markdown."""

from __future__ import annotations

import re
from html import escape

from linker.models import Rel


def anchor_element(url: str, words: str, rel: str) -> str:
    """The link as HTML. `follow` is what a link is without rel."""
    said = "" if rel == Rel.FOLLOW else f' rel="{escape(rel)}"'
    return f'<a href="{escape(url)}"{said}>{escape(words, quote=False)}</a>'


def markdown_link(url: str, words: str, rel: str) -> str:
    """The link as Markdown; one with a rel, for which Markdown has no sign, as the HTML that it allows."""
    if rel != Rel.FOLLOW:
        return anchor_element(url, words, rel)
    address = re.sub(r"[\s()<>\\]", lambda found: f"%{ord(found[0]):02X}", url)
    said = re.sub(r"([\[\]\\])", r"\\\1", words)
    return f"[{said}]({address})"
