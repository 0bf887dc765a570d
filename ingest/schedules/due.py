"""Starting what is due.

The row is the truth: whoever moves its `next_at` on starts the run, in one transaction, so that two sweeps and RQ's
scheduler together start one. Where the run before it is still under way nothing is moved, and the next sweep tries
again. However many times were missed, the row moves on to the first that is yet to come.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import structlog
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from ingest.fetching.run import start_fetch
from ingest.fetching.steps import start_match
from ingest.models import Schedule
from ingest.schedules import outcomes
from ingest.schedules.times import next_time
from linker.errors import UserError
from linker.matching.changes_since import whole_site_is_due
from linker.matching.changes_start import start_changes
from linker.models import Run, RunKind
from linker.models.run import ACTIVE
from linker.runs import job_queue, lifecycle
from linker.runs.job_queue import JobKey

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet

    from linker.models import Project

log = structlog.get_logger(__name__)

# A clock that is put back by less repeats nothing. By more, it was wrong when the next time was worked out.
CLOCK_DOUBT = timedelta(days=1)
# A match waits so long for what is being fetched; then it takes what is there.
WAITS_FOR_SOURCES = timedelta(hours=12)


def plan(schedule: Schedule, project: Project, now: datetime) -> None:
    """Works out the next time after `now`, and has RQ's scheduler call for it. The row is the caller's to save."""
    schedule.next_at = next_time(schedule.cron, project.time_zone, now)
    schedule.planned_at, schedule.planned_in = now, project.time_zone
    transaction.on_commit(lambda: _call_for(schedule))


def _call_for(schedule: Schedule) -> None:
    if schedule.enabled:
        at = schedule.next_at
        job_queue.enqueue_at(JobKey("start_schedule", (schedule.pk, int(at.timestamp()))), at)


def start_due(schedule_id: int | None = None, now: datetime | None = None) -> list[Run]:
    """Starts what is due, of one schedule or of all. Returns the runs it started."""
    now = now or timezone.now()
    standing = Schedule.objects.filter(enabled=True, source__removed_at=None).select_related("project", "source")
    if schedule_id is not None:
        standing = standing.filter(pk=schedule_id)
    wrong = Q(planned_at__gt=now + CLOCK_DOUBT) | ~Q(planned_in=F("project__time_zone"))
    for schedule in standing.filter(wrong, next_at__gt=now):
        _plan_anew(schedule, now)
    due = [_start(schedule, now) for schedule in standing.filter(next_at__lte=now).order_by("next_at", "pk")]
    return [run for run in due if run is not None]


def _plan_anew(schedule: Schedule, now: datetime) -> None:
    with transaction.atomic():
        _move_on(schedule, now)


def _move_on(schedule: Schedule, now: datetime, **also: object) -> bool:
    """Compares and sets: False where somebody else was faster, or it was changed or switched off."""
    seen = Schedule.objects.filter(pk=schedule.pk, enabled=True, next_at=schedule.next_at, cron=schedule.cron)
    plan(schedule, schedule.project, now)
    names = ("next_at", "planned_at", "planned_in")
    return bool(seen.update(**{name: getattr(schedule, name) for name in names}, **also))


def _start(schedule: Schedule, now: datetime) -> Run | None:
    if in_the_way(schedule).exists() or waits_for_sources(schedule, now):
        return None
    try:
        with transaction.atomic():
            return _start_run(schedule) if _move_on(schedule, now, last_at=now) else None
    except lifecycle.RunIsActive:
        return None  # the sweep tries again


def _start_run(schedule: Schedule) -> Run | None:
    try:
        with transaction.atomic():
            run = _begin(schedule)
    except lifecycle.RunIsActive:
        raise
    except UserError as error:
        outcomes.note_refusal(schedule, str(error))
        return None
    Schedule.objects.filter(pk=schedule.pk).update(last_run=run, error="")
    return run


def _begin(schedule: Schedule) -> Run:
    if schedule.source is not None:
        return start_fetch(schedule.source)
    if schedule.whole_site or whole_site_is_due(schedule.project):
        return start_match(schedule.project, None)
    return start_changes(schedule.project)


def in_the_way(schedule: Schedule) -> QuerySet[Run]:
    """Runs that have not ended and that it waits for: of its kind, or steps of an earlier row of its source."""
    in_its_way = Q(kind__in=(RunKind.MATCH, RunKind.CHANGES))
    if schedule.source is not None:
        in_its_way = Q(kind=RunKind.FETCH) | Q(follows__kind=RunKind.FETCH, follows__params__source=schedule.source_id)
    return Run.objects.filter(in_its_way, project=schedule.project_id, status__in=ACTIVE)


def waits_for_sources(schedule: Schedule, now: datetime) -> bool:
    """Whether a match is to come after what is due to be fetched, or is being fetched and imported."""
    if schedule.source is not None or schedule.next_at <= now - WAITS_FOR_SOURCES:
        return False
    of_project = Schedule.objects.filter(project=schedule.project_id, enabled=True, source__removed_at=None)
    fetched = Q(kind=RunKind.FETCH) | Q(follows__kind=RunKind.FETCH)
    return (
        of_project.filter(source__isnull=False, next_at__lte=now).exists()
        or Run.objects.filter(fetched, project=schedule.project_id, status__in=ACTIVE).exists()
    )
