"""What editors of other sites link: the ranker for a site that has too few links to learn from.

Gradient-boosted trees over the numbers of a pair that a site without links has. They know no site: no addresses, no
words. The ranker ships with the product, made by bench/links/train.py from bench/links/*.npz; docs/ranking.md is its
card.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linker.engine.lightgbm_alone import lightgbm
from linker.engine.ranking.approval import A_TEXT
from linker.engine.ranking.features import FEATURES
from linker.engine.ranking.rankers.base import Card, Scorer

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHIPPED = Path(__file__).parent / "shipped" / "links.json.gz"

# Of the features, those that a site's links tell: the same for every pair of a site without links.
BY_LINKS = frozenset(
    {
        "giving", "receiving", "near_linked", "share", "anchor_links", "keyness", "near_link", "inline_links",
        "on_link", "neighbour_links", "word_neighbour_links", "similar_linkers", "cocited_with_links", "cocited",
        "coupled", "links_back", "two_steps", "neighbour_rank", "linker_rank", "indegree", "outdegree", "rank",
        "target_outdegree", "category_links", "parent_links",
    }
)  # fmt: skip
COLUMNS: tuple[str, ...] = tuple(name for name in FEATURES if name not in BY_LINKS)
_PLACES = np.array([FEATURES.index(name) for name in COLUMNS])
_DONOR_TOKENS = FEATURES.index("donor_tokens")
# What the ranker adds to the log-odds that a target is worth a link: SLOPE for each of its own above TYPICAL. Both are
# the likeliest, given what readers judged, by models that had not seen the site.
SLOPE, TYPICAL = 0.5, -3.3


@dataclass(frozen=True)
class OtherSitesScorer(Scorer):
    """The ranker, its `version`, and how many links of how many sites it was learned on."""

    model: lightgbm.Booster
    version: str
    links: int
    sites: int

    def card(self) -> Card:
        """How many links of how many sites."""
        return Card(self.links, {"sites": self.sites})

    def covers(self, features: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Whether it knows more of pairs than similarity does, [m]: not where the source has no text."""
        return features[:, _DONOR_TOKENS] > A_TEXT

    def log_odds_shift(self, features: NDArray[np.float32], raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """What it adds to the log-odds of relevance of pairs whose log-odds `raw` gives, float64 [m]."""
        return np.where(self.covers(features), SLOPE * (raw - TYPICAL), 0.0)

    def raw(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Log-odds that an editor would link the pair, float64 [m]; `features` [m, len(FEATURES)]."""
        if not len(features):
            return np.empty(0)
        raw = self.model.predict(features[:, _PLACES], raw_score=True, num_threads=1)
        return np.asarray(np.round(raw, 6), dtype=np.float64)


@cache
def other_sites_scorer(path: Path = SHIPPED) -> OtherSitesScorer:
    """The ranker that ships with the product, or another that bench/links/train.py wrote.

    Raises ValueError where it was learned on other numbers than today's.
    """
    kept: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    if tuple(kept["columns"]) != COLUMNS:
        raise ValueError(f"{path} was learned on other numbers than today's; make it anew with bench/links/train.py")
    return OtherSitesScorer(lightgbm.Booster(model_str=kept["model"]), kept["version"], kept["links"], kept["sites"])
