"""The words of a donor's text that become the link: a choice among stretches, learned from the site's own links.

A share of the visible links is hidden, the stretches for their pairs are described with the evidence of the rest, and
those that say what the editor's anchor says are right. A link is thus never described by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import lightgbm
import numpy as np

from linker.engine.anchors.placement import Folded
from linker.engine.anchors.spans import (
    SPAN_FEATURES,
    BoundaryModel,
    CandidateSpans,
    SpanFinder,
    SpanReader,
    TokenizedTexts,
    in_context,
    learn_boundaries,
    link_positions,
)
from linker.engine.evidence import text_evidence
from linker.engine.index import Progress, no_progress
from linker.engine.ranking.approval import word_table
from linker.engine.text.generic import is_generic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from linker.engine.evidence import TextEvidence
    from linker.engine.index import TextIndex
    from linker.engine.ranking.approval import Approval

SLICE = 256  # donors read at a time
QUICK = 25  # trees by which the stretches worth a closer look are found
_NAMED = ("text", "url", "title", "title")  # by the feature "named"


@dataclass(frozen=True)
class AnchorChoice:
    """Words of the donor's text that may become the link: `text` as written there, `source` ("anchor", "title", "h1",
    "url", or "text" for words that are none of these), `weight`: log-odds that they are all right, or how likely that
    is; `start`, `end` of one mention, in characters of the text."""

    text: str
    source: str
    weight: float
    start: int
    end: int


@dataclass(frozen=True)
class AnchorOptions:
    """How the choice is trained.

    shares       shares of the links, one of which is hidden at a time
    fewest       links whose anchor is among the stretches below which nothing is learned
    most         links trained on; no further share is hidden once it is reached
    donors       pages whose links are trained on, drawn by chance
    seed, threads, rounds, learning_rate, leaves, smallest_leaf   of the trees
    """

    shares: int = 5
    fewest: int = 150
    most: int = 5000
    donors: int = 2000
    seed: int = 11
    threads: int = 1
    rounds: int = 200
    learning_rate: float = 0.06
    leaves: int = 32
    smallest_leaf: int = 20
    columns: tuple[str, ...] = SPAN_FEATURES


@dataclass(frozen=True)
class AnchorExamples:
    """Spans for hidden links: `features` float32 [m, len(SPAN_FEATURES)], `right` bool [m], `query` int64 [m]: the
    link each belongs to, ascending; `links`: hidden links looked at."""

    features: NDArray[np.float32]
    right: NDArray[np.bool_]
    query: NDArray[np.int64]
    links: int


@dataclass(frozen=True)
class AnchorRanker:
    """`model` says how likely a span is what an editor would link, from the features at `places`; `boundaries` of all
    visible links."""

    model: Any
    places: NDArray[np.int64]
    boundaries: BoundaryModel

    def score(self, features: NDArray[np.float32], rounds: int = -1) -> NDArray[np.float64]:
        """Probability, float64 [m]; by the first `rounds` of the trees a quick reading."""
        if not len(features):
            return np.empty(0)
        found = self.model.predict(features[:, self.places], num_iteration=rounds, num_threads=1)
        return np.round(np.asarray(found), 6)


def examples(
    reader: SpanReader, blocks: Sequence[TokenizedTexts], options: AnchorOptions, progress: Progress
) -> AnchorExamples:
    """Spans for links of the texts in `blocks`, each described with the evidence of links that it is not among."""
    index = reader.index
    site, pages = index.site, len(index.site)
    key = site.links.src * pages + site.links.dst
    distinct, of_link = np.unique(key, return_inverse=True)
    donor, target = distinct // pages, distinct % pages
    usable = site.target[target] & (donor != target) & np.isin(donor, np.concatenate([texts.pages for texts in blocks]))
    rng = np.random.default_rng(options.seed)
    share = rng.permutation(len(distinct)) % options.shares
    features, right, query, looked = [], [], [], 0
    for number in range(options.shares):
        hidden = np.flatnonzero((share == number) & usable)
        hidden = np.sort(rng.permutation(hidden)[: options.most - looked])
        if not len(hidden):
            continue
        progress(number, options.shares, "Learning which words carry links")
        visible = np.flatnonzero(share[of_link] != number)
        boundaries = learn_boundaries(reader, link_positions(index, visible), blocks)
        finder = SpanFinder(text_evidence(index, visible), reader, boundaries)
        said = np.flatnonzero(np.isin(of_link, hidden))
        anchors = reader.hashes([site.links.anchors[link] for link in said.tolist()])
        for pair, texts, found in _found(finder, blocks, donor[hidden], target[hidden]):
            value = texts.hashes(found.first, found.last)
            features.append(found.features)
            right.append(_among(hidden[pair[found.pair]], value, of_link[said], anchors))
            query.append(looked + pair[found.pair])
        looked += len(hidden)
        del finder  # before the next is made
    if not features:
        return AnchorExamples(
            np.empty((0, len(SPAN_FEATURES)), np.float32), np.empty(0, bool), np.empty(0, np.int64), 0
        )
    return AnchorExamples(np.concatenate(features), np.concatenate(right), np.concatenate(query), looked)


def _among(
    link: NDArray[np.int64], value: NDArray[np.uint64], links: NDArray[np.int64], values: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """Whether each (link, value) is one of the second ones."""
    mix = np.uint64(0x9E3779B97F4A7C15)
    return np.isin(value ^ (link.astype(np.uint64) * mix), values ^ (links.astype(np.uint64) * mix))


def _found(
    finder: SpanFinder, blocks: Iterable[TokenizedTexts], donor: NDArray[np.int64], target: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], TokenizedTexts, CandidateSpans]]:
    """For each block of texts the positions of its pairs, the texts, and the stretches found."""
    order = np.argsort(donor, kind="stable")
    ordered = donor[order]
    for texts in blocks:
        low, high = np.searchsorted(ordered, texts.pages[0]), np.searchsorted(ordered, texts.pages[-1], side="right")
        pair = order[low:high]
        pair = pair[np.isin(donor[pair], texts.pages)]
        if len(pair):
            yield pair, texts, finder.find(texts, np.searchsorted(texts.pages, donor[pair]), target[pair])


def _blocks(reader: SpanReader, pages: NDArray[np.int64]) -> Iterator[TokenizedTexts]:
    for first in range(0, len(pages), SLICE):
        yield TokenizedTexts(reader, pages[first : first + SLICE])


def train_anchors(
    index: TextIndex, options: AnchorOptions | None = None, progress: Progress = no_progress
) -> AnchorRanker | None:
    """A choice learned from the site's links, or None where too few of their anchors are found in the texts."""
    options = options or AnchorOptions()
    site = index.site
    pages = np.unique(site.links.src[site.donor[site.links.src]])
    if len(site.links) < options.fewest or not len(pages):
        return None
    pages = np.sort(np.random.default_rng(options.seed).permutation(pages)[: options.donors])
    reader = SpanReader(index)
    blocks = list(_blocks(reader, pages))
    model = fit_anchors(examples(reader, blocks, options, progress), options)
    if model is None:
        return None
    boundaries = learn_boundaries(reader, link_positions(index, np.arange(len(site.links))), blocks)
    return AnchorRanker(model, np.array([SPAN_FEATURES.index(name) for name in options.columns]), boundaries)


