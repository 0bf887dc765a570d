"""What a file of page events can fill."""

from django.utils.translation import gettext_lazy as _

from ingest.fields.mapping import Field, FieldSet

FIELDS = FieldSet(
    (
        Field("event", _("Event"), required=True),
        Field("url", _("Page"), required=True),
        Field("at", _("Time"), required=True),
        Field("new_url", _("New address, or the page it leads to")),
    ),
    {
        "event": ("Event", "Page Event", "Ereignis"),
        "url": ("URL", "Page", "Address", "Old URL"),
        "at": ("At", "Time", "Timestamp", "Date", "Zeit"),
        "new_url": ("New URL", "New_URL", "Into", "Target URL", "Redirect URL"),
    },
)
