"""Numbers of 64 bits for tokens and for sequences of them, and a table that looks them up: all at once, by numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MIN_POWERS = 2**17
# A token is hashed to a number of 64 bits: the sum of its characters' numbers times the powers of an odd base, mixed.
# Two of a million words share one with a chance of one in thirty million. Seeded, so that all processes agree.
_random = np.random.default_rng(2**31 - 1)
_character = _random.integers(0, 2**64, 0x400, dtype=np.uint64)
_BASE = 0x9E3779B97F4A7C15 | 1
_MIX = np.uint64(0xD6E8FEB86659FD93)


class _Powers:
    """Powers of the base and of its inverse modulo 2**64, as many as were asked for."""

    def __init__(self) -> None:
        self.up = self.down = np.ones(1, dtype=np.uint64)

    def upto(self, count: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        if count > len(self.up):
            size = max(count, MIN_POWERS)
            self.up, self.down = _powers(_BASE, size), _powers(pow(_BASE, -1, 2**64), size)
        return self.up, self.down


def _powers(base: int, count: int) -> NDArray[np.uint64]:
    powers = np.full(count, base, dtype=np.uint64)
    powers[:1] = 1
    return np.multiply.accumulate(powers)


_power = _Powers()


def token_hashes(code: NDArray[np.int64], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Hashes of the tokens `code[starts[i]:ends[i]]`, uint64 [tokens]; `code`: their code points, int64."""
    up, down = _power.upto(len(code) + 1)
    number = _character[code & 0x3FF]
    if len(code) and code.max() >= 0x400:
        number = number ^ ((code >> 10).view(np.uint64) * np.uint64(0xA0761D6478BD642F))
    total = np.empty(len(code) + 1, dtype=np.uint64)
    total[0] = 0
    np.cumsum(number * up[: len(code)], out=total[1:])
    key = (total[ends] - total[starts]) * down[starts]
    key ^= key >> np.uint64(32)
    key *= _MIX
    key ^= key >> np.uint64(29)
    return key


def prefix_sums(numbers: NDArray[np.int32]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """What sequences within `numbers` int32 [n] are hashed with, see `hash_runs`: sums uint64 [n + 1] of the first
    numbers, and the inverse powers of the base, uint64 [n or more]."""
    up, down = _power.upto(len(numbers))
    sums = np.zeros(len(numbers) + 1, dtype=np.uint64)
    np.cumsum(_scattered(numbers) * up[: len(numbers)], out=sums[1:])
    return sums, down


def hash_runs(
    sums: tuple[NDArray[np.uint64], NDArray[np.uint64]], first: NDArray[np.int64], last: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """A hash of each run `numbers[first[i]:last[i]]`, uint64 [runs]; `sums`: what `prefix_sums` made of `numbers`."""
    total, inverse = sums
    hashes: NDArray[np.uint64] = (total[last] - total[first]) * inverse[first]
    return hashes


def hash_rows(numbers: NDArray[np.int32]) -> NDArray[np.uint64]:
    """A hash of each row of `numbers` int32 [n, k], uint64 [n]; a row ends before its first -1.

    Equal to `hash_runs` of the same sequence. Two sequences share a hash with a chance of one in 2**64.
    """
    up = _power.upto(numbers.shape[1])[0]
    total = np.zeros(len(numbers), dtype=np.uint64)
    for column, power in zip(numbers.T, up, strict=False):  # one after the other: all at once take much more room
        total += np.where(column >= 0, _scattered(column) * power, np.uint64(0))
    return total


def _scattered(numbers: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
    mixed = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(_BASE)
    mixed ^= mixed >> np.uint64(32)
    mixed *= _MIX
    mixed ^= mixed >> np.uint64(29)
    return mixed


class HashTable:
    """Numbers from 0 on by hash, with open addressing; at most half full."""

    def __init__(self) -> None:
        self._bits, self._count = 16, 0
        self._empty()

    def _empty(self) -> None:
        self._key = np.zeros(1 << self._bits, dtype=np.uint64)
        self._value = np.full(1 << self._bits, -1, dtype=np.int32)

    def _slots(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        return (keys >> np.uint64(64 - self._bits)).astype(np.int64)

    def add(self, keys: NDArray[np.uint64], values: NDArray[np.int32]) -> None:
        """Adds distinct keys, uint64 [k], that the table does not have yet, with their numbers, int32 [k], from 0
        on."""
        self._count += len(keys)
        if 2 * self._count > len(self._key):
            held = self._value >= 0
            keys, values = np.concatenate([self._key[held], keys]), np.concatenate([self._value[held], values])
            self._bits = (4 * self._count).bit_length()
            self._empty()
        at = self._slots(keys)
        while len(keys):
            free = self._value[at] < 0
            self._key[at[free]], self._value[at[free]] = keys[free], values[free]  # of two, one stays
            lost = self._value[at] != values
            keys, values, at = keys[lost], values[lost], (at[lost] + 1) & (len(self._key) - 1)

    def find(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """The number of each key, uint64 [k]: int32 [k]; -1 for a key that the table does not have."""
        at = self._slots(keys)
        value = self._value[at]
        lost = np.flatnonzero((self._key[at] != keys) & (value >= 0))
        while len(lost):
            at[lost] = (at[lost] + 1) & (len(self._key) - 1)
            value[lost] = self._value[at[lost]]
            lost = lost[(self._key[at[lost]] != keys[lost]) & (value[lost] >= 0)]
        return value
