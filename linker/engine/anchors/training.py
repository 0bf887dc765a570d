"""The choice of words learned from a site's own links.

A share of the visible links is hidden, the spans for their pairs are described with the evidence of the rest, and those
that say what the editor's anchor says are right. So no link is ever described by itself.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linker.engine.anchors.boundaries import BoundaryModel, learn_boundaries, link_positions
from linker.engine.anchors.features import SPAN_FEATURES
from linker.engine.anchors.spans import SpanFinder, spans_of_pairs, text_blocks
from linker.engine.anchors.tokenized import SpanReader, TokenizedTexts
from linker.engine.evidence import text_evidence
from linker.engine.index import Progress, no_progress
from linker.engine.lightgbm_alone import lightgbm

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from linker.engine.anchors.spans import CandidateSpans
    from linker.engine.index import TextIndex


@dataclass(frozen=True)
class AnchorOptions:
    """How the choice of words is trained.

    shares       shares of the links, one of which is hidden at a time
    min_links    links whose anchor is among the spans, below which nothing is learned
    most         links trained on; no further share is hidden once it is reached
    sources       pages whose links are trained on, drawn by chance
    seed, threads, rounds, learning_rate, leaves, smallest_leaf   of the trees
    """

    shares: int = 5
    min_links: int = 150
    most: int = 5000
    sources: int = 2000
    seed: int = 11
    threads: int = 1
    rounds: int = 200
    learning_rate: float = 0.06
    leaves: int = 32
    smallest_leaf: int = 20
    columns: tuple[str, ...] = SPAN_FEATURES


@dataclass(frozen=True)
class AnchorExamples:
    """Spans for hidden links; arrays [m], by link.

    `features` float32 [m, len(SPAN_FEATURES)]; `right` bool: whether the span says what the link's anchor says; `query`
    int64: the link each belongs to; `links`: how many hidden links were looked at.
    """

    features: NDArray[np.float32]
    right: NDArray[np.bool_]
    query: NDArray[np.int64]
    links: int


@dataclass(frozen=True)
class AnchorRanker:
    """`model` says how likely an editor would link a span, from the features at `places`; `boundaries`: those of all
    visible links."""

    model: Any
    places: NDArray[np.int64]
    boundaries: BoundaryModel

    def score(self, features: NDArray[np.float32], rounds: int = -1) -> NDArray[np.float64]:
        """Probability, float64 [m]; by the first `rounds` of the trees, for a quick look."""
        if not len(features):
            return np.empty(0)
        found = self.model.predict(features[:, self.places], num_iteration=rounds, num_threads=1)
        return np.round(np.asarray(found), 6)

    def to_bytes(self) -> bytes:
        """The trees, compressed; `anchors_again` reads them."""
        return zlib.compress(self.model.model_to_string().encode())


def anchors_again(index: TextIndex, kept: bytes, options: AnchorOptions | None = None) -> AnchorRanker | None:
    """The choice of words whose trees `to_bytes` kept, with boundaries learned from the links of now; None for no
    bytes."""
    if not kept:
        return None
    options = options or AnchorOptions()
    reader, pages = SpanReader(index), _learned_from(index, options)
    boundaries = learn_boundaries(
        reader, link_positions(index, np.arange(len(index.site.links))), text_blocks(reader, pages)
    )
    model = lightgbm.Booster(model_str=zlib.decompress(kept).decode())
    return AnchorRanker(model, np.array([SPAN_FEATURES.index(name) for name in options.columns]), boundaries)


def _learned_from(index: TextIndex, options: AnchorOptions) -> NDArray[np.int64]:
    """The pages whose links are learned from, int64 [k], ascending."""
    site = index.site
    pages = np.unique(site.links.src[site.source[site.links.src]])
    return np.sort(np.random.default_rng(options.seed).permutation(pages)[: options.sources])


def train_anchors(
    index: TextIndex, options: AnchorOptions | None = None, progress: Progress = no_progress
) -> AnchorRanker | None:
    """A choice of words learned from the site's links; None where too few of their anchors are found in the texts."""
    options = options or AnchorOptions()
    site = index.site
    pages = _learned_from(index, options)
    if len(site.links) < options.min_links or not len(pages):
        return None
    reader = SpanReader(index)
    blocks = list(text_blocks(reader, pages))
    model = fit_anchors(examples(reader, blocks, options, progress), options)
    if model is None:
        return None
    boundaries = learn_boundaries(reader, link_positions(index, np.arange(len(site.links))), blocks)
    return AnchorRanker(model, np.array([SPAN_FEATURES.index(name) for name in options.columns]), boundaries)


