"""The nearest pages: exact on sites of usual size, nearly so through cells on large ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.nearest.vectors import SearchOptions, largest, nearest


def clustered(pages: int, dimensions: int = 32) -> np.ndarray:
    random = np.random.default_rng(3)
    centres = random.normal(size=(40, dimensions))
    unit = centres[random.integers(0, 40, pages)] + random.normal(size=(pages, dimensions))
    return (unit / np.linalg.norm(unit, axis=1, keepdims=True)).astype(np.float32)


def slow_nearest(unit: np.ndarray, most: int, is_target: np.ndarray) -> list[set[int]]:
    cosine = unit @ unit.T
    np.fill_diagonal(cosine, -1)
    cosine[:, ~is_target] = -1
    return [{int(page) for page in np.argsort(-row, kind="stable")[:most] if row[page] > 0} for row in cosine]


@pytest.mark.parametrize("rows", [7, 1024])
def test_every_page_has_its_nearest_targets(rows):
    unit = clustered(300)
    unit[5] = 0
    is_target = np.arange(300) % 3 > 0
    found = nearest(unit, 8, is_target, SearchOptions(rows=rows))
    assert [set(found[page].indices.tolist()) for page in range(300)] == slow_nearest(unit, 8, is_target)
    assert found[5].nnz == 0


@pytest.mark.nightly
def test_beyond_the_exact_size_nearly_all_of_them_are_found_and_the_same_each_time():
    unit = clustered(6000)
    is_target = np.ones(6000, dtype=bool)
    exact = nearest(unit, 20, is_target)
    cells = SearchOptions(exact=100)
    found = nearest(unit, 20, is_target, cells)
    same = sum(len(np.intersect1d(found[page].indices, exact[page].indices)) for page in range(6000))
    assert same >= 0.95 * exact.nnz
    assert (found != nearest(unit, 20, is_target, cells)).nnz == 0


def test_one_page_and_no_target_have_nothing_near():
    assert nearest(clustered(1), 5, np.ones(1, dtype=bool)).nnz == 0
    assert nearest(clustered(4), 5, np.zeros(4, dtype=bool)).nnz == 0


@given(
    seed=st.integers(0, 1000),
    rows=st.integers(1, 20),
    columns=st.integers(1, 4000),
    width=st.integers(1, 45),
    levels=st.sampled_from([2, 7, 10_000]),
)
def test_the_largest_of_each_row_are_those_of_a_plain_sort_however_many_are_equal(seed, rows, columns, width, levels):
    width = min(width, columns)
    values = (np.random.default_rng(seed).integers(0, levels, (rows, columns)) / levels).astype(np.float32)
    found = largest(values, width)
    assert all(len(set(row)) == width for row in found.tolist())
    best = np.sort(np.take_along_axis(values, found, axis=1), axis=1)
    assert np.array_equal(best, np.sort(values, axis=1)[:, columns - width :])
