"""Looking for pairs of pages among rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PairLookup:
    """Looks for pairs of pages among rows that have a source and a target."""

    def __init__(self, rows: NDArray[Any]) -> None:
        self.sources, source = np.unique(rows["source"], return_inverse=True)
        self.targets, target = np.unique(rows["target"], return_inverse=True)
        self.keys = source * len(self.targets) + target

    def among(self, pairs: tuple[NDArray[np.int64], NDArray[np.int64]]) -> NDArray[np.bool_]:
        """Whether each row [n] is one of the pairs, sources and targets."""
        known = np.isin(pairs[0], self.sources) & np.isin(pairs[1], self.targets)
        source = np.searchsorted(self.sources, pairs[0][known])
        return np.isin(self.keys, source * len(self.targets) + np.searchsorted(self.targets, pairs[1][known]))
