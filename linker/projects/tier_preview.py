"""Reads: how suggestions are spread over the values that tiers are read by, and what other bounds would change.

All of it comes from counts by band: those that are kept (linker.models.edge_bands), and for suggestions with bounds of
their own those that linker.projects.cohort_bands makes. Only which suggestions would leave because the site has the
link already where it would then stand is read off the edges, where they are not too many.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from django.db.models import Sum

from linker.matching.cohorts import OF_PROJECT, OwnBounds, cohorts_of
from linker.matching.scales import Rescaling, rescaling
from linker.matching.tiers import Turned, links_that_turn
from linker.models import Basis, EdgeBand, ExistingLink, Outcome, Placement, Tier
from linker.models.edge_bands import BANDS
from linker.models.querysets import PRESENT
from linker.projects.cohort_bands import BandCount, counted, decided_before
from linker.projects.tier_effect import NOT_USED, Bound, Effect, ReadAlike, by_bound, nothing_yet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from linker.models import Project

MOST_READ = 20_000  # open suggestions that are read for what would leave


@dataclass(frozen=True)
class Bar:
    """One band of the histogram: `low` is its first hundredth."""

    low: int
    open: int
    accepted: int
    rejected: int


class Spread:
    """The suggestions of a project, or of one cohort, by the band of their value in a basis.

    Asks a few queries, whatever there is, where no cohort has bounds of its own. Where a project goes by probability,
    the bounds of the similarity are for suggestions without one.

    Decided suggestions of other runs are read on the scale of probabilities of the run that stands, by `earlier`.
    """

    def __init__(self, project: Project, basis: Basis, shown: OwnBounds | None = None) -> None:
        """`shown`: the cohort, as it is; without bounds where it is not saved."""
        self.project, self.basis, self.shown = project, basis, shown
        self._everywhere = cohorts_of(project)  # of all bases
        self._others = [one for one in self._everywhere if one.basis == basis and (not shown or one.id != shown.id)]
        self._groups: dict[int, ReadAlike] = defaultdict(ReadAlike)  # by whose bounds read them, without those shown
        self._open_elsewhere: Counter[int | None] = Counter()
        self._other_scale: Counter[int] = Counter()  # decided suggestions without a band, by whose bounds read them
        self.earlier = rescaling(project) if basis == Basis.PROBABILITY else Rescaling({})
        self._moved = decided_before(project, self.earlier)
        kept = [*self._kept(), *self._moved]
        of_cohorts = counted(project, basis, self._others, shown, self.earlier)
        for reader, rows in of_cohorts.items():
            self._take(reader, rows)
        if shown is None:
            self._take(OF_PROJECT, kept)
            for rows in of_cohorts.values():
                self._take(OF_PROJECT, [row._replace(number=-row.number) for row in rows])
        for group in self._groups.values():
            for (tier, _band), number in group.open.items():
                self._open_elsewhere[tier] -= number

    def _kept(self) -> list[BandCount]:
        """What is kept of the basis; adds every open suggestion to `_open_elsewhere`."""
        rows = EdgeBand.objects.filter(project=self.project, basis__in={self.basis, Basis.COSINE})
        kept = rows.order_by().values_list("basis", "by_probability", "tier", "outcome", "band")
        found = []
        for of, *count in kept.annotate(Sum("number")):
            row = BandCount(*count)
            if of == self.basis:
                found.append(row)
            if of == Basis.COSINE and row.outcome == Outcome.OPEN:
                self._open_elsewhere[row.tier] += row.number
        return found

    def _take(self, reader: int, rows: Iterable[BandCount]) -> None:
        for row in rows:
            if row.band is None:
                self._other_scale[reader] += row.number
            elif self._is_read(row.by_probability):
                self._groups[reader].count(row.tier, row.outcome, row.band, row.number)

    def _is_read(self, by_probability: bool) -> bool:
        """Whether the bounds of this basis read an edge that has a probability, or one that has none."""
        if self.basis == Basis.PROBABILITY:
            return by_probability
        return not (self.basis == Basis.COSINE and self.project.tier_basis == Basis.PROBABILITY and by_probability)

    @property
    def other_scale(self) -> int:
        """Decided suggestions that no bar holds, since another model stated their probabilities."""
        return self._other_scale[OF_PROJECT] if self.shown is None else self._other_scale.total()

    @property
    def moved_decisions(self) -> bool:
        """Whether decided suggestions of other runs stand where the run that stands would put them."""
        return any(row.band is not None and row.number > 0 for row in self._moved)

    @cached_property
    def _tiers(self) -> dict[int | None, Tier]:
        return {tier.pk: tier for tier in Tier.objects.filter(project=self.project)}

    def bounds(self) -> list[Bound]:
        """The tiers of the basis as they are, highest first: those of the cohort where it has bounds."""
        own = self.shown if self.shown is not None and self.shown.bounds else None
        return self._bounds_of(own)

    def _bounds_of(self, cohort: OwnBounds | None) -> list[Bound]:
        of_basis = [tier for tier in self._tiers.values() if tier.basis == self.basis]
        return by_bound(
            Bound(
                tier.pk,
                tier.name,
                tier.lower_bound if cohort is None else cohort.bounds.get(tier.pk, NOT_USED),
                tier.held,
            )
            for tier in of_basis
        )

    def _reader(self, reader: int) -> OwnBounds | None:
        """The cohort of that id; None for the project's own bounds."""
        return next((one for one in self._others if one.id == reader), None)

    def bars(self) -> list[Bar]:
        """Every band from 0 on, or from the lowest that holds something, in order."""
        groups = [self._groups[OF_PROJECT]] if self.shown is None else list(self._groups.values())
        held: Counter[tuple[str, int]] = Counter()
        for group in groups:
            for (_tier, band), number in group.open.items():
                held[Outcome.OPEN, band] += number
            for outcome_and_band, number in group.decided.items():
                held[outcome_and_band] += number
        lowest = -BANDS if min((band for _, band in +held), default=0) < 0 else 0
        return [
            Bar(band, held[Outcome.OPEN, band], held[Outcome.ACCEPTED, band], held[Outcome.REJECTED, band])
            for band in range(lowest, BANDS)
        ]

    def effect(self, bounds: Iterable[Bound], *, in_use: bool) -> Effect:
        """What the bounds would change, if suggestions were read by them; `in_use`: they are read by this basis now."""
        wanted = by_bound(bounds)
        return self._sum(wanted, {reader: self._then(reader, wanted) for reader in self._groups}, in_use=in_use)

    def effect_without(self, *, in_use: bool) -> Effect:
        """What it would change if the cohort had no bounds of its own."""
        then = {reader: self._bounds_of(self._reader(reader)) for reader in self._groups}
        return self._sum(_common(self._bounds_of(None), list(then.values())), then, in_use=in_use)

    def _then(self, reader: int, wanted: Sequence[Bound]) -> list[Bound]:
        """What would read the suggestions of a group: these bounds, or those of their cohort, as far as these keep its
        tiers."""
        cohort = self._reader(reader)
        if self.shown is not None or cohort is None:
            return list(wanted)
        kept = [bound for bound in wanted if bound.tier is not None]
        return [replace(bound, lower=cohort.bounds.get(bound.tier or 0, NOT_USED)) for bound in kept]

    def _now(self, reader: int) -> list[Bound]:
        is_saved = self.shown is not None and self.shown.bounds
        return self.bounds() if is_saved else self._bounds_of(self._reader(reader))

    def _sum(self, wanted: Sequence[Bound], then: dict[int, list[Bound]], *, in_use: bool) -> Effect:
        effect = nothing_yet(wanted)
        for tier, number in self._open_elsewhere.items():
            effect.queue.now += number if self._is_shown(tier) else 0
        for reader, bounds in then.items():
            known = self._now(reader) if in_use else []
            effect.add(self._groups[reader].effect(bounds, known, self._is_shown, in_use=in_use))
        return effect

    def effect_of_saving(self, bounds: Iterable[Bound], *, in_use: bool) -> Effect:
        """The same with the suggestions that would leave, or come back, because the site has the link already, or has
        it no more, where the suggestion would stand."""
        wanted = by_bound(bounds)
        effect = self.effect(wanted, in_use=in_use)
        if self.shown is None:
            kept = {bound.tier for bound in wanted}
            cohorts = [self._without(one, kept) for one in self._everywhere]
            return self._with_turned(effect, wanted, cohorts, in_use=in_use)
        own = {one.tier: one.lower for one in wanted if one.tier is not None and one.is_used}
        return self._with_turned(effect, wanted, [*self._apart(), replace(self.shown, bounds=own)], in_use=in_use)

    def effect_of_removing(self, *, in_use: bool) -> Effect:
        """The same where the cohort has no bounds of its own any more."""
        effect = self.effect_without(in_use=in_use)
        return self._with_turned(effect, self._bounds_of(None), self._apart(), in_use=in_use)

    def _apart(self) -> list[OwnBounds]:
        """All cohorts but the one that is shown."""
        return [one for one in self._everywhere if self.shown is None or one.id != self.shown.id]

    def _without(self, cohort: OwnBounds, kept: set[int | None]) -> OwnBounds:
        """The cohort without tiers of this basis that are not kept."""
        if cohort.basis != self.basis:
            return cohort
        return replace(cohort, bounds={tier: lower for tier, lower in cohort.bounds.items() if tier in kept})

    def _with_turned(
        self, effect: Effect, wanted: Sequence[Bound], cohorts: Sequence[OwnBounds], *, in_use: bool
    ) -> Effect:
        is_read = in_use or self.shown is None  # saving bounds that no suggestion is read by turns none
        if not (is_read and ExistingLink.objects.filter(PRESENT, project=self.project).exists()):
            return effect
        if sum(sum(group.open.values()) for group in self._groups.values()) + self._open_elsewhere.total() > MOST_READ:
            effect.knows_linked = False
            return effect
        new = {-1 - place: bound for place, bound in enumerate(wanted)}  # ids of their own, for those without
        by_id = {bound.tier or number: bound for number, bound in new.items()}
        if self.shown is None:
            others = [tier for tier in self._tiers.values() if tier.basis != self.basis]
            tiers = [*others, *(self._as_tier(bound, number) for number, bound in by_id.items())]
        else:
            tiers = list(self._tiers.values())
        basis = self.project.tier_basis if in_use else self.basis
        shown = None if self.shown is None else (self.shown, [*self._apart(), self.shown])
        for turned in links_that_turn(self.project, tiers, basis, cohorts, shown):
            self._turn(effect, by_id, turned, in_use=in_use)
        return effect

    def _as_tier(self, bound: Bound, number: int) -> Tier:
        own = self._tiers.get(bound.tier)
        placement = bound.placement or (own.placement if own is not None else Placement.RELATED)
        values = {"basis": self.basis, "lower_bound": bound.lower, "held": bound.held, "placement": placement}
        return Tier(id=number, project=self.project, name=bound.name, **values)

    def _turn(self, effect: Effect, by_id: dict[int, Bound], turned: Turned, *, in_use: bool) -> None:
        """Counts suggestions that leave or come, which the bands have moved to their tier, or do not hold."""
        was_shown, number = self._is_shown(turned.now), turned.number
        if not (turned.is_shown and self._is_read(turned.by_probability)):
            effect.queue.leave += number if turned.leaves and was_shown else 0
            effect.queue.enter += number if not turned.leaves and self._is_shown(turned.then) else 0
            return
        effect.linked.enter += number if turned.leaves else 0
        effect.linked.leave += number if not turned.leaves else 0
        moves = {tier.key: tier for tier in effect.tiers}
        is_kept = in_use and (turned.now is None or turned.now in by_id)
        old = effect.below if turned.now is None else moves[by_id[turned.now].key] if is_kept else None
        new = effect.below if turned.then is None else moves[by_id[turned.then].key]
        is_shown = turned.then is not None and not by_id[turned.then].held
        if not turned.leaves:
            new.enter += number
            effect.queue.enter += number if is_shown else 0
            return
        if new is old and is_kept:
            new.leave += number
        else:
            new.enter -= number
        effect.queue.leave += number if is_shown and was_shown else 0
        effect.queue.enter -= number if is_shown and not was_shown else 0

    def _is_shown(self, tier: int | None) -> bool:
        return tier is not None and tier in self._tiers and not self._tiers[tier].held


def _common(tiers: Sequence[Bound], read_by: Sequence[Sequence[Bound]]) -> list[Bound]:
    """The tiers with the bounds that they have everywhere; NOT_USED where these differ."""
    lowers: dict[int | None, set[float]] = defaultdict(set)
    for bounds in read_by:
        for bound in bounds:
            lowers[bound.tier].add(bound.lower)
    return [
        replace(one, lower=next(iter(lowers[one.tier])) if len(lowers[one.tier]) == 1 else NOT_USED) for one in tiers
    ]
