"""What an import of traffic can fill, and what its columns say of where the numbers come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from ingest.fields.mapping import Field, FieldSet
from ingest.files.column_names import header_key
from ingest.formats import generic
from linker.models import TrafficSource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.fields.mapping import Columns

SEARCH_NUMBERS = ("clicks", "impressions", "position")
NUMBERS = (*SEARCH_NUMBERS, "hits")
FIELDS = FieldSet(
    (
        Field("url", _("Page"), required=True),
        Field("clicks", _("Clicks")),
        Field("impressions", _("Impressions")),
        Field("position", _("Average position")),
        Field("hits", _("Hits, views or visits")),
        Field("date", _("Day or period")),
    ),
    generic.TRAFFIC_COLUMNS,
)
# What Search Console calls its table of pages, one of seven in an archive.
SEARCH_CONSOLE_PAGES = frozenset(
    {"pages.csv", "seiten.csv", "páginas.csv", "paginas.csv", "pagine.csv", "pagina's.csv", "strony.csv"}
    | {"страницы.csv", "ページ.csv", "网页.csv"}
)
_ANALYTICS_PAGES = frozenset(map(header_key, generic.ANALYTICS_PAGES))
_ANALYTICS_HITS = frozenset(map(header_key, generic.ANALYTICS_HITS))


def is_analytics(header: Sequence[str]) -> bool:
    """Whether a table is one of Google Analytics' reports by page, which may have titles, too."""
    keys = {header_key(column) for column in header}
    return not (keys.isdisjoint(_ANALYTICS_PAGES) or keys.isdisjoint(_ANALYTICS_HITS))


def is_page_of_analytics(mapping: Columns) -> bool:
    """Whether the column of addresses is one that Google Analytics has."""
    return not _ANALYTICS_PAGES.isdisjoint(map(header_key, mapping.get("url", ())))


def has_traffic(header: Sequence[str]) -> bool:
    """Whether there are numbers of pages, or clicks and impressions in a language that has other words for pages."""
    fields = set(FIELDS.by_name(header))
    return ("url" in fields and not fields.isdisjoint(NUMBERS)) or fields >= {"clicks", "impressions"}


def traffic_source(mapping: Columns) -> TrafficSource:
    """Where the numbers of a file of traffic come from, going by the columns they are taken from."""
    if not mapping.keys().isdisjoint(SEARCH_NUMBERS):
        return TrafficSource.SEARCH_CONSOLE
    of_analytics = not _ANALYTICS_HITS.isdisjoint(map(header_key, mapping.get("hits", ()))) or is_page_of_analytics(
        mapping
    )
    return TrafficSource.ANALYTICS if of_analytics else TrafficSource.HITS
