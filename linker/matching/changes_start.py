"""Starts a match over what changed: linker.matching.changes_run does it, which few processes need to load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.models import Project, Run, RunKind
from linker.models.run import ACTIVE
from linker.runs import lifecycle

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


def start_changes(
    project: Project,
    user: AbstractBaseUser | AnonymousUser | None = None,
    *,
    follows: Run | None = None,
    to_queue: bool = True,
    by_itself: bool | None = None,
) -> Run:
    """Starts a run over what changed. Raises RunIsActive while a match is under way, which reads the changes itself."""
    active = Run.objects.filter(project=project, kind=RunKind.MATCH, status__in=ACTIVE).first()
    if active is not None:
        raise lifecycle.RunIsActive(active)
    return lifecycle.start_run(
        project, RunKind.CHANGES, {}, user, follows=follows, to_queue=to_queue, by_itself=by_itself
    )
