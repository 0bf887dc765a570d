"""The life of a Run: start, claim, progress, finish, fail, cancel.

A run's worker holds its lock for as long as it works (linker.runs.run_lock). The connection that holds it also carries
progress past the transaction the work runs in. Runs whose worker died are found in linker.runs.lost_work.
"""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

import psycopg
import redis.exceptions
from django.conf import settings
from django.db import DatabaseError, IntegrityError, transaction
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _
from django.utils.translation import override

from linker import audit, notifications
from linker.errors import RunCancelled, UserError
from linker.models import ChangeKind, Project, Run, RunKind, RunStatus
from linker.models.run import ACTIVE
from linker.operations import outages
from linker.operations.logs import scrub
from linker.operations.version import code_version
from linker.runs import job_queue
from linker.runs.job_queue import JobKey
from linker.runs.kinds import FOLLOWED_BY, LOOKED_AT_BY_ANOTHER, WHEN_FAILED, job_type
from linker.runs.lost_work import is_abandoned
from linker.runs.reports import Report, report_of
from linker.runs.run_lock import name_connection, run_lock
from linker.storage.site_figures import changes_figures, keep_figures
from linker.wording import within

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
    from django.db.models import QuerySet

log = logging.getLogger(__name__)

NO_ROOM = (
    "The database has no room: its disk is full. Nothing is half done. Let the administrator make room, then start the "
    "run again."
)
TOO_LONG = (
    "The work took longer than it may, and was stopped. Nothing is half done. Start it again when less is going on; if "
    "it takes as long then, the administrator should give the database more memory, or the workers more cores."
)


class Progress(Protocol):
    """`progress(done, total, stage)`; raises RunCancelled when somebody asked the run to stop."""

    def __call__(self, done: int, total: int, stage: str = "") -> None: ...


def no_progress(done: int, total: int, stage: str = "") -> None:
    """The default: progress is not shown."""


class RunIsActive(UserError):
    """A run of the kind is already waiting or running in the project."""

    def __init__(self, run: Run) -> None:
        super().__init__(
            _("“%(kind)s” is already %(status)s for this project (run %(run)d). Wait for it to finish, or cancel it.")
            % {"kind": run.get_kind_display(), "status": within(run.get_status_display()), "run": run.pk}
        )
        self.run = run


def start_run(
    project: Project,
    kind: str,
    params: dict[str, Any],
    user: AbstractBaseUser | AnonymousUser | None = None,
    *,
    to_queue: bool = True,
    follows: Run | None = None,
    by_itself: bool | None = None,
) -> Run:
    """Writes the run with its parameters frozen and, once committed, gives it to the workers.

    `follows` is the run that began what this one is a step of. `by_itself`: whether nobody started it, neither in the
    browser nor by a command; so it is, if nothing is said, where there is no user and workers take it up. Raises
    RunIsActive where one of the same kind is not finished yet.
    """
    try:
        with transaction.atomic():
            run = Run.objects.create(
                project=project,
                kind=kind,
                params=params,
                created_by_id=user.pk if user is not None else None,
                code_version=code_version(),
                follows=follows,
                by_itself=(user is None and to_queue) if by_itself is None else by_itself,
            )
    except IntegrityError:
        active = Run.objects.filter(project=project, kind=kind, status__in=[RunStatus.QUEUED, RunStatus.RUNNING])
        first = active.first()
        if first is None:
            raise
        # Within a request nobody waits for a second look: the sweep takes the run up, or somebody cancels it.
        if to_queue or not is_abandoned(first):
            raise RunIsActive(first) from None
        fail_run(first.pk, "The process that worked on it ended, and nobody took it up.")
        return start_run(project, kind, params, user, to_queue=to_queue, follows=follows, by_itself=by_itself)
    if to_queue:
        job_queue.enqueue(JobKey(kind, (run.pk,)))
    return run


def record_run(
    project: Project,
    kind: str,
    params: dict[str, Any],
    report: Report | dict[str, Any],
    user: AbstractBaseUser | AnonymousUser | None,
) -> Run:
    """Writes down work that was done within a request or a command, in the transaction that did it, and starts what
    follows from it."""
    now = timezone.now()
    run = Run.objects.create(
        project=project,
        kind=kind,
        status=RunStatus.SUCCEEDED,
        params=params,
        report=_stored(report),
        created_by_id=user.pk if user is not None else None,
        code_version=code_version(),
        started_at=now,
        finished_at=now,
    )
    _go_on(run)
    return run


