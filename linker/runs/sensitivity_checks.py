"""Whether a project was looked through for what is sensitive, and the looks that start by themselves.

Projects from before the rules were never looked through: nothing on their pages says that it is sensitive, and nothing
says that it is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, Q

from linker.models import Page, Project, Run, RunKind, RunStatus
from linker.models.run import ACTIVE
from linker.runs import lifecycle

if TYPE_CHECKING:
    from django.db.models import QuerySet


def _looks() -> QuerySet[Run]:
    """Imports and runs that have looked through the pages of their projects. Imports from before they did so say
    nothing of sensitive pages."""
    looked = Q(kind=RunKind.SENSITIVE) | Q(kind=RunKind.IMPORT_PAGES, report__has_key="sensitive_pages")
    return Run.objects.filter(looked, status=RunStatus.SUCCEEDED)


def was_looked_through(project: Project) -> bool:
    """Whether an import or a run has looked through the pages for what is sensitive."""
    return _looks().filter(project=project).exists()


def start_missing() -> list[Run]:
    """Starts a look through every project that has pages and was never looked through.

    Once a project: where that look failed, or somebody stopped it, the next one is a manager's to start. An import of
    pages that goes on looks through them itself.
    """
    of_project = Run.objects.filter(project=OuterRef("pk"))
    unseen = Project.objects.filter(
        Exists(Page.objects.filter(project=OuterRef("pk"), missing_since=None)),
        ~Exists(of_project.filter(kind=RunKind.SENSITIVE)),
        ~Exists(of_project.filter(kind=RunKind.IMPORT_PAGES, status__in=ACTIVE)),
        ~Exists(_looks().filter(project=OuterRef("pk"))),
    )
    started = []
    for project in unseen.order_by("pk"):
        try:
            started.append(lifecycle.start_run(project, RunKind.SENSITIVE, {}))
        except lifecycle.RunIsActive:  # another machine's sweep, or a manager, was faster
            continue
    return started
