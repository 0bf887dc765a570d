"""RQ's doors: claim a run, call one service, write how it ended. linker.runs.job_queue names them by their paths."""

from __future__ import annotations

from django.db import DatabaseError

from linker import notifications
from linker.embedding.service import run_embed
from linker.embedding.vector_sets import run_drop_vectors
from linker.matching.batches import batches_left, enqueue_batches, run_batch
from linker.matching.caps_run import run_apply_caps
from linker.matching.finish import finish_match
from linker.matching.follow_up_work import run_follow_up
from linker.matching.recheck import run_recheck
from linker.matching.run_comparison import compare_runs
from linker.matching.safety_run import run_apply_safety
from linker.matching.standing import take_again
from linker.matching.start import start_match
from linker.models import Run, RunStatus
from linker.operations import outages
from linker.pages.roles import run_find_roles
from linker.pages.sensitivity import run_find_sensitive
from linker.projects.policies.retier_run import run_retier
from linker.runs import lifecycle
from linker.runs.job_queue import JobKey, enqueue


def send_mails(_asked_at: int) -> None:
    outages.outlast(notifications.send_due)


def find_sensitive(run_id: int) -> None:
    lifecycle.execute(run_id, run_find_sensitive)


def find_roles(run_id: int) -> None:
    lifecycle.execute(run_id, run_find_roles)


def follow_up(run_id: int) -> None:
    lifecycle.execute(run_id, run_follow_up)


def apply_safety(run_id: int) -> None:
    lifecycle.execute(run_id, run_apply_safety)


def apply_caps(run_id: int) -> None:
    lifecycle.execute(run_id, run_apply_caps)


def retier(run_id: int) -> None:
    lifecycle.execute(run_id, run_retier)


def recheck(run_id: int) -> None:
    lifecycle.execute(run_id, run_recheck)


def match_changes(run_id: int) -> None:
    from linker.matching.changes_run import run_changes  # heavy: LightGBM and scikit-learn, which no other run needs

    lifecycle.execute(run_id, run_changes)


def embed(run_id: int) -> None:
    lifecycle.execute(run_id, run_embed)


def drop_vectors(run_id: int) -> None:
    lifecycle.execute(run_id, run_drop_vectors)


def match(run_id: int) -> None:
    """Plans a match run and hands its batches to the workers; it goes on until `match_finish`, unless it is one job."""
    run = lifecycle.execute(run_id, start_match)
    if run is not None and run.status == RunStatus.RUNNING:
        enqueue_batches(run)


def match_batch(run_id: int, number: int) -> None:
    try:
        outages.outlast(lambda: _match_batch(run_id, number))
    except DatabaseError as error:
        if not outages.is_lock_conflict(error):
            raise
        lifecycle.fail_run(run_id, outages.LOCK_CONFLICT.sentence)


def _match_batch(run_id: int, number: int) -> None:
    run = Run.objects.select_related("project", "model").get(pk=run_id)
    try:
        run_batch(run, number)
    except Exception as error:
        if not outages.is_away(error) and not outages.is_lock_conflict(error):
            lifecycle.fail_run(run_id, f"An unexpected error stopped batch {number}: {error!r}")
        raise
    if run.is_active and not batches_left(run):
        enqueue(JobKey("match_finish", (run_id,)))


def match_finish(run_id: int) -> None:
    lifecycle.execute(run_id, finish_match)


def compare(run_id: int) -> None:
    lifecycle.execute(run_id, compare_runs)


def stand(run_id: int) -> None:
    lifecycle.execute(run_id, take_again)
