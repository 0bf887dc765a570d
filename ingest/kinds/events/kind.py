"""What happened to pages, as the site's own system tells it: one event a row."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from ingest.addresses.normalise import NotAnAddress
from ingest.cells.values import parse_time
from ingest.kinds.base import Counts, ImportKind
from ingest.kinds.events.fields import FIELDS
from ingest.kinds.events.report import EVENTS
from ingest.kinds.events.telling import BadEvent, Telling, kind_of
from ingest.kinds.project_pages import find_pages
from ingest.kinds.sql import lock
from linker.models import EventOrigin
from linker.pages.identity import edges
from linker.pages.identity.record import record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ingest.kinds.base import ImportTask
    from linker.models import PageEventKind


class EventsImport(ImportKind):
    name = gettext_noop("events")
    label = gettext_lazy("Page events")
    choice = gettext_lazy("Page events: created, changed, merged, redirected, removed")
    command_help = (
        "Imports what happened to pages, in this process: rows of event, url, new_url and at, where an event is one of "
        "created, changed, merged, redirected, removed and restored. Import the pages first. All of it or nothing; the "
        "same file twice changes nothing. Exits with 1 and a message where nothing could be imported."
    )
    fields = FIELDS
    report = EVENTS

    def recognises(self, header: Sequence[str]) -> bool:
        return self.fields.has_required(header)

    def load(self, task: ImportTask) -> Counts:
        project, source = task.project, task.source
        lock(project)
        telling = Telling(project, find_pages(project, source.name, first=_("Import the pages first.")))
        at = {field: task.rows.header.index(columns[0]) for field, columns in task.rows.mapping.items()}
        report: Counts = {**source.describe(), "rows": 0}
        for records in source.chunks():
            for line, cells in zip(records.lines, records.rows, strict=True):
                report["rows"] += 1
                if len(cells) != len(task.rows.header):
                    task.skipped.add(line, "bad_width", value=f"{len(cells)} cells, not {len(task.rows.header)}")
                    continue
                self._tell(task, report, telling, line, {field: cells[place] for field, place in at.items()})
            task.note_reading()
        if task.skipped.count(["another_site"]) == report["rows"] or (
            report["rows"]
            and not (report["rows"] - task.skipped.count(["another_site", "bad_width", "no_address", "bad_address"]))
        ):
            raise task.stop_without_rows("an event of a page", report)
        task.note_stage("Saving events")
        telling.story.write()
        told = record(project, EventOrigin.FILE, run=task.run, user=task.run.created_by if task.run else None)
        transaction.on_commit(lambda: edges.settle(project))
        task.note_done()
        report |= {"events": sum(told.values()), **told, "seen_before": telling.same}
        return report | task.skipped.report() | {"mapping": task.rows.mapping}

    def _tell(self, task: ImportTask, report: Counts, telling: Telling, line: int, row: dict[str, str]) -> None:
        """One row. Raises ImportStopped, with the line and the column, where it cannot be."""
        try:
            kind, at = self._read(row)
            why = telling.tell(kind, row["url"], at, row.get("new_url", ""))
        except BadEvent as error:
            column = task.rows.mapping.get(error.field, [error.field])[0]
            raise task.stop(f"{task.source.name}: line {line:,}, column “{column}”: {error}", report) from None
        except NotAnAddress:
            why = "bad_address"
        if why:
            task.skipped.add(line, why, column=task.rows.mapping["url"][0], address=row["url"], value=row["event"])

    def _read(self, row: dict[str, str]) -> tuple[PageEventKind, datetime]:
        kind = kind_of(row["event"])
        try:
            return kind, parse_time(row["at"]).astimezone(UTC)
        except ValueError:
            said = _("“%(time)s” is no time. Write it as 2026-01-31 14:05, or as 2026-01-31T14:05:00Z.")
            raise BadEvent("at", said % {"time": row["at"].strip()[:60]}) from None
