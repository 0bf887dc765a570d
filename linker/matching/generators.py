"""Where candidates come from: each generator names a few targets for each donor, by a score of its own."""

from __future__ import annotations

from enum import IntFlag
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Generator(IntFlag):
    """Who proposed a pair; a pair may have several."""

    CATEGORY = 1  # nearest by meaning within the donor's category and the levels above
    NEAREST = 2  # nearest by meaning on the whole site
    LEXICAL = 4  # nearest by words
    MENTION = 8  # a name or an anchor of the target stands in the donor's text
    NEIGHBOUR_LINKS = 16  # the nearest pages link to it
    SIMILAR_LINKERS = 32  # pages that link to the same targets link to it
    COCITED = 64  # linked together with what the donor links to
    CATEGORY_LINKS = 128  # other pages of the donor's category link to it
    RECIPROCAL = 256  # the target links to the donor
    ADDRESS = 512  # above, below or beside the donor in the tree of addresses


EVERY = ~Generator(0)  # all of them switched on
NAMES = {flag: (flag.name or "").lower() for flag in Generator}
LABELS = {  # how people read the names
    "category": "Category",
    "nearest": "Nearest by meaning",
    "lexical": "Nearest by words",
    "mention": "Mention",
    "neighbour_links": "Neighbours link to it",
    "similar_linkers": "Similar linkers link to it",
    "cocited": "Co-cited",
    "category_links": "Its category links to it",
    "reciprocal": "Links back",
    "address": "Near by address",
}


def names(bits: int) -> list[str]:
    """The generators in `bits` by name, in the order of the enumeration."""
    return [name for flag, name in NAMES.items() if bits & flag]


def nearest(unit: NDArray[np.float32], most: int, is_target: NDArray[np.bool_], rows: int = 1024) -> sparse.csr_matrix:
    """The `most` targets of highest cosine for each page, exact: CSR [n, n] of cosines, positive ones alone.

    `unit` float32 [n, d]: rows of length 1, or 0 for pages without a vector, which are near to nothing. Tiled over
    donors; ties go to the lower page.
    """
    pages = len(unit)
    targets = np.flatnonzero(is_target & unit.any(axis=1))
    width = min(most + 1, len(targets))
    indptr, columns, values = [0], [], []
    vectors = np.ascontiguousarray(unit[targets].T)
    for first in range(0, pages, rows):
        stop = min(first + rows, pages)
        if not width:
            indptr += [0] * (stop - first)
            continue
        cosine = unit[first:stop] @ vectors
        chosen = np.argpartition(-cosine, width - 1, axis=1)[:, :width]
        value = np.take_along_axis(cosine, chosen, axis=1)
        page = targets[chosen]
        order = np.lexsort((page, -value), axis=1)
        page, value = np.take_along_axis(page, order, axis=1), np.take_along_axis(value, order, axis=1)
        keep = (value > 0) & (page != np.arange(first, stop)[:, None])
        keep &= np.cumsum(keep, axis=1) <= most
        columns.append(page[keep])
        values.append(value[keep])
        indptr += (indptr[-1] + np.cumsum(keep.sum(axis=1))).tolist()
    matrix = sparse.csr_matrix(
        (
            np.concatenate(values or [np.empty(0, np.float32)]).astype(np.float32),
            np.concatenate(columns or [np.empty(0, np.int64)]),
            np.array(indptr),
        ),
        shape=(pages, pages),
    )
    matrix.sort_indices()
    return matrix


def union(
    parts: list[tuple[Generator, NDArray[np.int64], NDArray[np.int64]]], pages: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Pairs of all generators: donors, targets, and the bits of who proposed them, int32; by donor, then target.

    `parts` holds generator, donors and targets, int64 [k] each; one generator may name a pair twice.
    """
    if not parts:
        nothing = np.empty(0, dtype=np.int64)
        return nothing, nothing, nothing.astype(np.int32)
    key = np.concatenate([donors * pages + targets for _, donors, targets in parts])
    bits = np.concatenate([np.full(len(donors), int(flag), dtype=np.int32) for flag, donors, _ in parts])
    order = np.argsort(key, kind="stable")
    key, bits = key[order], bits[order]
    if not len(key):
        return key, key, bits
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    return key[first] // pages, key[first] % pages, np.bitwise_or.reduceat(bits, first)
