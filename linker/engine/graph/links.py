"""A site's links as sparse matrices, and what they say about pairs that are not linked yet.

All matrices are CSR float32 with sorted indices; rows are source pages, columns target pages. Scores are made for a
slice of the sources at a time, so that no product of the whole site is ever held.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from linker.engine.arrays.sparse import scale_columns, scale_rows, stacked, top_rows, without_diagonal

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_COCITED = 60  # pages kept with each page, by co-citation
MAX_COUPLED = 40  # pages kept with each page, by the targets they share
REPEATED, REPEATED_SHARE = 10, 0.1  # pages, and share of all links, from which the same words are a call to act
HUB = 5_000  # links from or to a page above which it says nothing of which pages belong together


def adjacency(src: NDArray[np.int64], dst: NDArray[np.int64], pages: int) -> sparse.csr_matrix:
    """Links `src[i]` -> `dst[i]`, int64 [m], as a matrix [pages, pages]: 1 for each linked pair.

    Repeated links count once, links of a page to itself not at all.
    """
    other = src != dst
    matrix = sparse.csr_matrix(
        (np.ones(int(other.sum()), dtype=np.float32), (src[other], dst[other])), shape=(pages, pages)
    )
    matrix.sum_duplicates()
    matrix.data[:] = 1
    matrix.sort_indices()
    return matrix


def repeated_links(src: NDArray[np.int64], dst: NDArray[np.int64], words: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of a site's links, [m], are the same call to act on page after page: "Book now" to the prices.

    `words` int64 [m]: a number for the text of each. Links to one page in the same words count as such if they are on
    REPEATED pages or more and make up more than REPEATED_SHARE of all links: they say nothing of what pages are about.
    """
    _, key = np.unique(dst * (words.max(initial=0) + 1) + words, return_inverse=True)
    span = src.max(initial=0) + 1
    once = np.unique(key * span + src) // span
    pages = np.bincount(once, minlength=int(key.max(initial=-1)) + 1)
    return (pages[key] >= REPEATED) & (pages[key] > REPEATED_SHARE * len(once))


def _inverse(values: NDArray[np.float32], power: float) -> NDArray[np.float32]:
    factor: NDArray[np.float32] = (1.0 / np.power(np.maximum(values, 1.0), power)).astype(np.float32)
    return factor


@dataclass(frozen=True)
class LinkGraph:
    """Links and the pages near each page in them.

    `links`, `back` [n, n]: links and their transpose. `indegree`, `outdegree` float32 [n]. `cocited` [n, n]: cosine of
    the sets of pages that link to two pages (Small 1973), MAX_COCITED a row. `coupled` [n, n]: cosine of the sets of
    pages two pages link to (Kessler 1963), where a target counts by 1 / sqrt(in-degree), MAX_COUPLED a row.
    """

    links: sparse.csr_matrix
    back: sparse.csr_matrix
    indegree: NDArray[np.float32]
    outdegree: NDArray[np.float32]
    cocited: sparse.csr_matrix
    coupled: sparse.csr_matrix


def link_graph(src: NDArray[np.int64], dst: NDArray[np.int64], pages: int) -> LinkGraph:
    """The graph of the links `src[i]` -> `dst[i]`, int64 [m]."""
    links = adjacency(src, dst, pages)
    back = sparse.csr_matrix(links.T)
    back.sort_indices()
    indegree = np.diff(back.indptr).astype(np.float32)
    outdegree = np.diff(links.indptr).astype(np.float32)
    cited = scale_rows(back, _inverse(indegree, 0.5))
    weighted = scale_columns(links, _inverse(indegree, 0.5))
    length = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel()).astype(np.float32)
    weighted = scale_rows(weighted, np.divide(1, length, out=np.zeros_like(length), where=length > 0))
    return LinkGraph(
        links,
        back,
        indegree,
        outdegree,
        _near(_without_columns(cited, outdegree > HUB), MAX_COCITED),
        _near(_without_columns(weighted, indegree > HUB), MAX_COUPLED),
    )


def _without_columns(matrix: sparse.csr_matrix, left_out: NDArray[np.bool_]) -> sparse.csr_matrix:
    if not left_out.any():
        return matrix
    kept = scale_columns(matrix, (~left_out).astype(np.float32))
    kept.eliminate_zeros()
    return kept


def _near(sets: sparse.csr_matrix, most: int, rows: int = 2048) -> sparse.csr_matrix:
    """The rows most like each row by inner product, itself left out."""
    other = sparse.csr_matrix(sets.T)
    parts = [
        top_rows(without_diagonal(sets[first : first + rows] @ other, first), most)
        for first in range(0, sets.shape[0], rows)
    ]
    return stacked(parts) if parts else sparse.csr_matrix(sets.shape[:1] * 2, dtype=np.float32)


def page_rank(links: sparse.csr_matrix, damping: float = 0.85, rounds: int = 50) -> NDArray[np.float64]:
    """PageRank (Brin and Page 1998) by power iteration, float64 [n], with a sum of 1; [0] for no pages.

    Pages without links give to all pages alike. Ends after `rounds`, or where the ranks change by less than 1e-9.
    """
    pages = links.shape[0]
    if not pages:
        return np.empty(0)
    degree = np.diff(links.indptr).astype(np.float64)
    share = np.divide(1.0, degree, out=np.zeros(pages), where=degree > 0)
    back = sparse.csr_matrix(links.T, dtype=np.float64)
    rank = np.full(pages, 1.0 / pages)
    for _ in range(rounds):
        lost = rank[degree == 0].sum()
        new: NDArray[np.float64] = (1 - damping) / pages + damping * (back @ (rank * share) + lost / pages)
        if np.abs(new - rank).sum() < 1e-9:
            return new
        rank = new
    return rank
