"""The mentions in donors' texts, joined with the pages that they may mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linker.engine.phrases import H1, TITLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.evidence import TextEvidence


@dataclass(frozen=True)
class MentionRows:
    """Mentions joined with what they may mean: one row a (spot, phrase, page)."""

    donor: NDArray[np.int64]
    target: NDArray[np.int64]
    spot: NDArray[np.int64]
    meaning: NDArray[np.int64]
    exact: NDArray[np.bool_]
    weight: NDArray[np.float32]

    def take(self, keep: NDArray[np.bool_]) -> MentionRows:
        """Some of the rows."""
        return MentionRows(*(column[keep] for column in vars(self).values()))


def mention_rows(evidence: TextEvidence, donors: NDArray[np.int64]) -> MentionRows:
    """The mentions in the donors' texts with every page they may mean; the weight says how likely, roughly."""
    spots, meanings = evidence.spots, evidence.meanings
    low, high = spots.bounds[donors], spots.bounds[donors + 1]
    size = high - low
    spot = np.repeat(low - (np.cumsum(size) - size), size) + np.arange(int(size.sum()))
    group = spots.group[spot]
    first, count = meanings.first[group], meanings.first[group + 1] - meanings.first[group]
    meaning = np.repeat(first - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
    spot = np.repeat(spot, count)
    exact = spots.phrase[spot] == meanings.phrase[meaning]
    donor, target = spots.page[spot].astype(np.int64), meanings.page[meaning]
    named = (meanings.bits[meaning] & (TITLE | H1)) > 0
    key = evidence.keyness[meanings.phrase[meaning]]
    weight = (
        (meanings.share[meaning] * np.sqrt(key + 0.02) + 0.3 * named + 0.05)
        * np.where(exact, 1.0, 0.5)
        * np.where(spots.free[spot] > 0, 1.0, 0.3)
        * (1 + spots.alone[spot] + 0.2 * (spots.inline[spot] > 0) + spots.near[spot])
    ).astype(np.float32)
    other = donor != target
    order = np.lexsort((-weight, target, donor))
    order = order[other[order]]
    return MentionRows(donor[order], target[order], spot[order], meaning[order], exact[order], weight[order])
