"""Reads for the pages of sources and schedules."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models.fields.json import KT
from django.utils import timezone
from django.utils.translation import ngettext

from ingest.fetching import faults, steps
from ingest.fetching.manage import sources_of
from ingest.fetching.report import FetchReport, endless, soft_404
from ingest.fetching.restore import count_marked
from ingest.fetching.run import can_go_on, fetches_of, newest_store
from ingest.models import Schedule
from ingest.sources.connectors import registry
from ingest.web.option_words import label_of
from linker.errors import UserError
from linker.models import Run, RunKind, RunStatus
from linker.reports.table import plain
from linker.runs.reports import report_of
from linker.wording import number

if TYPE_CHECKING:
    from ingest.fetching.steps import Step
    from ingest.models import SiteSource
    from linker.models import Project

FETCHES_SHOWN = 10


@dataclass(frozen=True)
class FetchRow:
    """A fetch with its report and the steps after it. `standing`: the step at which the row stands still; `can_go_on`:
    it was cancelled itself, and can be gone on with; `is_given_up`: the source was fetched again since; `missing`: how
    many pages its import marked as missing that are so still."""

    run: Run
    report: FetchReport
    steps: list[Step]
    standing: Step | None
    can_go_on: bool = False
    is_given_up: bool = False
    missing: int = 0

    @property
    def active_run(self) -> Run | None:
        """The fetch or the step that waits or is worked on."""
        runs = (self.run, *(step.run for step in self.steps))
        return next((run for run in runs if run is not None and run.is_active), None)

    @property
    def is_active(self) -> bool:
        return self.active_run is not None

    @property
    def soft_404(self) -> str:
        """What is said of pages that are none, whatever they answer with; empty where there are none."""
        return soft_404(self.report.soft_404) if self.report.soft_404 else ""

    @property
    def endless(self) -> str:
        """What is said of addresses that were left out as endless; empty where there are none."""
        return endless(self.report) if self.report.endless else ""

    @property
    def has_shrunk(self) -> bool:
        """Whether it stands still since the site would have shrunk."""
        run = self.standing.run if self.standing is not None else None
        return run is not None and run.is_import and bool(run.report.get("shrank"))

    @property
    def fault(self) -> str:
        """Why it failed, or why it stands still."""
        if self.run.status == RunStatus.FAILED:
            return self.run.error
        return self.standing.run.error if self.standing is not None and self.standing.run is not None else ""


@dataclass(frozen=True)
class SourceRow:
    """A source with its newest fetch and its schedule."""

    source: SiteSource
    newest: FetchRow | None
    schedule: Schedule | None


def source_rows(project: Project) -> list[SourceRow]:
    """The project's sources."""
    fetches = Run.objects.filter(project=project, kind=RunKind.FETCH).annotate(of_source=KT("params__source"))
    newest = fetches.order_by("of_source", "-pk").distinct("of_source")
    runs = {run.params["source"]: run for run in newest.select_related("project").prefetch_related("followed_by")}
    schedules = {one.source_id: one for one in Schedule.objects.filter(project=project)}
    return [
        SourceRow(
            source,
            fetch_row(runs[source.pk], source, is_newest=True) if source.pk in runs else None,
            schedules.get(source.pk),
        )
        for source in sources_of(project)
    ]


def fetch_rows(source: SiteSource, before: int | None = None) -> tuple[list[FetchRow], int | None]:
    """The fetches of a source, newest first, from below a run's number on; and that number for the next screen."""
    runs = fetches_of(source).select_related("project", "created_by").prefetch_related("followed_by").order_by("-pk")
    newest_id = fetches_of(source).filter(status=RunStatus.SUCCEEDED).order_by("-pk").values_list("pk", flat=True)[:1]
    newest = next(iter(newest_id), 0)
    if before is not None:
        runs = runs.filter(pk__lt=before)
    found = list(runs[: FETCHES_SHOWN + 1])
    shown = [fetch_row(run, source, is_newest=run.pk >= newest) for run in found[:FETCHES_SHOWN]]
    return shown, shown[-1].run.pk if len(found) > FETCHES_SHOWN else None


def fetch_row(run: Run, source: SiteSource, *, is_newest: bool) -> FetchRow:
    report = report_of(run)
    assert isinstance(report, FetchReport)
    row = steps.steps_of(run, source) if run.status == RunStatus.SUCCEEDED else []
    standing = _standing(run, row) if is_newest else None
    imported = next((step.run for step in row if step.kind == RunKind.IMPORT_PAGES and step.run is not None), None)
    missing = count_marked(imported) if imported is not None else 0
    return FetchRow(run, report, row, standing, can_go_on(run), is_given_up=not is_newest, missing=missing)


def _standing(run: Run, row: list[Step]) -> Step | None:
    step = next((step for step in row if not step.is_done), None)
    if step is None:
        return None
    if step.run is None:  # the sweep begins it, if it has not given the row up
        given_up = run.finished_at is not None and run.finished_at < timezone.now() - steps.LATE
        return step if given_up else None
    return None if step.run.is_active else step


def fault_counts(source: SiteSource) -> tuple[int, list[tuple[str, str]]]:
    """The newest fetch that ended well, and how many links it found of each kind that is listed, in words."""
    newest = fetches_of(source).filter(status=RunStatus.SUCCEEDED).order_by("-pk").first()
    store = newest_store(source)
    counts = faults.counts(store) if store is not None else None
    if newest is None or counts is None:
        return 0, []
    said = {
        faults.BROKEN: ngettext("%(n)s broken link", "%(n)s broken links", counts[faults.BROKEN]),
        faults.REDIRECTED: ngettext("%(n)s redirected link", "%(n)s redirected links", counts[faults.REDIRECTED]),
        faults.BY_ROBOTS: ngettext(
            "%(n)s link barred by robots.txt", "%(n)s links barred by robots.txt", counts[faults.BY_ROBOTS]
        ),
        faults.UNLISTED: ngettext(
            "%(n)s link to an address that WordPress does not list",
            "%(n)s links to addresses that WordPress does not list",
            counts.get(faults.UNLISTED, 0),
        ),
    }
    return newest.pk, [(kind, said[kind] % {"n": number(count)}) for kind, count in counts.items() if count]


def options_in_words(source: SiteSource) -> list[tuple[str, str]]:
    """The options of a source that are not the usual ones: what its form calls them, and their values."""
    try:
        options = registry.get(source.kind).Options
    except UserError:
        return []
    names = {field.name for field in dataclasses.fields(options)}
    return [(str(label_of(name)), plain(value)) for name, value in source.options.items() if name in names]
