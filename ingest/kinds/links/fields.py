"""What an import of links can fill."""

from django.utils.translation import gettext_lazy as _

from ingest.fields.mapping import Field, FieldSet
from ingest.formats import generic, screaming_frog

FIELDS = FieldSet(
    (
        Field("source", _("Source"), required=True),
        Field("target", _("Destination"), required=True),
        Field("anchor", _("Anchor")),
        Field("alt", _("Alt text")),
        Field("type", _("Type")),
        Field("follow", _("Follow")),
        Field("rel", _("Rel")),
        Field("link_path", _("Link path")),
        Field("link_position", _("Link position")),
        Field("place", _("Place in the text")),
    ),
    generic.merge(screaming_frog.LINK_COLUMNS, generic.LINK_COLUMNS),
)
