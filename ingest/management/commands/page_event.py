"""Tells what happened to a page: `page_event SLUG redirected OLD NEW`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError
from django.db import transaction
from django.utils import timezone

from ingest.cells.values import parse_time
from ingest.fields.skipped import REASONS
from ingest.kinds.events.report import EventsReport
from ingest.kinds.events.telling import TOLD, Telling
from ingest.kinds.sql import lock
from linker.management.commands._cli import ProjectCommand
from linker.matching import away
from linker.models import EventOrigin, PageEventKind, RunKind
from linker.pages.identity import edges
from linker.pages.identity.record import record
from linker.runs import lifecycle

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from linker.models import Project


class Command(ProjectCommand):
    help = (
        "Tells what happened to a page: created, changed, removed or restored URL; moved, redirected or merged OLD "
        "NEW. Suggestions, decisions and numbers follow. Exits with 1 and a message where it cannot be."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("event", choices=[kind.value for kind in TOLD])
        parser.add_argument("url", metavar="URL", help="the page")
        parser.add_argument("into", metavar="NEW", nargs="?", default="", help="where it leads to")
        parser.add_argument("--at", default="", help="when it happened; now, unless given")

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["slug"])
        try:
            at = parse_time(options["at"]) if options["at"] else timezone.now()
        except ValueError:
            raise CommandError(f"--at: “{options['at']}” is no time. Write it as 2026-01-31T14:05:00Z.") from None
        with transaction.atomic():
            lock(project)
            telling = Telling(project, options["url"], [options["url"], options["into"]])
            if why := telling.tell(PageEventKind(options["event"]), options["url"], at, options["into"]):
                raise CommandError(f"{options['url']}: {REASONS[why].lower()}. Nothing was changed.")
            telling.story.write()
            told = record(project, EventOrigin.COMMAND)
            if told:
                _record_run(project, options, told)
        moved = edges.settle(project) + sum(away.follow(project))
        self.stdout.write(_said(options["into"], told, moved))


def _record_run(project: Project, options: dict[str, Any], told: dict[str, int]) -> None:
    """The event as an import of one, so that whatever follows from such imports follows from it."""
    params = {name: options[name] for name in ("event", "url", "into", "at") if options[name]}
    report = EventsReport.from_json({"rows": 1, "events": sum(told.values()), **told})
    lifecycle.record_run(project, RunKind.IMPORT_EVENTS, params, report, None)


def _said(new: str, told: dict[str, int], moved: int) -> str:
    """What came of the event, in a sentence or two."""
    if not told:
        return "That was known. Nothing was changed."
    if told.get(PageEventKind.MOVED) and not moved:
        return f"The page is at {new} now. Its suggestions, decisions and numbers stay with it."
    return f"{moved:,} {'suggestion' if moved == 1 else 'suggestions'} followed."
