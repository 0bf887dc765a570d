"""Looks for released links that start by themselves: after each import of links, and when pages moved or went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.models import Run, RunKind, RunStatus
from linker.runs import lifecycle
from review.models import PublishedLink

if TYPE_CHECKING:
    from linker.models import Project

IMPORTS = (RunKind.IMPORT_LINKS, RunKind.IMPORT_EVENTS)


def start_if_due(run: Run) -> Run | None:
    """Starts a look for the project's released links if links or page events were imported since the last one began.

    Called as such an import ends, and as a look ends: what was imported while it looked is looked at next. An import of
    pages starts none: that of the links which belong to them follows.
    """
    project = run.project
    if not _is_due(project) or not PublishedLink.objects.filter(project=project).exists():
        return None
    try:
        return lifecycle.start_run(project, RunKind.VERIFY, {}, run.created_by)
    except lifecycle.RunIsActive:  # which starts another as it ends, if it has not seen these links
        return None


def _is_due(project: Project) -> bool:
    ended = Run.objects.filter(project=project, status=RunStatus.SUCCEEDED)
    imported = ended.filter(kind__in=IMPORTS).order_by("-finished_at").first()
    if imported is None:
        return False
    looked = Run.objects.filter(project=project, kind=RunKind.VERIFY, started_at__gt=imported.finished_at)
    return not looked.exists()
