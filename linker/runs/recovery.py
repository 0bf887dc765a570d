"""What the sweep does with lost work: it is queued again, or its run fails."""

from __future__ import annotations

import logging
from typing import Any

from linker.models import Run, RunBatch, RunStatus
from linker.runs import job_queue, lifecycle
from linker.runs.job_queue import JobKey

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 3


def recover(lost: set[JobKey]) -> int:
    """Queues lost jobs again, or fails their run after MAX_ATTEMPTS losses. Returns how many were queued.

    A job that no worker can have taken, because Redis never got it or has forgotten it, is no loss.
    """
    requeued = 0
    for key in sorted(lost):
        run = Run.objects.filter(pk=key.args[0], status__in=[RunStatus.QUEUED, RunStatus.RUNNING]).first()
        if run is None:
            continue
        if run.cancel_requested:
            lifecycle.cancel_run(run.pk)
            continue
        why = job_queue.noted_end(run.pk)
        if why:
            lifecycle.fail_run(run.pk, why)
            continue
        if job_queue.is_waiting(key):
            continue  # another machine has queued it since
        if not job_queue.is_known(key):
            log.warning("job queued that the queue did not have", extra={"job": key.id})
            job_queue.enqueue(key)
            requeued += 1
            continue
        owner: Run | RunBatch = RunBatch.objects.get(run=run, number=key.args[1]) if len(key.args) > 1 else run
        if owner.attempts >= MAX_ATTEMPTS:
            lifecycle.fail_run(
                run.pk,
                f"A worker was lost {MAX_ATTEMPTS} times at the same piece of work ({key.name}), most likely for want "
                "of memory. Give the workers more memory or lower MATCH_MEMORY_MB, then start the run again.",
            )
            continue
        # Several machines sweep: one of them counts the loss and queues the job.
        anew: dict[str, Any] = {} if isinstance(owner, RunBatch) else {"done": 0}  # the page of the run says why
        counted = type(owner).objects.filter(pk=owner.pk, attempts=key.attempt).update(attempts=key.attempt + 1, **anew)
        if counted:
            log.warning("lost job queued again", extra={"job": key.id, "attempt": key.attempt + 1})
            job_queue.enqueue(JobKey(key.name, key.args, key.attempt + 1))
            requeued += 1
    return requeued
