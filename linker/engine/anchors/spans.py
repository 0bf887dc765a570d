"""Spans of a source's text that could become the link to a target.

A span grows from a seed: a mention of a phrase that means the target, or a word that the target's title, anchors or
text hold. Its ends are put where the site's own links begin and end, see `linker.engine.anchors.boundaries`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from linker.engine.anchors.boundaries import inside_links, link_positions
from linker.engine.anchors.phrase_lookup import PhraseLookup
from linker.engine.anchors.span_features import span_features
from linker.engine.anchors.target_words import AnchorWords, TargetWords, rarity
from linker.engine.anchors.title_words import TitleWords
from linker.engine.anchors.tokenized import TokenizedTexts
from linker.engine.arrays.ranges import expand_ranges, ranks_within
from linker.engine.candidates.mention_rows import mention_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from linker.engine.anchors.boundaries import BoundaryModel
    from linker.engine.anchors.tokenized import SpanReader
    from linker.engine.evidence import TextEvidence

MAX_MENTION_SEEDS = 6  # mentions of a pair that spans grow from
MAX_WORD_SEEDS = 6  # words of a pair that spans grow from
MAX_SAME_WORD = 8  # places of one word in a text that are looked at
NEAR = 4  # tokens to either side whose weight counts for a word
REACH = 8  # tokens that a span grows to either side
BOUNDARIES_PER_SEED = 3  # beginnings, and ends, that are tried for a seed
MAX_LINE_TOKENS = 24  # of a line that may become the link as a whole
MAX_CLAUSE_TOKENS = 14  # of a clause that may
PAGES_PER_BLOCK = 256  # pages whose texts are held as tokens


@dataclass(frozen=True)
class Spans:
    """Spans of texts for pairs; arrays [m].

    `pair` int64; `first`, `last` int64: tokens of `TokenizedTexts`, the last one excluded; `is_mention` int64: 1 where
    the span grew from a mention of a phrase, 0 where it grew from a word.
    """

    pair: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    is_mention: NDArray[np.int64]

    def take(self, keep: NDArray[np.int64] | NDArray[np.bool_]) -> Spans:
        """The spans at positions `keep`, int64 [k], in that order, or where it is true, bool [m]."""
        return Spans(*(column[keep] for column in vars(self).values()))


@dataclass(frozen=True)
class CandidateSpans:
    """Described spans of texts for pairs, by pair; arrays [m].

    `pair` int64; `first`, `last` int64: tokens of `TokenizedTexts`, the last one excluded; `features` float32
    [m, len(SPAN_FEATURES)].
    """

    pair: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    features: NDArray[np.float32]

    def take(self, keep: NDArray[np.int64]) -> CandidateSpans:
        """The spans at positions `keep`, int64 [k], in that order, or where it is true, bool [m]."""
        return CandidateSpans(self.pair[keep], self.first[keep], self.last[keep], self.features[keep])


class SpanFinder:
    """Finds spans with the evidence of some visible links.

    `idf` float32 [vocabulary]: how rare each term is; `title_pages` int64 [vocabulary]: pages that have it in their
    title; `positions`: where the visible links are.
    """

    def __init__(self, evidence: TextEvidence, reader: SpanReader, boundaries: BoundaryModel) -> None:
        index = evidence.index
        self.evidence, self.reader, self.boundaries = evidence, reader, boundaries
        self.positions = link_positions(index, evidence.visible)
        self.idf = rarity(reader)
        self.title_pages = np.bincount(index.title.indices, minlength=reader.terms)
        self.anchors = AnchorWords(evidence, reader, self.idf)
        self.phrases = PhraseLookup(evidence, reader)

    @cached_property
    def titles(self) -> TitleWords:
        """Which words titles have."""
        return TitleWords(self.evidence.index, self.reader)

    def find(self, texts: TokenizedTexts, row: NDArray[np.int64], target: NDArray[np.int64]) -> CandidateSpans:
        """Spans for pairs, int64 [k] each: row of `texts`, and target; pairs by row. No span overlaps a link."""
        words = TargetWords(self.evidence, self.anchors, target)
        seeds = joined([self._mention_seeds(texts, row, target), self._word_seeds(texts, row, words)])
        spans = self._grown(texts, seeds)
        link_first, link_last = self.positions.within(texts, self.evidence.index)
        linked = np.concatenate([[0], np.cumsum(inside_links(texts, link_first, link_last))])
        spans = spans.take(linked[spans.last] == linked[spans.first])
        features = span_features(self, texts, words, target, spans, link_first)
        return CandidateSpans(spans.pair, spans.first, spans.last, features)

    def _mention_seeds(self, texts: TokenizedTexts, row: NDArray[np.int64], target: NDArray[np.int64]) -> Spans:
        """The likeliest mentions of phrases that mean the target of a pair."""
        index, pages = self.evidence.index, len(self.evidence.index.site)
        mentions = mention_rows(self.evidence, texts.pages)
        wanted = texts.pages[row] * pages + target
        order = np.argsort(wanted, kind="stable")
        key = mentions.source * pages + mentions.target
        place = np.minimum(np.searchsorted(wanted[order], key), max(len(wanted) - 1, 0))
        hit = np.flatnonzero(wanted[order][place] == key) if len(wanted) else np.empty(0, np.int64)
        hit = hit[ranks_within(key[hit]) < MAX_MENTION_SEEDS]
        pair = order[place[hit]]
        at = self.evidence.phrase_mentions.place[mentions.mention[hit]]
        found = index.occurrences
        first = found.at[at] - index.starts[found.page[at]] + texts.bounds[row[pair]]
        return Spans(pair, first, first + found.size[at], np.ones(len(pair), np.int64))

    def _word_seeds(self, texts: TokenizedTexts, row: NDArray[np.int64], words: TargetWords) -> Spans:
        """The words of a pair's target in the text, those first that weigh most with the words around them."""
        size = self.reader.terms
        content = np.flatnonzero(texts.is_content)
        key = texts.rows[content].astype(np.int64) * size + texts.stems[content]
        order = np.argsort(key, kind="stable")
        key, content = key[order], content[order]
        wanted = words.wanted
        pair, entry = expand_ranges(wanted.indptr[words.place], np.diff(wanted.indptr)[words.place])
        wanted_key = row[pair] * size + wanted.indices[entry]
        begin = np.searchsorted(key, wanted_key)
        count = np.minimum(np.searchsorted(key, wanted_key, side="right") - begin, MAX_SAME_WORD)
        of, place = expand_ranges(begin, count)
        pair, at, weight = pair[of], content[place], wanted.data[entry][of]
        order = np.lexsort((at, pair))
        pair, at, weight = pair[order], at[order], weight[order]
        near = _weight_around(pair * (len(texts.words) + 64) + at, weight)
        order = np.lexsort((at, -np.round(near + 0.3 * weight, 5), pair))
        keep = order[ranks_within(pair[order]) < MAX_WORD_SEEDS]
        return Spans(pair[keep], at[keep], at[keep] + 1, np.zeros(len(keep), np.int64))

    def _grown(self, texts: TokenizedTexts, seeds: Spans) -> Spans:
        """Each seed, the seed with the likely beginnings and ends around it, and its line and clause; distinct spans by
        pair."""
        parts = [
            self._to_boundaries(texts, seeds),
            _whole(texts, seeds, texts.line_first, texts.line_last, MAX_LINE_TOKENS),
            _whole(texts, seeds, texts.clause_first, texts.clause_last, MAX_CLAUSE_TOKENS),
            seeds,
        ]
        return _distinct(joined(parts), len(texts.words))

    def _to_boundaries(self, texts: TokenizedTexts, seeds: Spans) -> Spans:
        """Each seed grown to the BOUNDARIES_PER_SEED likeliest beginnings and ends within REACH and within its clause,
        its own among them."""
        step = np.arange(REACH + 1)
        begin = self.boundaries.begins(texts)
        left = seeds.first[:, None] - step
        inside = left >= texts.clause_first[seeds.first][:, None]
        begins, begins_ok = _likeliest(left, np.where(inside, begin[np.maximum(left, 0)], -np.inf))
        end = self.boundaries.ends(texts)
        right = seeds.last[:, None] + step
        inside = right <= np.maximum(texts.clause_last[seeds.last - 1], seeds.last)[:, None]
        ends, ends_ok = _likeliest(right, np.where(inside, end[np.minimum(right, len(end)) - 1], -np.inf))
        shape = (len(seeds.first), BOUNDARIES_PER_SEED, BOUNDARIES_PER_SEED)
        ok = begins_ok[:, :, None] & ends_ok[:, None, :]
        seed = np.broadcast_to(np.arange(shape[0])[:, None, None], shape)[ok]
        first = np.broadcast_to(begins[:, :, None], shape)[ok]
        last = np.broadcast_to(ends[:, None, :], shape)[ok]
        return Spans(seeds.pair[seed], first, last, seeds.is_mention[seed])


