"""What waits in a project because of its sources: schedules whose time has come, and fetches that stand still."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q
from django.db.models.fields.json import KT
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from ingest.fetching import steps
from ingest.models import Schedule, SiteSource
from ingest.schedules.due import in_the_way, waits_for_sources
from linker.models import Run, RunKind, RunStatus
from linker.runs.under_way import Waiting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from linker.models import Project


SHOWN = 20  # schedules that are due


def waiting(project: Project) -> list[Waiting]:
    """Schedules first, then fetches. The number of queries does not grow with them."""
    return [*_schedules(project), *_fetches(project)]


def _schedules(project: Project) -> Iterator[Waiting]:
    now = timezone.now()
    due = Schedule.objects.filter(Q(source=None) | Q(source__removed_at=None), project=project, enabled=True)
    for schedule in due.filter(next_at__lte=now).select_related("source", "project").order_by("next_at", "pk")[:SHOWN]:
        what = _("Scheduled match")
        if schedule.source is not None:
            what = _("Scheduled fetch of “%(source)s”") % {"source": schedule.source}
        yield Waiting(what, _why_not_started(schedule), reverse("schedules", args=[project.slug]))


def _why_not_started(schedule: Schedule) -> str:
    run = in_the_way(schedule).order_by("pk").first()
    if run is not None:
        return _("It waits for the end of %(run)s.") % {"run": f"{run.get_kind_display()} #{run.pk}"}
    if waits_for_sources(schedule, timezone.now()):
        return _("It waits for sources that are due or being fetched, at most 12 hours.")
    return _("The workers start it within seconds.")


def _fetches(project: Project) -> Iterator[Waiting]:
    """The newest fetch of each source, where a step after it has failed or was cancelled."""
    ended = Run.objects.filter(project=project, kind=RunKind.FETCH, status=RunStatus.SUCCEEDED)
    newest = ended.annotate(of_source=KT("params__source")).order_by("of_source", "-pk").distinct("of_source")
    fetches = list(newest.select_related("project").prefetch_related("followed_by"))
    sources = SiteSource.objects.in_bulk([fetch.params["source"] for fetch in fetches])
    for fetch in fetches:
        source = sources.get(fetch.params["source"])
        if source is None or source.removed_at is not None:
            continue
        step = next((step for step in steps.steps_of(fetch, source) if not step.is_done), None)
        if step is not None and step.run is not None and not step.run.is_active:
            yield Waiting(
                _("Fetch of “%(source)s”, run %(run)d") % {"source": source, "run": fetch.pk},
                _("It stands still: “%(step)s” (run %(run)d) has not succeeded. Try that run again.")
                % {"step": step.run.get_kind_display(), "run": step.run.pk},
                reverse("source", args=[project.slug, source.pk]),
            )
