"""The fields an import can fill and which columns fill them.

A mapping is {field: [columns]}: one column for most fields, several in order for the fields with `many`. An empty
list says that the field is left out on purpose.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.errors import FileError
from ingest.readers import generic, screaming_frog
from ingest.sniff import header_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PAGES, LINKS, QUERIES = "pages", "links", "queries"
Columns = dict[str, list[str]]


@dataclass(frozen=True)
class Field:
    """A field of an import; `many`: several numbered columns fill it together."""

    name: str
    label: str
    many: bool = False
    required: bool = False


PAGE_FIELDS = (
    Field("url", "Address", required=True),
    Field("title", "Title"),
    Field("h1", "H1"),
    Field("headings", "Other headings", many=True),
    Field("description", "Meta description"),
    Field("body", "Main text", many=True),
    Field("breadcrumb", "Breadcrumb", many=True),
    Field("vector", "Embedding vector"),
    Field("content_type", "Content type"),
    Field("status_code", "Status code"),
    Field("indexability", "Indexability"),
    Field("indexability_status", "Indexability status"),
    Field("canonical_link", "Canonical"),
    Field("redirect_url", "Redirect target"),
    Field("language", "Language"),
    Field("word_count", "Word count"),
    Field("crawl_depth", "Crawl depth"),
    Field("last_modified", "Last modified"),
    Field("clicks", "Clicks"),
    Field("impressions", "Impressions"),
    Field("position", "Average position"),
)
LINK_FIELDS = (
    Field("source", "Source", required=True),
    Field("target", "Destination", required=True),
    Field("anchor", "Anchor"),
    Field("alt", "Alt text"),
    Field("type", "Type"),
    Field("follow", "Follow"),
    Field("rel", "Rel"),
    Field("link_path", "Link path"),
    Field("link_position", "Link position"),
)
QUERY_FIELDS = (
    Field("url", "Page", required=True),
    Field("query", "Query", required=True),
    Field("clicks", "Clicks"),
    Field("impressions", "Impressions"),
    Field("position", "Average position"),
    Field("importance", "Importance"),
)
FIELDS = {PAGES: PAGE_FIELDS, LINKS: LINK_FIELDS, QUERIES: QUERY_FIELDS}
TEXTS = {"title", "h1", "body"}  # fields that make a file one of pages, whatever else it holds
NAMES = {
    PAGES: generic.merge(screaming_frog.PAGE_COLUMNS, generic.PAGE_COLUMNS),
    LINKS: generic.merge(screaming_frog.LINK_COLUMNS, generic.LINK_COLUMNS),
    QUERIES: generic.QUERY_COLUMNS,
}
KNOWN = {
    kind: {header_key(name) for names in NAMES[kind].values() for name in names}
    | {header_key(name) + " 1" for names in NAMES[kind].values() for name in names}
    for kind in FIELDS
}
PREFERRED: dict[str, frozenset[str]] = {
    PAGES: screaming_frog.PAGE_FILES,
    LINKS: screaming_frog.LINK_FILES,
    QUERIES: frozenset(),
}
_NUMBERED = re.compile(r"^(.*\S)[\s_-]*?(\d+)$")


def family(column: str) -> str:
    """The name a numbered column shares with its siblings: `Breadcrumb_Name 3` is of `Breadcrumb_Name`."""
    match = _NUMBERED.match(column)
    return match[1].rstrip(" _-") if match else column


def families(header: Sequence[str]) -> dict[str, list[str]]:
    """Columns by family, each family's in the order of their numbers."""
    groups: dict[str, list[str]] = {}
    for column in header:
        groups.setdefault(family(column), []).append(column)

    def number(column: str) -> int:
        match = _NUMBERED.match(column)
        return int(match[2]) if match and len(match[2]) < 10 else 0

    return {name: sorted(columns, key=number) for name, columns in groups.items()}


def guess(kind: str, header: Sequence[str], samples: Sequence[Sequence[str]]) -> Columns:
    """The mapping that names and contents suggest; fields for which nothing was found are absent.

    `samples` are the cells of the first rows.
    """
    mapping = _by_name(kind, header)
    if kind == PAGES and kind_of(header) == PAGES:
        generic.add_by_content(mapping, header, samples)
    return mapping


