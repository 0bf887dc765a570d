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
from linker.management.commands._cli import ProjectCommand
from linker.matching import follow_up
from linker.matching.follow_up import Piece
from linker.matching.follow_up_work import FollowUpReport, run_follow_up
from linker.models import EventOrigin, PageEventKind, Run, RunKind
from linker.pages.identity.record import record
from linker.pages.identity.tell import WITH_NEW_ADDRESS
from linker.runs import lifecycle
from linker.storage.locks import lock_pages
from linker.wording import within

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from linker.models import Project

KNOWN = "That was known. Nothing was changed."
SAID = {
    PageEventKind.CREATED: "{url} is a page of the project now. The next import brings its title and text.",
    PageEventKind.CHANGED: "It is noted that {url} has changed. The next import brings its new text.",
    PageEventKind.MERGED: "{url} is merged into {new} now.",
    PageEventKind.REDIRECTED: "{url} redirects to {new} now.",
    PageEventKind.REMOVED: "{url} is removed now.",
    PageEventKind.MOVED: "{url} is at {new} now. Its suggestions, decisions and numbers stay with it.",
    PageEventKind.RESTORED: "{url} is live again.",
}


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
        _check_addresses(PageEventKind(options["event"]), options["url"], options["into"])
        with transaction.atomic():
            lock_pages(project.pk)
            telling = Telling(project, options["url"], [options["url"], options["into"]])
            if not options["at"] and telling.is_so(PageEventKind(options["event"]), options["url"], options["into"]):
                self.stdout.write(KNOWN)
                return
            left_out = telling.tell(PageEventKind(options["event"]), options["url"], at, options["into"])
            if left_out is not None:
                address = options["url"] if left_out.field == "url" else options["into"]
                raise CommandError(f"{address}: {within(REASONS[left_out.reason])}. Nothing was changed.")
            telling.story.write()
            told = record(project, EventOrigin.COMMAND)
            run = _record_run(project, options, told) if told else None
            pieces = (Piece.MOVED, Piece.TURNED)
            following = follow_up.start(project, pieces, follows=run) if run is not None else None
        self.stdout.write(_said(options["url"], options["into"], told, _followed(following)))


def _check_addresses(kind: PageEventKind, url: str, new: str) -> None:
    leads = kind in WITH_NEW_ADDRESS
    if leads and not new.strip():
        raise CommandError(f"{kind.value} takes two addresses: the page's, and the one where it leads. Add the second.")
    if new and not leads:
        raise CommandError(
            f"{kind.value} takes one address. Tell of {url} and {new} one after the other, or say redirected, merged "
            "or moved if the first leads to the second."
        )


def _followed(run: Run | None) -> int:
    """Does here what follows the event; returns how many suggestions that has moved."""
    if run is None:
        return 0
    done = lifecycle.execute(run.pk, run_follow_up)
    report = FollowUpReport.from_json(done.report) if done is not None else FollowUpReport()
    return (report.moved or 0) + (report.left or 0) + (report.back or 0)


def _record_run(project: Project, options: dict[str, Any], told: dict[str, int]) -> Run:
    """The event as an import of one, so that whatever follows from such imports follows from it."""
    params = {name: options[name] for name in ("event", "url", "into", "at") if options[name]}
    report = EventsReport.from_json({"rows": 1, "events": sum(told.values()), **told})
    return lifecycle.record_run(project, RunKind.IMPORT_EVENTS, params, report, None)


def _said(url: str, new: str, told: dict[str, int], moved: int) -> str:
    """What came of the event, in a sentence or two."""
    if not told:
        return KNOWN
    kind = PageEventKind(next(iter(told)))
    about = {"url": url, "new": new, "moved": f"{moved:,} {'suggestion' if moved == 1 else 'suggestions'}"}
    went = "left the queue" if kind is PageEventKind.REMOVED else "followed"
    return SAID[kind].format(**about) + (f" {about['moved']} {went}." if moved else "")
