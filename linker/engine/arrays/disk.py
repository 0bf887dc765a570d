"""Large data that is seldom read, kept in temporary files: a large site's texts and examples would fill the memory."""

from __future__ import annotations

import itertools
import mmap
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any, overload

import numpy as np

from linker.engine.arrays.vectors import slices

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEXTS_PER_READ = 1000  # by those who go through all of them
ROWS_PER_READ = 16384


class DiskTexts(Sequence[str]):
    """Texts in a temporary file, in the order they were added; any text can be kept, lone surrogates too."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._file = _file()
        self._bounds = np.zeros(1, dtype=np.int64)
        self.extend(texts)

    def extend(self, texts: Iterable[str]) -> None:
        """Adds texts at the end."""
        sizes = [self._file.write(text.encode("utf-8", "surrogatepass")) for text in texts]
        self._file.flush()
        self._bounds = np.concatenate([self._bounds, self._bounds[-1] + np.cumsum(sizes, dtype=np.int64)])

    def __len__(self) -> int:
        return len(self._bounds) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> list[str]: ...

    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            first, stop, step = place.indices(len(self))
            return self._read(first, stop) if step == 1 else [self[one] for one in range(first, stop, step)]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        place %= len(self)
        return self._read(place, place + 1)[0]

    def __iter__(self) -> Iterator[str]:
        for part in slices(len(self), TEXTS_PER_READ):
            yield from self[part]

    def _read(self, first: int, stop: int) -> list[str]:
        if stop <= first:
            return []
        bounds = (self._bounds[first : stop + 1] - self._bounds[first]).tolist()
        content = os.pread(self._file.fileno(), bounds[-1], int(self._bounds[first]))
        return [content[low:high].decode("utf-8", "surrogatepass") for low, high in itertools.pairwise(bounds)]


class DiskRows:
    """Rows of numbers in a temporary file, float32 [n, columns]; read by a slice, or by a mask bool [n]."""

    def __init__(self, columns: int) -> None:
        self._file = _file()
        self.shape = 0, columns

    def append(self, rows: NDArray[np.float32]) -> None:
        """Adds rows, float32 [k, columns], at the end."""
        self._file.write(np.ascontiguousarray(rows, dtype=np.float32).data)
        self._file.flush()
        self.shape = self.shape[0] + len(rows), self.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, wanted: slice | NDArray[np.bool_]) -> NDArray[np.float32]:
        if isinstance(wanted, slice):
            first, stop, _ = wanted.indices(len(self))
            width = 4 * self.shape[1]
            content = os.pread(self._file.fileno(), max(stop - first, 0) * width, first * width)
            return np.frombuffer(content, dtype=np.float32).reshape(-1, self.shape[1])
        found = np.empty((int(wanted.sum()), self.shape[1]), dtype=np.float32)
        done = 0
        for part in slices(len(self), ROWS_PER_READ):
            some = self[part][wanted[part]]
            found[done : done + len(some)] = some
            done += len(some)
        return found


def to_memmap(values: NDArray[Any]) -> NDArray[Any]:
    """The same values, of the same shape and dtype, mapped from a temporary file and read-only. See `evict_pages`."""
    if not values.nbytes:
        return values
    with _file() as file:
        file.write(np.ascontiguousarray(values).data)
        file.flush()
        mapped = np.memmap(file, values.dtype, mode="r", shape=values.shape)
    return np.asarray(mapped)  # a plain array: slices of the subclass cost more


def evict_pages(*arrays: NDArray[Any]) -> None:
    """Drops from memory what was read of arrays that `to_memmap` returned, of any shape, until it is read again. Other
    arrays stay as they are, and so do all where the system knows no MADV_DONTNEED."""
    for array in arrays:
        base: Any = array.base
        while isinstance(base, np.ndarray):
            base = base.base
        if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            base.madvise(mmap.MADV_DONTNEED)


def _file() -> IO[bytes]:
    return tempfile.TemporaryFile()
