"""The mentions in sources' texts, joined with the pages that they may mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linker.engine.arrays.ranges import expand_ranges
from linker.engine.phrases import H1, TITLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.evidence import TextEvidence


@dataclass(frozen=True)
class MentionRows:
    """Mentions joined with the pages that they may mean; arrays [m], by source, target, then the likeliest first.

    `source`, `target` int64; `mention` int64: a row of PhraseMentions; `phrase_target` int64: a row of PhraseTargets;
    `exact` bool: whether the phrase is as written; `weight` float32: how likely it is meant, roughly.
    """

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    mention: NDArray[np.int64]
    phrase_target: NDArray[np.int64]
    exact: NDArray[np.bool_]
    weight: NDArray[np.float32]

    def take(self, keep: NDArray[np.bool_]) -> MentionRows:
        """The rows where `keep`, bool [m], is true."""
        return MentionRows(*(column[keep] for column in vars(self).values()))


def mention_rows(evidence: TextEvidence, sources: NDArray[np.int64]) -> MentionRows:
    """The mentions in the texts of `sources`, int64 [k], ascending, with every page they may mean but the source
    itself."""
    phrase_mentions, phrase_targets = evidence.phrase_mentions, evidence.phrase_targets
    low, high = phrase_mentions.bounds[sources], phrase_mentions.bounds[sources + 1]
    _, mention = expand_ranges(low, high - low)
    group = phrase_mentions.group[mention]
    first, stop = phrase_targets.first[group], phrase_targets.first[group + 1]
    row, phrase_target = expand_ranges(first, stop - first)
    mention = mention[row]
    exact = phrase_mentions.phrase[mention] == phrase_targets.phrase[phrase_target]
    source, target = phrase_mentions.page[mention].astype(np.int64), phrase_targets.page[phrase_target]
    named = (phrase_targets.bits[phrase_target] & (TITLE | H1)) > 0
    key = evidence.keyness[phrase_targets.phrase[phrase_target]]
    weight = (
        (phrase_targets.share[phrase_target] * np.sqrt(key + 0.02) + 0.3 * named + 0.05)
        * np.where(exact, 1.0, 0.5)
        * np.where(phrase_mentions.free[mention] > 0, 1.0, 0.3)
        * (
            1
            + phrase_mentions.alone[mention]
            + 0.2 * (phrase_mentions.inline[mention] > 0)
            + phrase_mentions.near[mention]
        )
    ).astype(np.float32)
    other = source != target
    order = np.lexsort((-weight, target, source))
    order = order[other[order]]
    return MentionRows(source[order], target[order], mention[order], phrase_target[order], exact[order], weight[order])
