"""What an import of search queries can fill."""

from django.utils.translation import gettext_lazy as _

from ingest.fields.mapping import Field, FieldSet
from ingest.formats import generic

FIELDS = FieldSet(
    (
        Field("url", _("Page"), required=True),
        Field("query", _("Query"), required=True),
        Field("clicks", _("Clicks")),
        Field("impressions", _("Impressions")),
        Field("position", _("Average position")),
        Field("importance", _("Importance")),
    ),
    generic.QUERY_COLUMNS,
)