def request_cancel(run: Run) -> bool:
    """Asks a run to stop; a run that no worker works on stops at once. False where it had already ended."""
    updated = Run.objects.filter(pk=run.pk, status__in=[RunStatus.QUEUED, RunStatus.RUNNING]).update(
        cancel_requested=True
    )
    if not updated:
        return False
    with run_lock(run.pk) as lock:
        if lock is not None:
            _end(run.pk, RunStatus.CANCELLED)
    return True


class _Reporter:
    """Writes progress at most twice a second, so that it may be called in an inner loop."""

    def __init__(self, lock: psycopg.Connection[Any], run_id: int) -> None:
        self.lock, self.run_id = lock, run_id
        self.written_at, self.stage = 0.0, ""

    def __call__(self, done: int, total: int, stage: str = "") -> None:
        stage = stage or self.stage
        now = time.monotonic()
        if stage == self.stage and now - self.written_at < 0.5 and done < total:
            return
        self.written_at, self.stage = now, stage
        row = self.lock.execute(
            "UPDATE linker_run SET done = %s, total = %s, stage = %s WHERE id = %s AND status = 'running' "
            "RETURNING cancel_requested",
            [done, total, stage, self.run_id],
        ).fetchone()
        if row is None or row[0]:
            raise RunCancelled


def execute(run_id: int, work: Callable[[Run, Progress], Report | dict[str, Any] | None]) -> Run | None:
    """Claims the run, works, and writes how it ended. None where another worker has it or it is over.

    `work` returns the run's report, or None where the run goes on in other jobs. A UserError's text becomes the
    run's error; any other exception fails the run too and is raised on. Where PostgreSQL is lost in the middle, or
    others are in the way, the work begins again. What follows the result (linker.matching.follow_up) is done at once.
    """
    try:
        run = outages.outlast(lambda: _execute(run_id, work))
    except DatabaseError as error:
        if not outages.is_lock_conflict(error):
            raise
        fail_run(run_id, outages.LOCK_CONFLICT.sentence)
        return Run.objects.get(pk=run_id)
    if run is None or run.status != RunStatus.SUCCEEDED:
        return run
    follow_ups = list(_follow_ups(run).filter(status=RunStatus.QUEUED).order_by("pk").values_list("pk", flat=True))
    for follow_up in follow_ups:
        import_string(job_type(RunKind.FOLLOW_UP).path)(follow_up)
    return Run.objects.get(pk=run_id) if follow_ups else run


def _execute(run_id: int, work: Callable[[Run, Progress], Report | dict[str, Any] | None]) -> Run | None:
    with run_lock(run_id) as lock:
        if lock is None:
            return None
        claimed = Run.objects.filter(pk=run_id, status__in=[RunStatus.QUEUED, RunStatus.RUNNING]).update(
            status=RunStatus.RUNNING, started_at=Coalesce("started_at", timezone.now())
        )
        if not claimed:
            return None
        run = Run.objects.select_related("project", "model").get(pk=run_id)
        name_connection(run_id)
        try:
            reporter = _Reporter(lock, run_id)
            reporter(run.done, run.total, "Starting")
            report = work(run, reporter)
            if report is not None:
                _end(run_id, RunStatus.SUCCEEDED, report=report)
        except RunCancelled:
            _end(run_id, RunStatus.CANCELLED)
        except UserError as error:
            _end(run_id, RunStatus.FAILED, error=str(error), report=getattr(error, "report", {}))
        except KeyboardInterrupt:
            _end(run_id, RunStatus.CANCELLED)
            raise
        except Exception as error:
            # After a lost connection the run goes on: in this process, or in whichever the sweep gives it to.
            if not outages.is_away(error) and not outages.is_lock_conflict(error):
                _end(run_id, RunStatus.FAILED, error=_why(error))
            raise
    return Run.objects.get(pk=run_id)


def _why(error: Exception) -> str:
    if isinstance(error.__cause__ or error, psycopg.errors.DiskFull):
        return NO_ROOM
    if job_queue.took_too_long(error):
        return TOO_LONG
    return f"An unexpected error stopped the run: {error!r}"


