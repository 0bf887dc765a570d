"""Variety among the anchors of one target: beyond a limit of the same words the next candidate is taken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from linker.engine.anchors.candidates import AnchorCandidate
from linker.engine.text.clean import clean
from linker.engine.text.fold import fold
from linker.engine.text.generic import bare, stop_words
from linker.engine.text.names import page_name, short_forms

_STOPS = stop_words("en") | stop_words("fr") | stop_words("de") | stop_words("es")


NEARLY_AS_WELL = 0.7  # of the weight of the best words; others that fit less do not take their place
ALMOST = 0.9  # the same of words that only add to the best ones
NAMES_NOTHING = ("text", "url")  # sources of words that are neither a name of the target nor an anchor in use


def may_replace(words: str, source: str, weight: float, best: str, most: float) -> bool:
    """Whether words of a text may take the place of the `best` ones, whose weight is `most`.

    Words that are only a part of these ("League" of "League of Nations") cut a name short; words that only add to them
    ("check out our Starter Kit") say nothing else, and have to fit almost as well. Anchors in use and names are whole.
    Without best words ("") only the weight counts.
    """
    if best and source in NAMES_NOTHING:
        said, better = fold(words), fold(best)
        if said in better:
            return False
        if better in said:
            return weight >= ALMOST * most
    return weight >= NEARLY_AS_WELL * most


@lru_cache(maxsize=65536)
def word_set(text: str) -> str:
    """What anchors that say the same have in common: their folded words without function words, in alphabetical order.

    "Boots for snow" and "snow boots" are one. A text of function words alone is itself.
    """
    words = {word for word in bare(text).split() if word not in _STOPS}
    return " ".join(sorted(words)) or fold(text)


def is_own_name(anchor: str, title: str, h1: str) -> bool:
    """Whether the words are what the page with this title and H1 is called: the H1, the title, or its first part
    without brackets and without what comes behind a separator, in any order ("Meier, Anna" is "Anna Meier")."""
    names = [clean(h1), clean(title), page_name(title, h1)]
    for name in (clean(title), clean(h1)):
        if name:
            plain, *parts = short_forms(name, _STOPS)
            names += [plain, *(part for part in parts if plain.startswith(part))]
    return word_set(anchor) in {word_set(name) for name in names if name}


def choose(candidates: Sequence[AnchorCandidate], used: Callable[[str], int], limit: int) -> AnchorCandidate:
    """The best candidate that the target does not carry `limit` times yet, else the least used, ties by rank.

    `candidates` are best first; `used` says how many links carry an anchor, by its `word_set`. Raises ValueError
    without candidates or with a limit below 1.
    """
    if not candidates:
        raise ValueError("no anchor to choose from")
    if limit < 1:
        raise ValueError(f"the limit of identical anchors must be at least 1, not {limit}")
    for candidate in candidates:
        if used(word_set(candidate.text)) < limit:
            return candidate
    return min(candidates, key=lambda candidate: used(word_set(candidate.text)))


class AnchorUse:
    """How often each target carries each anchor, identical by `word_set`."""

    def __init__(self, before: Callable[[int], Mapping[str, int]] = lambda _: {}) -> None:
        """`before` gives what a target carried already, counted by `word_set`, where that is kept elsewhere."""
        self._before = before
        # By target and words in one string: for a million targets, a Counter each takes three times the memory.
        self._added: dict[str, int] = {}

    def add(self, target: int, anchors: Iterable[str], links: int = 1) -> None:
        """Counts anchors that lead to `target`, each from so many links."""
        for anchor in anchors:
            key = f"{target} {word_set(anchor)}"
            self._added[key] = self._added.get(key, 0) + links

    def used(self, target: int) -> Callable[[str], int]:
        """How many links lead to `target` with an anchor, by its `word_set`."""
        added, before = self._added, self._before(target)
        return lambda words: added.get(f"{target} {words}", 0) + before.get(words, 0)

    def times(self, target: int, anchor: str) -> int:
        """How many links lead to `target` with these words."""
        return self.used(target)(word_set(anchor))

    def take(self, target: int, candidates: Sequence[AnchorCandidate], limit: int) -> AnchorCandidate:
        """Chooses an anchor for one more link to `target` and counts it. Raises ValueError as `choose` does."""
        chosen = choose(candidates, self.used(target), limit)
        self.add(target, [chosen.text])
        return chosen
