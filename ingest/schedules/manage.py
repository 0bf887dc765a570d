"""Schedules of a project: set, changed, switched off; each change is written into the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from ingest.models import Schedule, SiteSource
from ingest.schedules.due import plan
from ingest.schedules.times import checked
from linker import audit
from linker.errors import UserError
from linker.models import ChangeKind, Project
from linker.storage.locks import lock_project

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser
    from django.db.models import QuerySet

LOGGED, OF_THE_MATCH = ("cron", "enabled"), ("whole_site",)


def schedules_of(project: Project) -> QuerySet[Schedule]:
    """Those of the match and of the sources that were not removed, the match's first."""
    found = Schedule.objects.filter(project=project, source__removed_at=None)
    return found.select_related("source", "last_run", "project").order_by("source_id", "id")


@transaction.atomic
def set_schedule(
    project: Project,
    source: SiteSource | None,
    user: AbstractBaseUser | None,
    *,
    cron: str,
    enabled: bool = True,
    whole_site: bool = False,
) -> Schedule:
    """Has a source fetched, or, without one, the project matched, when `cron` says; `enabled` False keeps it for
    later. `whole_site`: the match is over the whole site each time. Raises UserError for an expression that cannot be
    kept, or a source that was removed."""
    lock_project(project.pk)
    if source is not None and not SiteSource.objects.filter(pk=source.pk, project=project, removed_at=None).exists():
        raise UserError(f"The source “{source}” was removed.")
    schedule = Schedule.objects.filter(project=project, source=source).first()
    logged = LOGGED if source is not None else LOGGED + OF_THE_MATCH
    before = audit.values(schedule, logged) if schedule is not None else {}
    if schedule is None:
        schedule = Schedule(project=project, source=source)
    schedule.cron, schedule.enabled, schedule.whole_site = checked(cron), enabled, source is None and whole_site
    plan(schedule, project, timezone.now())
    if not enabled:
        schedule.failed_since, schedule.error = None, ""
    schedule.save()
    audit.record(
        project,
        ChangeKind.SOURCES,
        user=user,
        subject=subject_of(source),
        before=before,
        after=audit.values(schedule, logged),
    )
    return schedule


def subject_of(source: SiteSource | None) -> str:
    """What the log calls the schedule of a source, or, without one, of the match."""
    return f"{source.name}: schedule" if source is not None else "Match: schedule"
