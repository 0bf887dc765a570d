"""Reads: how suggestions are spread over the values that tiers are read by, and what other bounds would change.

All of it comes from counts that are kept by band (linker.models.edge_bands). It is exact for bounds at whole
hundredths; of a band that a bound divides, each part is taken to hold its share. Only which suggestions would leave
because the site has the link already where it would then stand is read off the edges, where they are not too many.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from django.db.models import Sum

from linker.matching.tiers import Turned, links_that_turn
from linker.models import Basis, EdgeBand, ExistingLink, Outcome, Placement, Tier
from linker.models.edge_bands import BANDS
from linker.models.querysets import PRESENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from linker.models import Project

MOST_READ = 20_000  # open suggestions that are read for what would leave

_Part = tuple["int | None", int]  # the place of a tier, and suggestions
_GONE = -1  # the place of a tier that is not among those wanted


@dataclass(frozen=True)
class Bound:
    """A tier as it is, or as a form would have it; a new one has no id yet. Without a `placement` it keeps its own."""

    tier: int | None
    name: str
    lower: float
    held: bool
    placement: str = ""


@dataclass
class Moves:
    """Open suggestions of a tier, or of the queue: `now`, and those that would come and go."""

    now: int = 0
    enter: int = 0
    leave: int = 0

    @property
    def then(self) -> int:
        return self.now + self.enter - self.leave

    @property
    def moves(self) -> bool:
        return bool(self.enter or self.leave)


@dataclass
class TierMoves(Moves):
    """`accepted` and `rejected`: decided suggestions at or above the bound."""

    name: str = ""
    lower: float = 0.0
    accepted: int = 0
    rejected: int = 0

    @property
    def share(self) -> float | None:
        """Accepted of those decided; None where none was decided."""
        decided = self.accepted + self.rejected
        return self.accepted / decided if decided else None

    @property
    def percent(self) -> int | None:
        return None if self.share is None else round(100 * self.share)


@dataclass
class Effect:
    """What bounds would change. `below`: under every tier. `is_exact`: no bound divides a band that holds anything.
    `knows_linked`: what would leave because the site has the link already is counted."""

    tiers: list[TierMoves]
    below: Moves = field(default_factory=Moves)
    queue: Moves = field(default_factory=Moves)
    is_exact: bool = True
    knows_linked: bool = True

    @property
    def moves(self) -> bool:
        return self.queue.moves or self.below.moves or any(tier.moves for tier in self.tiers)

    def of(self, place: int | None) -> Moves:
        """The tier at a place; what is below every tier without one."""
        return self.below if place is None else self.tiers[place]


@dataclass(frozen=True)
class Bar:
    """One band of the histogram: `low` is its first hundredth."""

    low: int
    open: int
    accepted: int
    rejected: int


class Spread:
    """The suggestions of a project by the band of their value in a basis. Asks two queries, whatever there is.

    Where a project goes by probability, the bounds of the similarity are for suggestions without one.
    """

    def __init__(self, project: Project, basis: Basis) -> None:
        self.project, self.basis = project, basis
        kept = EdgeBand.objects.filter(project=project, basis__in={basis, Basis.COSINE})
        rows = kept.order_by().values_list("basis", "by_probability", "tier", "outcome", "band")
        self._open: dict[tuple[int | None, int], int] = defaultdict(int)
        self._decided: dict[tuple[str, int], int] = defaultdict(int)
        self._open_elsewhere: dict[int | None, int] = defaultdict(int)
        for of, by_probability, tier, outcome, band, number in rows.annotate(Sum("number")):
            if of == basis and self._is_read(by_probability):
                if outcome == Outcome.OPEN:
                    self._open[tier, band] += number
                else:
                    self._decided[outcome, band] += number
            if of == Basis.COSINE and outcome == Outcome.OPEN and not self._is_read(by_probability):
                self._open_elsewhere[tier] += number

    def _is_read(self, by_probability: bool) -> bool:
        """Whether the bounds of this basis read an edge that has a probability, or one that has none."""
        if self.basis == Basis.PROBABILITY:
            return by_probability
        return not (self.basis == Basis.COSINE and self.project.tier_basis == Basis.PROBABILITY and by_probability)

    @cached_property
    def _tiers(self) -> dict[int | None, Tier]:
        return {tier.pk: tier for tier in Tier.objects.filter(project=self.project)}

    def bounds(self) -> list[Bound]:
        """The tiers of the basis as they are, highest first."""
        own = [tier for tier in self._tiers.values() if tier.basis == self.basis]
        return _sorted(Bound(tier.pk, tier.name, tier.lower_bound, tier.held) for tier in own)

    def bars(self) -> list[Bar]:
        """Every band from 0 on, or from the lowest that holds something, in order."""
        known = {band for _, band in (*self._open, *self._decided)}
        lowest = -BANDS if min(known, default=0) < 0 else 0
        held: dict[int, int] = defaultdict(int)
        for (_, band), number in self._open.items():
            held[band] += number
        return [
            Bar(band, held[band], self._decided[Outcome.ACCEPTED, band], self._decided[Outcome.REJECTED, band])
            for band in range(lowest, BANDS)
        ]

    def effect(self, bounds: Iterable[Bound], *, in_use: bool) -> Effect:
        """What the bounds would change, if suggestions were read by them; `in_use`: they are read by this basis now."""
        wanted = _sorted(bounds)
        effect = Effect([TierMoves(name=bound.name, lower=bound.lower) for bound in wanted])
        places: dict[int | None, int] = {
            bound.tier: place for place, bound in enumerate(wanted) if bound.tier is not None
        }
        known = self.bounds() if in_use else []
        for tier, number in self._open_elsewhere.items():
            effect.queue.now += number if self._is_shown(tier) else 0
        for (tier, band), number in self._open.items():
            is_unmoved = in_use and (tier is None or tier in places) and _reading(wanted, band) == _reading(known, band)
            old = places.get(tier) if in_use and tier is not None else None
            parts = [(old, number)] if is_unmoved else _parts(wanted, band, number)
            effect.is_exact &= len(parts) == 1
            self._move(effect, wanted, old if in_use and (tier is None or tier in places) else _GONE, tier, parts)
        for (outcome, band), number in self._decided.items():
            _catch(effect, outcome, band, number)
        return effect

    def effect_of_saving(self, bounds: Iterable[Bound], *, in_use: bool) -> Effect:
        """The same with the suggestions that would leave, or come back, because the site has the link already, or has
        it no more, where the suggestion would stand."""
        wanted = _sorted(bounds)
        effect = self.effect(wanted, in_use=in_use)
        if not ExistingLink.objects.filter(PRESENT, project=self.project).exists():
            return effect
        if sum(self._open.values()) + sum(self._open_elsewhere.values()) > MOST_READ:
            effect.knows_linked = False
            return effect
        new = {-1 - place: bound for place, bound in enumerate(wanted)}  # ids of their own, for those without
        places = {bound.tier or number: -1 - number for number, bound in new.items()}
        others = [tier for tier in self._tiers.values() if tier.basis != self.basis]
        tiers = [self._as_tier(bound, number) for number, bound in new.items()]
        basis = self.project.tier_basis if in_use else self.basis
        for turned in links_that_turn(self.project, [*others, *tiers], basis):
            self._turn(effect, wanted, places, turned, in_use=in_use)
        return effect

    def _as_tier(self, bound: Bound, number: int) -> Tier:
        own = self._tiers.get(bound.tier)
        placement = bound.placement or (own.placement if own is not None else Placement.RELATED)
        values = {"basis": self.basis, "lower_bound": bound.lower, "held": bound.held, "placement": placement}
        return Tier(id=bound.tier or number, project=self.project, name=bound.name, **values)

    def _turn(
        self, effect: Effect, wanted: Sequence[Bound], places: dict[int, int], turned: Turned, *, in_use: bool
    ) -> None:
        """Counts suggestions that leave or come, which the bands have moved to their tier, or do not hold."""
        was_shown, number = self._is_shown(turned.now), turned.number
        if not self._is_read(turned.by_probability):
            effect.queue.leave += number if turned.leaves and was_shown else 0
            effect.queue.enter += number if not turned.leaves and self._is_shown(turned.then) else 0
            return
        is_kept = in_use and (turned.now is None or turned.now in places)
        old = (places[turned.now] if turned.now is not None else None) if is_kept else _GONE
        new = places[turned.then] if turned.then is not None else None
        is_shown = new is not None and not wanted[new].held
        if not turned.leaves:
            effect.of(new).enter += number
            effect.queue.enter += number if is_shown else 0
            return
        if new == old:
            effect.of(old).leave += number
        else:
            effect.of(new).enter -= number
        effect.queue.leave += number if is_shown and was_shown else 0
        effect.queue.enter -= number if is_shown and not was_shown else 0

    def _move(
        self, effect: Effect, wanted: Sequence[Bound], old: int | None, tier: int | None, parts: Sequence[_Part]
    ) -> None:
        """Counts the suggestions of a tier and a band where they are, and where their parts would be. `old` is the
        tier's place among those wanted, None below every tier."""
        was_shown = self._is_shown(tier)
        for new, number in parts:
            is_shown = new is not None and not wanted[new].held
            effect.queue.now += number if was_shown else 0
            effect.queue.enter += number if is_shown and not was_shown else 0
            effect.queue.leave += number if was_shown and not is_shown else 0
            if old != _GONE:
                effect.of(old).now += number
            if new != old:
                effect.of(new).enter += number
                if old != _GONE:
                    effect.of(old).leave += number

    def _is_shown(self, tier: int | None) -> bool:
        return tier is not None and tier in self._tiers and not self._tiers[tier].held


