"""Words of texts for the best pairs of each source."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linker.engine.anchors.choice import anchor_choices, span_finder
from linker.engine.anchors.training import AnchorRanker
from linker.engine.arrays.disk import to_memmap
from linker.engine.ranking.approval import GOOD_WORDS
from linker.engine.ranking.calibration import BESIDE, SOURCES
from linker.engine.ranking.choose import allocation_scores, rank_by_source
from linker.engine.ranking.other_subjects import other_subject_shift
from linker.engine.ranking.ranked import WORDING, Words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from linker.engine.evidence import TextEvidence
    from linker.engine.index import Progress
    from linker.engine.ranking.choose import ScoredPairs
    from linker.engine.ranking.options import EngineOptions

MAX_CHOICES = 5  # choices of words kept a pair
WORTH_PICKING = 0.5  # how likely words have to be all right for an editor to be offered them


def words_of(
    evidence: TextEvidence,
    scored: ScoredPairs,
    anchors: AnchorRanker | None,
    options: EngineOptions,
    progress: Progress,
) -> tuple[Words, NDArray[np.float64], NDArray[np.int8], NDArray[np.int16]]:
    """Words for the `options.worded` pairs of each source that come first by `allocation_scores`; how likely each pair
    is to be approved at its best, float64 [m], not yet calibrated to the project; the place of these words among
    SOURCES, or BESIDE, int8 [m]; and the traits of the pair and these words, int16 [m]. `anchors`: the choice of words
    that was learned from the site, None where there was none."""
    approval, calibration = options.approval, options.calibration
    pairs, relevance = scored.pairs, scored.relevance
    probability = approval.approved_beside(relevance)
    kind = np.full(len(pairs), BESIDE, dtype=np.int8)
    traits = scored.near.astype(np.int16)
    expected = calibration.of_links(probability, pairs.source, pairs.target, traits)
    rank = rank_by_source(pairs, allocation_scores(pairs, expected, scored.base))
    worded = np.flatnonzero((rank < options.worded) & (evidence.index.tokens[pairs.source] > 0))
    finder = span_finder(evidence, anchors) if len(worded) else None
    count = np.zeros(len(pairs), dtype=np.int8)
    kept = [np.empty(0, dtype=WORDING)]
    for part in _by_source(pairs.source[worded], options.limits.sources):
        progress(part.start, len(worded), "Choosing words")
        some = worded[part]
        source, target = pairs.source[some], pairs.target[some]
        choices = anchor_choices(evidence, source, target, approval, MAX_CHOICES, anchors, finder)
        rows = np.array(
            [(c.start, c.end, SOURCES.index(c.source), c.weight, c.traits) for mine in choices for c in mine],
            dtype=WORDING,
        )
        row_of = np.repeat(np.arange(len(some)), [len(mine) for mine in choices])
        pair = some[row_of]
        likely = approval.approved_in_text(relevance[pair], rows["good"].astype(np.float64))
        beside = probability[pair]
        # By what was said of words alone: an editor who rejects half of the links in texts, and none in lists, has no
        # use for the other half in lists.
        moved = calibration.by_source(likely, rows["source"])
        rows["good"] = np.minimum(likely / np.maximum(beside, 1e-6), 1) * moved
        worth_keeping = rows["good"] >= WORTH_PICKING
        count[some] = np.bincount(row_of[worth_keeping], minlength=len(some))
        kept.append(rows[worth_keeping])
        usable = np.flatnonzero(rows["good"] >= GOOD_WORDS)
        by_words = calibration.by_words(likely, rows["source"], rows["traits"])
        best = usable[_best_of_pairs(row_of[usable], (likely * by_words)[usable])]
        probability[pair[best]], kind[pair[best]] = likely[best], rows["source"][best]
        traits[pair[best]] += rows["traits"][best]
    left = np.flatnonzero(kind == BESIDE)
    probability[left] = approval.approved_beside(relevance[left] + other_subject_shift(pairs.features[left]))
    first = np.cumsum(count, dtype=np.int64) - count
    return Words(first, count, to_memmap(np.concatenate(kept))), probability, kind, traits


def _best_of_pairs(pair: NDArray[np.int64], value: NDArray[np.float64]) -> NDArray[np.int64]:
    """The position of the first row of the highest value of each pair; of rows [k]."""
    order = np.lexsort((-value, pair))
    return order[np.flatnonzero(np.concatenate([[True], pair[order][1:] != pair[order][:-1]])[: len(order)])]


def _by_source(source: NDArray[np.int64], most: int) -> Iterator[slice]:
    """Slices of pairs that hold so many sources each."""
    starts = np.flatnonzero(np.concatenate([[True], source[1:] != source[:-1]])[: len(source)])
    for place in range(0, len(starts), most):
        after = place + most
        yield slice(int(starts[place]), int(starts[after]) if after < len(starts) else len(source))
