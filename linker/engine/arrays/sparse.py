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
    """Sorts one number for each value instead of three columns, which takes a third of the time: the row, and the bits
    of the value, which are in the order of the values where these are positive."""
    counts, keep = np.diff(matrix.indptr), matrix.data > 0
    crowded = counts > most
    if crowded.any():
        key = np.repeat(np.arange(len(counts), dtype=np.uint64) << np.uint64(32), counts)
        key |= np.where(keep, matrix.data, 0).astype(np.float32).view(np.uint32)
        ranked = np.sort(key[np.repeat(crowded, counts)])
        least = np.zeros(len(counts), dtype=np.uint64)
        least[crowded] = ranked[np.cumsum(counts[crowded]) - most]
        least = np.repeat(least, counts)
        keep &= key >= least
        _leave_last_ties(keep, key == least, matrix.indptr, most)
    kept = sparse.csr_matrix(
        (matrix.data[keep], matrix.indices[keep], np.concatenate([[0], np.cumsum(keep)])[matrix.indptr]),
        shape=matrix.shape,
    )
    kept.has_sorted_indices = True
    return kept


def _leave_last_ties(
    keep: NDArray[np.bool_], is_least: NDArray[np.bool_], bounds: NDArray[np.integer[Any]], most: int
) -> None:
    """Takes out of the kept values of each row, bool [values], the last of those that are the least of it, until it has
    `most`."""
    before = np.concatenate([[0], np.cumsum(keep)])[bounds]
    over = np.maximum(np.diff(before) - most, 0)
    if not over.any():
        return
    tied = np.flatnonzero(keep & is_least)
    row = np.searchsorted(bounds, tied, side="right") - 1
    from_the_end = np.searchsorted(row, row, side="right") - 1 - np.arange(len(row))
    keep[tied[from_the_end < over[row]]] = False


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
