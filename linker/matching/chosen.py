"""The pairs that become links, in the order in which their edges are stored, with what is known of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linker.engine import worth
from linker.matching.run_tiers import RunTiers, expects_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.matching.allocation import AllocatedLinks
    from linker.matching.needs import Needs
    from linker.models import Project

DONORS_AT_A_TIME = 1000
# Of each pair: the place of its target in Needs, its need, its donor's authority, the weight of its chance of approval.
WORTH = np.dtype([("place", "i8"), ("need", "f8"), ("authority", "f8"), ("weight", "f8")])


class PairFacts(NamedTuple):
    """What ChosenPairs knows of one of them: see there. `place` and what follows: the fields of WORTH."""

    quantile: float
    tier: int
    cohort: int
    text_alone: bool
    has_kept_room: bool
    place: int
    need: float
    authority: float
    weight: float


@dataclass(frozen=True)
class ChosenPairs:
    """Arrays [n]: the donor with the best link first, a donor's links by score, the highest first.

    `rows`: all that could become links, of which `positions` did;
    `quantile`: the share of the run's links that score no higher; `value`: what `tiers` read, and `tier`: the place
    among them, -1 below every tier; `cohort`: whose bounds read it. `text_alone`: it may be in the donor's text alone;
    `has_kept_room`: room beside the text is kept for it, since its target chose first and no words of the text mean it.
    `worth`: see WORTH.
    """

    rows: NDArray[Any]
    positions: NDArray[np.int64]
    quantile: NDArray[np.float64]
    tiers: RunTiers
    value: NDArray[np.float64]
    tier: NDArray[np.int64]
    cohort: NDArray[np.int64]
    text_alone: NDArray[np.bool_]
    has_kept_room: NDArray[np.bool_]
    worth: NDArray[Any]

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def sources(self) -> NDArray[np.int64]:
        sources: NDArray[np.int64] = self.rows["source"][self.positions]
        return sources

    @property
    def targets(self) -> NDArray[np.int64]:
        targets: NDArray[np.int64] = self.rows["target"][self.positions]
        return targets

    def by_donors(self) -> Iterator[slice]:
        """Slices that hold DONORS_AT_A_TIME donors each."""
        source = self.sources
        starts = np.flatnonzero(np.concatenate([[True], source[1:] != source[:-1]])) if len(source) else source
        for place in range(0, len(starts), DONORS_AT_A_TIME):
            after = place + DONORS_AT_A_TIME
            yield slice(int(starts[place]), int(starts[after]) if after < len(starts) else len(source))

    def facts(self, part: slice) -> Iterator[PairFacts]:
        """What is known of each pair of a slice, as Python's numbers."""
        columns = (self.quantile, self.tier, self.cohort, self.text_alone, self.has_kept_room)
        rows = zip(*(column[part].tolist() for column in columns), self.worth[part].tolist(), strict=True)
        for *numbers, of_worth in rows:
            yield PairFacts(*numbers, *of_worth)


def chosen_pairs(project: Project, allocated: AllocatedLinks, needs: Needs) -> ChosenPairs:
    rows, allocation = allocated.eligible, allocated.allocation
    positions = _in_order(rows, allocation.chosen)
    chosen = rows[positions]
    others = allocated.staying.score if allocated.staying is not None else np.empty(0)
    quantile = _quantiles(chosen["score"], others)
    tiers = RunTiers(project, chosen["probability"])
    value, cohort = tiers.values(chosen, quantile), tiers.cohorts(chosen, expects_words(chosen))
    chose_first = np.zeros(len(rows), dtype=np.bool_)
    chose_first[allocation.for_need] = True
    return ChosenPairs(
        rows=rows,
        positions=positions,
        quantile=quantile,
        tiers=tiers,
        value=value,
        tier=tiers.places(value, cohort),
        cohort=cohort,
        text_alone=allocated.text_alone[positions],
        has_kept_room=chose_first[positions] & ~(chosen["probability"] > chosen["beside"]),
        worth=_worth(needs, chosen),
    )


def _in_order(rows: NDArray[Any], chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions of the chosen rows in the order of ChosenPairs."""
    source, score = rows["source"][chosen], rows["score"][chosen]
    order = np.lexsort((rows["target"][chosen], -score, source))
    source, score = source[order], score[order]
    best = score[np.searchsorted(source, source)]
    return chosen[order][np.argsort(-best, kind="stable")]


def _quantiles(score: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of the scores, and of `others` beside them, that are no higher than each, float64 [n], in (0, 1]."""
    every = np.sort(np.concatenate([score, others]))
    return np.round(np.searchsorted(every, score, side="right") / max(len(every), 1), 6)


def _worth(needs: Needs, rows: NDArray[Any]) -> NDArray[Any]:
    """WORTH of each row."""
    found = np.empty(len(rows), dtype=WORTH)
    if not len(rows):
        return found
    target, donor = needs.places(rows["target"]), needs.places(rows["source"])
    found["place"] = target
    found["need"] = np.where(target >= 0, needs.need[target], 0) if len(needs.ids) else 0
    found["authority"] = np.where(donor >= 0, needs.authority[donor], np.nan) if len(needs.ids) else np.nan
    found["weight"] = worth.weight(found["need"], found["authority"])
    return found
