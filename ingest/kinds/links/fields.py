"""What an import of links can fill."""

from ingest.fields.mapping import Field, FieldSet
from ingest.formats import generic, screaming_frog

FIELDS = FieldSet(
    (
        Field("source", "Source", required=True),
        Field("target", "Destination", required=True),
        Field("anchor", "Anchor"),
        Field("alt", "Alt text"),
        Field("type", "Type"),
        Field("follow", "Follow"),
        Field("rel", "Rel"),
        Field("link_path", "Link path"),
        Field("link_position", "Link position"),
    ),
    generic.merge(screaming_frog.LINK_COLUMNS, generic.LINK_COLUMNS),
)