def joined(parts: list[Spans]) -> Spans:
    """Several spans one after the other."""
    return Spans(*(np.concatenate(column) for column in zip(*(vars(part).values() for part in parts), strict=True)))


def _weight_around(line: NDArray[np.int64], weight: NDArray[np.float32]) -> NDArray[np.float64]:
    """The weights of all words at most NEAR tokens from each, itself included; `line`: their places, ascending."""
    total: NDArray[np.float64] = np.concatenate([[0], np.cumsum(weight, dtype=np.float64)])
    return total[np.searchsorted(line, line + NEAR + 1)] - total[np.searchsorted(line, line - NEAR)]


def _likeliest(places: NDArray[np.int64], value: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Of the places in each row the BOUNDARIES_PER_SEED of highest value, and whether a boundary may be there; the
    first column, the seed's own, is always tried. Both [seeds, BOUNDARIES_PER_SEED]."""
    value[:, 0] += np.where(np.isfinite(value[:, 0]), 100, 0)
    best = np.argsort(-value, axis=1, kind="stable")[:, :BOUNDARIES_PER_SEED]
    return np.take_along_axis(places, best, 1), np.isfinite(np.take_along_axis(value, best, 1))


def _whole(texts: TokenizedTexts, seeds: Spans, low: NDArray[np.int64], high: NDArray[np.int64], longest: int) -> Spans:
    """The lines, or clauses, of seeds from the first token that may begin a link to the last that may end one, of at
    most `longest` tokens."""
    place = np.arange(len(texts.words))
    next_begin = np.minimum.accumulate(np.where(texts.begins, place, len(place))[::-1])[::-1]
    last_end = np.concatenate([[0], np.maximum.accumulate(np.where(texts.ends, place + 1, 0))])
    first, last = next_begin[low[seeds.first]], last_end[high[seeds.first]]
    fits = (first <= seeds.first) & (last >= seeds.last) & (last - first <= longest)
    return Spans(seeds.pair[fits], first[fits], last[fits], seeds.is_mention[fits])


def _distinct(spans: Spans, tokens: int) -> Spans:
    """Spans of a pair with the same tokens once, as a mention where one of them is; without empty ones, by pair."""
    key = (spans.pair * (tokens + 1) + spans.first) * 64 + np.minimum(spans.last - spans.first, 63)
    order = np.lexsort((-spans.is_mention, key))
    key = key[order]
    order = order[np.concatenate([[True], key[1:] != key[:-1]])[: len(key)]]
    return spans.take(order[spans.last[order] > spans.first[order]])


def text_blocks(reader: SpanReader, pages: NDArray[np.int64]) -> Iterator[TokenizedTexts]:
    """The texts of some pages, int64 [k], ascending, PAGES_PER_BLOCK at a time."""
    for first in range(0, len(pages), PAGES_PER_BLOCK):
        yield TokenizedTexts(reader, pages[first : first + PAGES_PER_BLOCK])


def spans_of_pairs(
    finder: SpanFinder, blocks: Iterable[TokenizedTexts], source: NDArray[np.int64], target: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], TokenizedTexts, CandidateSpans]]:
    """The spans found for pairs, int64 [k] each, in `blocks` of texts.

    For each block that holds a pair: the positions of its pairs, the texts, and the spans, whose `pair` counts those.
    """
    order = np.argsort(source, kind="stable")
    ordered = source[order]
    for texts in blocks:
        low, high = np.searchsorted(ordered, texts.pages[0]), np.searchsorted(ordered, texts.pages[-1], side="right")
        pair = order[low:high]
        pair = pair[np.isin(source[pair], texts.pages)]
        if len(pair):
            yield pair, texts, finder.find(texts, np.searchsorted(texts.pages, source[pair]), target[pair])
