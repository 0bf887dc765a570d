"""Writes: the bounds of their own that a category with all below it, or a role of pages, has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from linker import audit
from linker.matching.kept_runs import standing_run
from linker.matching.report_types import RetierReport
from linker.matching.suppressions import hide
from linker.matching.tiers import retier
from linker.models import Category, ChangeKind, Cohort, CohortBound, Project, RunKind, Tier
from linker.projects.overview import tier_counts
from linker.projects.policies.shared import wait_for_others
from linker.projects.policies.tiers import TierChange, counts_for_report
from linker.runs import lifecycle
from linker.wording import in_english

if TYPE_CHECKING:
    from collections.abc import Mapping

    from linker.projects.policies.shared import Actor


@dataclass(frozen=True)
class CohortName:
    """Which suggestions a cohort takes, and of which basis its bounds are: of `category` and `role`, one is said."""

    basis: str
    category: Category | None = None
    role: str = ""

    def find(self, project: Project) -> Cohort | None:
        found = Cohort.objects.filter(project=project, basis=self.basis, category=self.category, role=self.role)
        return found.select_related("category").first()


def name_of(cohort: Cohort) -> CohortName:
    return CohortName(cohort.basis, cohort.category, cohort.role)


@transaction.atomic
def set_bounds(project: Project, name: CohortName, bounds: Mapping[int, float], user: Actor) -> TierChange:
    """Lets tiers begin where the bounds say, by the tiers' ids, for the suggestions of a cohort, and reads the tier of
    every suggestion again. Tiers that are not named are not used there; without bounds the cohort has none of its own
    any more."""
    wait_for_others(project)
    cohort = name.find(project)
    before = _in_words(cohort)
    tiers = Tier.objects.filter(project=project, basis=name.basis, pk__in=list(bounds))
    if cohort is not None:
        CohortBound.objects.filter(cohort=cohort).delete()
    if tiers:
        if cohort is None:
            cohort = Cohort(project=project, basis=name.basis, category=name.category, role=name.role)
        cohort.looked_at, cohort.run = timezone.now(), standing_run(project)
        cohort.save()
        CohortBound.objects.bulk_create(
            CohortBound(cohort=cohort, project=project, basis=name.basis, tier=tier, lower_bound=bounds[tier.pk])
            for tier in tiers
        )
        after = _in_words(cohort)
    else:
        after = {}
    said = str(cohort) if cohort is not None else ""
    if cohort is not None and not tiers:
        cohort.delete()
    return _read_again(project, said, before, after, user)


def _read_again(project: Project, said: str, before: dict[str, str], after: dict[str, str], user: Actor) -> TierChange:
    """Reads every suggestion again, and writes down what was changed and what that did."""
    counts = tier_counts(project)
    retier(project)
    transaction.on_commit(lambda: hide(project))
    change = TierChange(counts, tier_counts(project))
    audit.record(
        project, ChangeKind.TIERS, user=user, subject=f"Bounds of links {said}" if said else "", before=before,
        after=after,
    )  # fmt: skip
    if before != after:
        lifecycle.record_run(
            project,
            RunKind.RETIER,
            params={"links": said, "before": before, "after": after},
            report=RetierReport(
                before=counts_for_report(change.before),
                below_before=change.before.get(""),
                after=counts_for_report(change.after),
                below_after=change.after.get(""),
            ),
            user=user,
        )
    return change


def _in_words(cohort: Cohort | None) -> dict[str, str]:
    """Where its tiers begin, for the log."""
    if cohort is None:
        return {}
    basis = in_english(cohort.get_basis_display())
    bounds = CohortBound.objects.filter(cohort=cohort).select_related("tier")
    return {f"{basis}, {bound.tier.name}": f"from {bound.lower_bound:g}" for bound in bounds}
