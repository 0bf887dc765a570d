"""One look at all addresses of a project: how many pages lie below each, and which pages need no second look to find
their roles."""

from __future__ import annotations

from array import array
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray


class Below:
    """How many pages lie below an address: eight bytes for each part of each address that was added."""

    def __init__(self) -> None:
        self._parents = array("q")
        self._known: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._pages: NDArray[np.int64] = self._known

    def add(self, urls: Iterable[str]) -> list[int]:
        """Counts these pages for all addresses above them. Returns the hashes by which `of_hashes` knows them."""
        trunks = list(map(_trunk, urls))
        for trunk in trunks:
            self._parents.extend(_all_above(trunk.rpartition("/")[0]))
        return list(map(hash, trunks))

    def count(self) -> None:
        """Once all pages were added."""
        parents = np.frombuffer(self._parents, dtype=np.int64) if self._parents else self._known
        self._known, self._pages = np.unique(parents, return_counts=True)
        self._parents = array("q")

    def of(self, urls: Sequence[str]) -> list[int]:
        """The pages below each of these addresses."""
        counts: list[int] = self.of_hashes(np.array([hash(_trunk(url)) for url in urls], dtype=np.int64)).tolist()
        return counts

    def of_hashes(self, hashes: NDArray[np.int64]) -> NDArray[Any]:
        """The pages below addresses, by their hashes [n]."""
        if not len(self._known):
            return np.zeros(len(hashes), dtype=np.int64)
        places = np.minimum(np.searchsorted(self._known, hashes), len(self._known) - 1)
        return np.where(self._known[places] == hashes, self._pages[places], 0)


def _trunk(url: str) -> str:
    """An address without its scheme, query and slash at the end."""
    if "?" in url or "#" in url:
        url = url.partition("?")[0].partition("#")[0]
    return url.partition("://")[2].rstrip("/")


@lru_cache(maxsize=2**14)
def _all_above(trunk: str) -> tuple[int, ...]:
    """The hashes of an address and of all above it, without the host."""
    hashes = []
    while "/" in trunk:
        hashes.append(hash(trunk))
        trunk = trunk.rpartition("/")[0]
    return tuple(hashes)
