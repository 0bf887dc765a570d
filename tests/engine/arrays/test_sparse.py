"""Sparse matrices by rows: what is kept, read, scaled and stacked is what a dense matrix gives."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from linker.engine.arrays.sparse import pair_values, stacked, top_rows, unit_length_rows, unit_sum_rows


@given(st.lists(st.lists(st.integers(-2, 4), min_size=5, max_size=5), min_size=1, max_size=5), st.integers(1, 5))
def test_top_rows_keeps_the_largest_positive_values(rows, most: int) -> None:
    kept = top_rows(sparse.csr_matrix(np.array(rows, dtype=np.float32)), most).toarray()
    for row, values in zip(kept, rows, strict=True):
        best = sorted((-value, place) for place, value in enumerate(values) if value > 0)[:most]
        assert {place for place in range(5) if row[place]} == {place for _, place in best}


def test_pair_values_are_zero_where_nothing_is_stored() -> None:
    matrix = sparse.csr_matrix(np.array([[0, 1, 0], [0, 0, 0], [1, 0, 0]], dtype=np.float32))
    assert pair_values(matrix, np.array([0, 0, 2, 1]), np.array([1, 2, 0, 1])).tolist() == [1, 0, 1, 0]


def test_matrices_stand_one_below_the_other_in_their_order() -> None:
    parts = [sparse.random(rows, 7, 0.4, "csr", np.float32, random_state=rows) for rows in (3, 0, 5, 1)]
    for part in parts:
        part.sort_indices()
    whole = sparse.vstack(parts, format="csr")
    found = stacked(parts)
    assert parts == []
    assert (found != whole).nnz == 0
    assert np.array_equal(found.indptr, whole.indptr)
    assert np.array_equal(found.indices, whole.indices)
    assert found.dtype == np.float32


def test_rows_of_length_1_and_of_sum_1_leave_empty_rows_empty() -> None:
    matrix = sparse.csr_matrix(np.array([[3, 0, 4], [0, 0, 0], [0, 2, 0]], dtype=np.float32))
    assert np.allclose(unit_length_rows(matrix).toarray(), [[0.6, 0, 0.8], [0, 0, 0], [0, 1, 0]])
    assert np.allclose(unit_sum_rows(matrix).toarray(), [[3 / 7, 0, 4 / 7], [0, 0, 0], [0, 1, 0]])
