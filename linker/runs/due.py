"""Runs that bring suggestions in line with settings or imports: whether one is due, and started where none is under
way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.models import Change, Run, RunStatus
from linker.runs import lifecycle

if TYPE_CHECKING:
    from collections.abc import Collection

    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

    from linker.models import Project, RunKind


def new_since(project: Project, kind: RunKind, changes: Collection[str], runs: Collection[str]) -> tuple[bool, bool]:
    """Whether settings of the kinds `changes` were changed, and whether one of `runs` has succeeded, after the newest
    run of the kind began."""
    newest = Run.objects.filter(project=project, kind=kind).order_by("-pk").first()
    changed = Change.objects.filter(project=project, kind__in=changes)
    ended = Run.objects.filter(project=project, kind__in=runs, status=RunStatus.SUCCEEDED)
    if newest is not None:
        since = newest.started_at or newest.created_at
        changed, ended = changed.filter(at__gt=since), ended.filter(finished_at__gt=since)
    return changed.exists(), ended.exists()


def start_unless_active(project: Project, kind: RunKind, user: AbstractBaseUser | AnonymousUser | None) -> Run | None:
    """Starts a run; None where one of the kind is under way, which starts another as it ends if it has not seen what
    is new."""
    try:
        return lifecycle.start_run(project, kind, {}, user)
    except lifecycle.RunIsActive:
        return None
