"""Work that no worker has and no queue holds: its worker died, or Redis lost it."""

from __future__ import annotations

import time
from datetime import timedelta

import redis.exceptions
from django.db import transaction
from django.utils import timezone

from linker.models import Run, RunBatch, RunKind, RunStatus
from linker.runs import job_queue
from linker.runs.job_queue import JobKey
from linker.runs.run_lock import run_lock

TO_BEGIN = timedelta(seconds=30)


def find_lost() -> set[JobKey]:
    """Jobs that should be waiting or working and are neither.

    A job seen between its start and its lock looks lost too: act on what two sweeps in a row have found.
    """
    lost: set[JobKey] = set()
    waiting = job_queue.waiting_ids()
    for run in Run.objects.filter(status__in=[RunStatus.QUEUED, RunStatus.RUNNING]).order_by("pk"):
        with run_lock(run.pk) as lock:
            if lock is None:
                continue
        lost |= {key for key in _jobs_due(run) if key.id not in waiting}
    return lost


def is_abandoned(run: Run) -> bool:
    """Whether no worker works on the run and no job of it waits, in two checks a second apart: for commands, which have
    the time.

    While Redis is away the jobs that wait are not known, and the run is taken for one of them. So is a run that was
    queued just now: between taking its job and locking it, a busy machine may need seconds.
    """
    if run.status == RunStatus.QUEUED and timezone.now() - run.created_at < TO_BEGIN:
        return False
    try:
        return _looks_abandoned(run)
    except (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError):
        return False


def _looks_abandoned(run: Run) -> bool:
    for look in range(2):
        if look:
            time.sleep(1)
        with run_lock(run.pk) as lock:
            if lock is None:
                return False
        jobs = _jobs_due(run)
        worked_on = run.kind == RunKind.MATCH and len(jobs) < run.batches.filter(done=False).count()
        if worked_on or not jobs or any(job_queue.is_waiting(key) for key in jobs):
            return False
    return True


def _jobs_due(run: Run) -> list[JobKey]:
    if run.kind != RunKind.MATCH or run.status == RunStatus.QUEUED or not run.batches.exists():
        return [JobKey(run.kind, (run.pk,), run.attempts)]
    with transaction.atomic():
        free = RunBatch.objects.filter(run=run, done=False).select_for_update(skip_locked=True)
        pending = list(free.values_list("number", "attempts"))
    if pending:
        return [JobKey("match_batch", (run.pk, number), attempts) for number, attempts in pending]
    if RunBatch.objects.filter(run=run, done=False).exists():
        return []
    return [JobKey("match_finish", (run.pk,), run.attempts)]
