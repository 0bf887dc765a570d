"""When a page was published and changed, as it says itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ingest.sources.reading.head import plain

if TYPE_CHECKING:
    from ingest.sources.reading.document import Document
    from ingest.sources.reading.head import Head

MAX_DATE = 40
_MAX_LOOKED_AT = 10_000  # values of JSON-LD
_PUBLISHED = (
    "article:published_time",
    "datepublished",
    "date",
    "dc.date",
    "dcterms.created",
    "dc.date.issued",
    "pubdate",
)
_MODIFIED = ("article:modified_time", "datemodified", "og:updated_time", "last-modified", "dcterms.modified", "revised")


def published(document: Document, head: Head, data: list[tuple[str, Any]]) -> str:
    found = head.meta(_PUBLISHED) or _of_json_ld(data, "datePublished") or _of_microdata(document, "datePublished")
    return (found or _first_time(document))[:MAX_DATE]


def modified(document: Document, head: Head, data: list[tuple[str, Any]]) -> str:
    found = head.meta(_MODIFIED) or _of_json_ld(data, "dateModified") or _of_microdata(document, "dateModified")
    return found[:MAX_DATE]


def _of_json_ld(data: list[tuple[str, Any]], name: str) -> str:
    stack = [value for text, value in reversed(data) if name in text]
    for _ in range(_MAX_LOOKED_AT):
        if not stack:
            break
        value = stack.pop()
        if isinstance(value, dict):
            found = value.get(name)
            if isinstance(found, str) and found.strip():
                return plain(found)
            stack.extend(reversed(value.values()))
        elif isinstance(value, list):
            stack.extend(reversed(value))
    return ""


def _of_microdata(document: Document, name: str) -> str:
    for place, attributes in enumerate(document.attributes):
        if attributes and attributes.get("itemprop") == name:
            return plain(attributes.get("datetime") or attributes.get("content") or document.text_below(place))
    return ""


def _first_time(document: Document) -> str:
    """That of the first time element with a date within an article or the main element."""
    for place, name in enumerate(document.names):
        if name == "time":
            stated = document.attributes[place].get("datetime")
            above = {document.names[at] for at in document.ancestors(place)}
            if stated and above & {"article", "main"}:
                return plain(stated)
    return ""
