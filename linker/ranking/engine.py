"""The matching engine: from a site to ranked pairs with reasons and anchors."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from linker.matching.generators import EVERY, Generator
from linker.ranking.anchors import AnchorChoice, AnchorOptions, AnchorRanker, anchor_choices, span_finder, train_anchors
from linker.ranking.evidence import Evidence, TextEvidence, build_evidence
from linker.ranking.explain import REASONS, Why, why
from linker.ranking.features import FEATURES, Candidates, candidates, joined
from linker.ranking.formula import VERSION as FORMULA_VERSION
from linker.ranking.formula import FormulaWeights, formula_parts, formula_score
from linker.ranking.index import Progress, build_index, no_progress
from linker.ranking.learned import Quality, TrainedRanker, TrainOptions, train
from linker.ranking.memory import give_back
from linker.ranking.site import Site, checked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.ranking.spans import SpanFinder

SLICE = 256  # donors ranked at a time
_OF_REASONS = [FEATURES.index(name) for name in REASONS]


@dataclass(frozen=True)
class EngineOptions:
    """`generators` switched on; `pool`: best pairs kept a donor; `learn`: whether a ranker is trained where there are
    labels enough; `least_probability`, `least_score`: pairs that the ranker, or the formula, gives less are left
    behind as `Ranked.below`."""

    generators: Generator = EVERY
    pool: int = 40
    learn: bool = True
    least_probability: float = 0.0
    least_score: float = -np.inf
    training: TrainOptions = field(default_factory=TrainOptions)
    anchors: AnchorOptions = field(default_factory=AnchorOptions)
    weights: FormulaWeights = field(default_factory=FormulaWeights)


@dataclass(frozen=True)
class Below:
    """Pairs that score too little to become links; arrays [m]: `donor`, `target` int32, `value` float64: probability or
    sum, of six decimals."""

    donor: NDArray[np.int32]
    target: NDArray[np.int32]
    value: NDArray[np.float64]


@dataclass(frozen=True)
class Ranked:
    """Pairs by donor, then score (highest first), then target; arrays [m].

    `pairs` as `Candidates`, with the features of REASONS alone, in their order; `score` float64: log-odds of the
    learned ranker, or the formula's sum; `probability` float64 in [0, 1], NaN where the formula ranked. `ranker` is
    "learned" or "formula", with its `version`; `trained` is the learned one, and knows its quality. `anchors` chooses
    the words that become the link, None where that was not learned. `evidence` is what it chooses by.
    """

    evidence: TextEvidence
    pairs: Candidates
    score: NDArray[np.float64]
    probability: NDArray[np.float64]
    below: Below
    ranker: str
    version: str
    trained: TrainedRanker | None
    anchors: AnchorRanker | None = None

    @property
    def quality(self) -> Quality | None:
        return self.trained.quality if self.trained else None

    def __len__(self) -> int:
        return len(self.score)

    def why(self, place: int) -> Why:
        """Why the pair at a position is suggested."""
        phrase = int(self.pairs.phrase[place])
        text = self.evidence.index.phrase_text[phrase].strip() if phrase >= 0 else ""
        values = dict(zip(REASONS, self.pairs.features[place].tolist(), strict=True))
        return why(values, text, int(self.pairs.found[place]))

    def anchor_choices(self, places: NDArray[np.int64], most: int = 6) -> list[list[AnchorChoice]]:
        """Words that could become the link of each pair at `places`, int64 [k], best first."""
        donor, target = self.pairs.donor[places], self.pairs.target[places]
        return anchor_choices(self.evidence, donor, target, most, self.anchors, self._finder)

    @cached_property
    def _finder(self) -> SpanFinder | None:
        return span_finder(self.evidence, self.anchors) if self.anchors is not None else None


def rank_site(site: Site, options: EngineOptions | None = None, progress: Progress = no_progress) -> Ranked:
    """Ranks every donor's candidates, by a ranker learned from the site's own links or else by the formula.

    Raises UserError for a site without pages.
    """
    options = options or EngineOptions()
    site = checked(site)
    index = build_index(site, progress)
    give_back()
    ranker = train(index, options.training, options.generators, progress) if options.learn else None
    give_back()
    anchors = train_anchors(index, options.anchors, progress) if options.learn else None
    give_back()
    evidence = build_evidence(index, np.arange(len(site.links)))
    give_back()
    skip = (
        np.concatenate([site.links.src, site.forbidden.src, site.rejected.src]),
        np.concatenate([site.links.dst, site.forbidden.dst, site.rejected.dst]),
    )
    donors = np.flatnonzero(site.donor)
    parts: list[Candidates] = []
    scores, probabilities = [np.empty(0)], [np.empty(0)]
    below = [(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))]
    for first in range(0, len(donors), SLICE):
        progress(first, len(donors), "Ranking")
        found = candidates(evidence, donors[first : first + SLICE], skip, options.generators)
        best, score = _best(evidence, found, ranker, options)
        del found
        probability = ranker.probability(score) if ranker else np.full(len(score), np.nan)
        value = np.round(probability if ranker else score, 6)
        enough = value >= (options.least_probability if ranker else options.least_score)
        parts.append(best.take(enough))
        scores.append(score[enough])
        probabilities.append(probability[enough])
        below.append((best.donor[~enough].astype(np.int32), best.target[~enough].astype(np.int32), value[~enough]))
    texts = evidence.texts_alone()
    del evidence, index  # half of the memory
    give_back()
    return Ranked(
        texts,
        joined(parts),
        np.concatenate(scores),
        np.concatenate(probabilities),
        Below(*(np.concatenate(column) for column in zip(*below, strict=True))),
        "learned" if ranker else "formula",
        ranker.version if ranker else FORMULA_VERSION,
        ranker,
        anchors,
    )


def _best(
    evidence: Evidence, found: Candidates, ranker: TrainedRanker | None, options: EngineOptions
) -> tuple[Candidates, NDArray[np.float64]]:
    """The best pairs of each donor, ordered. The ranker's first model chooses twice as many, all its models rank."""
    if ranker is None:
        parts = formula_parts(evidence.index.site, found.target, found.features, evidence.graph.indegree)
        score = formula_score(parts, options.weights)
    else:
        keep = np.sort(_top(found, ranker.first(found.features), 2 * options.pool))
        found = found.take(keep)
        score = ranker.raw(found.features)
    order = _top(found, score, options.pool)
    kept = found.take(order)
    return replace(kept, features=kept.features[:, _OF_REASONS]), score[order]


def _top(found: Candidates, score: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    order = np.lexsort((found.target, -score, found.donor))
    rank = np.arange(len(order)) - np.searchsorted(found.donor[order], found.donor[order])
    return order[rank < most]
