"""Writes: the tiers, and what suggestions are read as."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from linker import audit
from linker.errors import UserError
from linker.matching.report_types import RetierReport, TierCount
from linker.matching.suppressions import hide
from linker.matching.tiers import retier
from linker.models import Basis, CandidateEdge, ChangeKind, Cohort, CohortBound, KeptBounds, Project, RunKind, Tier
from linker.models.querysets import UNDECIDED
from linker.projects.overview import tier_counts
from linker.projects.policies.shared import wait_for_others
from linker.runs import lifecycle
from linker.wording import in_english

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.contrib.auth.models import User

    from linker.models import Run
    from linker.projects.policies.shared import Actor


TIER_FIELDS = ("lower_bound", "placement", "rel", "confirmed_rel", "export_unreviewed", "held")


@dataclass(frozen=True)
class TierChange:
    """Open suggestions by tier's name, before and after."""

    before: dict[str, int]
    after: dict[str, int]


@transaction.atomic
def change_tiers(
    project: Project,
    kept: Sequence[Tier],
    deleted: Sequence[Tier] = (),
    user: Actor = None,
    *,
    basis: Basis | None = None,
    use: Basis | None = None,
) -> TierChange:
    """Saves changed and new tiers, deletes others, and reads every suggestion's tier again, without a new match.

    `basis`: whose bounds were looked at, changed or not. Tiers of other bases stay as they are. `use` makes a basis the
    one that tiers are read by. The change stands among the project's runs: who moved which bound, and what that did.
    """
    wait_for_others(project)
    before = tier_counts(project)
    changed = {tier.basis for tier in (*kept, *deleted)} | ({basis} if basis else set())
    bounds, rows = _bounds(project, changed), _tiers(project, changed, project.tier_basis)
    if deleted:
        _need_no(project, deleted)
        _lock_edges(project, deleted)
    Tier.objects.filter(project=project, pk__in=[tier.pk for tier in deleted]).delete()
    _step_aside(project, kept)
    for tier in kept:
        tier.project = project
        tier.save()
    read_by = {
        "before": in_english(Basis(project.tier_basis).label),
        "after": in_english(Basis(use or project.tier_basis).label),
    }
    if use is not None:
        project.tier_basis = use
        project.save(update_fields=["tier_basis"])
    retier(project)
    transaction.on_commit(lambda: hide(project))
    change = TierChange(before, tier_counts(project))
    after = _tiers(project, changed, use or project.tier_basis)
    audit.record(project, ChangeKind.TIERS, user=user, before=rows, after=after)
    lifecycle.record_run(
        project,
        RunKind.RETIER,
        params={
            "basis": sorted(changed),
            "before": bounds,
            "after": _bounds(project, changed),
            **({"read_by": read_by} if use is not None else {}),
        },
        report=RetierReport(
            before=counts_for_report(change.before),
            below_before=change.before.get(""),
            after=counts_for_report(change.after),
            below_after=change.after.get(""),
        ),
        user=user,
    )
    return change


@transaction.atomic
def keep_bounds(project: Project, run: Run, before: Run, user: User) -> None:
    """A manager's word that the bounds, last looked at for the run `before`, hold for `run` too, which was ranked in
    another way."""
    wait_for_others(project)
    KeptBounds.objects.create(project=project, run=run, before=before, user=user)
    for_run = "bounds hold for run"
    values = {"before": {for_run: before.pk}, "after": {for_run: run.pk}}
    audit.record(project, ChangeKind.TIERS, user=user, subject="Bounds kept", **values)


def only_tier_of(project: Project, deleted: Sequence[Tier]) -> Cohort | None:
    """A cohort that has bounds for none but these tiers."""
    others = CohortBound.objects.filter(cohort=OuterRef("pk")).exclude(tier__in=[tier.pk for tier in deleted])
    return Cohort.objects.filter(~Exists(others), project=project).select_related("category").first()


def _need_no(project: Project, deleted: Sequence[Tier]) -> None:
    """Raises UserError where a cohort would have no tier left: other bounds would read its suggestions unasked."""
    cohort = only_tier_of(project, deleted)
    if cohort is not None:
        said = _("The bounds of links %(cohort)s name no tier but what you are deleting. Change or remove them first.")
        raise UserError(said % {"cohort": cohort.said})


def _lock_edges(project: Project, tiers: Sequence[Tier]) -> None:
    """Locks, in the order of their ids, what the deletion of the tiers writes and what is read again after it."""
    edges = CandidateEdge.objects.filter(Q(tier__in=tiers) | UNDECIDED, project=project)
    list(edges.order_by("pk").select_for_update(of=("self",), no_key=True).values_list("pk"))


def _bounds(project: Project, bases: Iterable[str]) -> dict[str, str]:
    return {
        tier.name: f"from {tier.lower_bound:g}, {tier.placement}, {tier.rel}, {tier.confirmed_rel} once accepted"
        f"{', leaves unreviewed' if tier.export_unreviewed else ''}{', held back' if tier.held else ''}"
        for tier in Tier.objects.filter(project=project, basis__in=bases)
    }


def _tiers(project: Project, bases: Iterable[str], in_use: str) -> dict[str, Any]:
    """Every tier of some bases, and the basis in use, for the log of changes."""
    tiers = Tier.objects.filter(project=project, basis__in=bases)
    return {"read by": in_english(Basis(in_use).label)} | {
        f"{in_english(Basis(tier.basis).label)}, {tier.name}": audit.values(tier, TIER_FIELDS) for tier in tiers
    }


def counts_for_report(counts: dict[str, int]) -> tuple[TierCount, ...]:
    return tuple(TierCount(name=name, links=links) for name, links in counts.items() if name)


def _step_aside(project: Project, kept: Sequence[Tier]) -> None:
    """Gives the rows about to be saved names and bounds that nothing uses, so that two tiers may swap theirs."""
    taken = set(Tier.objects.filter(project=project).values_list("lower_bound", flat=True))
    taken |= {tier.lower_bound for tier in kept}
    # Between 0 and 1, which every basis allows.
    free = (bound for bound in (step / 2**20 for step in itertools.count()) if bound not in taken)
    for tier in kept:
        if tier.pk is not None:
            Tier.objects.filter(pk=tier.pk).update(name=f"\N{MIDDLE DOT}{tier.pk}", lower_bound=next(free))