def fit_anchors(data: AnchorExamples, options: AnchorOptions) -> lightgbm.Booster | None:
    """Trains on examples; None with fewer than `options.fewest` links whose anchor is among the stretches."""
    if len(np.unique(data.query[data.right])) < options.fewest or data.right.all():
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


def anchor_choices(
    evidence: TextEvidence,
    donor: NDArray[np.int64],
    target: NDArray[np.int64],
    approval: Approval,
    most: int = 6,
    ranker: AnchorRanker | None = None,
    finder: SpanFinder | None = None,
) -> list[list[AnchorChoice]]:
    """For each pair, int64 [k] each, words of the donor's text that could become the link, at most `most`, best first:
    those that an editor would approve soonest.

    Spans worth a closer look are found by the site's own `ranker`, or without one by the numbers of the stretch
    alone. `finder`, from `span_finder`, saves making it again.
    """
    finder = finder or span_finder(evidence, ranker)
    reader, site = finder.reader, evidence.index.site
    choices: list[list[AnchorChoice]] = [[] for _ in range(len(donor))]
    generic: dict[tuple[str, str], bool] = {}
    named, used = SPAN_FEATURES.index("named"), SPAN_FEATURES.index("links")
    for pair, texts, every in _found(finder, _blocks(reader, np.unique(donor)), donor, target):
        quick = ranker.score(every.features, QUICK) if ranker else approval.linked_elsewhere(every.features)
        found = every.take(_first(every.pair, quick, every.first, 2 * most))
        own = (ranker.score if ranker else approval.linked_elsewhere)(found.features)
        context = in_context(finder, texts, target[pair], found)
        likely = approval.good_words(word_table(found.features, context, own))
        order = _first(found.pair, likely, found.first, 2 * most)
        bodies = [Folded(site.bodies[page]) for page in texts.pages.tolist()]
        rows = texts.rows[found.first]
        start, stop = texts.start[found.first], texts.stop[found.last - 1]
        for place in order.tolist():
            mine = choices[pair[found.pair[place]]]
            if len(mine) >= most:
                continue
            body = bodies[rows[place]]
            span = body.span(int(start[place]), int(stop[place]))
            if span is None:
                continue
            text = body.text[span[0] : span[1]]
            lower = text.lower()
            if any(choice.text.lower() == lower for choice in mine):
                continue
            key = lower, site.languages[texts.pages[rows[place]]]
            if key not in generic:
                generic[key] = is_generic(text, key[1])
            if generic[key]:
                continue
            features = found.features[place]
            source = "anchor" if features[used] > 0 else _NAMED[int(features[named])]
            mine.append(AnchorChoice(text, source, float(likely[place]), *span))
    return choices


def span_finder(evidence: TextEvidence, ranker: AnchorRanker | None) -> SpanFinder:
    """What finds stretches for a ranker, of use for all pairs; without one no word begins or ends links sooner than
    another."""
    reader = SpanReader(evidence.index)
    boundaries = ranker.boundaries if ranker else BoundaryModel(*[np.zeros(len(reader.is_word), dtype=np.float32)] * 5)
    return SpanFinder(evidence, reader, boundaries)


def _first(
    pair: NDArray[np.int64], score: NDArray[np.float64], place: NDArray[np.int64], most: int
) -> NDArray[np.int64]:
    """Positions of the `most` of each pair that score highest, by pair, then score; ties to the earlier place."""
    order = np.lexsort((place, -score, pair))
    return order[np.arange(len(order)) - np.searchsorted(pair[order], pair[order]) < most]
