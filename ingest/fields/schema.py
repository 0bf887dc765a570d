"""The fields an import can fill and which columns fill them.

A mapping is {field: [columns]}: one column for most fields, several in order for the fields with `many` or `first`. An
empty list says that the field is left out on purpose. A field of `text` holds the user's own words instead, in a list
of one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from ingest.errors import FileError
from ingest.files.column_names import header_key
from ingest.formats import generic, screaming_frog, shopify
from linker.models import TrafficSource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PAGES, LINKS, QUERIES, TRAFFIC = "pages", "links", "queries", "traffic"
Columns = dict[str, list[str]]


@dataclass(frozen=True)
class Field:
    """A field of an import.

    `many`: several numbered columns fill it together. `first`: of several columns the first that a row fills counts.
    `text`: not a column, but a text that the user gives.
    """

    name: str
    label: str
    many: bool = False
    required: bool = False
    first: bool = False
    text: bool = False


PAGE_FIELDS = (
    Field("url", "Address", required=True, first=True),
    Field("prefix", "Put before the address", text=True),
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
    Field("value", "Business value"),
    Field("authority", "Authority"),
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
TRAFFIC_FIELDS = (
    Field("url", "Page", required=True),
    Field("clicks", "Clicks"),
    Field("impressions", "Impressions"),
    Field("position", "Average position"),
    Field("hits", "Hits, views or visits"),
    Field("date", "Day or period"),
)
FIELDS = {PAGES: PAGE_FIELDS, LINKS: LINK_FIELDS, QUERIES: QUERY_FIELDS, TRAFFIC: TRAFFIC_FIELDS}
TEXT_FIELDS = frozenset(field.name for fields in FIELDS.values() for field in fields if field.text)
MARKS_MISSING = {PAGES, LINKS}  # kinds of files that say of all they hold that it is there, and of all else that not
SEARCH_NUMBERS = ("clicks", "impressions", "position")
WORTH = ("value", "authority")  # what a table may say of pages beside their traffic; crawls bring it along
TRAFFIC_NUMBERS = (*SEARCH_NUMBERS, "hits")
TEXTS = {"title", "h1", "body"}  # fields that make a file one of pages, whatever else it holds
NAMES = {
    PAGES: generic.merge(screaming_frog.PAGE_COLUMNS, generic.PAGE_COLUMNS),
    LINKS: generic.merge(screaming_frog.LINK_COLUMNS, generic.LINK_COLUMNS),
    QUERIES: generic.QUERY_COLUMNS,
    TRAFFIC: generic.TRAFFIC_COLUMNS,
}
KNOWN = {
    kind: {header_key(name) for names in NAMES[kind].values() for name in names}
    | {header_key(name) + " 1" for names in NAMES[kind].values() for name in names}
    for kind in FIELDS
}
# What Search Console calls its table of pages, beside six others in one archive.
SEARCH_CONSOLE_PAGES = frozenset(
    {"pages.csv", "seiten.csv", "páginas.csv", "paginas.csv", "pagine.csv", "pagina's.csv", "strony.csv"}
)
PREFERRED: dict[str, frozenset[str]] = {
    PAGES: screaming_frog.PAGE_FILES,
    LINKS: screaming_frog.LINK_FILES,
    QUERIES: frozenset(),
    TRAFFIC: SEARCH_CONSOLE_PAGES,
}
_DIGITS = "0123456789"
PREFIX = re.compile(r"/|https?://")
_ANALYTICS_PAGES = frozenset(map(header_key, generic.ANALYTICS_PAGES))
_ANALYTICS_HITS = frozenset(map(header_key, generic.ANALYTICS_HITS))


def family(column: str) -> str:
    """The name a numbered column shares with its siblings: `Breadcrumb_Name 3` is of `Breadcrumb_Name`."""
    name, _ = _numbered(column)
    return name


def _numbered(column: str) -> tuple[str, int]:
    """A column's family and its number in it; 0 where it has none."""
    name = column.rstrip(_DIGITS)
    digits = column[len(name) :]
    name = name.rstrip(" _-")
    return (name, int(digits)) if name and digits and len(digits) < 10 else (column, 0)


def families(header: Sequence[str]) -> dict[str, list[str]]:
    """Columns by family, each family's in the order of their numbers."""
    groups: dict[str, list[tuple[int, str]]] = {}
    for column in header:
        name, number = _numbered(column)
        groups.setdefault(name, []).append((number, column))
    return {name: [column for _, column in sorted(columns, key=itemgetter(0))] for name, columns in groups.items()}


def guess(kind: str, header: Sequence[str], samples: Sequence[Sequence[str]]) -> Columns:
    """The mapping that names and contents suggest; fields for which nothing was found are absent.

    `samples` are the cells of the first rows.
    """
    if kind == PAGES and shopify.is_products(header):
        return shopify.guess(header, samples)
    mapping = _by_name(kind, header)
    if kind == PAGES:
        mapping.pop("url", None)
        addresses = generic.address_columns(NAMES[PAGES]["url"], header, samples, screaming_frog.ADDRESSES)
        mapping = ({"url": addresses} if addresses else {}) | mapping
        if kind_of(header) in (PAGES, TRAFFIC):
            generic.add_by_content(mapping, header, samples)
    if kind == TRAFFIC and "url" not in mapping:
        generic.add_address_by_content(mapping, header, samples)
    return mapping


