"""The ranking of candidates from end to end: index, ranker, evidence, the best pairs, and their words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from linker.engine.anchors.training import train_anchors
from linker.engine.arrays.memory import trim_malloc
from linker.engine.evidence import Evidence, build_evidence
from linker.engine.index import Progress, SiteIndex, build_index
from linker.engine.ranking.approval import nearness_of
from linker.engine.ranking.choose import ScoredPairs, allocation_scores, best_pairs, join_scored, rank_by_source
from linker.engine.ranking.features import candidates
from linker.engine.ranking.formula_score import VERSION as FORMULA_VERSION
from linker.engine.ranking.options import EngineOptions
from linker.engine.ranking.other_subjects import other_subject_shift
from linker.engine.ranking.ranked import NONE_BELOW, PairsBelowThreshold, Ranked
from linker.engine.ranking.rankers.base import CandidateRanker
from linker.engine.ranking.rankers.registry import ranker_of
from linker.engine.ranking.words import words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.anchors.training import AnchorRanker
    from linker.engine.evidence import TextEvidence
    from linker.engine.ranking.rankers.base import Scorer
    from linker.engine.site import Site


def rank_candidates(site: Site, ranker: CandidateRanker, options: EngineOptions, progress: Progress) -> Ranked:
    """Ranks the candidates that the generators propose for every source that is selected, and chooses their words;
    of a site that `checked` returned.

    Where the site has `levels_up`, only targets within them come out, as many as would of the whole site; what is said
    of a pair stays what it is there, places among the source's candidates included.
    """
    index = build_index(site, progress, options.limits, options.search)
    trim_malloc()
    name, scorer = _fitted(index, ranker, options, progress)
    trim_malloc()
    anchors = train_anchors(index, options.anchors, progress) if ranker.learns else None
    trim_malloc()
    method = Method(name, scorer, anchors, options)
    nearness = nearness_of(index.near)
    known = _ranked_known(index, method, progress) if len(site.known) else None
    trim_malloc()
    standing = _ranked_standing(index, method, nearness, progress) if len(site.standing) else None
    trim_malloc()
    evidence = build_evidence(index, np.arange(len(site.links)))
    trim_malloc()
    sources = np.flatnonzero(site.source if site.selected is None else site.selected)
    scored, below, in_other_languages = _score(evidence, sources, site.taken, nearness, method, progress)
    texts = evidence.texts_alone()
    del evidence, index  # half of the memory
    trim_malloc()
    return replace(
        _worded(texts, scored, method, progress),
        below=below,
        other_language=in_other_languages,
        known=known,
        standing=standing,
        nearness=nearness,
    )


def rank_sources(
    index: SiteIndex,
    sources: NDArray[np.int64],
    nearness: NDArray[np.float64],
    method: Method,
    progress: Progress,
) -> Ranked:
    """As `rank_candidates`, of some sources alone, int64 [k], ascending, by a method that a run before has learned.

    `index` with the nearest pages of the sources and of what they link to (`linker.engine.index.with_nearest`);
    `nearness` float64 [n] of all pages, see `linker.engine.ranking.approval.nearness_of`.
    """
    site = index.site
    standing = _ranked_standing(index, method, nearness, progress) if len(site.standing) else None
    evidence = build_evidence(index, np.arange(len(site.links)))
    scored, below, in_other_languages = _score(evidence, sources, site.taken, nearness, method, progress)
    ranked = _worded(evidence.texts_alone(), scored, method, progress)
    return replace(ranked, below=below, other_language=in_other_languages, standing=standing, nearness=nearness)


@dataclass(frozen=True)
class Method:
    """How pairs are ranked: the `name` of the ranker, what it scores pairs with, None for the formula, and the choice
    of words that was learned from the site, None where there was none."""

    name: str
    scorer: Scorer | None
    anchors: AnchorRanker | None
    options: EngineOptions


def _worded(texts: TextEvidence, scored: ScoredPairs, method: Method, progress: Progress) -> Ranked:
    """The pairs with their probabilities and words."""
    options, scorer = method.options, method.scorer
    words, uncalibrated, kind, traits = words_of(texts, scored, method.anchors, options, progress)
    source, target = scored.pairs.source, scored.pairs.target
    probability = np.round(options.calibration.of_links(uncalibrated, source, target, traits, kind), 6)
    moved = replace(scored, relevance=scored.relevance + other_subject_shift(scored.pairs.features))
    beside = np.round(_expected_beside(moved, options), 6)
    order = np.lexsort((scored.pairs.target, -probability, scored.pairs.source))
    pairs, probability = scored.pairs.take(order), probability[order]
    return Ranked(
        index=texts.index,
        pairs=pairs,
        probability=probability,
        beside=beside[order],
        uncalibrated=np.round(uncalibrated[order], 6),
        allocation_score=allocation_scores(pairs, probability, scored.base[order]),
        near=scored.near[order],
        words=words.take(order),
        below=NONE_BELOW,
        ranker=method.name,
        version=f"{scorer.version if scorer else FORMULA_VERSION}+{options.approval.version}",
        scorer=scorer,
        anchors=method.anchors,
    )


def _expected_beside(scored: ScoredPairs, options: EngineOptions) -> NDArray[np.float64]:
    """How likely the pairs are to be approved beside the text, float64 [m]."""
    stated = options.approval.approved_beside(scored.relevance)
    return options.calibration.of_links(stated, scored.pairs.source, scored.pairs.target, scored.near)


def _ranked_known(index: SiteIndex, method: Method, progress: Progress) -> Ranked:
    """Those of the site's known pairs that would be among the suggestions of their sources if they were not linked:
    whatever follows from links is computed without theirs."""
    site, pages = index.site, len(index.site)
    known = site.known.src * pages + site.known.dst
    evidence, taken = _as_unlinked(index, known)
    scored, *_ = _score(evidence, np.unique(site.known.src), taken, nearness_of(index.near), method, progress)
    ranked = _worded(evidence.texts_alone(), scored, method, progress)
    turn = rank_by_source(ranked.pairs, ranked.allocation_score)
    is_known = np.isin(ranked.source * pages + ranked.target, known)
    return ranked.take(np.flatnonzero(is_known & (turn < method.options.worded)))


def _ranked_standing(index: SiteIndex, method: Method, nearness: NDArray[np.float64], progress: Progress) -> Ranked:
    """Those of the site's standing pairs that are candidates of their sources, scored as if none of them were linked.
    However unlikely they are, and however many candidates come before them, they keep what is said of them; and words
    are looked for in each, so that it is scored as those that might replace it are."""
    site, pages, options = index.site, len(index.site), method.options
    standing = site.standing.src * pages + site.standing.dst
    evidence, taken = _as_unlinked(index, standing)
    every = replace(method, options=replace(options, pool=pages, least_score=0.0, worded=pages))
    sources = np.unique(site.standing.src)
    parts = []
    for first in range(0, len(sources), options.limits.sources):
        some = sources[first : first + options.limits.sources]
        scored, *_ = _score(evidence, some, taken, nearness, every, progress)
        parts.append(scored.take(np.isin(scored.pairs.source * pages + scored.pairs.target, standing)))
    return _worded(evidence.texts_alone(), join_scored(parts), every, progress)


def _as_unlinked(
    index: SiteIndex, pairs: NDArray[np.int64]
) -> tuple[Evidence, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The evidence without the links of some pairs, given as source * pages + target; and the sources and targets of
    all other pairs that may not be proposed."""
    site, pages = index.site, len(index.site)
    evidence = build_evidence(index, np.flatnonzero(~np.isin(site.links.src * pages + site.links.dst, pairs)))
    source, target = site.taken
    others = ~np.isin(source * pages + target, pairs)
    return evidence, (source[others], target[others])