def _sorted(bounds: Iterable[Bound]) -> list[Bound]:
    return sorted(bounds, key=lambda bound: -bound.lower)


def _inside(bounds: Sequence[Bound], band: int) -> list[int]:
    """The places of the bounds that divide a band, lowest first. The last band holds 1, so a bound at 1 divides it."""
    low, high = band / BANDS, (band + 1) / BANDS
    places = [at for at, one in enumerate(bounds) if low < one.lower < high or low < one.lower == high == 1]
    return places[::-1]


def _base(bounds: Sequence[Bound], band: int) -> int | None:
    """The place of the tier that a band begins in."""
    return next((at for at, one in enumerate(bounds) if one.lower <= band / BANDS), None)


def _reading(bounds: Sequence[Bound], band: int) -> list[tuple[int | None, float]]:
    """The tiers that a band is read as, with their bounds where those divide it; a new tier is like none that is."""
    base = _base(bounds, band)
    read = [(bounds[base].tier if bounds[base].tier is not None else _GONE, 0.0)] if base is not None else [(None, 0.0)]
    return [*read, *((bounds[at].tier or _GONE, bounds[at].lower) for at in _inside(bounds, band))]


def _parts(bounds: Sequence[Bound], band: int, number: int) -> list[_Part]:
    """The suggestions of a band by the places of the tiers that read them; each part of the band has its share."""
    inside = _inside(bounds, band)
    parts: list[_Part] = []
    left, at = number, _base(bounds, band)
    for place in inside:
        above = round(number * _share_above(bounds[place].lower, band))
        parts.append((at, left - above))
        left, at = above, place
    return [*parts, (at, left)]


def _share_above(bound: float, band: int) -> float:
    """The part of a band that lies at or above a bound."""
    low, high = band / BANDS, (band + 1) / BANDS
    if low < bound < high:
        return (high - bound) * BANDS
    return 1.0 if bound <= low else 0.0


def _catch(effect: Effect, outcome: str, band: int, number: int) -> None:
    """Counts decided suggestions of a band with the tiers whose bound they reach."""
    for tier in effect.tiers:
        share = _share_above(tier.lower, band)
        caught = round(number * share)
        effect.is_exact &= share in (0.0, 1.0)
        tier.accepted += caught if outcome == Outcome.ACCEPTED else 0
        tier.rejected += caught if outcome == Outcome.REJECTED else 0
