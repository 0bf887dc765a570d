"""The allocation of highest total score under the caps of both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SCALE = 1e6


def assign(
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    score: NDArray[np.float64],
    source_room: NDArray[np.int64],
    target_room: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Which pairs become links so that their scores add up to the most; positions, by source, score, target.

    All arrays [n]; each pair once; `source_room`, `target_room`: most links of the pair's source and target,
    the same in all pairs of a page; pairs of a score of 0 or less are never chosen. A linear program over a bipartite
    graph has an integral optimum (Hoffman and Kruskal 1956), so a simplex vertex is exact. Where no target's cap binds
    each source simply takes its best. Of several optima one is chosen repeatably.
    """
    useful = np.flatnonzero(np.isfinite(score) & (score > 0) & (source_room > 0) & (target_room > 0))
    if not len(useful):
        return np.empty(0, dtype=np.int64)
    order = useful[np.lexsort((targets[useful], -score[useful], sources[useful]))]
    _, source_place, source = np.unique(sources[order], return_index=True, return_inverse=True)
    _, target_place, target = np.unique(targets[order], return_index=True, return_inverse=True)
    first_choice = np.arange(len(order)) - np.searchsorted(source, source) < source_room[order]
    wanted = np.bincount(target[first_choice], minlength=len(target_place))
    limits = source_room[order][source_place], target_room[order][target_place]
    if (wanted <= limits[1]).all():
        return order[first_choice]
    return order[_solve(source, target, score[order], *limits)]


def _solve(
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    score: NDArray[np.float64],
    source_room: NDArray[np.int64],
    target_room: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """`source`, `target` [n] are positions in the rooms."""
    from scipy.optimize import linprog  # heavy, and only needed where caps of targets bind

    pairs, sources = len(score), len(source_room)
    caps = csr_matrix(
        (
            np.ones(2 * pairs),
            (np.concatenate([source, sources + target]), np.concatenate([np.arange(pairs), np.arange(pairs)])),
        ),
        shape=(sources + len(target_room), pairs),
    )
    limits = np.concatenate([source_room, target_room])
    # A preference far below any difference in score breaks ties the same way each time.
    gain = np.round(score * _SCALE) + np.linspace(1e-3, 0, pairs)
    found = linprog(-gain, A_ub=caps, b_ub=limits, bounds=(0, 1), method="highs-ds")
    if not found.success:
        raise RuntimeError(f"the assignment was not solved: {found.message}")
    chosen: NDArray[np.bool_] = found.x > 0.5
    return chosen
