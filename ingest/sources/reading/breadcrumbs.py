"""The breadcrumb of a page: in JSON-LD, as microdata, or as a list of links."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ingest.cells.values import parse_json_ld
from ingest.sources.reading.document import TEXT
from ingest.sources.reading.head import plain

if TYPE_CHECKING:
    from ingest.sources.reading.document import Document

MAX_CRUMBS = 30
_NAMED = re.compile(r"bread-?_?crumb", re.IGNORECASE)
_SEPARATORS = frozenset(["/", ">", "»", "›", "|", "→", "·", "•", "\\", "::", "-", "–"])
_SEPARATED = re.compile(r" [/>»›|→] ")


def breadcrumb(document: Document, data: list[tuple[str, Any]]) -> list[str]:
    """The names from the root on, the page's own among them where the breadcrumb has it."""
    return _of_json_ld(data) or _of_microdata(document) or _of_list(document)


def _of_json_ld(data: list[tuple[str, Any]]) -> list[str]:
    for text, _ in data:
        if "BreadcrumbList" in text:
            try:
                crumbs = parse_json_ld(text)
            except ValueError:
                continue
            if crumbs:
                return [name for crumb, _ in crumbs[:MAX_CRUMBS] if (name := plain(crumb))]
    return []


def _of_microdata(document: Document) -> list[str]:
    for place, attributes in enumerate(document.attributes):
        if attributes and "BreadcrumbList" in (attributes.get("itemtype") or ""):
            names = []
            for inner in range(place + 1, document.ends[place]):
                if document.attributes[inner].get("itemprop") == "name":
                    content = document.attributes[inner].get("content")
                    names.append(plain(content or document.text_below(inner)))
            return list(filter(None, names))[:MAX_CRUMBS]
    return []


def _of_list(document: Document) -> list[str]:
    for place, attributes in enumerate(document.attributes):
        if not attributes:
            continue
        told = f"{attributes.get('class') or ''} {attributes.get('id') or ''} {attributes.get('aria-label') or ''}"
        if _NAMED.search(told) and document.names[place] not in ("body", "html", "main"):
            names = _names_below(document, place)
            if names:
                return names[:MAX_CRUMBS]
    return []


def _names_below(document: Document, place: int) -> list[str]:
    """Those of the items, or of the links and the texts between them, without the signs that separate them."""
    end = document.ends[place]
    items = [inner for inner in range(place + 1, end) if document.names[inner] in ("li", "dd")]
    if items:
        texts = [document.text_below(inner) for inner in items]
    else:
        texts, inner = [], place + 1
        while inner < end:
            name = document.names[inner]
            if name == TEXT:
                texts.extend(_SEPARATED.split(f" {' '.join(document.texts[inner].split())} "))
            elif name in ("a", "span", "strong", "b") and document.ends[inner] > inner + 1:
                texts.append(document.text_below(inner))
                inner = document.ends[inner]
                continue
            inner += 1
    names = [plain(text).strip("/>»›|→ ") for text in texts]
    return [name for name in names if name and name not in _SEPARATORS]
