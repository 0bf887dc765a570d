"""What a worker would do with runs that wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.module_loading import import_string

from linker.models import Run, RunStatus
from linker.runs.kinds import job_type

if TYPE_CHECKING:
    from linker.models import Project


def work_off(project: Project) -> list[Run]:
    """Works on each run that waits, and on those that it starts, until none waits. Returns them in their order."""
    done: list[Run] = []
    while (run := Run.objects.filter(project=project, status=RunStatus.QUEUED).order_by("pk").first()) is not None:
        import_string(job_type(run.kind).path)(run.pk)
        run.refresh_from_db()
        assert run.status != RunStatus.QUEUED
        done.append(run)
    return done
