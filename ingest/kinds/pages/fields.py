"""What an import of pages can fill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from ingest.fields.mapping import Field, FieldSet
from ingest.formats import generic, screaming_frog

if TYPE_CHECKING:
    from collections.abc import Iterable

TEXTS = frozenset({"title", "h1", "body"})  # fields that make a file one of pages, whatever else it holds
WORTH = ("value", "authority")  # what a table may say of pages apart from their traffic; crawls have it too
FIELDS = FieldSet(
    (
        Field("url", _("Address"), required=True, first=True),
        Field("prefix", _("Put before the address"), text=True),
        Field("title", _("Title")),
        Field("h1", _("H1")),
        Field("headings", _("Other headings"), many=True),
        Field("description", _("Meta description")),
        Field("body", _("Main text"), many=True),
        Field("breadcrumb", _("Breadcrumb"), many=True),
        Field("vector", _("Embedding vector")),
        Field("content_type", _("Content type")),
        Field("status_code", _("Status code")),
        Field("indexability", _("Indexability")),
        Field("indexability_status", _("Indexability status")),
        Field("canonical_link", _("Canonical")),
        Field("redirect_url", _("Redirect target")),
        Field("language", _("Language")),
        Field("word_count", _("Word count")),
        Field("crawl_depth", _("Crawl depth")),
        Field("value", _("Business value")),
        Field("authority", _("Authority")),
        Field("last_modified", _("Last modified")),
        Field("clicks", _("Clicks")),
        Field("impressions", _("Impressions")),
        Field("position", _("Average position")),
    ),
    generic.merge(screaming_frog.PAGE_COLUMNS, generic.PAGE_COLUMNS),
)


def is_crawl(mapped: Iterable[str]) -> bool:
    """Whether a file says which pages there are, by the fields that it fills. One without titles and texts adds numbers
    or vectors to pages."""
    return not TEXTS.isdisjoint(mapped)
