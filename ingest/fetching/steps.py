"""What follows a fetch, one step after the other: its pages, its links, vectors, suggestions.

Each step is a run that `follows` the fetch. The end of one starts the next, and so does the sweep where that was
hindered by another run of the same kind. A step that fails ends the row, until somebody has it go on.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from django.db.models.fields.json import KT
from django.utils import timezone
from django.utils.translation import gettext as _

from ingest.models import SiteSource
from ingest.sources.fetched import FETCHED, store_path
from ingest.sources.stored_rows import StoredLinks, StoredPages
from linker.errors import UserError
from linker.matching.changes_start import start_changes
from linker.matching.kept_runs import standing_run, usual_params
from linker.models import Run, RunKind, RunStatus
from linker.models.project import VectorSource
from linker.models.run import ACTIVE
from linker.runs import lifecycle

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

    from linker.models import Project

log = logging.getLogger(__name__)

LATE = timedelta(days=2)  # a row that was not gone on with for so long is given up
STEPS = (RunKind.IMPORT_PAGES, RunKind.IMPORT_LINKS, RunKind.EMBED, RunKind.MATCH)


class Start(Protocol):
    """Starts a step of a fetch; None where what was fetched is gone."""

    def __call__(
        self, fetch: Run, user: AbstractBaseUser | None, *, to_queue: bool = True, allow_shrink: bool = False
    ) -> Run | None: ...


@dataclass(frozen=True)
class Step:
    """One step of a row: its newest run, None where it was not begun."""

    kind: RunKind
    run: Run | None

    @property
    def is_done(self) -> bool:
        return self.run is not None and self.run.status == RunStatus.SUCCEEDED


def steps_of(fetch: Run, source: SiteSource | None = None) -> list[Step]:
    """The steps that the fetch is followed by, in their order. `source` is that of the fetch, where it was read."""
    source = source or SiteSource.objects.filter(pk=fetch.params["source"], project=fetch.project_id).first()
    newest = {step_kind(step): step for step in sorted(fetch.followed_by.all(), key=lambda run: run.pk)}
    return [Step(kind, newest.get(kind)) for kind in STEPS if kind in newest or _is_wanted(fetch, source, kind)]


def step_kind(run: Run) -> str:
    """Which step a run is: a match over what changed takes the place of one over the whole site."""
    return RunKind.MATCH if run.kind == RunKind.CHANGES else run.kind


def fetch_of(run: Run) -> Run | None:
    """The fetch of the row that a run is in; None where it is in none."""
    fetch = run if run.kind == RunKind.FETCH else run.follows
    return fetch if fetch is not None and fetch.kind == RunKind.FETCH else None


def go_on(run: Run) -> Run | None:
    """Called as a run ends well: starts the step after it, where it is one of a row."""
    fetch = fetch_of(run)
    return _start_next(fetch) if fetch is not None else None


def start_due() -> list[Run]:
    """Goes on with rows whose next step could not be started before."""
    recent = Run.objects.filter(
        kind=RunKind.FETCH, status=RunStatus.SUCCEEDED, finished_at__gt=timezone.now() - LATE
    ).annotate(of_source=KT("params__source"))
    newest = recent.order_by("project_id", "of_source", "-pk").distinct("project_id", "of_source")
    fetches = list(newest.select_related("project").prefetch_related("followed_by"))
    sources = SiteSource.objects.in_bulk([fetch.params["source"] for fetch in fetches])
    known = [(fetch, sources[pk]) for fetch in fetches if (pk := fetch.params["source"]) in sources]
    return [started for fetch, source in known if (started := _start_next(fetch, source)) is not None]


def again(fetch: Run, user: AbstractBaseUser | None, *, allow_shrink: bool = False) -> Run:
    """Goes on with a row that stands still: starts the first step that has not succeeded, even where it failed.

    `allow_shrink` has pages or links imported that are far fewer than the project's. Raises UserError where there is
    nothing to go on with, RunIsActive where a run of the kind is under way.
    """
    if fetch.status != RunStatus.SUCCEEDED:
        raise UserError(_("Run %(run)d has not fetched anything. Fetch the source again.") % {"run": fetch.pk})
    if is_superseded(fetch):
        raise UserError(_("The source was fetched again since. Go on with the newest fetch."))
    step = next((step for step in steps_of(fetch) if not step.is_done), None)
    if step is None:
        raise UserError(_("Every step of this fetch is done."))
    if step.run is not None and step.run.is_active:
        raise lifecycle.RunIsActive(step.run)
    started = START[step.kind](fetch, user, allow_shrink=allow_shrink)
    if started is None:
        raise UserError(_("What run %(run)d fetched is no longer there. Fetch the source again.") % {"run": fetch.pk})
    return started


def start_step(fetch: Run, kind: RunKind, *, to_queue: bool = True) -> Run | None:
    """A step of a fetch after which nothing follows by itself. None where what was fetched is gone."""
    return START[kind](fetch, fetch.created_by, to_queue=to_queue)


def is_superseded(fetch: Run) -> bool:
    """Whether the source was fetched again since: the later fetch has its own row."""
    later = Run.objects.filter(project=fetch.project_id, kind=RunKind.FETCH, status=RunStatus.SUCCEEDED)
    return later.filter(pk__gt=fetch.pk, params__source=fetch.params["source"]).exists()


def is_done(fetch: Run) -> bool:
    """Whether every step has succeeded."""
    return fetch.status == RunStatus.SUCCEEDED and all(step.is_done for step in steps_of(fetch))


def _start_next(fetch: Run, source: SiteSource | None = None) -> Run | None:
    step = next((step for step in steps_of(fetch, source) if not step.is_done), None)
    if step is None or step.run is not None or is_superseded(fetch):
        return None  # all is done, or one is under way, or failed
    if Run.objects.filter(kind=RunKind.FOLLOW_UP, follows__follows=fetch, status__in=ACTIVE).exists():
        return None  # it goes on as that ends
    try:
        return START[step.kind](fetch, fetch.created_by)
    except lifecycle.RunIsActive:
        return None  # the sweep tries again


def _is_wanted(fetch: Run, source: SiteSource | None, kind: str) -> bool:
    if source is None or source.removed_at is not None:
        return False
    if not fetch.params.get("steps", True):  # whoever started it begins them
        return False
    if kind == RunKind.IMPORT_LINKS and not fetch.report.get("links", 1):  # of a sitemap alone
        return False
    if kind in (RunKind.EMBED, RunKind.MATCH) and not source.refresh_matches:
        return False
    return kind != RunKind.EMBED or fetch.project.vector_source != VectorSource.IMPORTED


def _import(kind: str, rows: type[StoredPages | StoredLinks]) -> Start:
    def start(
        fetch: Run, user: AbstractBaseUser | None, *, to_queue: bool = True, allow_shrink: bool = False
    ) -> Run | None:
        from ingest import services  # which reads the code of every kind of file, and runs of all kinds end here

        path = store_path(fetch)
        if not path.is_file():
            log.warning("what was fetched is no longer there", extra={"run": fetch.pk})
            return None
        return services.start_source_import(
            fetch.project,
            kind,
            FETCHED,
            str(fetch.pk),
            user,
            mapping=rows(path, "").mapping,
            follows=fetch,
            to_queue=to_queue,
            # Who allows fewer pages allows the fewer links that they have.
            allow_shrink=allow_shrink or fetch.followed_by.filter(params__allow_shrink=True).exists(),
        )

    return start


def _embed(fetch: Run, user: AbstractBaseUser | None, *, to_queue: bool = True, allow_shrink: bool = False) -> Run:
    return lifecycle.start_run(fetch.project, RunKind.EMBED, {}, user, follows=fetch, to_queue=to_queue)


def _match(fetch: Run, user: AbstractBaseUser | None, *, to_queue: bool = True, allow_shrink: bool = False) -> Run:
    """Over what changed; where no run stands that could be followed, over the whole site."""
    start = start_changes if standing_run(fetch.project) is not None else start_match
    return start(fetch.project, user, follows=fetch, to_queue=to_queue)


def start_match(
    project: Project, user: AbstractBaseUser | None, *, follows: Run | None = None, to_queue: bool = True
) -> Run:
    """Of the whole site, with the settings that stand."""
    return lifecycle.start_run(project, RunKind.MATCH, usual_params(project), user, follows=follows, to_queue=to_queue)


START: dict[str, Start] = {
    RunKind.IMPORT_PAGES: _import("pages", StoredPages),
    RunKind.IMPORT_LINKS: _import("links", StoredLinks),
    RunKind.EMBED: _embed,
    RunKind.MATCH: _match,
}
