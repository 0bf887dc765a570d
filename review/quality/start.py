"""Runs of quality that start by themselves, when they are due."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef
from django.utils import timezone

from linker.models import Project, Run, RunKind
from linker.runs import lifecycle
from review.models import Decision, Release
from review.quality.audits import EVERY, FIRST

if TYPE_CHECKING:
    from django.db.models import QuerySet

EVERY_DAY = timedelta(days=1)  # a look for alerts


def start_due() -> list[Run]:
    """Starts what is due in each project in which something was decided or released lately. What failed, or was
    cancelled, waits until it is due again."""
    started = []
    for kind, every in ((RunKind.AUDIT, EVERY), (RunKind.ALERTS, EVERY_DAY)):
        for project in _due(kind, every):
            try:
                started.append(lifecycle.start_run(project, kind, {}))
            except lifecycle.RunIsActive:  # another machine's sweep, or a manager, was faster
                continue
    return started


def _due(kind: RunKind, every: timedelta) -> QuerySet[Project]:
    now, of_project = timezone.now(), {"project": OuterRef("pk")}
    ran = Run.objects.filter(**of_project, kind=kind, created_at__gt=now - every)
    decided = Decision.objects.filter(**of_project, at__gt=now - FIRST)
    released = Release.objects.filter(**of_project, created_at__gt=now - FIRST)
    return Project.objects.filter(~Exists(ran), Exists(decided) | Exists(released)).order_by("pk")
