"""Would an editor approve it? The model that says so, learned on suggestions that were read and judged, on many sites.

Recovery, what `linker.engine.ranking.boosted_trees` learns, asks whether this site would have linked a pair; a pair
without a link counts as wrong there. Approval asks whether an editor would take the suggestion as it stands. It has
three parts, none of which knows a site: `relevance`, trees over the numbers of a pair; `words`, trees over the numbers
of words in a sentence, given that the pair is relevant; and two curves that turn their log-odds into the probability
that a link on those words, or one beside the text under the target's own name, would be approved. The model ships with
the product, made by bench/panel/train.py from bench/panel/*.jsonl.gz; docs/approval.md is its card."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linker.engine.anchors.features import WORD_FEATURES
from linker.engine.anchors.ownership import owned, ownership_shift
from linker.engine.lightgbm_alone import lightgbm
from linker.engine.ranking.features import FEATURES

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

SHIPPED = Path(__file__).parent / "shipped" / "approval.json.gz"
# Of all that makes a score: the file above, and what is added to its log-odds by rules (here, and in
# linker.engine.anchors.choice and linker.engine.ranking: choose and words). Raise it with any of these, or a run of
# what changed mixes scores of two versions with those of the run before it. At most ten characters.
VERSION = "approval-8"
GOOD_WORDS = 0.75  # how likely words have to be all right, in a link that is, to be proposed in the text

# Places among a source's pairs count as shares of the pages that it might link to, see `places`: the tenth of 500 pages
# is not as near as the tenth of 10,000, and of the suggestions of small sites readers approved fewer than was stated.
_PLACES = {"cosine_rank": "cosine_place", "words_rank": "words_place"}
# What is known of a pair: its FEATURES; log-odds of the site's own ranker and the pair's place by them among its
# source's, NaN without one; the formula's sum and place; how many generators found it; how near, by cosine, the nearest
# pages of either side are on average; and by how much the two are nearer than that.
PAIR_FEATURES: tuple[str, ...] = (
    *(_PLACES.get(name, name) for name in FEATURES), "base", "base_place", "formula", "formula_place", "generators",
    "mean_cosine", "mean_cosine_target", "nearer", "nearer_target",
)  # fmt: skip
LARGEST = 12_000  # pages of the largest site that was learned from; places in larger ones count as in it
_BASE, _DONOR_TOKENS = PAIR_FEATURES.index("base"), PAIR_FEATURES.index("donor_tokens")
BASE_WEIGHT = 0.15
A_TEXT = 3.0  # logarithm of the tokens of a text that could hold a link: about twenty


@dataclass(frozen=True)
class Curve:
    """A logistic curve: the probability is 1 / (1 + exp(-(`bias` + `weights` @ log-odds)))."""

    bias: float
    weights: tuple[float, ...]

    def __call__(self, *log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
        total = np.full(len(log_odds[0]), self.bias)
        for weight, value in zip(self.weights, log_odds, strict=True):
            total += weight * value
        return np.asarray(1 / (1 + np.exp(-np.clip(total, -30, 30))), dtype=np.float64)


@dataclass(frozen=True)
class Approval:
    """The parts of the model, its `version`, and how many judged suggestions of how many sites it was learned on."""

    relevance: lightgbm.Booster
    words: lightgbm.Booster
    quick: lightgbm.Booster
    in_text: Curve
    beside: Curve
    version: str
    judged: int
    sites: int

    def relevant(self, pairs: NDArray[np.float32]) -> NDArray[np.float64]:
        """Log-odds that the target is worth a link from the source, float64 [m]; `pairs` [m, len(PAIR_FEATURES)]."""
        return _read(self.relevance, pairs) + log_odds_shift(pairs)

    def good_words(self, words: NDArray[np.float32]) -> NDArray[np.float64]:
        """Log-odds that words are all right in a link to a relevant target; `words` [m, len(WORD_FEATURES)]."""
        return _read(self.words, words) + ownership_shift(owned(words))

    def linked_elsewhere(self, spans: NDArray[np.float32]) -> NDArray[np.float64]:
        """How likely editors of other sites are to link such words: for sites without a choice of words of their own;
        `spans` [m, len(SPAN_FEATURES)] without what the site's links say."""
        return np.asarray(1 / (1 + np.exp(-_read(self.quick, spans))), dtype=np.float64)

    def approved_beside(self, relevance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probability that a link beside the text under the target's own name would be approved, float64 [m]."""
        return self.beside(relevance)

    def approved_in_text(self, relevance: NDArray[np.float64], words: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probability that a link on such words would be approved, float64 [m]."""
        return self.in_text(relevance, words)


def log_odds_shift(pairs: NDArray[np.float32]) -> NDArray[np.float64]:
    """What the site's own ranker adds to the trees' log-odds, float64 [m]: BASE_WEIGHT times its own, where the source
    has a text. A few trees cannot tell its best pairs apart, and what it learned from links in texts is right about
    texts; of pages without one it has learned where menus and calls to action lead."""
    base = np.nan_to_num(pairs[:, _BASE].astype(np.float64), nan=0.0)
    return np.where(pairs[:, _DONOR_TOKENS] > A_TEXT, BASE_WEIGHT * base, 0.0)


def nearness_of(near: sparse.csr_matrix) -> NDArray[np.float64]:
    """How near, by cosine, the nearest pages of each page are on average, float64 [n]; `near` as in SiteIndex."""
    count = np.diff(near.indptr)
    total = np.asarray(near.sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.divide(total, count, out=np.zeros(near.shape[0]), where=count > 0))


def pair_table(
    features: NDArray[np.float32],
    base: NDArray[np.float64],
    base_rank: NDArray[np.float64],
    formula: NDArray[np.float64],
    formula_rank: NDArray[np.float64],
    found: NDArray[np.int32],
    nearness: NDArray[np.float64],
    within_reach: NDArray[np.int64],
    source: NDArray[np.int64],
    target: NDArray[np.int64],
) -> NDArray[np.float32]:
    """The numbers of pairs as the model reads them, float32 [m, len(PAIR_FEATURES)]; `nearness` and `within_reach`,
    [n] each: see `nearness_of` and `Site.within_reach`; ranks count from 0."""
    pages = within_reach[source]
    own = features.copy()
    for name in _PLACES:
        column = FEATURES.index(name)
        own[:, column] = places(features[:, column], pages)
    cosine = features[:, FEATURES.index("cosine")]
    beside = np.column_stack(
        [
            base,
            places(base_rank, pages),
            formula,
            places(formula_rank, pages),
            bits(found),
            nearness[source],
            nearness[target],
            cosine - nearness[source],
            cosine - nearness[target],
        ]
    )
    return np.hstack([own, beside.astype(np.float32)])


def places(rank: NDArray[np.floating[Any]], pages: NDArray[np.int64]) -> NDArray[np.float64]:
    """The logarithm of the share of so many pages that comes up to a rank, which counts from 0, float64 [m]; NaN for a
    rank below 0, which is that of a pair without one."""
    rank = np.where(rank < 0, np.nan, rank).astype(np.float64)
    return np.asarray(np.log1p(rank) - np.log(np.clip(pages, 1, LARGEST)))


def bits(found: NDArray[np.int32]) -> NDArray[np.int64]:
    """How many bits of each number, int32 [m], none negative, are set; int64 [m]."""
    value = found.astype(np.int64)
    count = np.zeros(len(value), dtype=np.int64)
    while value.any():
        count += value & 1
        value >>= 1
    return count


def _read(model: lightgbm.Booster, table: NDArray[np.float32]) -> NDArray[np.float64]:
    if not len(table):
        return np.empty(0)
    return np.asarray(np.round(model.predict(table, raw_score=True, num_threads=1), 6), dtype=np.float64)


@cache
def shipped(path: Path = SHIPPED) -> Approval:
    """The model that ships with the product, or another that bench/panel/train.py wrote.

    Raises ValueError where it was learned on other numbers than today's.
    """
    kept: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    if tuple(kept["pair_features"]) != PAIR_FEATURES or tuple(kept["word_features"]) != WORD_FEATURES:
        raise ValueError(f"{path} was learned on other numbers than today's; make it anew with bench/panel/train.py")
    relevance, words, quick = (lightgbm.Booster(model_str=kept[name]) for name in ("relevance", "words", "quick"))
    return Approval(
        relevance=relevance,
        words=words,
        quick=quick,
        in_text=Curve(kept["in_text"][0], tuple(kept["in_text"][1:])),
        beside=Curve(kept["beside"][0], tuple(kept["beside"][1:])),
        version=VERSION,
        judged=kept["judged"],
        sites=kept["sites"],
    )