def examples(
    reader: SpanReader, blocks: Sequence[TokenizedTexts], options: AnchorOptions, progress: Progress
) -> AnchorExamples:
    """Spans for links of the texts in `blocks`, each described with the evidence of links that it is not among."""
    site, pages = reader.index.site, len(reader.index.site)
    distinct, of_link = np.unique(site.links.src * pages + site.links.dst, return_inverse=True)
    source, target = distinct // pages, distinct % pages
    usable = (
        site.target[target] & (source != target) & np.isin(source, np.concatenate([texts.pages for texts in blocks]))
    )
    rng = np.random.default_rng(options.seed)
    share = rng.permutation(len(distinct)) % options.shares
    parts, looked = [], 0
    for number in range(options.shares):
        hidden = np.flatnonzero((share == number) & usable)
        hidden = np.sort(rng.permutation(hidden)[: options.most - looked])
        if not len(hidden):
            continue
        progress(number, options.shares, "Learning which words carry links")
        visible = np.flatnonzero(share[of_link] != number)
        said = np.flatnonzero(np.isin(of_link, hidden))
        anchors = reader.hashes([site.links.anchors[link] for link in said.tolist()])
        for pair, texts, found in _spans_without(reader, blocks, visible, source[hidden], target[hidden]):
            link = pair[found.pair]
            right = _among(hidden[link], texts.hashes(found.first, found.last), of_link[said], anchors)
            parts.append((found.features, right, looked + link))
        looked += len(hidden)
    if not parts:
        nothing = np.empty((0, len(SPAN_FEATURES)), np.float32)
        return AnchorExamples(nothing, np.empty(0, bool), np.empty(0, np.int64), looked)
    features, right, query = (np.concatenate(column) for column in zip(*parts, strict=True))
    return AnchorExamples(features, right, query, looked)


def _spans_without(
    reader: SpanReader,
    blocks: Sequence[TokenizedTexts],
    visible: NDArray[np.int64],
    source: NDArray[np.int64],
    target: NDArray[np.int64],
) -> Iterator[tuple[NDArray[np.int64], TokenizedTexts, CandidateSpans]]:
    """As `spans_of_pairs`, with the evidence of the `visible` links alone."""
    boundaries = learn_boundaries(reader, link_positions(reader.index, visible), blocks)
    finder = SpanFinder(text_evidence(reader.index, visible), reader, boundaries)
    yield from spans_of_pairs(finder, blocks, source, target)


def fit_anchors(data: AnchorExamples, options: AnchorOptions) -> lightgbm.Booster | None:
    """Trains on examples; None with fewer than `options.min_links` links whose anchor is among the spans."""
    if len(np.unique(data.query[data.right])) < options.min_links or data.right.all():
        return None
    places = np.array([SPAN_FEATURES.index(name) for name in options.columns])
    rows = lightgbm.Dataset(data.features[:, places], data.right.astype(np.float32), params={"verbose": -1})
    return lightgbm.train(
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


def _among(
    link: NDArray[np.int64], value: NDArray[np.uint64], links: NDArray[np.int64], values: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """Whether each pair (link, value), [m], is among the pairs (links, values)."""
    mix = np.uint64(0x9E3779B97F4A7C15)
    return np.isin(value ^ (link.astype(np.uint64) * mix), values ^ (links.astype(np.uint64) * mix))
