"""The tiers that the pairs of a run are read by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linker.engine.tiers import read_tiers
from linker.matching.cohorts import CohortsOfPairs, cohorts_of
from linker.models import Basis, Tier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.models import Project


class RunTiers:
    """The tiers of the project's tier basis; without probabilities, those of the similarity stand in for them.

    `basis`: what is read; `tiers`: in the order of their places. A pair's cohort, where it has one, is a place among
    those of the basis, 0 for the project's own bounds: see linker.matching.cohorts.
    """

    def __init__(self, project: Project, probability: NDArray[np.float64]) -> None:
        """`probability` [n] of the run's pairs, NaN where there is none: all of them have one, or none has."""
        self.basis = Basis(project.tier_basis)
        if self.basis == Basis.PROBABILITY and np.isnan(probability).all():
            self.basis = Basis.COSINE
        self.tiers = list(Tier.objects.filter(project=project, basis=self.basis))
        cohorts = cohorts_of(project, self.basis)
        self._of_pairs = CohortsOfPairs(project, cohorts)
        places = {tier.pk: place for place, tier in enumerate(self.tiers)}
        self._bounds = [{place: tier.lower_bound for place, tier in enumerate(self.tiers)}]
        self._bounds += [{places[tier]: bound for tier, bound in one.bounds.items()} for one in cohorts]

    def values(self, rows: NDArray[Any], quantile: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """What the tiers read of rows of FOUND, [n]. `quantile` [n]: the share of the run's scores that are no higher;
        tiers that read it need it."""
        if self.basis == Basis.QUANTILE:
            if quantile is None:
                raise ValueError("tiers that read the quantile need it")
            return quantile
        column = "probability" if self.basis == Basis.PROBABILITY else "similarity"
        return rows[column].astype(np.float64)

    def cohorts(self, rows: NDArray[Any], has_words: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The cohort of each row [n], which has a `source` and a `target`. `has_words` [n]: it has words in the text,
        or those are expected."""
        return self._of_pairs.places(rows["source"].astype(np.int64), rows["target"].astype(np.int64), has_words)

    def as_placed(self, cohort: int, *, has_words: bool) -> int:
        """The cohort of a pair whose words are known by now; `cohort`: by those that were expected."""
        if cohort not in (0, self._of_pairs.wordless):
            return cohort
        return 0 if has_words else self._of_pairs.wordless

    def places(self, values: NDArray[np.float64], cohorts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place in `tiers` of the tier that each value [n] is read as, -1 below every tier."""
        found = np.full(len(values), -1, dtype=np.int64)
        for cohort in np.unique(cohorts).tolist():
            own, bounds = cohorts == cohort, self._bounds[cohort]
            tiers = np.array([*bounds, -1], dtype=np.int64)
            found[own] = tiers[read_tiers(values[own], np.array(list(bounds.values()), dtype=np.float64))]
        return found

    def read(self, value: float, cohort: int) -> Tier | None:
        """The tier that a value is read as."""
        place = int(self.places(np.array([value]), np.array([cohort]))[0])
        return self.tiers[place] if place >= 0 else None

    def lowest(self, placement: str) -> list[float]:
        """Of each cohort, where its lowest tier with that placement begins; 0.0 where it has none."""
        wanted = {place for place, tier in enumerate(self.tiers) if tier.placement == placement}
        return [min((bound for place, bound in one.items() if place in wanted), default=0.0) for one in self._bounds]


def expects_words(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each row of FOUND [n] is as probable as it is on words of the text: beside it, it would be as probable as
    it says of that."""
    found: NDArray[np.bool_] = rows["probability"] != rows["beside"]
    return found
