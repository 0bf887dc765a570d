"""What happened to pages, as the site's own system tells it: one event a row."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from ingest.addresses.normalise import is_storable
from ingest.cells.values import parse_time
from ingest.kinds.base import Counts, ImportKind
from ingest.kinds.events import stage
from ingest.kinds.events.fields import FIELDS
from ingest.kinds.events.report import EVENTS
from ingest.kinds.events.stage import Event
from ingest.kinds.events.telling import BadEvent, Telling, check, kind_of
from linker.matching import follow_up
from linker.matching.follow_up import Piece
from linker.models import EventOrigin
from linker.pages.identity.record import record
from linker.storage.locks import lock_pages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from ingest.errors import ImportStopped
    from ingest.files.table import Records
    from ingest.kinds.base import ImportTask
    from linker.models import PageEventKind


class EventsImport(ImportKind):
    name = gettext_noop("events")
    label = gettext_lazy("Page events")
    choice = gettext_lazy("Page events: created, changed, merged, redirected, removed")
    command_help = (
        "Imports what happened to pages, in this process: rows of event, url, new_url and at, where an event is one of "
        "created, changed, moved, merged, redirected, removed and restored. Import the pages first. All of it or "
        "nothing; the same file twice changes nothing. Exits with 1 and a message where nothing could be imported."
    )
    pages_first = gettext_noop("Import the pages first.")
    fields = FIELDS
    report = EVENTS

    def recognises(self, header: Sequence[str]) -> bool:
        return self.fields.has_required(header)

    def load(self, task: ImportTask) -> Counts:
        project, source = task.project, task.source
        lock_pages(project.pk)
        report: Counts = {**source.describe(), "rows": 0}
        stage.create_event_stage()
        for records in source.chunks():
            report["rows"] += len(records)
            stage.stage_events(list(self._events(task, records, report)))
            task.note_reading()
        if not stage.count_staged() and report["rows"]:
            raise task.stop_without_rows("an event of a page", report)
        task.note_stage("Following the events")
        telling = Telling(project, source.name, stage.staged_addresses())
        for event in stage.staged_events():
            self._tell(task, report, telling, event)
        if report["rows"] == task.skipped.count(["another_site", "bad_width", "no_address", "bad_address"]):
            raise task.stop_without_rows("an event of a page", report)
        task.note_stage("Saving events")
        telling.story.write()
        told = record(project, EventOrigin.FILE, run=task.run, user=task.run.created_by if task.run else None)
        follow_up.start(project, (Piece.MOVED, Piece.TURNED), follows=task.run)
        task.note_done()
        report |= {"events": sum(told.values()), **told, "seen_before": telling.same}
        return report | task.skipped.report() | {"mapping": task.rows.mapping}

    def _events(self, task: ImportTask, records: Records, report: Counts) -> Iterator[Event]:
        """The rows that say something. Raises ImportStopped, with the line and the column, where one makes no sense."""
        header, mapping = task.rows.header, task.rows.mapping
        at = {field: header.index(columns[0]) for field, columns in mapping.items()}
        for line, cells in zip(records.lines, records.rows, strict=True):
            if len(cells) != len(header):
                task.skipped.add(line, "bad_width", value=f"{len(cells)} cells, not {len(header)}")
                continue
            row = {field: cells[place] for field, place in at.items()}
            if not is_storable(row["url"] + row.get("new_url", "")):
                task.skipped.add(line, "bad_address", column=mapping["url"][0], value=row["event"])
                continue
            try:
                kind, time = self._read(row)
            except BadEvent as error:
                raise self._stop(task, report, line, error) from None
            yield Event(line, kind, row["url"].strip(), row.get("new_url", "").strip(), time)

    def _tell(self, task: ImportTask, report: Counts, telling: Telling, event: Event) -> None:
        """One event. Raises ImportStopped, with the line and the column, where it cannot be."""
        try:
            left_out = telling.tell(event.kind, event.url, event.at, event.new)
        except BadEvent as error:
            raise self._stop(task, report, event.line, error) from None
        if left_out is not None:
            address = event.url if left_out.field == "url" else event.new
            column = task.rows.mapping[left_out.field][0]
            task.skipped.add(event.line, left_out.reason, column=column, address=address, value=event.kind.value)

    def _stop(self, task: ImportTask, report: Counts, line: int, error: BadEvent) -> ImportStopped:
        column = task.rows.mapping.get(error.field, [error.field])[0]
        return task.stop(f"{task.source.name}: line {line:,}, column “{column}”: {error}", report)

    def _read(self, row: dict[str, str]) -> tuple[PageEventKind, datetime]:
        kind = kind_of(row["event"])
        try:
            at = parse_time(row["at"]).astimezone(UTC)
        except ValueError:
            said = _("“%(time)s” is no time. Write it as 2026-01-31 14:05, or as 2026-01-31T14:05:00Z.")
            raise BadEvent("at", said % {"time": row["at"].strip()[:60]}) from None
        check(kind, row.get("new_url", ""), at)
        return kind, at
