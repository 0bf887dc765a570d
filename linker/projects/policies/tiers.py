"""Writes: the tiers, and what suggestions are read as."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from linker import audit
from linker.errors import UserError
from linker.models import Basis, CandidateEdge, ChangeKind, Cohort, CohortBound, KeptBounds, Project, Tier
from linker.models.querysets import UNDECIDED
from linker.projects.policies.cohorts import WORDLESS, BoundsWanted
from linker.projects.policies.retier import make_or_start
from linker.projects.policies.shared import wait_for_others
from linker.wording import in_english

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from django.contrib.auth.models import User

    from linker.models import Run
    from linker.projects.policies.retier import TierChange
    from linker.projects.policies.shared import Actor


TIER_FIELDS = ("lower_bound", "placement", "rel", "confirmed_rel", "export_unreviewed", "held")
STORED = ("id", "name", "basis", *TIER_FIELDS)  # of a tier, in the parameters of a run


@dataclass(frozen=True)
class TiersWanted:
    """Tiers to be saved and deleted, and the basis that is to be in use. `bases`: those whose tiers change, or whose
    bounds were looked at. `share`: what the bounds of the probability were chosen for, None where by hand. `wordless`:
    where tiers are to begin for links without words in the text, by their ids, empty where as for all others; None
    leaves that as it is."""

    project: Project
    kept: Sequence[Tier]
    deleted: Sequence[Tier]
    bases: frozenset[str]
    use: str | None
    share: float | None = None
    wordless: Mapping[int, float] | None = None

    @classmethod
    def from_stored(cls, project: Project, stored: Mapping[str, Any]) -> Self:
        """The inverse of `wanted`."""
        kept = [Tier(project=project, **values) for values in stored["tiers"]]
        deleted = list(Tier.objects.filter(project=project, pk__in=stored["deleted"]))
        wordless = stored.get("wordless")
        bounds = None if wordless is None else {int(tier): lower for tier, lower in wordless.items()}
        return cls(project, kept, deleted, frozenset(stored["bases"]), stored["use"], stored.get("share"), bounds)

    def wanted(self) -> dict[str, Any]:
        return {
            "tiers": [{name: getattr(tier, name) for name in STORED} for tier in self.kept],
            "deleted": [tier.pk for tier in self.deleted],
            "bases": sorted(self.bases),
            "use": self.use,
            "share": self.share,
            "wordless": self._of_wordless.wanted()["bounds"] if self.wordless is not None else None,
        }

    @property
    def _of_wordless(self) -> BoundsWanted:
        return BoundsWanted(self.project, WORDLESS, self.wordless or {})

    def in_words(self) -> dict[str, Any]:
        named = {tier.pk for tier in (*self.kept, *self.deleted)}
        now = list(Tier.objects.filter(project=self.project, basis__in=self.bases))
        then = [tier for tier in now if tier.pk not in named] + list(self.kept)
        read_by = {"before": _label(self.project.tier_basis), "after": _label(self.use or self.project.tier_basis)}
        before, after = _bounds(now), _bounds(then)
        if self.wordless is not None:
            of_wordless = self._of_wordless.in_words()
            before, after = before | _of(of_wordless["before"]), after | _of(of_wordless["after"])
        words = {"basis": sorted(self.bases), "before": before, "after": after}
        return words | ({"read_by": read_by} if self.use is not None else {})

    def check(self) -> None:
        if self.deleted:
            _need_no(self.project, self.deleted)

    def save(self) -> tuple[str, Mapping[str, Any], Mapping[str, Any]]:
        project = self.project
        before = _tiers(project, self.bases, project.tier_basis)
        if self.deleted:
            _lock_edges(project, self.deleted)
        Tier.objects.filter(project=project, pk__in=[tier.pk for tier in self.deleted]).delete()
        _step_aside(project, self.kept)
        for tier in self.kept:
            tier.project = project
            tier.save()
        if self.use is not None:
            project.tier_basis = self.use
            project.save(update_fields=["tier_basis"])
        after = _tiers(project, self.bases, project.tier_basis)
        if self.wordless is not None:
            before |= _of(self._of_wordless.save_bounds())
            after |= _of(self._of_wordless.in_words()["before"])
        if Basis.PROBABILITY in self.bases and project.expected_share != self.share:
            before, after = before | _share(project.expected_share), after | _share(self.share)
            project.expected_share = self.share
            project.save(update_fields=["expected_share"])
        return "", before, after


@transaction.atomic
def change_tiers(
    project: Project,
    kept: Sequence[Tier],
    deleted: Sequence[Tier] = (),
    user: Actor = None,
    *,
    basis: Basis | None = None,
    use: Basis | None = None,
    share: float | None = None,
    wordless: Mapping[int, float] | None = None,
) -> TierChange | Run:
    """Saves changed and new tiers, deletes others, and reads every suggestion's tier again, without a new match: now,
    or by the run that is returned (linker.projects.policies.retier). Raises UserError where that cannot be.

    `basis`: whose bounds were looked at, changed or not. Tiers of other bases stay as they are. `use` makes a basis the
    one that tiers are read by; `share` is what bounds of the probability were chosen for, with `wordless` for links
    without words: see TiersWanted. The change stands among the project's runs: who moved which bound, and what that
    did.
    """
    wait_for_others(project)
    bases = frozenset(str(tier.basis) for tier in (*kept, *deleted)) | ({str(basis)} if basis else set())
    wanted = TiersWanted(project, kept, deleted, bases, str(use) if use else None, share, wordless)
    return make_or_start(wanted, user)


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


def _of(bounds: Mapping[str, str]) -> dict[str, str]:
    return {f"{name}, links without words in the text": lower for name, lower in bounds.items()}


def _label(basis: str) -> str:
    return in_english(Basis(basis).label)


def _share(share: float | None) -> dict[str, str]:
    return {"expected share": "by hand" if share is None else f"{100 * share:g}%"}


def _bounds(tiers: Iterable[Tier]) -> dict[str, str]:
    return {
        tier.name: f"from {tier.lower_bound:g}, {tier.placement}, {tier.rel}, {tier.confirmed_rel} once accepted"
        f"{', leaves unreviewed' if tier.export_unreviewed else ''}{', held back' if tier.held else ''}"
        for tier in tiers
    }


def _tiers(project: Project, bases: Iterable[str], in_use: str) -> dict[str, Any]:
    """Every tier of some bases, and the basis in use, for the log of changes."""
    tiers = Tier.objects.filter(project=project, basis__in=bases)
    return {"read by": _label(in_use)} | {
        f"{_label(tier.basis)}, {tier.name}": audit.values(tier, TIER_FIELDS) for tier in tiers
    }


def _step_aside(project: Project, kept: Sequence[Tier]) -> None:
    """Gives the rows about to be saved names and bounds that nothing uses, so that two tiers may swap theirs."""
    taken = set(Tier.objects.filter(project=project).values_list("lower_bound", flat=True))
    taken |= {tier.lower_bound for tier in kept}
    # Between 0 and 1, which every basis allows.
    free = (bound for bound in (step / 2**20 for step in itertools.count()) if bound not in taken)
    for tier in kept:
        if tier.pk is not None:
            Tier.objects.filter(pk=tier.pk).update(name=f"\N{MIDDLE DOT}{tier.pk}", lower_bound=next(free))
