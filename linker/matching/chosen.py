"""The pairs that become links, in the order in which their edges are stored, with what is known of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linker.engine import worth
from linker.matching.run_tiers import RunTiers, expects_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from linker.matching.allocation import AllocatedLinks
    from linker.matching.needs import Needs
    from linker.models import Project

DONORS_AT_A_TIME = 1000


class PairFacts(NamedTuple):
    """What is known of a chosen pair.

    `quantile`: the share of the run's links that score no higher; `value`: what the tiers read, and `tier`: the place
    among them, -1 below every tier; `cohort`: whose bounds read it. `text_alone`, `has_kept_room`: see ChosenPairs.
    `place` of its target in Needs, its `need`, its donor's `authority`, the `weight` of its chance of approval.
    """

    quantile: float
    value: float
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
    """Which of the rows that could become links did, with what is the same for all of them.

    There may be millions of pairs: all that can be said of one by itself, `facts` says when its link is made.

    rows           [m] of FOUND: those that could
    positions      [n] of those that did: the donor with the best link first, a donor's links by score, the highest
                   first
    scores         float64, ascending: of all links that the share `quantile` is of
    text_alone     bool [m]: it may be in the donor's text alone
    has_kept_room  bool [m]: room beside the text is kept for it, since its target chose first and no words of the text
                   mean it
    """

    rows: NDArray[Any]
    positions: NDArray[np.int64]
    scores: NDArray[np.float64]
    tiers: RunTiers
    needs: Needs
    text_alone: NDArray[np.bool_]
    has_kept_room: NDArray[np.bool_]

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
        starts = _starts(self.sources)
        for place in range(0, len(starts), DONORS_AT_A_TIME):
            after = place + DONORS_AT_A_TIME
            yield slice(int(starts[place]), int(starts[after]) if after < len(starts) else len(self))

    def facts(self, part: slice) -> list[PairFacts]:
        """What is known of each pair of a slice, as Python's numbers. Asks the database where there are cohorts."""
        places = self.positions[part]
        rows = self.rows[places]
        quantile = _quantiles(self.scores, rows["score"])
        value, cohort = self.tiers.values(rows, quantile), self.tiers.cohorts(rows, expects_words(rows))
        of_tiers = (quantile, value, self.tiers.places(value, cohort), cohort)
        columns = (*of_tiers, self.text_alone[places], self.has_kept_room[places], *_worth(self.needs, rows))
        return list(map(PairFacts._make, zip(*(column.tolist() for column in columns), strict=True)))


def chosen_pairs(project: Project, allocated: AllocatedLinks, needs: Needs) -> ChosenPairs:
    rows, allocation = allocated.eligible, allocated.allocation
    positions = _in_order(rows, allocation.chosen)
    others = allocated.staying.score if allocated.staying is not None else np.empty(0)
    chose_first = rows[allocation.for_need]
    has_kept_room = np.zeros(len(rows), dtype=np.bool_)
    has_kept_room[allocation.for_need] = ~(chose_first["probability"] > chose_first["beside"])
    return ChosenPairs(
        rows=rows,
        positions=positions,
        scores=np.sort(np.concatenate([rows["score"][positions], others])),
        tiers=RunTiers(project, rows["probability"][positions]),
        needs=needs,
        text_alone=allocated.text_alone,
        has_kept_room=has_kept_room,
    )


def _starts(source: NDArray[np.int64]) -> NDArray[np.intp]:
    """Where the pairs of each donor begin."""
    return np.flatnonzero(np.concatenate([[True], source[1:] != source[:-1]])) if len(source) else source


def _in_order(rows: NDArray[Any], chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions of the chosen rows in the order of ChosenPairs."""
    source, score = rows["source"][chosen], rows["score"][chosen]
    order = np.lexsort((rows["target"][chosen], -score, source))
    source, score = source[order], score[order]
    best = score[np.searchsorted(source, source)]
    return chosen[order][np.argsort(-best, kind="stable")]


def _quantiles(scores: NDArray[np.float64], some: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of the scores, ascending, that are no higher than each of `some` [k] of them, float64 [k] in (0, 1]."""
    return np.round(np.searchsorted(scores, some, side="right") / max(len(scores), 1), 6)


def _worth(needs: Needs, rows: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Of each row, what PairFacts says last: place, need, authority, weight."""
    target, donor = needs.places(rows["target"]), needs.places(rows["source"])
    if not len(needs.ids):
        need, authority = np.zeros(len(rows)), np.full(len(rows), np.nan)
    else:
        need = np.where(target >= 0, needs.need[target], 0)
        authority = np.where(donor >= 0, needs.authority[donor], np.nan)
    return target, need, authority, worth.weight(need, authority)
