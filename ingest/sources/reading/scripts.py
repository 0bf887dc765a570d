"""What scripts of a page say: data about it in JSON-LD, and that it is empty until they have run."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ingest.cells.values import MAX_JSON_LD
from ingest.sources.reading.document import TEXT

if TYPE_CHECKING:
    from ingest.sources.reading.document import Document

MAX_WORDS = 40  # of a page that may need a browser
# Elements that scripts fill, by the names that frameworks and their users give them.
_ROOT = re.compile(r"(?:^|[-_])(?:root|app|mount)$|^(?:__next|__nuxt|___gatsby|svelte|main-app)$", re.IGNORECASE)
_NOTICE = re.compile(r"java\s?script|\bjs\b|\bs[ck]ripts?\b", re.IGNORECASE)
_DATA = frozenset(("__NEXT_DATA__", "__NUXT_DATA__"))
_PROGRAMS = frozenset(("", "module", "text/javascript", "application/javascript", "text/babel"))
_FRAME = frozenset(("head", "nav", "header", "footer", "a", "script", "style", "noscript", "template"))


def json_ld(document: Document) -> list[tuple[str, Any]]:
    """The scripts of JSON-LD, each as written and as values; those that are none are left out."""
    found = []
    for place, name in enumerate(document.names):
        if name != "script" or "ld+json" not in (document.attributes[place].get("type") or "").lower():
            continue
        text = "".join(document.texts[place : document.ends[place]])
        if len(text) <= MAX_JSON_LD:
            try:
                found.append((text, json.loads(text, strict=False)))
            except (ValueError, RecursionError):
                continue
    return found


def needs_browser(document: Document, text: str) -> bool:
    """Whether a page has nearly no text, and an element or a notice that says that scripts write it; or an element that
    is empty until then, and nearly no text but that of its frame."""
    is_short = len(text.split()) <= MAX_WORDS
    scripts = has_root = is_empty = has_notice = False
    for place, name in enumerate(document.names):
        attributes = document.attributes[place]
        if name == "script":
            scripts = scripts or _runs(attributes)
        elif name == "noscript":
            has_notice = has_notice or _NOTICE.search(document.text_below(place)) is not None
        elif name == "app-root" or _ROOT.search(attributes.get("id") or ""):
            words = len(document.text_below(place).split())
            has_root, is_empty = has_root or words <= MAX_WORDS, is_empty or not words
    if not scripts:
        return False
    return has_root or has_notice if is_short else is_empty and _own_words(document) <= MAX_WORDS


def _runs(attributes: dict[str, str]) -> bool:
    """Whether a script is a program, and not data for other readers."""
    kind = (attributes.get("type") or "").strip().lower()
    return attributes.get("id") in _DATA or kind in _PROGRAMS


def _own_words(document: Document) -> int:
    """The words of a page outside its frame and its links."""
    words = place = 0
    while place < len(document):
        name = document.names[place]
        if name in _FRAME:
            place = document.ends[place]
            continue
        words += len(document.texts[place].split()) if name == TEXT else 0
        place += 1
    return words
