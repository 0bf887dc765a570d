"""The pairs of all generators together, each with who proposed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linker.engine.candidates.registry import bit_of, switched_on

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from linker.engine.candidates.base import SourceSlice


def proposed_pairs(
    sources: SourceSlice, generators: Collection[str] = (), *, within: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Pairs that the named generators (none: all) propose for the sources of a slice: sources and targets, int64 [m],
    and the bits of who proposed them, int32 [m]; by source, then target, each pair once. Raises ValueError for a name
    that there is not.

    `within`: where the site has `levels_up`, also each generator's best within them.
    """
    parts = []
    for generator in switched_on(generators):
        proposals = [generator.propose(sources)]
        if within and sources.site.levels_up is not None:
            proposals.append(generator.propose_within(sources))
        parts += [(bit_of(generator.name), sources.pages[rows], pages) for rows, pages in proposals]
    return union(parts, len(sources.site))


def union(
    parts: list[tuple[int, NDArray[np.int64], NDArray[np.int64]]], pages: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Pairs of all parts: sources, targets, and the bits of who proposed them, int32; by source, then target.

    `parts` holds bit, sources and targets, int64 [k] each; one generator may name a pair twice. `pages`: of the site.
    """
    if not parts:
        nothing = np.empty(0, dtype=np.int64)
        return nothing, nothing, nothing.astype(np.int32)
    key = np.concatenate([sources * pages + targets for _, sources, targets in parts])
    bits = np.concatenate([np.full(len(sources), bit, dtype=np.int32) for bit, sources, _ in parts])
    order = np.argsort(key, kind="stable")
    key, bits = key[order], bits[order]
    if not len(key):
        return key, key, bits
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    return key[first] // pages, key[first] % pages, np.bitwise_or.reduceat(bits, first)
