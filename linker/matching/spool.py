"""Values by key, in memory up to a size and in a file beyond."""

from __future__ import annotations

import pickle
import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEMORY_BYTES = 64 * 2**20


class Spool:
    """Values by key in memory and, from MEMORY_BYTES on, in a file: those of a million targets can be a gigabyte.

    `keys` int64 [n], ascending, are all that will ever be asked for.
    """

    def __init__(self, keys: NDArray[np.int64]) -> None:
        self.file = tempfile.SpooledTemporaryFile(MEMORY_BYTES)  # noqa: SIM115 - lives as long as this
        self.keys = keys
        self.start = np.full(len(keys), -1, dtype=np.int64)
        self.size = np.zeros(len(keys), dtype=np.int32)
        self.end = 0

    def put(self, values: dict[int, Any]) -> None:
        """Keeps the values of some keys."""
        contents = [pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL) for value in values.values()]
        sizes = np.array([len(content) for content in contents], dtype=np.int64)
        places = np.searchsorted(self.keys, np.array(list(values), dtype=np.int64))
        self.start[places], self.size[places] = self.end + np.cumsum(sizes) - sizes, sizes
        self.file.seek(self.end)
        self.file.write(b"".join(contents))
        self.end += int(sizes.sum())

    def where(self, keys: NDArray[np.int64]) -> dict[int, tuple[int, int]]:
        """For `read`, those of the keys that have a value."""
        places = np.searchsorted(self.keys, keys)
        places = places[self.start[places] >= 0]
        spans = zip(self.start[places].tolist(), self.size[places].tolist(), strict=True)
        return dict(zip(self.keys[places].tolist(), spans, strict=True))

    def read(self, where: tuple[int, int]) -> Any:
        self.file.seek(where[0])
        return pickle.loads(self.file.read(where[1]))  # noqa: S301 - written by put
