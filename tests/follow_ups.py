"""What follows the result of a run, done in the transaction of a test."""

from __future__ import annotations

from linker.matching.follow_up_work import run_follow_up
from linker.models import Run, RunKind, RunStatus


def follow_up(run: Run) -> None:
    """Does what a worker would do next."""
    for one in Run.objects.filter(follows=run, kind=RunKind.FOLLOW_UP, status=RunStatus.QUEUED):
        run_follow_up(one)
        Run.objects.filter(pk=one.pk).update(status=RunStatus.SUCCEEDED)
