"""Vectors of a site's pages in half the memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = 8192  # in a slice


class HalfVectors:
    """Vectors as the database has them, in half precision, read as rows of length 1 in single precision.

    `vectors[rows]`, by a slice or positions int64 [k], is float32 [k, d]; a row of zeros stays one. `half` float16
    [n, d] is finite. Rows are the same to the last bit, however many are read together.
    """

    def __init__(self, half: NDArray[np.float16]) -> None:
        self.half = half
        self.shape: tuple[int, int] = (half.shape[0], half.shape[1])
        self._length = np.empty(len(half), dtype=np.float32)
        for part in slices(len(half)):
            single = half[part].astype(np.float32)
            self._length[part] = np.sqrt(np.einsum("ij,ij->i", single, single))
        self._length[self._length == 0] = 1

    def __len__(self) -> int:
        return len(self.half)

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> NDArray[np.float32]:
        unit: NDArray[np.float32] = self.half[rows].astype(np.float32)
        unit /= self._length[rows][:, None]
        return unit


# Rows of length 1, or 0 for pages without a vector; an array, too, gives rows by a slice or by positions.
Vectors: TypeAlias = "NDArray[np.float32] | HalfVectors"


def slices(count: int, rows: int = ROWS) -> Iterator[slice]:
    """Slices of `rows` rows each, in order, that cover `count`; the last one may be shorter."""
    for first in range(0, count, rows):
        yield slice(first, min(first + rows, count))


def any_values(vectors: Vectors) -> NDArray[np.bool_]:
    """Which rows are not all 0, bool [n]."""
    kept: NDArray[Any] = vectors.half if isinstance(vectors, HalfVectors) else vectors
    return np.asarray(kept.any(axis=1))


def unit_rows(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """Rows [n, d] of any number type scaled to length 1, float32 [n, d]; rows of zeros stay so."""
    unit = vectors.astype(np.float32)
    length = np.sqrt(np.einsum("ij,ij->i", unit, unit))
    length[length == 0] = 1
    unit /= length[:, None]
    return unit