def kind_of(header: Sequence[str]) -> str:
    """Whether a file holds links, search queries or pages, going by the names of its columns.

    Queries without pages count as queries, so that the message says what they lack.
    """
    if TEXTS & set(_by_name(PAGES, header)):
        return PAGES
    if _has_required(LINKS, header):
        return LINKS
    return QUERIES if "query" in _by_name(QUERIES, header) else PAGES


def _has_required(kind: str, header: Sequence[str]) -> bool:
    return {field.name for field in FIELDS[kind] if field.required} <= set(_by_name(kind, header))


def _by_name(kind: str, header: Sequence[str]) -> Columns:
    by_key: dict[str, str] = {}
    for column in header:
        by_key.setdefault(header_key(column), column)
    groups = families(header)
    group_by_key = {header_key(name): columns for name, columns in groups.items()}
    mapping: Columns = {}
    for field in FIELDS[kind]:
        for name in NAMES[kind].get(field.name, ()):
            key = header_key(name)
            if field.many and key in group_by_key:
                mapping[field.name] = group_by_key[key]
            elif key in by_key or f"{key} 1" in by_key:
                mapping[field.name] = [by_key.get(key) or by_key[f"{key} 1"]]
            if field.name in mapping:
                break
    return mapping


def resolve(
    kind: str,
    name: str,
    header: Sequence[str],
    samples: Sequence[Sequence[str]],
    remembered: Mapping[str, Sequence[str]],
    wanted: Mapping[str, Sequence[str]],
) -> Columns:
    """The mapping to import with: the guess, changed by what the project remembers where the file has the columns,
    changed by what the user wants now.

    Raises FileError for an unknown field and for a column that the file lacks.
    """
    mapping = guess(kind, header, samples)
    mapping |= {field: list(columns) for field, columns in remembered.items() if set(columns) <= set(header)}
    fields = {field.name: field for field in FIELDS[kind]}
    for field_name, columns in wanted.items():
        if field_name not in fields:
            raise FileError(name, f"There is no field “{field_name}”. The fields are: {', '.join(fields)}.")
        mapping[field_name] = [_column(name, header, column) for column in columns]
    return {field: columns for field, columns in mapping.items() if columns and field in fields}


def check_required(kind: str, name: str, header: Sequence[str], mapping: Columns) -> None:
    """Raises FileError where a field that an import cannot do without has no column."""
    text = what_is_missing(kind, header, mapping)
    if text:
        raise FileError(name, text)


def what_is_missing(kind: str, header: Sequence[str], mapping: Columns) -> str:
    """Which required fields have no column and what to do about it; empty where none is missing.

    A file of pages and queries is not taken for one of pages either: each of its rows would set its page's numbers.
    """
    missing = [field for field in FIELDS[kind] if field.required and field.name not in mapping]
    if missing:
        return _missing(kind, missing, header)
    if kind == PAGES and kind_of(header) == QUERIES and not TEXTS & set(mapping):
        return _looks_like(QUERIES, PAGES)
    return ""


def _looks_like(other: str, kind: str) -> str:
    return f"This looks like a file of {other}, not of {kind}: import it as {other}."


def _column(name: str, header: Sequence[str], wanted: str) -> str:
    if wanted in header:
        return wanted
    for column in header:
        if header_key(column) == header_key(wanted):
            return column
    raise FileError(name, f"The file has no column “{wanted}”. Its columns are: {_listed(header)}.")


def _listed(header: Sequence[str]) -> str:
    shown = ", ".join(column[:60] for column in header[:30])
    return shown + (f" and {len(header) - 30} more" if len(header) > 30 else "")


def _missing(kind: str, missing: Sequence[Field], header: Sequence[str]) -> str:
    other = kind_of(header)
    found = set(_by_name(other, header))
    if other != kind and _has_required(other, header) and len(found) > 2 and (other != PAGES or TEXTS & found):
        return _looks_like(other, kind)
    if kind == QUERIES and [field.name for field in missing] == ["url"]:
        return (
            f"No column says which page a query belongs to. The columns are: {_listed(header)}. The files that Search "
            "Console's own screens hand out list queries and pages apart: take rows of page and query from its API, "
            "its bulk export or a connector such as Looker Studio. If a column does hold the page, choose it in the "
            "preview, or on the command line with --map url=COLUMN."
        )
    labels = " and ".join(f"“{field.label}”" for field in missing)
    return (
        f"No column for {labels} was found. The columns are: {_listed(header)}. If one of them holds it, choose it in "
        f"the preview, or on the command line with --map {missing[0].name}=COLUMN."
    )
