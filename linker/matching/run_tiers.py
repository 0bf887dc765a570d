"""The tiers that the pairs of a run are read by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linker.engine.tiers import read_tiers
from linker.models import Basis, Tier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.models import Project


class RunTiers:
    """The tiers of the project's tier basis; without probabilities, those of the similarity stand in for them.

    `basis`: what is read; `tiers`: in the order of their places.
    """

    def __init__(self, project: Project, probability: NDArray[np.float64]) -> None:
        """`probability` [n] of the run's pairs, NaN where there is none: all of them have one, or none has."""
        self.basis = Basis(project.tier_basis)
        if self.basis == Basis.PROBABILITY and np.isnan(probability).all():
            self.basis = Basis.COSINE
        self.tiers = list(Tier.objects.filter(project=project, basis=self.basis))
        self._bounds = np.array([tier.lower_bound for tier in self.tiers])

    def values(self, rows: NDArray[Any], quantile: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """What the tiers read of rows of FOUND, [n]. `quantile` [n]: the share of the run's scores that are no higher;
        tiers that read it need it."""
        if self.basis == Basis.QUANTILE:
            if quantile is None:
                raise ValueError("tiers that read the quantile need it")
            return quantile
        column = "probability" if self.basis == Basis.PROBABILITY else "similarity"
        return rows[column].astype(np.float64)

    def places(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """The place in `tiers` of the tier that each value [n] is read as, -1 below every tier."""
        return read_tiers(values, self._bounds)

    def read(self, value: float) -> Tier | None:
        """The tier that a value is read as."""
        place = int(self.places(np.array([value]))[0])
        return self.tiers[place] if place >= 0 else None
