"""Writes: a project's tiers, sensitive categories and exclusions, each with what it changes on the suggestions."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Q

from linker import runs, services
from linker.figures import tier_counts
from linker.models import (
    Basis,
    CandidateEdge,
    EdgeStatus,
    ExclusionRule,
    Page,
    Project,
    RunKind,
    SensitiveCategory,
    Tier,
)
from linker.pages import LIVE, addresses
from linker.patterns import compile_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


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
    user: AbstractBaseUser | AnonymousUser | None = None,
    *,
    basis: Basis | None = None,
    use: Basis | None = None,
) -> TierChange:
    """Saves changed and new tiers, deletes others, and reads every suggestion's tier anew, without a new match.

    `basis`: whose bounds were looked at, changed or not. Tiers of other bases stay as they are. `use` makes a basis the
    one that tiers are read by. The change stands among the project's runs: who moved which bound, and what that did.
    """
    _wait_for_others(project)
    before = tier_counts(project)
    changed = {tier.basis for tier in (*kept, *deleted)} | ({basis} if basis else set())
    bounds = _bounds(project, changed)
    if deleted:
        _lock_edges(project, deleted)
    Tier.objects.filter(project=project, pk__in=[tier.pk for tier in deleted]).delete()
    _step_aside(project, kept)
    for tier in kept:
        tier.project = project
        tier.save()
    read_by = {"before": Basis(project.tier_basis).label, "after": Basis(use or project.tier_basis).label}
    if use is not None:
        project.tier_basis = use
        project.save(update_fields=["tier_basis"])
    services.retier(project)
    change = TierChange(before, tier_counts(project))
    runs.record_run(
        project,
        RunKind.RETIER,
        params={
            "basis": sorted(changed),
            "before": bounds,
            "after": _bounds(project, changed),
            **({"read_by": read_by} if use is not None else {}),
        },
        report={"before": _named(change.before), "after": _named(change.after)},
        user=user,
    )
    return change


def set_formula_weights(project: Project, weights: dict[str, float]) -> None:
    """From the next match run on; what was suggested stays."""
    project.formula_weights = weights
    project.save(update_fields=["formula_weights"])


def _wait_for_others(project: Project) -> None:
    """Releases, undos and other changes of what is read into the edges wait until this transaction ends.

    "No key": a decision's row names its project, and its editor, who holds the edge that we may want, must not wait.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def _lock_edges(project: Project, tiers: Sequence[Tier]) -> None:
    """Locks, in the order of their ids, what the deletion of the tiers writes and what is read anew after it."""
    edges = CandidateEdge.objects.filter(Q(tier__in=tiers) | Q(status=EdgeStatus.SUGGESTED), project=project)
    list(edges.order_by("pk").select_for_update(of=("self",), no_key=True).values_list("pk"))


def _bounds(project: Project, bases: Iterable[str]) -> dict[str, str]:
    return {
        tier.name: f"from {tier.lower_bound:g}, {tier.placement}, {tier.rel}, {tier.confirmed_rel} once accepted"
        f"{', leaves unreviewed' if tier.export_unreviewed else ''}{', held back' if tier.held else ''}"
        for tier in Tier.objects.filter(project=project, basis__in=bases)
    }


def _named(counts: dict[str, int]) -> dict[str, int]:
    return {name or "below every tier": count for name, count in counts.items()}


def _step_aside(project: Project, kept: Sequence[Tier]) -> None:
    """Gives the rows about to be saved names and bounds that nothing uses, so that two tiers may swap theirs."""
    taken = set(Tier.objects.filter(project=project).values_list("lower_bound", flat=True))
    taken |= {tier.lower_bound for tier in kept}
    # Between 0 and 1, which every basis allows.
    free = (bound for bound in (step / 2**20 for step in itertools.count()) if bound not in taken)
    for tier in kept:
        if tier.pk is not None:
            Tier.objects.filter(pk=tier.pk).update(name=f"\N{MIDDLE DOT}{tier.pk}", lower_bound=next(free))


@transaction.atomic
def add_sensitive(rule: SensitiveCategory) -> int:
    """Saves the rule and marks the suggestions; returns how many need a person now."""
    _wait_for_others(rule.project)
    rule.save()
    return services.mark_sensitive(rule.project)


@transaction.atomic
def remove_sensitive(project: Project, rule_id: int) -> int | None:
    """Returns how many suggestions need a person now; None where the rule is gone already."""
    _wait_for_others(project)
    deleted, _ = SensitiveCategory.objects.filter(project=project, pk=rule_id).delete()
    return services.mark_sensitive(project) if deleted else None


def remove_exclusion(project: Project, rule_id: int) -> bool:
    """False where the rule is gone already."""
    deleted, _ = ExclusionRule.objects.filter(project=project, pk=rule_id).delete()
    return bool(deleted)


@dataclass(frozen=True)
class Matches:
    """The live pages a pattern finds: how many, the first few addresses, and among how many pages they were sought."""

    count: int
    examples: list[str]
    searched: int


SAMPLE = 200_000


def pattern_matches(project: Project, patterns: Sequence[str], examples: int = 3) -> list[Matches]:
    """What each pattern finds, in one pass over the first SAMPLE addresses by id. Raises PatternError."""
    compiled = [compile_pattern(pattern) for pattern in patterns]
    found: list[list[str]] = [[] for _ in compiled]
    counts = [0] * len(compiled)
    searched = 0
    if compiled:
        for url in itertools.islice(addresses(Page.objects.filter(LIVE, project=project)), SAMPLE):
            searched += 1
            for index, pattern in enumerate(compiled):
                if pattern.search(url):
                    counts[index] += 1
                    if len(found[index]) < examples:
                        found[index].append(url)
    return [Matches(count, urls, searched) for count, urls in zip(counts, found, strict=True)]
