"""Writes: the weights of the formula."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from django.db import transaction

from linker import audit
from linker.engine.ranking.formula_score import FormulaWeights
from linker.models import ChangeKind, Project
from linker.storage.locks import lock_project

if TYPE_CHECKING:
    from linker.projects.policies.shared import Actor


@transaction.atomic
def set_formula_weights(project: Project, weights: dict[str, float], user: Actor) -> None:
    """From the next match run on; what was suggested stays."""
    before = lock_project(project.pk).formula_weights
    project.formula_weights = weights
    project.save(update_fields=["formula_weights"])
    usual = asdict(FormulaWeights())
    audit.record(
        project,
        ChangeKind.RANKING,
        user=user,
        subject="Weights of the formula",
        before=usual | before,
        after=usual | weights,
    )
