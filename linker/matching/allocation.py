"""Who gives and who receives links under the caps of both sides."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from linker.matching.params import Mode

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Reason(IntEnum):
    """Why a pair that was found does not become a link."""

    BELOW_FLOOR = 1  # its score is below the run's lowest
    DONOR_FULL = 2  # the donor's links went to better targets
    TARGET_FULL = 3  # the target's links came from better donors
    RECIPROCAL = 4  # the target links back, and the donor has its share of such links
    RELATED_FULL = 5  # no words for it in the text, and the block beside the text is full


def allocate(
    donors: NDArray[np.int64],
    targets: NDArray[np.int64],
    score: NDArray[np.float64],
    *,
    per_donor: int,
    per_target: int,
    mode: Mode,
    standing: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
) -> NDArray[np.int64]:
    """Which of the pairs become links: positions in the arrays, in the order they were chosen.

    All arrays [n]; a pair stands there once. Best first takes pairs by score (ties: donor id, target id) while both
    sides have room; `per_target` 0 is no cap. Equal rounds does the same again and again, allowing each side one link
    in the first round, two in the second, until the caps are reached.

    `standing` are donors and targets, int64 [k] each, of links that exist whatever is chosen: they use up the caps,
    and those among the pairs are chosen first.
    """
    order = np.lexsort((targets, donors, -score))
    donor_ids, donor = np.unique(donors[order], return_inverse=True)
    target_ids, target = np.unique(targets[order], return_inverse=True)
    given, received = [0] * len(donor_ids), [0] * len(target_ids)
    chosen: list[int] = []
    if standing is not None:
        for ids, counts, side in ((donor_ids, given, standing[0]), (target_ids, received, standing[1])):
            for place in np.searchsorted(ids, side[np.isin(side, ids)]).tolist():
                counts[place] += 1
        pairs = set(zip(standing[0].tolist(), standing[1].tolist(), strict=True))
        chosen = [
            place
            for place, pair in enumerate(zip(donors[order].tolist(), targets[order].tolist(), strict=True))
            if pair in pairs
        ]
    roof = per_target or len(order) + sum(received)
    if mode is Mode.BEST:
        rounds = [(per_donor, roof)]
    else:
        rounds = [(min(turn, per_donor), min(turn, roof)) for turn in range(1, max(per_donor, roof) + 1)]
    return order[_pass(donor, target, rounds, given, received, chosen)]


def _pass(
    donor: NDArray[np.int64],
    target: NDArray[np.int64],
    rounds: list[tuple[int, int]],
    given: list[int],
    received: list[int],
    chosen: list[int],
) -> NDArray[np.int64]:
    """Goes through the pairs round by round; `given`, `received` and `chosen` say what stands before."""
    standing = set(chosen)
    waiting = [
        pair for pair in zip(range(len(donor)), donor.tolist(), target.tolist(), strict=True) if pair[0] not in standing
    ]
    last = rounds[-1] if rounds else (0, 0)
    for donor_cap, target_cap in rounds:
        left = []
        before = len(chosen)
        for pair in waiting:
            place, source, sink = pair
            if given[source] < donor_cap and received[sink] < target_cap:
                given[source] += 1
                received[sink] += 1
                chosen.append(place)
            elif given[source] < last[0] and received[sink] < last[1]:
                left.append(pair)
        waiting = left
        if not waiting or (len(chosen) == before and (donor_cap, target_cap) == last):
            break
    return np.asarray(chosen, dtype=np.int64)
