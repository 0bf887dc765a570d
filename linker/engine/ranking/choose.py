"""Which of a source's candidates are kept, and in which order links are allocated to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from linker.engine.ranking.approval import PAIR_FEATURES, pair_table
from linker.engine.ranking.calibration import nearness_kind
from linker.engine.ranking.features import FEATURES, Candidates, joined
from linker.engine.ranking.formula_score import formula_parts, formula_score
from linker.engine.ranking.reasons import REASONS
from linker.engine.ranking.siblings import series_shift

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.evidence import Evidence
    from linker.engine.ranking.options import EngineOptions
    from linker.engine.ranking.rankers.base import Scorer

SUREST = 5  # links of a source that go to what editors would likeliest approve, before what the site would link
_OF_REASONS = [FEATURES.index(name) for name in REASONS]


@dataclass(frozen=True)
class ScoredPairs:
    """Pairs, with the log-odds that each is relevant and what the ranker makes of it, NaN where nothing, float64 [m]
    both; and how near the two pages are, int8 [m], see `nearness_kind`."""

    pairs: Candidates
    relevance: NDArray[np.float64]
    base: NDArray[np.float64]
    near: NDArray[np.int8]

    def take(self, keep: NDArray[np.int64] | NDArray[np.bool_]) -> ScoredPairs:
        """The pairs at positions `keep`, int64 [k], in that order, or where it is true, bool [m]."""
        return ScoredPairs(self.pairs.take(keep), self.relevance[keep], self.base[keep], self.near[keep])


def join_scored(parts: list[ScoredPairs]) -> ScoredPairs:
    """Pairs of several slices as one. Empties the list, so that they are never held twice."""
    relevance = np.concatenate([np.empty(0), *(part.relevance for part in parts)])
    base = np.concatenate([np.empty(0), *(part.base for part in parts)])
    near = np.concatenate([np.empty(0, dtype=np.int8), *(part.near for part in parts)])
    pairs = [part.pairs for part in parts]
    parts.clear()
    return ScoredPairs(joined(pairs), relevance, base, near)


def best_pairs(
    evidence: Evidence,
    found: Candidates,
    nearness: NDArray[np.float64],
    scorer: Scorer | None,
    options: EngineOptions,
) -> ScoredPairs:
    """The `options.pool` best pairs of each source by either, relevance or the ranker, by source, then relevance, with
    the features of REASONS alone. The ranker's first reading, or the formula, chooses twice as many.

    `nearness` float64 [n]: see `linker.engine.ranking.approval.nearness_of`; `scorer` None: the formula ranks.

    What a ranker that does not know the site says is added to what the approval model says without one: that model has
    learned from rankers that know the site, and would trust it as much as them.
    """
    parts = formula_parts(evidence.index.site, found.target, found.features, evidence.graph.indegree)
    formula = formula_score(parts, options.weights)
    formula_rank = rank_by_source(found, formula)
    inside = evidence.index.site.within_levels(found.source, found.target)
    keep = _twice_the_pool(found, scorer.quick(found.features) if scorer else formula, inside, options.pool)
    found, formula, formula_rank, inside = found.take(keep), formula[keep], formula_rank[keep], inside[keep]
    base = scorer.raw(found.features) if scorer else np.full(len(found), np.nan)
    trusted = base if scorer and scorer.knows_site else np.full(len(found), np.nan)
    trusted_rank = rank_by_source(found, base) if scorer and scorer.knows_site else trusted
    table = pair_table(
        found.features, trusted, trusted_rank, formula, formula_rank, found.found, nearness,
        evidence.index.site.within_reach, found.source, found.target,
    )  # fmt: skip
    relevance = options.approval.relevant(table) + series_shift(evidence.index, found.source, found.target)
    mine = np.flatnonzero(inside)
    pairs = found.bare().take(mine)
    by_base = rank_by_source(pairs, base[mine])
    if scorer:
        relevance = relevance + scorer.log_odds_shift(found.features, base)
        base = np.where(scorer.covers(found.features), base, np.nan)
    by_relevance = rank_by_source(pairs, relevance[mine])
    turn = np.minimum(by_relevance, by_base) if scorer else by_relevance
    chosen = _top(pairs, -turn, options.pool)
    order = mine[chosen[np.lexsort((by_relevance[chosen], pairs.source[chosen]))]]
    kept = found.take(order)
    near = nearness_kind(table[order, PAIR_FEATURES.index("nearer_target")])
    return ScoredPairs(replace(kept, features=kept.features[:, _OF_REASONS]), relevance[order], base[order], near)


def _twice_the_pool(
    found: Candidates, score: NDArray[np.float64], inside: NDArray[np.bool_], pool: int
) -> NDArray[np.int64]:
    """Twice as many of each source's pairs as are kept, by score; where some lie beyond the levels that it may link to,
    also as many of those `inside`. Ascending."""
    keep = _top(found, score, 2 * pool)
    if not inside.all():
        mine = np.flatnonzero(inside)
        keep = np.union1d(keep, mine[_top(found.bare().take(mine), score[mine], 2 * pool)])
    return np.sort(keep)


def allocation_scores(
    pairs: Candidates, probability: NDArray[np.float64], base: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The scores by which links are allocated, highest first, float64 [m].

    A source's SUREST likeliest pairs keep their `probability`. Those of the others are dealt again, the highest to what
    the ranker, by `base`, would likeliest link: what readers approve is not all that a site's editors link,
    and a source's last links are for finding that. A base of NaN changes nothing.
    """
    order = np.lexsort((pairs.target, -probability, pairs.source))
    rank = np.arange(len(order)) - np.searchsorted(pairs.source[order], pairs.source[order])
    tail = order[(rank >= SUREST) & ~np.isnan(base[order])]
    shared = probability.copy()
    shared[tail[np.lexsort((pairs.target[tail], -base[tail], pairs.source[tail]))]] = probability[tail]
    return shared


def _top(found: Candidates, score: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    order = np.lexsort((found.target, -score, found.source))
    rank = np.arange(len(order)) - np.searchsorted(found.source[order], found.source[order])
    return order[rank < most]


def rank_by_source(found: Candidates, score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Place of each pair among its source's by score, 0 for the highest, float64 [m]."""
    order = np.lexsort((found.target, -score, found.source))
    place = np.empty(len(order))
    place[order] = np.arange(len(order)) - np.searchsorted(found.source[order], found.source[order])
    return place
