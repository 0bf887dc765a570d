"""Who gives and who receives links under the caps of both sides."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from linker.engine.allocation.optimal import assign
from linker.engine.params import Mode

if TYPE_CHECKING:
    from numpy.typing import NDArray


LINKS_IN_NEED = 2  # links that a target in need takes before the others choose
PAIRS_AT_A_TIME = 65536  # pairs gone through as Python's numbers at a time: millions of them would fill the memory


class Reason(IntEnum):
    """Why a pair that was found does not become a link."""

    BELOW_FLOOR = 1  # its score is below the run's lowest
    SOURCE_FULL = 2  # the source's links went to better targets
    TARGET_FULL = 3  # the target's links came from better sources
    RECIPROCAL = 4  # the target links back or is to, and one of the two has its share of such links
    RELATED_FULL = 5  # no words for it in the text, and the block beside the text is full
    LINKED_BESIDE = 6  # the source links to it beside its text already, and the text cannot take it
    SAME_GROUP = 7  # a copy, variant or translation of it is the better target for this source
    PRODUCTS_FULL = 8  # the source, a product, has its alternatives or its complements
    WORDS_RULED_OUT = 9  # an editor ruled out all words that a link to it could have
    BARRED = 10  # pages of their safety classes may never be linked


def beyond(sources: NDArray[np.int64], score: NDArray[np.float64], most: int) -> NDArray[np.bool_]:
    """Which pairs, [n], come after the `most` best of their source; ties go to the earlier pair."""
    order = np.lexsort((-score, sources))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.searchsorted(sources[order], sources[order])
    return rank >= most


@dataclass(frozen=True)
class Caps:
    """How many links a page may give and receive.

    `per_source`, `per_target` (0: no cap) and `reciprocal` (None: no limit) are those of MatchParams.

    existing       sources and targets, int64 [k] each, of links that exist in any case: they use up the caps, and those
                   that are among the pairs are chosen first
    back           bool [n]: whether the pair's target links to its source already
    source_limits  sources that may give fewer links than `per_source`, and how many each; int64 [k] both
    in_need        bool [n]: pairs whose targets choose before the others, see `allocate`
    """

    per_source: int
    per_target: int = 0
    reciprocal: int | None = None
    existing: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
    back: NDArray[np.bool_] | None = None
    source_limits: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
    in_need: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Allocation:
    """Which of n pairs become links.

    chosen        int64: their positions, in the order in which they were chosen
    reason        int8 [n]: why a pair does not become a link, a Reason; 0 where it does
    total         sum of the scores of the chosen pairs
    greedy_total  the sum that greedy reaches (round robin, where that is the mode)
    planned       the sum that the mode itself came to; optimal gives way to greedy where that reaches more
    for_need      int64: positions of the pairs that were chosen because their targets chose first
    """

    chosen: NDArray[np.int64]
    reason: NDArray[np.int8]
    total: float
    greedy_total: float
    planned: float
    for_need: NDArray[np.int64]


def allocate(
    sources: NDArray[np.int64], targets: NDArray[np.int64], score: NDArray[np.float64], caps: Caps, mode: Mode
) -> Allocation:
    """Which of n pairs become links. All arrays [n]; no pair comes twice.

    Greedy (Mode.BEST) takes pairs by score, ties by source id and then target id, while both sides have room. Round
    robin (Mode.EQUAL) does the same again and again, and allows each side one link in the first round, two in the
    second, and so on until the caps are reached. Optimal takes the assignment of highest total score first (see
    `assign`), and then fills the room that is left greedily. That is exact only without a limit on reciprocal links:
    the assignment knows no such limit, and pairs that break it are passed over, so that greedy may reach more; its
    result is then taken. A link counts as reciprocal if the target links to the source already, or was given a link to
    it before; that other link then counts as well, for the page that gives it.

    Before any mode begins, the targets of `caps.in_need` choose among those pairs, by score with the same ties: in a
    first round each of them takes one link, in a second another, up to LINKS_IN_NEED together with the links that
    exist. A source gives at most half of its links to them, rounded up, so that its best ones are kept. The modes leave
    what was taken so: round robin counts it, and the total that optimal aims at is the highest beside it.
    """
    baseline = _Allocator(sources, targets, score, caps)
    baseline.in_need_first()
    if mode is Mode.EQUAL:
        baseline.round_robin()
    else:
        baseline.greedy()
    done = baseline
    planned = done.total(score)
    if mode is Mode.OPTIMAL:
        done = _Allocator(sources, targets, score, caps)
        done.in_need_first()
        free = np.flatnonzero(~done.taken)
        room = done.room_of_sources()[free], done.room_of_targets()[free]
        done.greedy(free[assign(sources[free], targets[free], score[free], room[0], room[1])])
        done.greedy()
        planned = done.total(score)
        if baseline.total(score) > planned and not math.isclose(baseline.total(score), planned):
            done = baseline
    chosen = np.array(done.chosen, dtype=np.int64)
    for_need = np.array(done.for_need, dtype=np.int64)
    return Allocation(chosen, done.reasons(), done.total(score), baseline.total(score), planned, for_need)


class _Allocator:
    """One allocation on its way: what was given and received so far."""

    def __init__(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64], score: NDArray[np.float64], caps: Caps
    ) -> None:
        self.caps = caps
        self.order = np.lexsort((targets, sources, -score))
        source_ids, self.source = np.unique(sources, return_inverse=True)
        target_ids, self.target = np.unique(targets, return_inverse=True)
        self.given, self.received = [0] * len(source_ids), [0] * len(target_ids)
        self.most = np.full(len(source_ids), caps.per_source, dtype=np.int64)  # links of each source
        if caps.source_limits is not None:
            known = np.isin(caps.source_limits[0], source_ids)
            self.most[np.searchsorted(source_ids, caps.source_limits[0][known])] = caps.source_limits[1][known]
        self.is_existing = np.zeros(len(sources), dtype=bool)
        self.pairs = sources, targets
        # Of each link whether a link back would make one more reciprocal link of its source: where it is not one yet.
        self.linked: dict[tuple[int, int], bool] = {}
        self.mutual: dict[int, int] = {}
        self.refused = np.zeros(len(sources), dtype=bool)
        if caps.existing is not None and len(caps.existing[0]):
            self.linked = dict.fromkeys(zip(caps.existing[0].tolist(), caps.existing[1].tolist(), strict=True), True)
            for ids, counts, side in (
                (source_ids, self.given, caps.existing[0]),
                (target_ids, self.received, caps.existing[1]),
            ):
                for place in np.searchsorted(ids, side[np.isin(side, ids)]).tolist():
                    counts[place] += 1
            self.is_existing = np.fromiter(
                ((a, b) in self.linked for a, b in zip(sources.tolist(), targets.tolist(), strict=True)),
                dtype=bool,
                count=len(sources),
            )
        self.chosen = array("q", self.order[self.is_existing[self.order]].tolist())
        self.taken = self.is_existing.copy()
        self.for_need = array("q")

    @property
    def target_limit(self) -> int:
        """Links that a target may receive; without a cap, more than there can be."""
        return self.caps.per_target or len(self.order) + sum(self.received) + 1

    def room_of_sources(self) -> NDArray[np.int64]:
        """Links the source of each pair may still give."""
        return np.maximum(self.most - np.array(self.given, dtype=np.int64), 0)[self.source]

    def room_of_targets(self) -> NDArray[np.int64]:
        """Links the target of each pair may still receive."""
        return np.maximum(self.target_limit - np.array(self.received, dtype=np.int64), 0)[self.target]

    def greedy(self, among: NDArray[np.int64] | None = None) -> None:
        """One pass over the pairs, or those at some positions, by score."""
        order = self.order if among is None else self.order[np.isin(self.order, among)]
        self._take(order[~self.taken[order]], self.most, self.target_limit)

    def in_need_first(self) -> None:
        """Rounds in which only targets in need take links, from half of what each source may give."""
        if self.caps.in_need is None:
            return
        existing, half = len(self.chosen), (self.most + 1) // 2
        waiting = self.order[self.caps.in_need[self.order]]
        for turn in range(1, LINKS_IN_NEED + 1):
            most = min(turn, self.target_limit)
            waiting, _ = self._waiting(waiting)
            received = np.array(self.received, dtype=np.int64)[self.target[waiting]]
            self._take(waiting[received < most], half, most)
        self.for_need = self.chosen[existing:]

    def round_robin(self) -> None:
        """Passes that allow each side one link more than the one before."""
        waiting, held = self._waiting(self.order)
        while len(waiting):
            turn = int(held.min()) + 1  # in those before it no pair has room
            self._take(waiting[held < turn], np.minimum(turn, self.most), min(turn, self.target_limit))
            waiting, held = self._waiting(waiting)

    def _waiting(self, order: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Which pairs of `order` may still be chosen, and how many links the fuller side of each has.

        A pair refused for the limit on reciprocal links stays refused, for the shares of such links only grow.
        """
        order = order[~(self.taken | self.refused)[order]]
        source = self.source[order]
        given = np.array(self.given, dtype=np.int64)[source]
        received = np.array(self.received, dtype=np.int64)[self.target[order]]
        has_room = (given < self.most[source]) & (received < self.target_limit)
        return order[has_room], np.maximum(given, received)[has_room]

    def _take(self, order: NDArray[np.int64], source_caps: NDArray[np.int64], target_cap: int) -> None:
        given, received, chosen, most = self.given, self.received, self.chosen, source_caps.tolist()
        limited = self.caps.reciprocal is not None
        for first in range(0, len(order), PAIRS_AT_A_TIME):
            part = order[first : first + PAIRS_AT_A_TIME]
            for place, source, sink in zip(
                part.tolist(), self.source[part].tolist(), self.target[part].tolist(), strict=True
            ):
                if given[source] >= most[source] or received[sink] >= target_cap:
                    continue
                if limited and not self._may_be_mutual(place):
                    continue
                given[source] += 1
                received[sink] += 1
                chosen.append(place)
                self.taken[place] = True

    def _may_be_mutual(self, place: int) -> bool:
        source, target = int(self.pairs[0][place]), int(self.pairs[1][place])
        back = self.caps.back
        is_mutual = (target, source) in self.linked or (back is not None and bool(back[place]))
        if is_mutual:
            counted = [source, target] if self.linked.get((target, source)) else [source]
            if any(self.mutual.get(page, 0) >= (self.caps.reciprocal or 0) for page in counted):
                self.refused[place] = True
                return False
            for page in counted:
                self.mutual[page] = self.mutual.get(page, 0) + 1
        self.linked[source, target] = not is_mutual
        return True

    def total(self, score: NDArray[np.float64]) -> float:
        """Sum of the scores [n] of what was chosen, the same in whatever order that was."""
        return float(score[np.sort(np.array(self.chosen, dtype=np.int64))].sum())

    def reasons(self) -> NDArray[np.int8]:
        """Why each pair was not chosen, int8 [n], 0 where it was."""
        reason = np.where(self.room_of_sources() == 0, Reason.SOURCE_FULL, Reason.TARGET_FULL).astype(np.int8)
        reason[self.refused] = Reason.RECIPROCAL
        reason[self.taken] = 0
        return reason
