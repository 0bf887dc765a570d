"""Vectors in half precision are read as the same rows of length 1, however many are read together."""

from __future__ import annotations

import numpy as np

from linker.engine.arrays import vectors
from linker.engine.arrays.vectors import HalfVectors, any_values, slices, unit_rows
from linker.engine.nearest.vectors import nearest


def made(pages: int = 300, dimensions: int = 37) -> np.ndarray:
    half = np.random.default_rng(5).standard_normal((pages, dimensions)).astype(np.float16)
    half[::50] = 0
    half[1] = np.float16(6e-8)  # the smallest there is
    return half


def test_rows_are_the_normalised_ones_to_the_last_bit() -> None:
    half = made()
    unit, kept = unit_rows(half), HalfVectors(half)
    assert kept.shape == half.shape
    assert np.array_equal(kept[:], unit)
    assert np.array_equal(any_values(kept), any_values(unit))
    for size in (1, 7, 300):
        assert all(np.array_equal(kept[part], unit[part]) for part in slices(len(half), size))
    some = np.array([299, 0, 50, 1, 1])
    assert np.array_equal(kept[some], unit[some])


def test_slices_cover_every_row_once() -> None:
    assert [(part.start, part.stop) for part in slices(5, 2)] == [(0, 2), (2, 4), (4, 5)]
    assert list(slices(0)) == []
    assert [part.stop for part in slices(vectors.ROWS + 1)] == [vectors.ROWS, vectors.ROWS + 1]


def test_the_nearest_pages_are_those_of_the_array() -> None:
    half, is_target = made(), np.arange(300) % 3 > 0
    one, two = nearest(HalfVectors(half), 5, is_target), nearest(unit_rows(half), 5, is_target)
    assert (one != two).nnz == 0
