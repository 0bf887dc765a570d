"""What bounds do to suggestions that are counted by band: the arithmetic of a preview.

Exact for bounds at whole hundredths; of a band that a bound divides, each part is taken to hold its share.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

from linker.models import Outcome
from linker.models.edge_bands import BANDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_Part = tuple["int | None", int]  # the place of a tier, and suggestions
_GONE = -1  # the place of a tier that is not among those wanted
NOT_USED = inf  # where a tier begins that nothing is read as


@dataclass(frozen=True)
class Bound:
    """A tier as it is, or as a form would have it; a new one has no id yet. Without a `placement` it keeps its own."""

    tier: int | None
    name: str
    lower: float
    held: bool
    placement: str = ""

    @property
    def is_used(self) -> bool:
        return self.lower != NOT_USED

    @property
    def key(self) -> int | str:
        """What it is known by: its id, or its name while it has none."""
        return self.name if self.tier is None else self.tier


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

    def add(self, other: Moves) -> None:
        self.now += other.now
        self.enter += other.enter
        self.leave += other.leave


@dataclass
class TierMoves(Moves):
    """`accepted` and `rejected`: decided suggestions at or above the bound, of those that it reads. `lower` is None
    where nothing is read as the tier, or where it begins here and there."""

    key: int | str = ""
    name: str = ""
    lower: float | None = None
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
    `linked`: what would be proposed no more because the site has the link already where it would stand, and in `leave`
    what would be proposed again. `knows_linked`: these are counted."""

    tiers: list[TierMoves]
    below: Moves = field(default_factory=Moves)
    queue: Moves = field(default_factory=Moves)
    linked: Moves = field(default_factory=Moves)
    is_exact: bool = True
    knows_linked: bool = True

    @property
    def moves(self) -> bool:
        return self.queue.moves or self.below.moves or any(tier.moves for tier in self.tiers)

    def of(self, place: int | None) -> Moves:
        """The tier at a place; what is below every tier without one."""
        return self.below if place is None else self.tiers[place]

    def add(self, other: Effect) -> None:
        """Adds what bounds do to other suggestions, for the tiers that are among these."""
        own = {tier.key: tier for tier in self.tiers}
        for tier in other.tiers:
            own[tier.key].add(tier)
            own[tier.key].accepted += tier.accepted
            own[tier.key].rejected += tier.rejected
        self.below.add(other.below)
        self.queue.add(other.queue)
        self.linked.add(other.linked)
        self.is_exact &= other.is_exact


def by_bound(bounds: Iterable[Bound]) -> list[Bound]:
    """The highest first, those that are not used last."""
    return sorted(bounds, key=lambda bound: -bound.lower if bound.is_used else inf)


def nothing_yet(bounds: Iterable[Bound]) -> Effect:
    """No effect on these tiers, in their order."""
    return Effect([TierMoves(key=one.key, name=one.name, lower=one.lower if one.is_used else None) for one in bounds])


class ReadAlike:
    """Suggestions that are read by the same bounds, and would be read by others alike, by tier and band."""

    def __init__(self) -> None:
        self.open: dict[tuple[int | None, int], int] = defaultdict(int)
        self.decided: dict[tuple[str, int], int] = defaultdict(int)

    def count(self, tier: int | None, outcome: str, band: int, number: int) -> None:
        if outcome == Outcome.OPEN:
            self.open[tier, band] += number
        else:
            self.decided[outcome, band] += number

    def effect(
        self, bounds: Iterable[Bound], known: Iterable[Bound], is_shown: Callable[[int | None], bool], *, in_use: bool
    ) -> Effect:
        """What these bounds would change. `known`: those that read them now; `is_shown`: whether the queue shows a tier
        now; `in_use`: they are read by this basis now."""
        wanted, before = by_bound(bounds), by_bound(known)
        effect = Effect([TierMoves(key=one.key, name=one.name, lower=one.lower) for one in wanted])
        places = {one.tier: place for place, one in enumerate(wanted) if one.tier is not None}
        for (tier, band), number in self.open.items():
            is_kept = in_use and (tier is None or tier in places)
            is_unmoved = is_kept and _reading(wanted, band) == _reading(before, band)
            old = places[tier] if is_kept and tier is not None else None
            parts = [(old, number)] if is_unmoved else _parts(wanted, band, number)
            effect.is_exact &= len(parts) == 1
            _move(effect, wanted, old if is_kept else _GONE, is_shown(tier), parts)
        for (outcome, band), number in self.decided.items():
            _catch(effect, outcome, band, number)
        return effect


def _move(effect: Effect, wanted: Sequence[Bound], old: int | None, was_shown: bool, parts: Sequence[_Part]) -> None:
    """Counts the suggestions of a tier and a band where they are, and where their parts would be. `old` is the tier's
    place among those wanted, None below every tier."""
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
        share = _share_above(NOT_USED if tier.lower is None else tier.lower, band)
        caught = round(number * share)
        effect.is_exact &= share in (0.0, 1.0)
        tier.accepted += caught if outcome == Outcome.ACCEPTED else 0
        tier.rejected += caught if outcome == Outcome.REJECTED else 0
