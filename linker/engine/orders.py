"""How far two rankings of the same things agree, and how far two histograms lie apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST = 3  # of things, below which a correlation says nothing


def spearman(first: NDArray[np.floating], second: NDArray[np.floating]) -> float | None:
    """Spearman's rho of two scores of the same things, float [n], from -1 to 1: Pearson's correlation of the ranks,
    ties at their mean rank (Spearman, The proof and measurement of association between two things, 1904). None where
    there are fewer than LEAST things, or one side is all ties."""
    if len(first) < LEAST:
        return None
    from scipy.stats import rankdata  # heavy, and only comparisons need it

    one, two = (rankdata(side).astype(np.float64) for side in (first, second))
    one -= one.mean()
    two -= two.mean()
    spread = float(np.sqrt((one @ one) * (two @ two)))
    return float(one @ two) / spread if spread else None


@dataclass
class PairOrder:
    """How often pairs of things stand in one order in two rankings, counted group by group.

    Kendall's tau-b (The treatment of ties in ranking problems, Biometrika 1945) of pairs within groups: agreeing less
    disagreeing pairs, divided by the geometric mean of the pairs that are no tie on each side.
    """

    agreeing: int = 0
    disagreeing: int = 0
    untied_first: int = 0
    untied_second: int = 0

    def add(self, group: NDArray[np.int64], first: NDArray[np.floating], second: NDArray[np.floating]) -> None:
        """Takes scores of things, float [n]; those of a group, int64 [n], stand side by side."""
        for distance in range(1, int(np.bincount(np.unique(group, return_inverse=True)[1]).max(initial=0))):
            together = group[distance:] == group[:-distance]
            one = np.sign(first[distance:] - first[:-distance])[together]
            two = np.sign(second[distance:] - second[:-distance])[together]
            self.agreeing += int(np.count_nonzero(one * two > 0))
            self.disagreeing += int(np.count_nonzero(one * two < 0))
            self.untied_first += int(np.count_nonzero(one))
            self.untied_second += int(np.count_nonzero(two))

    @property
    def tau(self) -> float | None:
        """From -1 to 1; None without a pair that is no tie."""
        spread = float(np.sqrt(self.untied_first * self.untied_second))
        return (self.agreeing - self.disagreeing) / spread if spread else None


@dataclass(frozen=True)
class HistogramDistance:
    """How far two histograms over equal bins from 0 to 1 lie apart.

    `divergence`: the square root of the Jensen-Shannon divergence to the base 2, from 0 (the same) to 1 (no bin in
    common), a metric (Endres and Schindelin, A new metric for probability distributions, 2003). `shift`: Wasserstein's
    distance, how far a value moves on average when one is turned into the other with the least movement, in units of
    the value: the area between the two cumulated histograms (Vallender 1974). `size`: of the smaller side.
    """

    divergence: float
    shift: float
    size: int


def histogram_distance(first: NDArray[np.int64], second: NDArray[np.int64]) -> HistogramDistance | None:
    """Of counts, int64 [bins]; None where one of them is empty.

    The divergence is that of wider bins where there are few things: of two samples of one distribution, narrow bins
    hold other things by chance. There are as many bins as Rice's rule has for the smaller side, twice the cube root of
    its size (Lane, Online statistics education, 2007), and at most those that are given.
    """
    size = int(min(first.sum(), second.sum()))
    if not size:
        return None
    from scipy.spatial.distance import jensenshannon  # heavy, as above

    one, two = first / first.sum(), second / second.sum()
    shift = float(np.abs(np.cumsum(one - two)).sum()) / len(one)
    bins = min(len(first), math.ceil(2 * size ** (1 / 3)))
    begin = np.arange(bins) * len(first) // bins
    wide = [np.add.reduceat(counts, begin) / counts.sum() for counts in (first, second)]
    apart = float(np.nan_to_num(jensenshannon(*wide, base=2)))  # of equal shares, rounding makes it the root of -1e-17
    return HistogramDistance(apart, shift, size)
