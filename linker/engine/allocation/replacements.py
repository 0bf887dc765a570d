"""Which links that stand may give way to better candidates, where their sources have no room."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROUNDING = 1e-9  # probabilities have six decimals: what two of them differ by less is their representation


@dataclass(frozen=True)
class Quotas:
    """How many links may be replaced, with those that were or are about to be already taken off.

    per_source   of each source that has standing links; sources that are not in it have 0
    in_all       of all sources together
    per_target   links that a target may still receive; targets that are not in it have no limit
    """

    per_source: dict[int, int]
    in_all: int
    per_target: dict[int, int]


def is_gain(new: float, old: float, gain: float) -> bool:
    """Whether a probability of `new` is more than `old` by at least the share `gain` of it. Nothing is a gain on what
    is not above 0."""
    return old > 0 and new >= old * (1 + gain) - ROUNDING


def choose_replacements(
    candidates: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
    standing: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
    gain: float,
    quotas: Quotas,
) -> list[tuple[int, int]]:
    """Pairs of positions, (candidate, standing link): the first may replace the second.

    `candidates`: source, target, place and probability of each, [n]; `standing`: source, place and probability of each
    link, [m]. A place is any number: only links of one source and one place are compared. Of these the likeliest
    candidate is set against the least likely link, the next against the next, for as long as each is a gain
    (`is_gain`): so what is better replaces what is worse, no link is replaced twice, and no candidate replaces two.

    The highest gains come first, in probability, ties by source and then target, until the quotas are used up.
    """
    source, target, place, probability = candidates
    of, where, old = standing
    best = np.lexsort((target, -probability, place, source))
    worst = np.lexsort((np.arange(len(of)), old, where, of))
    links = _turns(of, where, worst)
    found = []
    for key, turn, candidate in _each_turn(source, place, best):
        link = links.get((key, turn))
        if link is not None and is_gain(float(probability[candidate]), float(old[link]), gain):
            found.append((candidate, link))
    found.sort(key=lambda pair: (old[pair[1]] - probability[pair[0]], source[pair[0]], target[pair[0]]))
    return _within(found, source, target, quotas)


def _within(
    found: list[tuple[int, int]], source: NDArray[np.int64], target: NDArray[np.int64], quotas: Quotas
) -> list[tuple[int, int]]:
    """The first of the pairs that the quotas allow."""
    given, received, chosen = Counter[int](), Counter[int](), list[tuple[int, int]]()
    for candidate, link in found:
        giver, taker = int(source[candidate]), int(target[candidate])
        if len(chosen) >= quotas.in_all:
            break
        if given[giver] >= quotas.per_source.get(giver, 0):
            continue
        if taker in quotas.per_target and received[taker] >= quotas.per_target[taker]:
            continue
        given[giver] += 1
        received[taker] += 1
        chosen.append((candidate, link))
    return chosen


def _each_turn(
    source: NDArray[np.int64], place: NDArray[np.int64], order: NDArray[np.intp]
) -> list[tuple[tuple[int, int], int, int]]:
    """Of each position of `order`: its source and place, its turn among theirs, from 0, and the position."""
    turns = Counter[tuple[int, int]]()
    found = []
    for at in order.tolist():
        key = int(source[at]), int(place[at])
        found.append((key, turns[key], at))
        turns[key] += 1
    return found


def _turns(
    source: NDArray[np.int64], place: NDArray[np.int64], order: NDArray[np.intp]
) -> dict[tuple[tuple[int, int], int], int]:
    return {(key, turn): at for key, turn, at in _each_turn(source, place, order)}
