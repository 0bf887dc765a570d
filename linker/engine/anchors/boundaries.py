"""Where a site's links begin and end: how likely a word is next to, or inside, the words of a link.

A link begins and ends where the site's own links do: at the start of a line, after a function word, before punctuation.
How likely a token begins a link, ends one or belongs to one is counted from the visible links.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linker.engine.arrays.ranges import expand_ranges
from linker.engine.phrase_evidence import anchors_said, link_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from linker.engine.anchors.tokenized import SpanReader, TokenizedTexts
    from linker.engine.index import TextIndex

PRIOR_TOKENS = 20.0  # tokens of the average kind that each count starts with


@dataclass(frozen=True)
class BoundaryModel:
    """Log-odds against the average token, float32 [vocabulary]: `begin_word` of a link that begins with the word,
    `begin_before` of one that begins right after it; `end_word` and `end_after` of a link that ends with it and right
    before it; `inside` of a link that holds it."""

    begin_word: NDArray[np.float32]
    begin_before: NDArray[np.float32]
    end_word: NDArray[np.float32]
    end_after: NDArray[np.float32]
    inside: NDArray[np.float32]

    def begins(self, texts: TokenizedTexts) -> NDArray[np.float32]:
        """How likely a link begins with each token, [tokens]; minus infinity where none may."""
        before, _ = texts.neighbours()
        return np.where(texts.begins, self.begin_word[texts.words] + self.begin_before[before], -np.inf)

    def ends(self, texts: TokenizedTexts) -> NDArray[np.float32]:
        """How likely a link ends with each token, [tokens]; minus infinity where none may."""
        _, after = texts.neighbours()
        return np.where(texts.ends, self.end_word[texts.words] + self.end_after[after], -np.inf)


def no_boundaries(reader: SpanReader) -> BoundaryModel:
    """For a site without links to learn from: no word begins or ends a link sooner than another."""
    return BoundaryModel(*[np.zeros(len(reader.is_word), dtype=np.float32)] * 5)


@dataclass(frozen=True)
class LinkPositions:
    """Where visible links are in the texts, by page; arrays [m]: `page`, and `at`, `size`: tokens, counted over all
    texts of the site."""

    page: NDArray[np.int64]
    at: NDArray[np.int64]
    size: NDArray[np.int64]

    def within(self, texts: TokenizedTexts, index: TextIndex) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First token, and the one after the last, of the links in some texts; int64 [k] both, by page."""
        low = np.searchsorted(self.page, texts.pages)
        count = np.searchsorted(self.page, texts.pages, side="right") - low
        _, mine = expand_ranges(low, count)
        page = self.page[mine]
        first = self.at[mine] - index.starts[page] + texts.bounds[np.searchsorted(texts.pages, page)]
        return first, first + self.size[mine]


def link_positions(index: TextIndex, visible: NDArray[np.int64]) -> LinkPositions:
    """The position of each of the links `visible` (int64 [k]) whose anchor is in the text of its page."""
    found = index.occurrences
    wanted = anchors_said(index.site.links.src[visible], index.anchor_phrase[visible], index.book.count)
    place = link_tokens(found.page, found.phrase, found.at, wanted, index.book.count)
    page, at, size = (column[place].astype(np.int64) for column in (found.page, found.at, found.size))
    return LinkPositions(page, at, size)


def inside_links(texts: TokenizedTexts, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each token is in one of some links, [tokens]; `first`, `last`: their tokens, the last one excluded."""
    step = np.zeros(len(texts.words) + 1, dtype=np.int64)
    np.add.at(step, first, 1)
    np.add.at(step, last, -1)
    return np.asarray(np.cumsum(step)[:-1] > 0)


def learn_boundaries(reader: SpanReader, positions: LinkPositions, blocks: Iterable[TokenizedTexts]) -> BoundaryModel:
    """Counts the links at `positions` over some texts."""
    size = len(reader.is_word)
    counts = np.zeros((5, 2, size))  # by part of the model: tokens where a link is, and all tokens
    for texts in blocks:
        first, last = positions.within(texts, reader.index)
        before, after = texts.neighbours()
        begins, ends, words = np.flatnonzero(texts.begins), np.flatnonzero(texts.ends), np.flatnonzero(texts.is_word)
        linked = np.flatnonzero(inside_links(texts, first, last) & texts.is_word)
        looked = (
            (texts.words, first, begins), (before, first, begins),
            (texts.words, last - 1, ends), (after, last - 1, ends),
            (texts.stems, linked, words),
        )  # fmt: skip
        for number, (token, hit, every) in enumerate(looked):
            counts[number, 0] += np.bincount(token[hit], minlength=size)
            counts[number, 1] += np.bincount(token[every], minlength=size)
    kind = np.where(reader.is_stop, 1, np.where(reader.is_word, 2, 3))
    kind[0] = 0
    return BoundaryModel(*(_log_odds(hit, every, kind) for hit, every in counts))


def _log_odds(hit: NDArray[np.float64], every: NDArray[np.float64], kind: NDArray[np.int64]) -> NDArray[np.float32]:
    """Of `hit` among `every`, [vocabulary], beside those of all tokens; rare tokens are drawn to the rate of their kind
    (line break, function word, other word, mark)."""
    overall = (hit.sum() + 1) / (every.sum() + 10)
    rate = (np.bincount(kind, hit, minlength=4) + 5 * overall) / (np.bincount(kind, every, minlength=4) + 5)
    value = (hit + PRIOR_TOKENS * rate[kind]) / (np.maximum(every, hit) + PRIOR_TOKENS)
    odds: NDArray[np.float32] = np.round(np.log(value / overall), 4).astype(np.float32)
    return odds