def _end(run_id: int, status: RunStatus, *, error: str = "", report: Report | dict[str, Any] | None = None) -> None:
    try:
        _write_end(run_id, status, error, report)
    except DatabaseError as fault:
        # A database whose disk is full. The sweep writes the end as soon as it takes writes again.
        if status != RunStatus.FAILED or not error:
            error = _why(fault)
        with suppress(redis.exceptions.RedisError):
            job_queue.note_end(run_id, scrub(error))
        raise


def _write_end(run_id: int, status: RunStatus, error: str, report: Report | dict[str, Any] | None) -> None:
    with transaction.atomic():
        ended = Run.objects.filter(pk=run_id, status__in=[RunStatus.QUEUED, RunStatus.RUNNING]).update(
            status=status, error=scrub(error), stage="", finished_at=timezone.now(), report=_stored(report)
        )
        run = Run.objects.select_related("project", "created_by").get(pk=run_id)
        if ended and status == RunStatus.SUCCEEDED:
            _go_on(run)
        if ended and status == RunStatus.FAILED:
            if run.created_by is not None:
                _tell_of_failure(run, run.created_by)
            for path in (*WHEN_FAILED, *(FOLLOWED_BY[run.kind] if run.kind in LOOKED_AT_BY_ANOTHER else ())):
                import_string(path)(run)
        if ended and changes_figures(run):
            keep_figures(run.project)
    log.info("run ended", extra={"run": run_id, "status": str(status), "error": error})


def _go_on(run: Run) -> None:
    """What comes with the success of a run: an import stands in the log, and what follows from a run is started. From a
    run whose result has a follow-up, as that ends."""
    _log_import(run)
    began: Run | None = run
    if run.kind == RunKind.FOLLOW_UP and run.follows_id is not None:
        # The end of that run and this one wait for each other: one of them sees that both are over.
        began = Run.objects.select_for_update(of=("self",), no_key=True).select_related("project", "created_by").filter(
            pk=run.follows_id, status=RunStatus.SUCCEEDED
        ).first()  # fmt: skip
    if began is None or _follow_ups(began).exclude(pk=run.pk).filter(status__in=ACTIVE).exists():
        return
    for path in FOLLOWED_BY.get(began.kind, ()):
        import_string(path)(began)


def _follow_ups(run: Run) -> QuerySet[Run]:
    return Run.objects.filter(follows=run, kind=RunKind.FOLLOW_UP)


def _tell_of_failure(run: Run, user: User) -> None:
    about = {"run": run.pk, "project": run.project}
    notifications.notify(
        user,
        notifications.Kind.RUN_FAILED,
        notifications.readers_words(lambda: _("Run %(run)s in %(project)s has failed") % about),
        notifications.readers_words(lambda: _("Run %(run)s in %(project)s has failed. Its page says why.") % about),
        reverse("run", args=[run.project.slug, run.pk]),
    )


def _stored(report: Report | dict[str, Any] | None) -> dict[str, Any]:
    return report.to_json() if isinstance(report, Report) else report or {}


_IMPORTED = ("file", "period", "traffic_source", "query_source")  # what else than numbers the log says of an import


def _log_import(run: Run) -> None:
    """What an import did stands among the changes of its project: file, period, source and counts."""
    if run.is_import:
        said = vars(report_of(run))
        counts: dict[str, Any] = {name: value for name, value in said.items() if type(value) is int and value}
        counts |= {name: str(said[name]) for name in _IMPORTED if said.get(name)}
        with override(settings.LANGUAGE_CODE):
            subject = f"{run.get_kind_display()}, run {run.pk}"
        audit.record(run.project, ChangeKind.IMPORT, user=run.created_by, subject=subject, after=counts)


def succeed(run_id: int, report: Report | dict[str, Any]) -> None:
    """For work that must end in the same transaction as its results."""
    _end(run_id, RunStatus.SUCCEEDED, report=report)


def cancel_run(run_id: int) -> None:
    _end(run_id, RunStatus.CANCELLED)


def fail_run(run_id: int, error: str) -> None:
    _end(run_id, RunStatus.FAILED, error=error)
