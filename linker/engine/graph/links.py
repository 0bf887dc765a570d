"""A site's links as sparse matrices, and what they say about pairs that are not linked yet.

All matrices are CSR float32 with sorted indices; rows are source pages, columns target pages. Scores are made for a
slice of the sources at a time, so that no product of the whole site is ever held.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_COCITED = 60  # pages kept with each page, by co-citation
MAX_COUPLED = 40  # pages kept with each page, by the targets they share
VALUES = 2_000_000  # looked through at a time
REPEATED, REPEATED_SHARE = (
    10,
    0.1,
)  # pages, and share of all links, from which a link in the same words is a call to act
HUB = 5_000  # links from or to a page above which it says nothing of which pages belong together


def adjacency(src: NDArray[np.int64], dst: NDArray[np.int64], pages: int) -> sparse.csr_matrix:
    """Links as [pages, pages], 1 for each linked pair; repeated links and links to the page itself count once and
    not at all."""
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

    `words`: a number for the text of each. So are links to one page in the same words that stand on REPEATED pages or
    more and make up more than REPEATED_SHARE of all links: they say nothing of what the pages are about.
    """
    _, key = np.unique(dst * (words.max(initial=0) + 1) + words, return_inverse=True)
    span = src.max(initial=0) + 1
    once = np.unique(key * span + src) // span
    pages = np.bincount(once, minlength=int(key.max(initial=-1)) + 1)
    return (pages[key] >= REPEATED) & (pages[key] > REPEATED_SHARE * len(once))


def top_rows(matrix: sparse.csr_matrix, most: int) -> sparse.csr_matrix:
    """The `most` largest positive values of each row; ties go to the lower column."""
    matrix = sparse.csr_matrix(matrix)
    matrix.sort_indices()
    if matrix.nnz <= VALUES:
        return _top_rows(matrix, most)
    bounds = np.unique(np.searchsorted(matrix.indptr, np.arange(0, matrix.nnz, VALUES)).clip(max=matrix.shape[0]))
    parts = [
        _top_rows(matrix[first:stop], most) for first, stop in zip(bounds, [*bounds[1:], matrix.shape[0]], strict=True)
    ]
    return stacked(parts)


def stacked(parts: list[sparse.csr_matrix]) -> sparse.csr_matrix:
    """Matrices of equal width, CSR with sorted indices, one below the other. Empties the list as it goes, so that they
    are never held twice."""
    rows, width, filled = sum(part.shape[0] for part in parts), parts[0].shape[1], sum(part.nnz for part in parts)
    data, indices = np.empty(filled, dtype=parts[0].dtype), np.empty(filled, dtype=np.int32)
    bounds = np.zeros(rows + 1, dtype=np.int32 if filled < 2**31 else np.int64)
    parts.reverse()
    row = start = 0
    while parts:
        part = parts.pop()
        stop = start + part.nnz
        data[start:stop], indices[start:stop] = part.data, part.indices
        bounds[row + 1 : row + part.shape[0] + 1] = part.indptr[1:] + start
        row, start = row + part.shape[0], stop
    whole = sparse.csr_matrix((data, indices, bounds), shape=(rows, width))
    whole.has_sorted_indices = True
    return whole


def _top_rows(matrix: sparse.csr_matrix, most: int) -> sparse.csr_matrix:
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    crowded = np.diff(matrix.indptr)[rows] > most
    keep = (matrix.data > 0) & ~crowded
    if crowded.any():
        places = np.flatnonzero(crowded)
        order = places[np.lexsort((matrix.indices[places], -matrix.data[places], rows[places]))]
        first = np.searchsorted(rows[order], rows[order])
        best = order[np.arange(len(order)) - first < most]
        keep[best] = matrix.data[best] > 0
    kept = sparse.csr_matrix(
        (matrix.data[keep], matrix.indices[keep], np.concatenate([[0], np.cumsum(keep)])[matrix.indptr]),
        shape=matrix.shape,
    )
    kept.sort_indices()
    return kept


def pair_values(matrix: sparse.csr_matrix, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float32]:
    """The matrix's values at pairs, float32 [k]; 0 where nothing is stored. Indices must be sorted."""
    stored = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr)) * matrix.shape[1]
    stored += matrix.indices
    values = np.zeros(len(rows), dtype=np.float32)
    if not len(stored):
        return values
    wanted = rows.astype(np.int64) * matrix.shape[1] + columns
    place = np.minimum(np.searchsorted(stored, wanted), len(stored) - 1)
    hit = stored[place] == wanted
    values[hit] = matrix.data[place[hit]]
    return values


def scale_rows(matrix: sparse.csr_matrix, factor: NDArray[np.float32]) -> sparse.csr_matrix:
    """Each row times its factor, [rows]."""
    scaled = matrix.copy()
    scaled.data = (scaled.data * np.repeat(factor, np.diff(matrix.indptr))).astype(np.float32)
    return scaled


def scale_columns(matrix: sparse.csr_matrix, factor: NDArray[np.float32]) -> sparse.csr_matrix:
    """Each column times its factor, [columns]."""
    scaled = matrix.copy()
    scaled.data = (scaled.data * factor[matrix.indices]).astype(np.float32)
    return scaled


def without_diagonal(matrix: sparse.csr_matrix, first_row: int = 0) -> sparse.csr_matrix:
    """Without the values of a page with itself; row 0 is page `first_row`."""
    matrix = sparse.csr_matrix(matrix)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)) + first_row
    matrix.data[rows == matrix.indices] = 0
    matrix.eliminate_zeros()
    return matrix


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
    """PageRank (Brin and Page 1998) by power iteration, float64 [n], sums to 1; [0] for no pages. Pages without
    links give to all alike."""
    pages = links.shape[0]
    if not pages:
        return np.empty(0)
    degree = np.diff(links.indptr).astype(np.float64)
    share = np.divide(1.0, degree, out=np.zeros(pages), where=degree > 0)
    back = sparse.csr_matrix(links.T, dtype=np.float64)
    rank = np.full(pages, 1.0 / pages)
    for _ in range(rounds):
        lost = rank[degree == 0].sum()
        new = (1 - damping) / pages + damping * (back @ (rank * share) + lost / pages)
        if np.abs(new - rank).sum() < 1e-9:
            return new
        rank = new
    return rank