def columns_of(mapping: Mapping[str, Sequence[str]]) -> Columns:
    """The fields of a mapping that columns fill."""
    return {field: list(columns) for field, columns in mapping.items() if field not in TEXT_FIELDS}


def kind_of(header: Sequence[str]) -> str:
    """Whether a file holds links, search queries, traffic or pages, going by the names of its columns.

    Queries without pages count as queries, so that the message says what they lack.
    """
    page_fields = set(_by_name(PAGES, header))
    if TEXTS & page_fields and not _is_analytics(header):  # whose tables may have titles, too
        return PAGES
    if _has_required(LINKS, header):
        return LINKS
    if "query" in _by_name(QUERIES, header):
        return QUERIES
    numbers = {"url", *SEARCH_NUMBERS, *WORTH}
    is_traffic = _is_analytics(header) or (_has_traffic(header) and page_fields <= numbers)
    return TRAFFIC if is_traffic else PAGES


def _has_traffic(header: Sequence[str]) -> bool:
    """Whether there are numbers of pages, or clicks and impressions in a language that has other words for pages."""
    fields = set(_by_name(TRAFFIC, header))
    return ("url" in fields and not fields.isdisjoint(TRAFFIC_NUMBERS)) or fields >= {"clicks", "impressions"}


def _is_analytics(header: Sequence[str]) -> bool:
    keys = {header_key(column) for column in header}
    return not (keys.isdisjoint(_ANALYTICS_PAGES) or keys.isdisjoint(_ANALYTICS_HITS))


def traffic_source(mapping: Columns) -> TrafficSource:
    """Where the numbers of a file of traffic come from, going by the columns they are taken from."""
    if not mapping.keys().isdisjoint(SEARCH_NUMBERS):
        return TrafficSource.SEARCH_CONSOLE
    is_analytics = not _ANALYTICS_HITS.isdisjoint(map(header_key, mapping.get("hits", ())))
    return TrafficSource.ANALYTICS if is_analytics else TrafficSource.HITS


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
    fitting = {field: list(columns) for field, columns in columns_of(remembered).items() if set(columns) <= set(header)}
    mapping |= fitting
    if "url" in fitting and "prefix" in remembered:  # it belongs to the column it was given for
        mapping["prefix"] = list(remembered["prefix"])
    fields = {field.name: field for field in FIELDS[kind]}
    for field_name, columns in wanted.items():
        if field_name not in fields:
            raise FileError(name, f"There is no field “{field_name}”. The fields are: {', '.join(fields)}.")
        if fields[field_name].text:
            mapping[field_name] = [_prefix(name, text) for text in columns[-1:]]
        else:
            mapping[field_name] = [_column(name, header, column) for column in columns]
    return {field: columns for field, columns in mapping.items() if columns and field in fields}


def check_required(kind: str, name: str, header: Sequence[str], mapping: Columns) -> None:
    """Raises FileError where a field that an import cannot do without has no column."""
    text = what_is_missing(kind, header, mapping)
    if text:
        raise FileError(name, text)


def what_is_missing(kind: str, header: Sequence[str], mapping: Columns) -> str:
    """Which required fields have no column and what to do about it; empty where none is missing.

    A file of pages and queries, or of nothing but traffic, is not taken for one of pages either.
    """
    if other := better_kind(kind, header, mapping):
        return f"This looks like a file of {other}, not of {kind}: import it as {other}."
    missing = _without_column(kind, mapping)
    if missing:
        return _missing(kind, missing, header)
    if kind == TRAFFIC and not set(mapping) & set(TRAFFIC_NUMBERS):
        return (
            "No column with clicks, impressions, positions or hits was found. The columns are: "
            f"{_listed(header)}. If one of them holds such numbers, choose it in the preview, or on the command line "
            "with --map hits=COLUMN."
        )
    return ""


def better_kind(kind: str, header: Sequence[str], mapping: Columns) -> str:
    """The import that takes a file which this one refuses with that mapping; empty where none is known."""
    other = kind_of(header)
    if _without_column(kind, mapping):
        found = set(_by_name(other, header))
        fits = _has_required(other, header) and len(found) > 2 and (other != PAGES or TEXTS & found)
        return other if other != kind and fits else ""
    if kind != PAGES:
        return ""
    is_queries = other == QUERIES and not TEXTS & set(mapping)
    is_traffic = other == TRAFFIC and set(mapping) <= {"url", *SEARCH_NUMBERS}
    return other if is_queries or is_traffic else ""


def _without_column(kind: str, mapping: Columns) -> list[Field]:
    return [field for field in FIELDS[kind] if field.required and field.name not in mapping]


def _prefix(name: str, text: str) -> str:
    if not PREFIX.match(text):
        raise FileError(name, f"What is put before an address begins with / or https://, which “{text[:60]}” does not.")
    return text


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
