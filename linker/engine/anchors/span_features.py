"""The numbers that describe a span as the words of a link to a target, SPAN_FEATURES."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from linker.engine.anchors.features import SPAN_FEATURES
from linker.engine.phrases import H1, SHORT, SLUG, TITLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.anchors.boundaries import BoundaryModel
    from linker.engine.anchors.spans import SpanFinder, Spans
    from linker.engine.anchors.target_words import TargetWords
    from linker.engine.anchors.tokenized import TokenizedTexts

Columns: TypeAlias = "dict[str, NDArray[Any]]"


def span_features(
    finder: SpanFinder,
    texts: TokenizedTexts,
    words: TargetWords,
    target: NDArray[np.int64],
    spans: Spans,
    link_starts: NDArray[np.int64],
) -> NDArray[np.float32]:
    """SPAN_FEATURES of m spans, float32 [m, len(SPAN_FEATURES)].

    `target` int64 [pairs]: the target of each pair; `words`: those of the targets; `link_starts` int64: the first
    tokens of the visible links in the texts.
    """
    columns = {
        **_boundary_features(finder.boundaries, texts, spans),
        **_word_features(finder, texts, words, spans),
        **_phrase_features(finder, texts, target, spans),
        **_position_features(texts, spans, link_starts),
        **_shape_features(texts, spans),
        "seed": spans.is_mention,
    }
    columns["edges_rank"] = _below_best(spans.pair, columns["begin"] + columns["end"])
    columns["title_rank"] = _below_best(spans.pair, columns["title_share"])
    columns["links_rank"] = _below_best(spans.pair, columns["links"] + columns["share"])
    return np.column_stack([columns[name].astype(np.float32) for name in SPAN_FEATURES])


def _boundary_features(boundaries: BoundaryModel, texts: TokenizedTexts, spans: Spans) -> Columns:
    """How likely links begin and end here."""
    before, after = texts.neighbours()
    end = spans.last - 1
    columns: Columns = {
        "begin_word": boundaries.begin_word[texts.words[spans.first]],
        "begin_before": boundaries.begin_before[before[spans.first]],
        "end_word": boundaries.end_word[texts.words[end]],
        "end_after": boundaries.end_after[after[end]],
    }
    columns["begin"] = columns["begin_word"] + columns["begin_before"]
    columns["end"] = columns["end_word"] + columns["end_after"]
    return columns


def _word_features(finder: SpanFinder, texts: TokenizedTexts, words: TargetWords, spans: Spans) -> Columns:
    """What the words of the span say of the target, and how often links hold such words."""
    count = len(spans.first)
    row, token = texts.content_words(spans.first, spans.last)
    stems = texts.stems[token]
    idf, inside = finder.idf[stems], finder.boundaries.inside[stems]
    weights = words.weights(spans.pair[row], stems)

    def total(value: NDArray[np.generic]) -> NDArray[np.float32]:
        return np.bincount(row, value, minlength=count).astype(np.float32)

    most_inside = np.full(count, -9.0, dtype=np.float32)
    np.maximum.at(most_inside, row, inside)
    content = np.maximum(total(np.ones(len(row))), 1)
    return {
        "title_share": np.minimum(total(weights[:, 0]), 1.5),
        "title_part": total(idf * (weights[:, 0] > 0)) / np.maximum(total(idf), 1e-6),
        "anchor_share": total(weights[:, 1]),
        "term_share": total(weights[:, 2]),
        "strangers": total(~(weights.max(axis=1) > 0)),
        "inside": total(inside) / content,
        "inside_most": most_inside,
        "capitals": total(texts.capital[token]) / content,
    }


def _phrase_features(finder: SpanFinder, texts: TokenizedTexts, target: NDArray[np.int64], spans: Spans) -> Columns:
    """What the site's links and names say of the span as a phrase, punctuation at its ends left out."""
    evidence, lookup = finder.evidence, finder.phrases
    phrase_targets = evidence.phrase_targets
    if not evidence.index.book.count or not len(phrase_targets.phrase):
        names = "links", "share", "keyness", "phrase_links", "pages", "named"
        return {name: np.zeros(len(spans.first)) for name in names}
    found = lookup.find(texts.hashes(*without_marks(texts, spans.first, spans.last)), target[spans.pair])
    bits = np.where(found.means, phrase_targets.bits[found.phrase_target], 0)
    return {
        "links": np.log1p(np.where(found.means, phrase_targets.links[found.phrase_target], 0)),
        "share": np.where(found.means, phrase_targets.share[found.phrase_target], 0),
        "keyness": np.where(found.known, evidence.keyness[found.phrase], 0),
        "phrase_links": np.log1p(np.where(found.known, lookup.links[found.phrase], 0)),
        "pages": np.log1p(np.where(found.known, evidence.mentioned[found.phrase], 0)),
        "named": np.select([bits & (TITLE | H1) > 0, bits & SHORT > 0, bits & SLUG > 0], [3, 2, 1], 0),
    }


def without_marks(
    texts: TokenizedTexts, first: NDArray[np.int64], last: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First token, and the one after the last, of spans without the punctuation around; at least one is left."""
    place = np.arange(len(texts.is_mark))
    next_inner = np.minimum.accumulate(np.where(~texts.is_mark, place, len(place))[::-1])[::-1]
    last_inner = np.maximum.accumulate(np.where(~texts.is_mark, place, -1))
    end = last - 1
    low = np.minimum(next_inner[first], end)
    return low, np.maximum(last_inner[end] + 1, low + 1)


def _position_features(texts: TokenizedTexts, spans: Spans, link_starts: NDArray[np.int64]) -> Columns:
    """Where the span is in its line, its clause and its text."""
    first, last, end = spans.first, spans.last, spans.last - 1
    links = np.zeros(len(texts.words) + 1, dtype=np.int64)
    np.add.at(links, link_starts, 1)
    links = np.concatenate([[0], np.cumsum(links)])
    row = texts.rows[first]
    begin = texts.bounds[row]
    return {
        "line_start": first == texts.line_first[first],
        "line_end": last == texts.line_last[end],
        "clause_start": first == texts.clause_first[first],
        "clause_end": last >= texts.clause_last[end] - 1,
        "line_tokens": np.log1p(texts.line_last[first] - texts.line_first[first]),
        "line_links": np.minimum(links[texts.line_last[first]] - links[texts.line_first[first]], 20),
        "place": (first - begin) / np.maximum(texts.bounds[row + 1] - begin, 1),
    }


def _shape_features(texts: TokenizedTexts, spans: Spans) -> Columns:
    """How long the span is and what it looks like."""
    first, last, end = spans.first, spans.last, spans.last - 1

    def within(value: NDArray[np.generic]) -> NDArray[np.int64]:
        total = np.concatenate([[0], np.cumsum(value)])
        return np.asarray(total[last] - total[first])

    return {
        "words": within(texts.is_word),
        "tokens": last - first,
        "chars": texts.stop[end] - texts.start[first],
        "capital": texts.capital[first],
        "stop_start": texts.is_stop[first],
        "stop_end": texts.is_stop[end],
        "brackets": np.abs(within(texts.brackets)),
        "quoted": within(texts.quote),
    }


def _below_best(pair: NDArray[np.int64], value: NDArray[Any]) -> NDArray[Any]:
    """By how much each value is below the highest of its pair, 0 or less."""
    best = np.full(int(pair.max(initial=-1)) + 1, -np.inf)
    np.maximum.at(best, pair, value)
    below: NDArray[Any] = value - best[pair]
    return below
