"""RQ's doors: claim a run, call one service, write how it ended. linker.queue names them by their paths."""

from __future__ import annotations

from linker import outages, runs, services
from linker.models import Run, RunStatus
from linker.queue import JobKey, enqueue


def find_sensitive(run_id: int) -> None:
    runs.execute(run_id, services.run_find_sensitive)


def find_roles(run_id: int) -> None:
    runs.execute(run_id, services.run_find_roles)


def embed(run_id: int) -> None:
    runs.execute(run_id, services.run_embed)


def match(run_id: int) -> None:
    """Plans a match run and hands its batches to the workers; it goes on until `match_finish`, unless it is one job."""
    run = runs.execute(run_id, services.start_match)
    if run is not None and run.status == RunStatus.RUNNING:
        services.enqueue_batches(run)


def match_batch(run_id: int, number: int) -> None:
    outages.outlast(lambda: _match_batch(run_id, number))


def _match_batch(run_id: int, number: int) -> None:
    run = Run.objects.select_related("project", "model").get(pk=run_id)
    try:
        services.run_batch(run, number)
    except Exception as error:
        if not outages.is_away(error):
            runs.fail_run(run_id, f"An unexpected error stopped batch {number}: {error!r}")
        raise
    if run.is_active and not services.batches_left(run):
        enqueue(JobKey("match_finish", (run_id,)))


def match_finish(run_id: int) -> None:
    runs.execute(run_id, services.finish_match)
