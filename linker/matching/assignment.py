"""The allocation of highest total score under the caps of both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SCALE = 1e6


def assign(
    donors: NDArray[np.int64],
    targets: NDArray[np.int64],
    score: NDArray[np.float64],
    *,
    per_donor: int,
    per_target: int,
) -> NDArray[np.int64]:
    """Which pairs become links so that their scores add up to the most; positions, by donor, score, target.

    All arrays [n]; a pair stands there once; pairs of a score of 0 or less are never chosen; `per_target` 0 is no cap.
    A linear program over a bipartite graph has an integral optimum (Hoffman and Kruskal 1956), so a simplex vertex
    is exact. Pairs that no optimum needs are left out first: where a target's cap does not bind, each donor simply
    takes its best. Of several optima one is chosen repeatably.
    """
    useful = np.flatnonzero(np.isfinite(score) & (score > 0))
    if not len(useful) or per_donor < 1:
        return np.empty(0, dtype=np.int64)
    order = useful[np.lexsort((targets[useful], -score[useful], donors[useful]))]
    _, donor = np.unique(donors[order], return_inverse=True)
    _, target = np.unique(targets[order], return_inverse=True)
    first_choice = np.arange(len(order)) - np.searchsorted(donor, donor) < per_donor
    wanted = np.bincount(target[first_choice], minlength=int(target.max()) + 1)
    if not per_target or (wanted <= per_target).all():
        return order[first_choice]
    chosen = _solve(donor, target, score[order], per_donor, per_target)
    return order[chosen]


def _solve(
    donor: NDArray[np.int64], target: NDArray[np.int64], score: NDArray[np.float64], per_donor: int, per_target: int
) -> NDArray[np.bool_]:
    pairs, donors, targets = len(score), int(donor.max()) + 1, int(target.max()) + 1
    caps = csr_matrix(
        (
            np.ones(2 * pairs),
            (np.concatenate([donor, donors + target]), np.concatenate([np.arange(pairs), np.arange(pairs)])),
        ),
        shape=(donors + targets, pairs),
    )
    limits = np.concatenate([np.full(donors, per_donor), np.full(targets, per_target)])
    # A preference far below any difference in score breaks ties the same way each time.
    gain = np.round(score * _SCALE) + np.linspace(1e-3, 0, pairs)
    found = linprog(-gain, A_ub=caps, b_ub=limits, bounds=(0, 1), method="highs-ds")
    if not found.success:
        raise RuntimeError(f"the assignment was not solved: {found.message}")
    chosen: NDArray[np.bool_] = found.x > 0.5
    return chosen
