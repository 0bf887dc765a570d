"""A match run from its beginning: as one job or in batches, in this process or through the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linker import runs
from linker.errors import RunCancelled
from linker.matching.params import MatchParams, Ranking
from linker.models import Run
from linker.services.finish import finish_match
from linker.services.match import batches_left, plan_match, run_batch, still_running

if TYPE_CHECKING:
    from linker.runs import Progress


def start_match(run: Run, progress: Progress = runs.no_progress) -> dict[str, Any] | None:
    """The part of a match that is one job: all of it by the learned ranking, else the plan, and None."""
    if MatchParams.from_dict(run.params).ranking is Ranking.LEARNED:
        from linker.services.ranked import run_ranked  # heavy: LightGBM and scikit-learn, which no other run needs

        return run_ranked(run, progress)
    plan_match(run, progress)
    return None


def run_match(run: Run, progress: Progress = runs.no_progress) -> dict[str, Any]:
    """The whole match in this process: by the learned ranking, or plan, every batch, finish."""
    report = start_match(run, progress)
    if report is not None:
        return report
    run.refresh_from_db()
    total, done = run.total, run.done
    for number in batches_left(run):
        progress(done, total, "Comparing pages")
        if not run_batch(run, number) and not still_running(run):
            raise RunCancelled
        done = Run.objects.values_list("done", flat=True).get(pk=run.pk)
    return finish_match(run, progress)
