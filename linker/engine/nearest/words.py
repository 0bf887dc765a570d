"""The pages nearest to each page by the words of their texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from sparse_dot_topn import sp_matmul_topn

from linker.engine.arrays.sparse import rows_at, stacked, top_rows, without_diagonal
from linker.engine.arrays.vectors import slices
from linker.engine.nearest.vectors import groups_within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.site import Site

QUERY_TERMS = 20  # terms of a page that the pages nearest by words are looked for by
POSTINGS = 4_000  # pages that a term leads to, those it weighs most in


def nearest_words(
    terms: sparse.csr_matrix, most: int, is_target: NDArray[np.bool_], asked: NDArray[np.int64] | None = None
) -> sparse.csr_matrix:
    """The `most` targets nearest to each page by words, or to those `asked` about, int64 [k], ascending, the others
    having none, [n, n]: cosines of the rows of `terms` [n, v].

    The rows of `terms` have length 1. Ties go to the lower page.

    Each page asks with its QUERY_TERMS best terms, and a term leads to POSTINGS pages at most, so that the work for a
    page is bounded, whatever the size of the site.
    """
    postings = top_rows((sparse.diags(is_target.astype(np.float32)) @ terms).T, POSTINGS)
    if asked is not None:
        found = sp_matmul_topn(top_rows(terms[asked], QUERY_TERMS), postings, most + 1, threshold=0.0)
        return top_rows(without_diagonal(rows_at(found, asked, terms.shape[0])), most)
    query_terms = top_rows(terms, QUERY_TERMS)
    parts = []
    for part in slices(terms.shape[0]):
        found = sp_matmul_topn(query_terms[part], postings, most + 1, threshold=0.0)
        parts.append(top_rows(without_diagonal(found, part.start), most))
    return stacked(parts)


def nearest_words_within(terms: sparse.csr_matrix, most: int, site: Site, levels_up: int) -> sparse.csr_matrix:
    """As `nearest_words`, [n, n], of the targets that lie within `levels_up` levels of each page's category.

    Pages that look over all targets anyway have none.
    """
    query_terms, parts, places = top_rows(terms, QUERY_TERMS), [], []
    for pages, targets in groups_within(site.nodes, site.target, site.tree, levels_up):
        places.append(pages)
        parts.append(_nearest_in_group(query_terms[pages], terms[targets], most, pages, targets, len(site)))
    return stacked(parts)[np.argsort(np.concatenate(places))]


def _nearest_in_group(
    query_terms: sparse.csr_matrix,
    terms: sparse.csr_matrix,
    most: int,
    pages: NDArray[np.int64],
    targets: NDArray[np.int64],
    size: int,
) -> sparse.csr_matrix:
    """The `most` of some `targets` nearest to some `pages`, [pages, size]; `query_terms`, `terms`: the terms of
    both."""
    used, column = np.unique(terms.indices, return_inverse=True)
    if not len(used):
        return sparse.csr_matrix((len(pages), size), dtype=np.float32)
    # The columns are those of the group's own terms: the vocabulary of the site is many times as long.
    postings = sparse.csr_matrix((terms.data, column, terms.indptr), shape=(len(targets), len(used)))
    place = np.minimum(np.searchsorted(used, query_terms.indices), len(used) - 1)
    weight = np.where(used[place] == query_terms.indices, query_terms.data, np.float32(0))
    mine = sparse.csr_matrix((weight, place, query_terms.indptr), shape=(len(pages), len(used)))
    mine.eliminate_zeros()
    found = sp_matmul_topn(mine, top_rows(postings.T, POSTINGS), most + 1, threshold=0.0)
    other = targets[found.indices]
    itself = other == np.repeat(pages, np.diff(found.indptr))
    weight = np.where(itself, np.float32(0), found.data)
    found = sparse.csr_matrix((weight, other, found.indptr), shape=(len(pages), size))
    found.eliminate_zeros()
    found.sort_indices()
    return top_rows(found, most)
