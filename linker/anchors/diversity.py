"""Anchors of one target that differ: those of the same words beyond a limit rotate to the next candidate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache

from linker.anchors.candidates import AnchorCandidate
from linker.anchors.fold import fold
from linker.anchors.generic import bare, stop_words

_STOPS = stop_words("en") | stop_words("fr") | stop_words("de") | stop_words("es")


@lru_cache(maxsize=65536)
def word_set(text: str) -> str:
    """What two anchors share that say the same: their folded words without function words, in alphabetical order.

    "Boots for snow" and "snow boots" are one. A text of function words alone is itself.
    """
    words = {word for word in bare(text).split() if word not in _STOPS}
    return " ".join(sorted(words)) or fold(text)


def choose(candidates: Sequence[AnchorCandidate], used: Counter[str], limit: int) -> AnchorCandidate:
    """The best candidate that the target does not carry `limit` times yet, else the least used, ties by rank.

    `candidates` are best first; `used` counts anchors by `word_set` and is left alone. Raises ValueError without
    candidates or with a limit below 1.
    """
    if not candidates:
        raise ValueError("no anchor to choose from")
    if limit < 1:
        raise ValueError(f"the limit of identical anchors must be at least 1, not {limit}")
    for candidate in candidates:
        if used[word_set(candidate.text)] < limit:
            return candidate
    return min(candidates, key=lambda candidate: used[word_set(candidate.text)])


class AnchorUse:
    """How often each target carries each anchor, identical by `word_set`."""

    def __init__(self) -> None:
        self._by_target: dict[Hashable, Counter[str]] = {}

    def add(self, target: Hashable, anchors: Iterable[str]) -> None:
        """Count anchors that lead to `target` already, such as accepted ones and the site's own body links."""
        self.used(target).update(word_set(anchor) for anchor in anchors)

    def used(self, target: Hashable) -> Counter[str]:
        """The target's counts by `word_set`."""
        used = self._by_target.get(target)
        if used is None:
            used = self._by_target[target] = Counter()
        return used

    def take(self, target: Hashable, candidates: Sequence[AnchorCandidate], limit: int) -> AnchorCandidate:
        """Choose an anchor for one more link to `target` and count it. Raises as `choose` does."""
        used = self.used(target)
        chosen = choose(candidates, used, limit)
        used[word_set(chosen.text)] += 1
        return chosen
