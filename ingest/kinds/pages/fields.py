"""What an import of pages can fill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.fields.mapping import Field, FieldSet
from ingest.formats import generic, screaming_frog

if TYPE_CHECKING:
    from collections.abc import Iterable

TEXTS = frozenset({"title", "h1", "body"})  # fields that make a file one of pages, whatever else it holds
WORTH = ("value", "authority")  # what a table may say of pages apart from their traffic; crawls have it too
FIELDS = FieldSet(
    (
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
    ),
    generic.merge(screaming_frog.PAGE_COLUMNS, generic.PAGE_COLUMNS),
)


def is_crawl(mapped: Iterable[str]) -> bool:
    """Whether a file says which pages there are, by the fields that it fills. One without titles and texts adds numbers
    or vectors to pages."""
    return not TEXTS.isdisjoint(mapped)
