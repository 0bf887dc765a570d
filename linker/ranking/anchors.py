"""The words of a donor's text that become the link: a choice among stretches, learned from the site's own links.

A share of the visible links is hidden, the stretches for their pairs are described with the evidence of the rest, and
those that say what the editor's anchor says are right. A link is thus never described by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import lightgbm
import numpy as np

from linker.ranking.evidence import build_evidence
from linker.ranking.index import Progress, no_progress
from linker.ranking.spans import SPAN_FEATURES, SpanFinder, Texts, hashes_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.ranking.evidence import Evidence
    from linker.ranking.index import SiteIndex

SLICE = 256  # donors read at a time


@dataclass(frozen=True)
class AnchorOptions:
    """How the choice is trained.

    shares       shares of the links, one of which is hidden at a time
    fewest       links whose anchor is among the stretches below which nothing is learned
    most         links trained on; no further share is hidden once it is reached
    seed, threads, rounds, learning_rate, leaves, smallest_leaf   of the trees
    """

    shares: int = 5
    fewest: int = 150
    most: int = 5000
    seed: int = 11
    threads: int = 2
    rounds: int = 120
    learning_rate: float = 0.06
    leaves: int = 24
    smallest_leaf: int = 20
    columns: tuple[str, ...] = SPAN_FEATURES


@dataclass(frozen=True)
class AnchorExamples:
    """Stretches for hidden links: `features` float32 [m, len(SPAN_FEATURES)], `right` bool [m], `query` int64 [m]: the
    link each belongs to, ascending; `links`: hidden links looked at."""

    features: NDArray[np.float32]
    right: NDArray[np.bool_]
    query: NDArray[np.int64]
    links: int


@dataclass(frozen=True)
class AnchorRanker:
    """`model` says how likely a stretch is what an editor would link."""

    model: Any
    places: NDArray[np.int64]

    def score(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Probability, float64 [m]."""
        if not len(features):
            return np.empty(0)
        return np.round(np.asarray(self.model.predict(features[:, self.places])), 6)


def examples(index: SiteIndex, options: AnchorOptions, progress: Progress = no_progress) -> AnchorExamples:
    """Stretches for the site's links, each described with the evidence of links that it is not among."""
    site, pages = index.site, len(index.site)
    key = site.links.src * pages + site.links.dst
    distinct, of_link = np.unique(key, return_inverse=True)
    usable = site.target[distinct % pages] & site.donor[distinct // pages] & (distinct % pages != distinct // pages)
    rng = np.random.default_rng(options.seed)
    share = rng.permutation(len(distinct)) % options.shares
    features, right, query, looked = [], [], [], 0
    for number in range(options.shares):
        hidden = np.flatnonzero((share == number) & usable)
        hidden = np.sort(rng.permutation(hidden)[: options.most - looked])
        if not len(hidden):
            break
        progress(number, options.shares, "Learning which words carry links")
        finder = SpanFinder(build_evidence(index, np.flatnonzero(share[of_link] != number)))
        said = np.flatnonzero(np.isin(of_link, hidden))
        wanted = of_link[said].astype(np.uint64), hashes_of([site.links.anchors[link] for link in said.tolist()], index)
        for pair, texts, found in _found(finder, distinct[hidden] // pages, distinct[hidden] % pages):
            value = texts.hashes(found.first, found.last)
            link = hidden[pair[found.pair]]
            features.append(found.features)
            right.append(_among(link, value, *wanted))
            query.append(looked + pair[found.pair])
        looked += len(hidden)
    if not features:
        return AnchorExamples(np.empty((0, len(SPAN_FEATURES)), np.float32), np.empty(0, bool), np.empty(0, np.int64), 0)
    return AnchorExamples(np.concatenate(features), np.concatenate(right), np.concatenate(query), looked)


def _among(
    link: NDArray[np.int64], value: NDArray[np.uint64], links: NDArray[np.uint64], values: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """Whether each (link, value) is one of the second ones."""
    mix = np.uint64(0x9E3779B97F4A7C15)
    return np.isin(value ^ (link.astype(np.uint64) * mix), values ^ (links * mix))


def _found(finder: SpanFinder, donor: NDArray[np.int64], target: NDArray[np.int64]) -> Any:
    """Slices of the pairs: positions of the pairs, their texts, their stretches."""
    donors = np.unique(donor)
    order = np.argsort(donor, kind="stable")
    for first in range(0, len(donors), SLICE):
        part = donors[first : first + SLICE]
        pair = order[np.searchsorted(donor[order], part[0]) : np.searchsorted(donor[order], part[-1], side="right")]
        texts = Texts(finder.evidence.index, part)
        yield pair, texts, finder.find(texts, np.searchsorted(part, donor[pair]), target[pair])


def train_anchors(
    index: SiteIndex, options: AnchorOptions | None = None, progress: Progress = no_progress
) -> AnchorRanker | None:
    """A choice learned from the site's links, or None where too few of their anchors are found in the texts."""
    options = options or AnchorOptions()
    data = examples(index, options, progress)
    return fit_anchors(data, options)


def fit_anchors(data: AnchorExamples, options: AnchorOptions) -> AnchorRanker | None:
    """Trains on examples; None with fewer than `options.fewest` links whose anchor is among the stretches."""
    if len(np.unique(data.query[data.right])) < options.fewest or data.right.all():
        return None
    places = np.array([SPAN_FEATURES.index(name) for name in options.columns])
    rows = lightgbm.Dataset(data.features[:, places], data.right.astype(np.float32), params={"verbose": -1})
    model = lightgbm.train(
        {
            "objective": "binary",
            "learning_rate": options.learning_rate,
            "num_leaves": options.leaves,
            "min_data_in_leaf": options.smallest_leaf,
            "lambda_l2": 5.0,
            "feature_fraction": 0.5,
            "bagging_fraction": 0.8,
            "bagging_freq": 1,
            "seed": options.seed,
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": options.threads,
            "verbose": -1,
        },
        rows,
        num_boost_round=options.rounds,
    )
    return AnchorRanker(model, places)
