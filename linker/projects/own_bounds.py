"""Reads: where tiers begin elsewhere than the project's bounds say, for the overview."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.matching.cohorts import cohorts_of
from linker.models import Basis, Cohort

if TYPE_CHECKING:
    from linker.models import Project


def wordless_bounds(project: Project) -> dict[int, float | None]:
    """Where the tiers of the probability begin for links without words in the text, by the tiers' ids; None where a
    tier has no such links. Empty where the bounds of the tiers hold for these, too."""
    bounds = next((one.bounds for one in cohorts_of(project, Basis.PROBABILITY) if one.wordless), None)
    if bounds is None:
        return {}
    tiers = project.tiers.filter(basis=Basis.PROBABILITY).values_list("pk", flat=True)
    return {tier: bounds.get(tier) for tier in tiers}


def other_cohorts(project: Project) -> list[Cohort]:
    """What else has bounds of its own: links from a category, or to pages with a role."""
    cohorts = Cohort.objects.filter(project=project, basis=project.tier_basis, wordless=False)
    return list(cohorts.select_related("category").order_by("pk"))
