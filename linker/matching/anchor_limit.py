"""The limit of links that lead to a target with the same words, as a run chooses the words of one link after another.

What targets carry before the run, linker.matching.anchor_use counts.
"""

from __future__ import annotations

import itertools
import operator
from typing import TYPE_CHECKING

import numpy as np

from linker.engine.anchors.diversity import AnchorUse, choose, may_replace, word_set
from linker.matching.anchor_use import carried
from linker.matching.spool import Spool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from linker.engine.anchors.candidates import AnchorCandidate
    from linker.matching.placing import Phrase
    from linker.models import Project

TARGETS_AT_A_TIME = 1000
NAMED_TARGETS = 50_000  # so many are asked for by their ids; of more, all links of the project are read


class AnchorLimit:
    """How often each target carries the same words, and whether one more link may."""

    def __init__(self, project: Project, targets: NDArray[np.int64]) -> None:
        """`targets` [n]: of each link that the run is going to have."""
        self.limit = project.identical_anchor_limit
        ids, links = np.unique(targets, return_counts=True)
        self._carried = _Carried(project, ids)
        self._use = AnchorUse(self._carried.of)
        # A target of so few links that none of its anchors can come to the limit needs no counting.
        self._near_limit = ids[links + self._carried.links > self.limit]
        self._counted: set[int] = set()

    def read(self, targets: NDArray[np.int64]) -> None:
        """The next links lead to these targets."""
        self._carried.forget()
        self._counted = set(targets[np.isin(targets, self._near_limit)].tolist())

    def is_reached(self, target: int, anchor: str) -> bool:
        return self._use.times(target, anchor) >= self.limit

    def add(self, target: int, anchor: str) -> None:
        """Counts one more link to the target."""
        self._use.add(target, [anchor])

    def best_name(self, target: int, names: Sequence[AnchorCandidate]) -> AnchorCandidate:
        """The best of the names that the target may still be linked to under, else the one used least."""
        return choose(names, self._use.used(target), self.limit)

    def take_name(self, target: int, names: Sequence[AnchorCandidate]) -> AnchorCandidate | None:
        """The same, counted; None where the target is so far from the limit that its best name will do."""
        return self._use.take(target, names, self.limit) if target in self._counted else None

    def fresh_first(self, target: int, phrases: Sequence[Phrase]) -> Sequence[Phrase]:
        """Phrases that the target carries too often behind others that fit nearly as well."""
        used = self._use.used(target)
        if not phrases:
            return phrases
        best = max(phrases, key=lambda phrase: phrase[2])

        def waits(phrase: Phrase) -> bool:
            text, source, weight = phrase
            if used(word_set(text)) >= self.limit:
                return True
            return phrase is not best and not may_replace(text, source, weight, best[0], best[2])

        return sorted(phrases, key=waits)


class _Carried:
    """What a run's targets carry before it, by `word_set`: in a file, since the links of a site may be millions."""

    def __init__(self, project: Project, targets: NDArray[np.int64]) -> None:
        """`targets` int64 [n], ascending. `links` int64 [n]: how many lead to each."""
        self.links = np.zeros(len(targets), dtype=np.int64)
        self.spool = Spool(targets)
        self.read: dict[int, dict[str, int]] = {}
        waiting: dict[int, dict[str, int]] = {}
        of_these = targets.tolist() if len(targets) <= NAMED_TARGETS else None
        for target, rows in itertools.groupby(carried(project, of_these), key=operator.itemgetter(0)):
            place = int(np.searchsorted(targets, target))
            if place == len(targets) or targets[place] != target:
                continue
            counts = waiting[target] = {}
            for _, anchor, links in rows:
                words = word_set(anchor)
                counts[words] = counts.get(words, 0) + links
            self.links[place] = sum(counts.values())
            if len(waiting) == TARGETS_AT_A_TIME:
                self.spool.put(waiting)
                waiting = {}
        self.spool.put(waiting)

    def forget(self) -> None:
        """What was read so far leaves the memory."""
        self.read = {}

    def of(self, target: int) -> dict[str, int]:
        if target not in self.read:
            where = self.spool.where(np.array([target]))
            self.read[target] = self.spool.read(where[target]) if where else {}
        return self.read[target]
