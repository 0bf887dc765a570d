"""Looks for released links that start by themselves: after imports of links and of pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q

from linker.models import Run, RunKind, RunStatus
from linker.runs.due import start_unless_active
from review.models import PublishedLink

if TYPE_CHECKING:
    from linker.models import Project

# What a look may find other than before. Behind the pages of a fetch come its links.
_IMPORTED = Q(kind__in=(RunKind.IMPORT_LINKS, RunKind.IMPORT_EVENTS)) | Q(kind=RunKind.IMPORT_PAGES, follows=None)


def start_if_due(run: Run) -> Run | None:
    """Starts a look for the project's released links if something was imported since the last one began.

    Called as an import ends, and as a look ends: what was imported while it looked is looked at next. The pages of a
    fetch start none: an import of the links that belong to them follows.
    """
    project = run.project
    if not _is_due(project) or not PublishedLink.objects.filter(project=project).exists():
        return None
    return start_unless_active(project, RunKind.VERIFY, run.created_by)


def _is_due(project: Project) -> bool:
    ended = Run.objects.filter(project=project, status=RunStatus.SUCCEEDED)
    imported = ended.filter(_IMPORTED).order_by("-finished_at").first()
    if imported is None:
        return False
    looked = Run.objects.filter(project=project, kind=RunKind.VERIFY, started_at__gt=imported.finished_at)
    return not looked.exists()
