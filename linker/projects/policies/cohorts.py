"""Writes: the bounds of their own that a category with all below it, a role of pages, or links without words have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from linker.errors import UserError
from linker.matching.kept_runs import standing_run
from linker.models import Basis, Category, Cohort, CohortBound, Project, Tier
from linker.projects.policies.retier import make_or_start
from linker.projects.policies.shared import wait_for_others
from linker.wording import in_english

if TYPE_CHECKING:
    from collections.abc import Mapping

    from linker.models import Run
    from linker.projects.policies.retier import TierChange
    from linker.projects.policies.shared import Actor


@dataclass(frozen=True)
class CohortName:
    """Which suggestions a cohort takes, and of which basis its bounds are: of `category`, `role` and `wordless`, one is
    said."""

    basis: str
    category: Category | None = None
    role: str = ""
    wordless: bool = False

    def find(self, project: Project) -> Cohort | None:
        found = Cohort.objects.filter(project=project, basis=self.basis, category=self.category, role=self.role)
        return found.filter(wordless=self.wordless).select_related("category").first()

    def unsaved(self, project: Project) -> Cohort:
        named = {"category": self.category, "role": self.role, "wordless": self.wordless}
        return Cohort(project=project, basis=self.basis, **named)


WORDLESS = CohortName(Basis.PROBABILITY, wordless=True)


def name_of(cohort: Cohort) -> CohortName:
    return CohortName(cohort.basis, cohort.category, cohort.role, cohort.wordless)


@dataclass(frozen=True)
class BoundsWanted:
    """Where tiers are to begin, by their ids, for the suggestions of a cohort; nowhere, where it is to have no bounds
    of its own."""

    project: Project
    name: CohortName
    bounds: Mapping[int, float]

    @classmethod
    def from_stored(cls, project: Project, stored: Mapping[str, Any]) -> Self:
        """The inverse of `wanted`. Raises UserError where the category is no more."""
        category = Category.objects.filter(project=project, pk=stored["category"]).first()
        if stored["category"] and category is None:
            raise UserError(_("Nothing was changed: this category is no more. Set the bounds of another one."))
        name = CohortName(stored["basis"], category, stored["role"], stored.get("wordless", False))
        return cls(project, name, {int(tier): lower for tier, lower in stored["bounds"].items()})

    def wanted(self) -> dict[str, Any]:
        category = self.name.category.pk if self.name.category is not None else None
        return {
            "basis": str(self.name.basis),
            "category": category,
            "role": self.name.role,
            "wordless": self.name.wordless,
            "bounds": {str(tier): lower for tier, lower in self.bounds.items()},
        }

    def in_words(self) -> dict[str, Any]:
        return {"links": self._subject(), "before": _in_words(self.name.find(self.project)), "after": self._then()}

    def check(self) -> None:
        """Any bounds will do."""

    def save(self) -> tuple[str, Mapping[str, Any], Mapping[str, Any]]:
        before = self.save_bounds()
        if self.name.wordless:  # set by hand: no match chooses them anew
            Project.objects.filter(pk=self.project.pk).update(expected_share=None)
        return f"Bounds of links {self._subject()}", before, self._then()

    def save_bounds(self) -> dict[str, str]:
        """Writes the bounds alone; returns what they were, in words."""
        project, name, tiers = self.project, self.name, self._tiers()
        cohort = name.find(project)
        before = _in_words(cohort)
        if cohort is not None:
            CohortBound.objects.filter(cohort=cohort).delete()
        if tiers:
            if cohort is None:
                cohort = name.unsaved(project)
            cohort.looked_at, cohort.run = timezone.now(), standing_run(project)
            cohort.save()
            CohortBound.objects.bulk_create(
                CohortBound(
                    cohort=cohort, project=project, basis=name.basis, tier=tier, lower_bound=self.bounds[tier.pk]
                )
                for tier in tiers
            )
        elif cohort is not None:
            cohort.delete()
        return before

    def _tiers(self) -> list[Tier]:
        return list(Tier.objects.filter(project=self.project, basis=self.name.basis, pk__in=list(self.bounds)))

    def _then(self) -> dict[str, str]:
        return {_tier_in_words(tier, self.name.basis): f"from {self.bounds[tier.pk]:g}" for tier in self._tiers()}

    def _subject(self) -> str:
        return str(self.name.unsaved(self.project))


@transaction.atomic
def set_bounds(project: Project, name: CohortName, bounds: Mapping[int, float], user: Actor) -> TierChange | Run:
    """Lets tiers begin where the bounds say, by the tiers' ids, for the suggestions of a cohort, and reads the tier of
    every suggestion again: now, or by the run that is returned (linker.projects.policies.retier). Tiers that are not
    named are not used there; without bounds the cohort has none of its own any more."""
    wait_for_others(project)
    return make_or_start(BoundsWanted(project, name, bounds), user)


def _in_words(cohort: Cohort | None) -> dict[str, str]:
    """Where its tiers begin, for the log."""
    if cohort is None:
        return {}
    bounds = CohortBound.objects.filter(cohort=cohort).select_related("tier")
    return {_tier_in_words(bound.tier, cohort.basis): f"from {bound.lower_bound:g}" for bound in bounds}


def _tier_in_words(tier: Tier, basis: str) -> str:
    return f"{in_english(Basis(basis).label)}, {tier.name}"
