"""Sparse matrices by rows: the best values of each, values at pairs, scaling, stacking.

All matrices are CSR, float32 unless said otherwise, with sorted indices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

VALUES = 2_000_000  # of a matrix that are looked through at a time


def top_rows(matrix: sparse.csr_matrix, most: int) -> sparse.csr_matrix:
    """The matrix [r, c] with only the `most` largest positive values of each row; ties go to the lower column."""
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
    """Matrices of equal width, at least one, below one another in the order of the list: [sum of rows, width]. Empties
    the list on the way, so that they are never held twice."""
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


def rows_at(matrix: sparse.csr_matrix, rows: NDArray[np.int64], height: int) -> sparse.csr_matrix:
    """A matrix [k, c] as [height, c], its rows at `rows`, int64 [k], ascending; the others are empty."""
    if len(rows) == height:
        return matrix
    counts = np.zeros(height + 1, dtype=np.int64)
    counts[rows + 1] = np.diff(matrix.indptr)
    return sparse.csr_matrix((matrix.data, matrix.indices, np.cumsum(counts)), shape=(height, matrix.shape[1]))


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


def unit_length_rows(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    """Rows of a matrix [r, c] scaled to length 1; empty ones stay empty."""
    length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return _divided_rows(matrix, length)


def unit_sum_rows(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    """Rows of a matrix [r, c] scaled to a sum of 1; rows without a positive sum become 0."""
    return _divided_rows(matrix, np.asarray(matrix.sum(axis=1)).ravel())


def _divided_rows(matrix: sparse.csr_matrix, by: NDArray[Any]) -> sparse.csr_matrix:
    scale = np.divide(1, by, out=np.zeros(len(by)), where=by > 0).astype(np.float32)
    divided = sparse.csr_matrix(sparse.diags(scale) @ matrix, dtype=np.float32)
    divided.sort_indices()
    return divided


def scale_rows(matrix: sparse.csr_matrix, factor: NDArray[np.float32]) -> sparse.csr_matrix:
    """Each row of a matrix [r, c] times its factor, [r]."""
    scaled = matrix.copy()
    scaled.data = (scaled.data * np.repeat(factor, np.diff(matrix.indptr))).astype(np.float32)
    return scaled


def scale_columns(matrix: sparse.csr_matrix, factor: NDArray[np.float32]) -> sparse.csr_matrix:
    """Each column of a matrix [r, c] times its factor, [c]."""
    scaled = matrix.copy()
    scaled.data = (scaled.data * factor[matrix.indices]).astype(np.float32)
    return scaled


def without_diagonal(matrix: sparse.csr_matrix, first_row: int = 0) -> sparse.csr_matrix:
    """A matrix [k, n] of pages and pages without the values of a page with itself; its row 0 is page `first_row`."""
    matrix = sparse.csr_matrix(matrix)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)) + first_row
    matrix.data[rows == matrix.indices] = 0
    matrix.eliminate_zeros()
    return matrix
