"""What scripts of a page say: data about it in JSON-LD, and that it is empty until they have run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ingest.cells.values import MAX_JSON_LD

if TYPE_CHECKING:
    from ingest.sources.reading.document import Document

MAX_WORDS = 40  # of a page that may need a browser
_ROOTS = frozenset(
    [
        "root",
        "app",
        "__next",
        "__nuxt",
        "app-root",
        "react-root",
        "main-app",
        "___gatsby",
        "svelte",
        "q-app",
        "ember-app",
    ]
)
_DATA = frozenset(("__NEXT_DATA__", "__NUXT_DATA__"))


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
    """Whether a page has nearly no text, and an element or a notice that says that scripts write it."""
    if len(text.split()) > MAX_WORDS:
        return False
    scripts = has_root = has_notice = False
    for place, name in enumerate(document.names):
        attributes = document.attributes[place]
        if name == "script":
            scripts = scripts or "src" in attributes or attributes.get("id") in _DATA
        elif name == "noscript":
            has_notice = has_notice or "javascript" in document.text_below(place).lower()
        elif name == "app-root" or (attributes.get("id") or "").lower() in _ROOTS:
            has_root = has_root or len(document.text_below(place).split()) <= MAX_WORDS
    return scripts and (has_root or has_notice)
