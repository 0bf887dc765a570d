"""Writes: which decisions a project learns from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from linker import audit
from linker.models import ChangeKind, LearningChoice, Project
from linker.models.learning import left_aside
from linker.storage.locks import lock_project

if TYPE_CHECKING:
    from linker.projects.policies.shared import Actor


@transaction.atomic
def choose_learning(project: Project, family: str, code: int, user: Actor, *, counts: bool, name: str) -> bool:
    """Whether decisions on links of a kind count from the next match on; `name`: what the kind is called, for the log.
    False where they did already."""
    lock_project(project.pk)
    counted = (family, code) not in left_aside(project)
    if counted == counts:
        return False
    LearningChoice.objects.create(
        project=project, family=family, code=code, counts=counts, user_id=user.pk if user is not None else None
    )
    audit.record(
        project,
        ChangeKind.RANKING,
        user=user,
        subject=f"Decisions: {name}",
        before={"count for learning": counted},
        after={"count for learning": counts},
    )
    return True
