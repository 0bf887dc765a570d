"""Hashes stand for sequences: equal ones have one, wherever they are, and others have another."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.text.hashing import HashTable, hash_rows, hash_runs, prefix_sums

numbers = st.lists(st.integers(0, 3), min_size=1, max_size=12)


@given(numbers, st.data())
def test_runs_share_a_hash_where_they_are_equal_and_only_there(text: list[int], data: st.DataObject) -> None:
    bound = st.integers(0, len(text) - 1)
    one, other = (sorted(data.draw(st.tuples(bound, bound))) for _ in range(2))
    first, last = np.array([one[0], other[0]]), np.array([one[1] + 1, other[1] + 1])
    found = hash_runs(prefix_sums(np.array(text, dtype=np.int32)), first, last)
    assert (found[0] == found[1]) == (text[one[0] : one[1] + 1] == text[other[0] : other[1] + 1])


@given(numbers)
def test_a_row_has_the_hash_of_the_run_of_its_numbers(text: list[int]) -> None:
    row = np.array([[*text, -1]], dtype=np.int32)
    run = hash_runs(prefix_sums(np.array([9, *text], dtype=np.int32)), np.array([1]), np.array([len(text) + 1]))
    assert hash_rows(row).tolist() == run.tolist()


def test_a_table_finds_what_it_was_given_and_nothing_else_when_it_has_grown() -> None:
    keys = np.random.default_rng(3).integers(0, 2**64, 100_000, dtype=np.uint64)
    table = HashTable()
    for part in np.array_split(np.arange(80_000, dtype=np.int32), 7):
        table.add(keys[part], part)
    assert np.array_equal(table.find(keys[:80_000]), np.arange(80_000))
    assert (table.find(keys[80_000:]) == -1).all()
