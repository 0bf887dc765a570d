"""What an import of search queries can fill."""

from ingest.fields.mapping import Field, FieldSet
from ingest.formats import generic

FIELDS = FieldSet(
    (
        Field("url", "Page", required=True),
        Field("query", "Query", required=True),
        Field("clicks", "Clicks"),
        Field("impressions", "Impressions"),
        Field("position", "Average position"),
        Field("importance", "Importance"),
    ),
    generic.QUERY_COLUMNS,
)
