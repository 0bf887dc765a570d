"""The stated formula that ranks where there are too few links or decisions to learn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linker.engine.ranking.features import FEATURES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.site import Site

VERSION = "formula-1"
PENALTIES = frozenset({"density", "distance"})  # these parts speak against a link


@dataclass(frozen=True)
class FormulaWeights:
    """What each part of the formula counts; parts lie in [0, 1] unless said otherwise.

    similarity   cosine of the two pages
    words        cosine of their words, halved, and the share of the target's title that is in the source's text
    mention      a name of the target in the source's text: how rare, how whole
    authority    the target's share of searches (impressions) among its cluster's best; 0 without Search Console
    deficit      how far the target's links lie below its cluster's median, as a share of it
    density      taken off: existing links around the pair, as the share of the source's near pages that link there
    distance     taken off for each level of the category tree between them, at most five
    """

    similarity: float = 1.0
    words: float = 0.9
    mention: float = 1.0
    authority: float = 0.1
    deficit: float = 0.05
    density: float = 0.05
    distance: float = 0.02


def formula_parts(
    site: Site, target: NDArray[np.int64], features: NDArray[np.float32], indegree: NDArray[np.float32]
) -> dict[str, NDArray[np.float64]]:
    """The parts by the names of FormulaWeights' fields, float64 [m] each."""

    def column(name: str) -> NDArray[np.float64]:
        return features[:, FEATURES.index(name)].astype(np.float64)

    rarity = 1 - np.minimum(column("phrase_pages") / np.log(len(site) + 2), 1)
    whole = np.select([column("named") >= 3, column("named") >= 2, column("named") >= 1], [1.0, 0.7, 0.5], 0.0)
    long = np.minimum(column("phrase_words"), 4) / 4
    mention = whole * (0.35 * rarity + 0.4 * long + 0.25) * np.where(column("free") > 0, 1.0, 0.5)
    return {
        "similarity": np.clip(column("cosine"), 0, 1),
        "words": 0.5 * column("words") + 0.5 * column("title_in_text") ** 2,
        "mention": mention,
        "authority": _authority(site)[target],
        "deficit": _deficit(site.nodes, indegree)[target],
        "density": np.minimum(column("neighbour_links"), 1),
        "distance": np.minimum(column("levels") + column("target_levels"), 5),
    }


def formula_score(parts: dict[str, NDArray[np.float64]], weights: FormulaWeights) -> NDArray[np.float64]:
    """The sum of the weighted parts, density and distance taken off, float64 [m] of six decimals."""
    score = sum(getattr(weights, name) * (-part if name in PENALTIES else part) for name, part in parts.items())
    return np.asarray(np.round(score, 6), dtype=np.float64)


def _authority(site: Site) -> NDArray[np.float64]:
    """Logarithm of a page's impressions as a share of that of its category's most seen page."""
    if site.impressions is None:
        return np.zeros(len(site))
    seen = np.log1p(np.nan_to_num(np.maximum(site.impressions, 0)))
    best = np.zeros(len(site.tree))
    np.maximum.at(best, site.nodes, seen)
    top = best[site.nodes]
    share: NDArray[np.float64] = np.divide(seen, top, out=np.zeros(len(site)), where=top > 0)
    return share


def _deficit(nodes: NDArray[np.int64], indegree: NDArray[np.float32]) -> NDArray[np.float64]:
    """How far a page's links lie below the median of its category, as a share of the median."""
    order = np.lexsort((indegree, nodes))
    kinds, first, count = np.unique(nodes[order], return_index=True, return_counts=True)
    middle = indegree[order][first + count // 2]
    median = np.zeros(int(kinds.max(initial=0)) + 1)
    median[kinds] = middle
    mine = median[nodes]
    gap = np.clip(mine - indegree, 0, None)
    share: NDArray[np.float64] = np.divide(gap, mine, out=np.zeros(len(nodes)), where=mine > 0)
    return share
