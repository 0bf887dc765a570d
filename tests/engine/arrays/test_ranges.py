"""Ranges are expanded, and members of groups counted, as plain loops do."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.arrays.ranges import distinct, expand_ranges, ranks_within


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 4))))
def test_ranges_follow_one_another(ranges) -> None:
    first, count = (np.array(column, dtype=np.int64) for column in ([a for a, _ in ranges], [b for _, b in ranges]))
    row, member = expand_ranges(first, count)
    expected = [(place, low + step) for place, (low, size) in enumerate(ranges) for step in range(size)]
    assert list(zip(row.tolist(), member.tolist(), strict=True)) == expected


def test_ranks_begin_anew_with_each_key() -> None:
    assert ranks_within(np.array([2, 2, 5, 7, 7, 7])).tolist() == [0, 1, 0, 0, 1, 2]
    assert ranks_within(np.empty(0, dtype=np.int64)).tolist() == []


def test_different_values_ascend_and_are_those_that_numpy_finds():
    random = np.random.default_rng(2)
    for size in (0, 1, 7, 5_000):
        values = np.repeat(np.arange(size), 3) * 40 + random.integers(0, 40, 3 * size)
        random.shuffle(values)
        assert distinct(values).tolist() == np.unique(values).tolist()
