"""The numbers that describe what is around a span: its clause, the words next to it, and the titles of both pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from linker.engine.anchors.features import CONTEXT_FEATURES
from linker.engine.arrays.ranges import distinct
from linker.engine.arrays.sparse import pair_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.anchors.span_features import Columns
    from linker.engine.anchors.spans import CandidateSpans, SpanFinder
    from linker.engine.anchors.tokenized import TokenizedTexts


def in_context(
    finder: SpanFinder, texts: TokenizedTexts, target: NDArray[np.int64], found: CandidateSpans
) -> NDArray[np.float32]:
    """CONTEXT_FEATURES of m spans, float32 [m, len(CONTEXT_FEATURES)]; `target` int64 [pairs]: each pair's target.

    rarity, rarest     sum and maximum of the inverse document frequencies of its words
    title_pages        pages that have the rarest of its words in their title, as a logarithm
    title_missing      share of the target's title that neither the span nor its clause says
    numbers_missing    words with digits (years, versions) in the target's title that the clause does not say
    numbers_other      words with digits in the clause that the title does not say, where it says some
    joined_before, joined_after   a word follows without a space ("Node.js", "A/B")
    name_before, name_after       a capitalised word continues one at that end of the span
    own_title_part, own_title_share   how much of the span is in the source's own title, and of that title in the span
    clause_tokens      length of the clause, as a logarithm
    """
    low = texts.clause_first[found.first]
    high = np.maximum(texts.clause_last[found.last - 1], found.last)
    columns = {
        **_own_words(finder, texts, found),
        **_clause_and_title(finder, texts, target[found.pair], low, high),
        **_next_to_it(texts, found, low, high),
        "clause_tokens": np.log1p(high - low),
    }
    return np.column_stack([columns[name].astype(np.float32) for name in CONTEXT_FEATURES])


def _own_words(finder: SpanFinder, texts: TokenizedTexts, found: CandidateSpans) -> Columns:
    """How rare the words of the span are, and how far they are those of the source's own title."""
    index, count = finder.evidence.index, len(found.first)
    row, token = texts.content_words(found.first, found.last)
    stems = texts.stems[token]
    idf = finder.idf[stems]
    total = np.bincount(row, idf, minlength=count)
    rarest = np.zeros(count)
    np.maximum.at(rarest, row, idf)
    fewest = np.full(count, np.inf)
    np.minimum.at(fewest, row, finder.title_pages[stems])
    page = texts.pages[texts.rows[found.first]]
    in_own_title = _weights(index.title, page[row], stems.astype(np.int64))
    return {
        "rarity": total,
        "rarest": rarest,
        "title_pages": np.log1p(np.where(np.isfinite(fewest), fewest, len(index.site))),
        "own_title_part": np.bincount(row, idf * (in_own_title > 0), minlength=count) / np.maximum(total, 1e-6),
        "own_title_share": np.minimum(np.bincount(row, in_own_title, minlength=count), 1.5),
    }


def _clause_and_title(
    finder: SpanFinder,
    texts: TokenizedTexts,
    target: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
) -> Columns:
    """What the clauses `low` to `high` and the titles of the targets have in common; all int64 [m]."""
    size, count, title = finder.reader.terms, len(low), finder.evidence.index.title
    has_digit = finder.reader.has_digit
    row, token = texts.content_words(low, high)
    key = distinct(row * size + texts.stems[token])
    row, stem = key // size, key % size
    in_title = _weights(title, target[row], stem)
    digit = has_digit[stem]
    titles = sparse.csr_matrix(title[target])
    of_title = np.repeat(np.arange(count), np.diff(titles.indptr))
    numbers = np.bincount(of_title, has_digit[titles.indices], minlength=count)
    said = np.bincount(row, digit & (in_title > 0), minlength=count)
    others = np.bincount(row, digit & (in_title == 0), minlength=count)
    return {
        "title_missing": 1 - np.minimum(np.bincount(row, in_title, minlength=count), 1),
        "numbers_missing": numbers - said,
        "numbers_other": np.where(numbers > 0, others, 0),
    }


def _next_to_it(
    texts: TokenizedTexts, found: CandidateSpans, low: NDArray[np.int64], high: NDArray[np.int64]
) -> Columns:
    """Whether a word or a name goes on beyond either end of the span."""
    first, last, end, top = found.first, found.last, found.last - 1, len(texts.words) - 1
    before, after = np.maximum(first - 1, 0), np.minimum(last, top)
    inside_before, inside_after = first > low, last < high
    touching_before = inside_before & (texts.stop[before] == texts.start[first])
    touching_after = inside_after & (texts.start[after] == texts.stop[end])
    further, beyond = np.maximum(first - 2, 0), np.minimum(last + 1, top)
    word_further = (further >= low) & (texts.stop[further] == texts.start[before]) & texts.is_word[further]
    word_beyond = (beyond < high) & (texts.start[beyond] == texts.stop[after]) & texts.is_word[beyond]
    return {
        "joined_before": touching_before & (texts.is_word[before] | word_further),
        "joined_after": touching_after & (texts.is_word[after] | word_beyond),
        "name_before": inside_before & texts.is_word[before] & texts.capital[before] & texts.capital[first],
        "name_after": inside_after & texts.is_word[after] & texts.capital[after] & texts.capital[end],
    }


def _weights(matrix: sparse.csr_matrix, page: NDArray[np.int64], stem: NDArray[np.int64]) -> NDArray[np.float32]:
    """The matrix's values at (page, stem), float32 [k]."""
    pages, place = np.unique(page, return_inverse=True)
    return pair_values(matrix[pages], place, stem)
