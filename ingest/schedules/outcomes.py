"""How what a schedule started came out, and who is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from ingest.fetching import steps
from ingest.models import Schedule
from linker import notifications
from linker.matching.changes_report import ChangesReport
from linker.matching.changes_since import instead_of
from linker.models import Role, Run, RunKind, RunStatus

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.db.models import QuerySet


def note_end(run: Run) -> None:
    """Called in the transaction that ends a run: notes how a schedule's run, or a step after it, came out."""
    step = run.follows if run.kind == RunKind.FOLLOW_UP and run.follows is not None else run
    began = steps.fetch_of(step) or instead_of(step) or step
    if began.kind not in (RunKind.FETCH, RunKind.MATCH, RunKind.CHANGES):
        return
    standing = _standing(began)
    if run.status == RunStatus.FAILED:
        for schedule in standing.filter(last_run=began):
            _note_failure(schedule, run.error, run)
    elif steps.is_done(began) if began.kind == RunKind.FETCH else not _goes_on(run):
        for schedule in standing.exclude(failed_since=None):
            _note_success(schedule, began)


def _goes_on(run: Run) -> bool:
    """Whether a match over what changed has said that the whole site is matched instead."""
    return run.kind == RunKind.CHANGES and ChangesReport.from_json(run.report).whole is not None


def note_refusal(schedule: Schedule, sentence: str) -> None:
    """Notes that nothing could be started, and why. Within the caller's transaction."""
    _note_failure(schedule, sentence, None)


def _standing(began: Run) -> QuerySet[Schedule]:
    """The schedule that may have started a run."""
    found = Schedule.objects.filter(project=began.project_id, enabled=True).select_related("project", "source")
    source = began.params.get("source") if began.kind == RunKind.FETCH else None
    return found.filter(source=source, source__removed_at=None)


def _note_failure(schedule: Schedule, sentence: str, run: Run | None) -> None:
    rows = Schedule.objects.filter(pk=schedule.pk)
    rows.update(error=sentence, failed_since=Coalesce("failed_since", timezone.now()))

    def text() -> str:
        if run is None:
            return _("It could not be started: %(why)s") % {"why": sentence}
        about = {"run": run.pk, "step": run.get_kind_display(), "why": sentence}
        return _("Run %(run)d (%(step)s): %(why)s") % about

    failed = gettext_noop("The scheduled fetch of “%(source)s” in %(project)s has failed")
    _tell_managers(schedule, failed, gettext_noop("The scheduled match in %(project)s has failed"), text)


def _note_success(schedule: Schedule, began: Run) -> None:
    Schedule.objects.filter(pk=schedule.pk).update(error="", failed_since=None)

    def text() -> str:
        return _("Run %(run)d and all that follows it have succeeded.") % {"run": began.pk}

    again = gettext_noop("The fetch of “%(source)s” in %(project)s works again")
    _tell_managers(schedule, again, gettext_noop("The match in %(project)s works again"), text)


def _tell_managers(schedule: Schedule, of_source: str, of_match: str, text: Callable[[], str]) -> None:
    about = {"source": schedule.source, "project": schedule.project}
    url = reverse("schedules", args=[schedule.project.slug])
    if schedule.source is not None:
        url = reverse("source", args=[schedule.project.slug, schedule.source.pk])
    words = of_match if schedule.source is None else of_source
    subject = notifications.readers_words(lambda: _(words) % about)
    for manager in User.objects.filter(memberships__project=schedule.project, memberships__role=Role.MANAGER):
        notifications.notify(manager, notifications.Kind.SCHEDULE, subject, notifications.readers_words(text), url)