def _fitted(
    index: SiteIndex, ranker: CandidateRanker, options: EngineOptions, progress: Progress
) -> tuple[str, Scorer | None]:
    """The name of who ranks, and what scores its pairs, None for the formula: another, where the site has too little
    for a ranker to learn from."""
    scorer = ranker.fit(index, options, progress)
    if scorer is not None or not ranker.learns:
        return ranker.name, scorer
    other = ranker_of(options.otherwise)
    if not isinstance(other, CandidateRanker) or other.learns:
        raise ValueError(f"{other.name} cannot take the place of {ranker.name}, which has too little to learn from")
    return other.name, other.fit(index, options, progress)


def _score(
    evidence: Evidence,
    sources: NDArray[np.int64],
    taken: tuple[NDArray[np.int64], NDArray[np.int64]],
    nearness: NDArray[np.float64],
    method: Method,
    progress: Progress,
) -> tuple[ScoredPairs, PairsBelowThreshold, int]:
    """The best pairs of each of some sources but for those that are `taken`, those of them that are too unlikely, and
    how many pairs are in different languages."""
    scorer, options = method.scorer, method.options
    barred = Counter[str]()
    parts: list[ScoredPairs] = []
    below = [(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))]
    for first in range(0, len(sources), options.limits.sources):
        progress(first, len(sources), "Ranking")
        some = sources[first : first + options.limits.sources]
        found = candidates(evidence, some, taken, options.generators, barred, within=True)
        best = best_pairs(evidence, found, nearness, scorer, options)
        del found
        value = np.round(_expected_beside(best, options), 6)
        enough = value >= options.least_score
        parts.append(best.take(enough))
        left = best.pairs.take(~enough)
        below.append((left.source.astype(np.int32), left.target.astype(np.int32), value[~enough]))
    too_unlikely = PairsBelowThreshold(*(np.concatenate(column) for column in zip(*below, strict=True)))
    return join_scored(parts), too_unlikely, barred["language"]
