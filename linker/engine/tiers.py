"""Tiers are a reading of the score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_tiers(score: NDArray[np.float64], lower_bounds: NDArray[np.float64]) -> NDArray[np.int64]:
    """The tier of each score [n]: the place of the highest bound at or below it, -1 where there is none.

    `lower_bounds` [k] may come in any order but not twice.
    """
    order = np.argsort(lower_bounds)
    place = np.searchsorted(lower_bounds[order], score, side="right") - 1
    return np.where(place < 0, -1, order[np.maximum(place, 0)] if len(order) else -1)
