"""Ranges and groups within arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray


def expand_ranges(
    first: NDArray[np.integer[Any]], count: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The members of ranges, one range after the other: `first[i]`, `first[i] + 1` ... `first[i] + count[i] - 1`.

    Returns the range that each member belongs to and the member itself, int64 [sum of count] both.
    """
    row = np.repeat(np.arange(len(count)), count)
    member = np.repeat(first - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
    return row, member


def ranks_within(key: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """The place of each row among those of its key, int64 [n], 0 for the first; `key` ascends."""
    return np.arange(len(key)) - np.searchsorted(key, key)


def distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The different values, int64 [k], ascending; quick where most of them are in order already. On numbers like those
    of rows and columns in one, numpy's own `unique`, which hashes, takes fifty times as long."""
    ordered = np.sort(values, kind="stable")
    found: NDArray[np.int64] = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(ordered)]]
    return found
