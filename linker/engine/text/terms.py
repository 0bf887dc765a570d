"""The terms of pages and how much each weighs: tf-idf over the stems of a vocabulary.

The weights are those of scikit-learn's TfidfTransformer(sublinear_tf=True), (1 + log tf) * (log((1 + n) / (1 + df)) +
1), computed a chunk of texts at a time: a matrix of all terms of a large site would not fit into the memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from linker.engine.arrays.sparse import stacked, top_rows, unit_length_rows, unit_sum_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from linker.engine.text.tokens import Tokens, Vocabulary

TERMS_PER_PAGE = 80  # the best ones, by which pages are compared


@dataclass(frozen=True)
class TermCounts:
    """Terms of some texts, one text after the other; within a text terms ascend.

    `term` int32 [m]; `times` [m], of a width that holds them; `bounds` int64 [texts + 1]: where each text begins.
    """

    term: NDArray[np.int32]
    times: NDArray[np.integer[Any]]
    bounds: NDArray[np.int64]

    def only(self, wanted: NDArray[np.bool_]) -> TermCounts:
        """The counts of the wanted terms, bool [vocabulary]."""
        keep = wanted[self.term]
        return TermCounts(self.term[keep], self.times[keep], np.concatenate([[0], np.cumsum(keep)])[self.bounds])

    def matrix(self, values: NDArray[np.generic], size: int) -> sparse.csr_matrix:
        """`values` [m] as a matrix [texts, size]."""
        return sparse.csr_matrix((values, self.term, self.bounds), shape=(len(self.bounds) - 1, size))


@dataclass(frozen=True)
class TermMatrices:
    """The terms of n pages, over v stems.

    `terms` [n, v]: tf-idf of the TERMS_PER_PAGE best terms of each text, rows of length 1. `body` [n, v] int8: 1 where
    a term of any title is in a text. `in_texts` int64 [v]: texts that hold a term, 0 for the terms that are left out.
    `title` [n, v]: idf of the terms of title and H1, rows of sum 1; `title_unit`: the same with rows of length 1.
    """

    terms: sparse.csr_matrix
    body: sparse.csr_matrix
    in_texts: NDArray[np.int64]
    title: sparse.csr_matrix
    title_unit: sparse.csr_matrix


def count_terms(tokens: Tokens, vocabulary: Vocabulary) -> TermCounts:
    """How often each word's stem is in each of the texts."""
    is_word = vocabulary.word_mask()[tokens.stems]
    size = len(vocabulary)
    key = tokens.pages()[is_word].astype(np.int64) * size + tokens.stems[is_word]
    distinct, times = np.unique(key, return_counts=True)
    texts = len(tokens.bounds) - 1
    return TermCounts(
        (distinct % size).astype(np.int32),
        times.astype(np.min_scalar_type(int(times.max(initial=0)))),
        np.searchsorted(distinct, np.arange(texts + 1) * size),
    )


def weigh_terms(bodies: list[TermCounts], heads: TermCounts, is_stop: NDArray[np.bool_]) -> TermMatrices:
    """The matrices of a site.

    `bodies`: the terms of its n texts, in chunks; `heads`: those of n titles with their H1; `is_stop` bool [v]: whether
    each is a function word.

    Left out are function words, terms that only one text and no title holds, and terms of more than half of the texts.
    Empties `bodies` on the way: the counts are as large as what is made of them.
    """
    pages, size = len(heads.bounds) - 1, len(is_stop)
    in_texts = _document_frequency(bodies, size)
    idf = np.log((pages + 1) / (in_texts + 1)) + 1
    in_titles = np.zeros(size, dtype=bool)
    in_titles[heads.term] = True
    wanted = ~is_stop & ((in_texts > 1) | in_titles) & (in_texts <= max(0.5 * pages, 10))
    terms, body = [], []
    bodies.reverse()
    while bodies:
        part = bodies.pop().only(wanted)
        weight = ((1 + np.log(part.times.astype(np.int32))) * idf[part.term]).astype(np.float32)
        terms.append(unit_length_rows(top_rows(part.matrix(weight, size), TERMS_PER_PAGE)))
        titled = part.only(in_titles)
        body.append(titled.matrix(np.ones(len(titled.term), dtype=np.int8), size))
    names = heads.only(~is_stop)
    title = names.matrix(idf[names.term].astype(np.float32), size)
    return TermMatrices(
        terms=stacked(terms),
        body=stacked(body),
        in_texts=np.where(wanted, in_texts, 0),
        title=unit_sum_rows(title),
        title_unit=unit_length_rows(title),
    )


def _document_frequency(parts: Sequence[TermCounts], size: int) -> NDArray[np.int64]:
    """How many texts hold each term."""
    in_texts = np.zeros(size, dtype=np.int64)
    for part in parts:
        in_texts += np.bincount(part.term, minlength=size)
    return in_texts
