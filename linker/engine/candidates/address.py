"""Pages near the source in the tree of addresses: the one above, those below, and some beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linker.engine.candidates.base import Generator, Proposals, joined
from linker.engine.messages import gettext_noop

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.candidates.base import SourceSlice


class Address(Generator):
    name: ClassVar = "address"
    label: ClassVar = gettext_noop("Near in the address")
    most: ClassVar = 40

    def propose(self, sources: SourceSlice) -> Proposals:
        """The page above each source, up to `most` below it, and half as many beside it: the nearest in the order of
        pages."""
        tree, pages = sources.index.address, sources.pages
        has = np.flatnonzero(tree.parent[pages] >= 0)
        above = has, tree.parent[pages[has]]
        nothing_skipped = np.zeros(len(pages), dtype=np.int64)
        below = _windows(tree.parent[tree.by_parent], tree.by_parent, pages, nothing_skipped, self.most)
        place = np.empty(len(tree.folder), dtype=np.int64)
        place[tree.by_folder] = np.arange(len(tree.folder))
        keys, mine = tree.folder[tree.by_folder], tree.folder[pages]
        start = np.maximum(place[pages] - np.searchsorted(keys, mine) - self.most // 4, 0)
        beside = _windows(keys, tree.by_folder, mine, start, self.most // 2)
        return joined([above, below, beside])


def _windows(
    keys: NDArray[np.int64], pages: NDArray[np.int64], wanted: NDArray[np.int64], skip: NDArray[np.int64], most: int
) -> Proposals:
    """For each wanted key up to `most` of its pages after the first `skip`; `keys` ascending."""
    low = np.searchsorted(keys, wanted) + skip
    high = np.minimum(np.searchsorted(keys, wanted, side="right"), low + most)
    size = np.maximum(high - low, 0)
    row = np.repeat(np.arange(len(wanted)), size)
    offset = np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size)
    return row, pages[low[row] + offset]
