"""What an import of page events counted, and how that is said."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext_lazy, ngettext

from ingest.import_report import ImportReport, import_words
from ingest.kinds.pages.report import became
from linker.wording import number


@dataclass(frozen=True, kw_only=True)
class EventsReport(ImportReport):
    """An import of page events: `events` are those that were news, by kind in the other fields; `seen_before` counts
    those that were known."""

    events: int | None = None
    created: int | None = None
    changed: int | None = None
    moved: int | None = None
    redirected: int | None = None
    merged: int | None = None
    removed: int | None = None
    restored: int | None = None

    @property
    def loaded(self) -> int | None:
        return self.events

    @property
    def brought_news(self) -> bool:
        return bool(self.events)


def _sentences(report: EventsReport) -> list[str]:
    events = report.events or 0
    told = ngettext("%(events)s event was news.", "%(events)s events were news.", events)
    return [told % {"events": number(events)}, became(report)]


EVENTS = import_words(
    EventsReport,
    _sentences,
    {
        "events": gettext_lazy("Events"),
        "created": gettext_lazy("Pages created"),
        "changed": gettext_lazy("Pages changed"),
        "moved": gettext_lazy("Pages at another address than before"),
        "redirected": gettext_lazy("Pages that redirect to another now"),
        "merged": gettext_lazy("Pages merged into another"),
        "removed": gettext_lazy("Pages removed"),
        "restored": gettext_lazy("Pages that are live again"),
    },
)
