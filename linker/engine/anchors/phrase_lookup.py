"""Which phrase of the site a span is, and what that phrase means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linker.engine.phrases import H1, SLUG, TITLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.anchors.tokenized import SpanReader
    from linker.engine.evidence import TextEvidence


@dataclass(frozen=True)
class FoundPhrases:
    """Of m spans: `known` bool, whether the span is a phrase of the site, `phrase` int64, which; `means` bool, whether
    that phrase means the span's target, `phrase_target` int64, the row of PhraseTargets. Numbers are 0 where there is
    none.
    """

    known: NDArray[np.bool_]
    phrase: NDArray[np.int64]
    means: NDArray[np.bool_]
    phrase_target: NDArray[np.int64]


class PhraseLookup:
    """Finds phrases by the hash of their tokens. `links` float [phrases]: visible links by each phrase; `namesakes`,
    `whole` int64 [phrases]: pages that are named so, and of them those whose title or first heading is no more.

    The index knows the anchors of hidden links too: only a phrase that means a page by what is visible is found.
    """

    def __init__(self, evidence: TextEvidence, reader: SpanReader) -> None:
        phrase_targets = evidence.phrase_targets
        self._pages = len(evidence.index.site)
        known = np.unique(phrase_targets.phrase).astype(np.int64)
        self._phrase = known[np.argsort(reader.phrases[known], kind="stable")]
        self._hash = reader.phrases[self._phrase]
        key = phrase_targets.phrase.astype(np.int64) * self._pages + phrase_targets.page
        self._row = np.argsort(key, kind="stable")
        self._key = key[self._row]
        self.links = np.bincount(phrase_targets.phrase, phrase_targets.links, minlength=evidence.index.book.count)

        names = evidence.index.names
        self.namesakes = np.bincount(names.phrase[(names.bits & ~SLUG) > 0], minlength=evidence.index.book.count)
        whole = (names.bits & (TITLE | H1)) > 0
        self.whole = np.bincount(names.phrase[whole], minlength=evidence.index.book.count)

    def find(self, hashes: NDArray[np.uint64], target: NDArray[np.int64]) -> FoundPhrases:
        """The phrases with these hashes, uint64 [m], and whether each means its target, int64 [m]."""
        known, phrase = _look_up(self._hash, self._phrase, hashes)
        means, phrase_target = _look_up(self._key, self._row, phrase * self._pages + target)
        means &= known
        return FoundPhrases(known, phrase, means, np.where(means, phrase_target, 0))

    def mean(self, phrase: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each phrase means its target, int64 [m] both; bool [m]."""
        return _look_up(self._key, self._row, phrase * self._pages + target)[0]


def _look_up(
    keys: NDArray[np.generic], values: NDArray[np.int64], wanted: NDArray[np.generic]
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Whether each wanted key is among `keys`, which ascend, and its value, 0 where it is not."""
    if not len(keys):
        return np.zeros(len(wanted), dtype=bool), np.zeros(len(wanted), dtype=np.int64)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    found = keys[place] == wanted
    return found, np.where(found, values[place], 0)
