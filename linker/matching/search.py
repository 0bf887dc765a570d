"""The best targets of each donor: exact, tiled, repeatable.

Products are taken tile by tile in float32. Whatever might belong to the result, a margin for rounding included, is
computed again in float64 and rounded to six decimals, and that number alone decides. The result therefore does not
depend on the size of the tiles, the number of threads or the order of the work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

DECIMALS = 6
# More than float32 products of unit vectors and the rounding can be off by.
MARGIN = np.float32(2e-5)
# Products are made and looked through in pieces of so many donors and targets, which stay in a processor's cache.
ROWS, COLUMNS = 512, 4096
FOLD = 16  # columns of a piece of which the highest product is found first


@dataclass(frozen=True)
class Side:
    """Pages on one side of a block: `ids` int64 [n], `unit` float32 [n, d], `nodes` int64 [n] of the category tree."""

    ids: NDArray[np.int64]
    unit: NDArray[np.float32]
    nodes: NDArray[np.int64]


@dataclass(frozen=True)
class Pairs:
    """Found pairs, by donor id, then score (highest first), then target id; all arrays [n].

    `similarity` is the cosine and `score` the cosine less the penalty of the level, float64 of six decimals.
    """

    donors: NDArray[np.int64]
    targets: NDArray[np.int64]
    levels: NDArray[np.int16]
    similarity: NDArray[np.float64]
    score: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.donors)


class _Best:
    """The best `pool` pairs of each of `rows` donors so far."""

    def __init__(self, rows: int, pool: int, threshold: float) -> None:
        self.pool = pool
        self.row = np.empty(0, dtype=np.int64)
        self.target = np.empty(0, dtype=np.int64)
        self.level = np.empty(0, dtype=np.int16)
        self.similarity = np.empty(0)
        self.score = np.empty(0)
        self.floor = np.full(rows, threshold, dtype=np.float64)
        self.threshold = threshold

    def add(
        self,
        row: NDArray[np.int64],
        target: NDArray[np.int64],
        level: NDArray[np.int16],
        similarity: NDArray[np.float64],
        score: NDArray[np.float64],
    ) -> None:
        keep = score >= self.threshold
        if not keep.any():
            return
        self.row = np.concatenate([self.row, row[keep]])
        self.target = np.concatenate([self.target, target[keep]])
        self.level = np.concatenate([self.level, level[keep]])
        self.similarity = np.concatenate([self.similarity, similarity[keep]])
        self.score = np.concatenate([self.score, score[keep]])
        order = np.lexsort((self.target, -self.score, self.row))
        first = np.searchsorted(self.row[order], self.row[order])
        rank = np.arange(len(order)) - first
        order, rank = order[rank < self.pool], rank[rank < self.pool]
        self.row, self.target, self.level = self.row[order], self.target[order], self.level[order]
        self.similarity, self.score = self.similarity[order], self.score[order]
        full = rank == self.pool - 1
        self.floor[self.row[full]] = self.score[full]


def tile_columns(memory: int, dimensions: int) -> int:
    """How many targets a tile may hold so that its vectors and products stay within `memory` bytes.

    A column costs its vector as read, as float16 and twice as float32. Products need ROWS x COLUMNS whatever is asked
    for, and as much again for masks.
    """
    return max(64, (memory - ROWS * COLUMNS * 8) // (dimensions * 14))


def search(
    donors: Side,
    tiles: Iterable[Side],
    levels: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int8]],
    forbidden: tuple[NDArray[np.int64], NDArray[np.int64]],
    *,
    threshold: float,
    level_penalty: float,
    pool: int,
) -> Pairs:
    """The `pool` best targets of each donor at or above `threshold`; ties go to the lower target id.

    `tiles` yields the targets in pieces, each target once. `levels(donor nodes, target nodes)` gives the levels of
    pairs of nodes, -1 where a pair is out of reach. `forbidden` are sources and targets, int64 [k] each, left out, as
    is a page's link to itself.
    """
    chunks = [slice(first, first + ROWS) for first in range(0, len(donors.ids), ROWS)]
    best = [_Best(len(donors.ids[chunk]), pool, threshold) for chunk in chunks]
    ban = _Ban(donors.ids, forbidden)
    room = np.empty(min(ROWS, len(donors.ids)) * COLUMNS, dtype=np.float32)
    for tile in tiles:
        for first in range(0, len(tile.ids), COLUMNS):
            part = slice(first, first + COLUMNS)
            piece = _Piece(Side(tile.ids[part], tile.unit[part], tile.nodes[part]))
            for chunk, found in zip(chunks, best, strict=True):
                _search_piece(donors, chunk, piece, levels, ban, level_penalty, found, room)
    if not best:
        nobody, nothing = np.empty(0, np.int64), np.empty(0, np.float64)
        return Pairs(nobody, nobody, np.empty(0, np.int16), nothing, nothing)
    rows = np.concatenate([found.row + chunk.start for chunk, found in zip(chunks, best, strict=True)])
    ids = donors.ids[rows]
    targets = np.concatenate([found.target for found in best])
    score = np.concatenate([found.score for found in best])
    order = np.lexsort((targets, -score, ids))
    return Pairs(
        ids[order],
        targets[order],
        np.concatenate([found.level for found in best])[order],
        np.concatenate([found.similarity for found in best])[order],
        score[order],
    )


class _Ban:
    """Forbidden pairs, looked up by donor rows and a tile's targets."""

    def __init__(self, donor_ids: NDArray[np.int64], forbidden: tuple[NDArray[np.int64], NDArray[np.int64]]) -> None:
        sources = np.concatenate([forbidden[0], donor_ids])
        targets = np.concatenate([forbidden[1], donor_ids])
        by_id = np.argsort(donor_ids, kind="stable")
        places = np.searchsorted(donor_ids[by_id], sources)
        known = places < len(donor_ids)
        known[known] = donor_ids[by_id][places[known]] == sources[known]
        rows = by_id[places[known]]
        order = np.argsort(rows, kind="stable")
        self.rows, self.targets = rows[order], targets[known][order]

    def within(self, chunk: slice, target_ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Positions (row in the chunk, column in the tile) of the forbidden pairs; `target_ids` ascending."""
        first, stop = np.searchsorted(self.rows, [chunk.start, chunk.stop])
        rows, targets = self.rows[first:stop] - chunk.start, self.targets[first:stop]
        columns = np.searchsorted(target_ids, targets)
        here = columns < len(target_ids)
        here[here] = target_ids[columns[here]] == targets[here]
        return rows[here], columns[here]


class _Piece:
    """Targets of a tile, and the kinds of nodes among them: position `kind` in `kinds`."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self.kinds, self.kind = _kinds(side.nodes)


def _kinds(nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if len(nodes) and (nodes == nodes[0]).all():
        return nodes[:1], np.zeros(len(nodes), dtype=np.int64)
    kinds, kind = np.unique(nodes, return_inverse=True)
    return kinds, kind


def _search_piece(
    donors: Side,
    chunk: slice,
    piece: _Piece,
    levels: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int8]],
    ban: _Ban,
    level_penalty: float,
    found: _Best,
    room: NDArray[np.float32],
) -> None:
    targets, unit = piece.side, donors.unit[chunk]
    donor_kinds, donor_kind = _kinds(donors.nodes[chunk])
    level_table = levels(donor_kinds, piece.kinds)
    products = room[: len(unit) * len(targets.ids)].reshape(len(unit), len(targets.ids))
    np.matmul(unit, targets.unit.T, out=products)
    if level_table.any():
        penalty = np.where(level_table < 0, np.inf, level_table * level_penalty).astype(np.float32)
        for kind in range(len(donor_kinds)):
            products[donor_kind == kind] -= penalty[kind, piece.kind]
    products[ban.within(chunk, targets.ids)] = -np.inf
    rows, columns = _promising(products, (found.floor - MARGIN).astype(np.float32), found.pool)
    if not len(rows):
        return
    similarity = _cosine(unit, targets.unit, rows, columns)
    level = level_table[donor_kind[rows], piece.kind[columns]].astype(np.int16)
    score: NDArray[np.float64] = np.round(similarity - level.astype(np.float64) * level_penalty, DECIMALS)
    found.add(rows, targets.ids[columns], level, similarity, score)


def _promising(
    products: NDArray[np.float32], floor: NDArray[np.float32], pool: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns of the products that may be among their row's `pool` best and are not below its `floor`.

    The highest of each group of FOLD columns is found first: the groups' `pool`-th highest is no higher than the
    products', and only groups that reach it need a closer look.
    """
    rows, columns = products.shape
    groups = columns // FOLD
    if groups <= pool:
        wanted = products >= floor[:, None]
        crowded = np.flatnonzero(wanted.sum(axis=1) > 2 * pool)
        if len(crowded):
            some = products[crowded]
            higher = np.partition(some, columns - pool, axis=1)[:, columns - pool] - MARGIN
            wanted[crowded] = some >= np.maximum(floor[crowded], higher)[:, None]
        near_row, near = np.nonzero(wanted)
        return near_row, near
    # Column j of group g is g + j * groups: the fold runs along memory.
    folded = products[:, : groups * FOLD].reshape(rows, FOLD, groups)
    highest = folded.max(axis=1)
    reached = highest >= floor[:, None]
    crowded = np.flatnonzero(reached.sum(axis=1) > pool)
    if len(crowded):
        some = highest[crowded]
        floor = floor.copy()
        floor[crowded] = np.maximum(
            floor[crowded], np.partition(some, groups - pool, axis=1)[:, groups - pool] - MARGIN
        )
        reached[crowded] = some >= floor[crowded][:, None]
    row, group = np.nonzero(reached)
    place, turn = np.nonzero(folded[row, :, group] >= floor[row][:, None])
    rest_row, rest = np.nonzero(products[:, groups * FOLD :] >= floor[:, None])
    return (
        np.concatenate([row[place], rest_row]),
        np.concatenate([group[place] + turn * groups, rest + groups * FOLD]),
    )


def _cosine(
    left: NDArray[np.float32], right: NDArray[np.float32], rows: NDArray[np.int64], columns: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Cosines of pairs of unit rows in float64, clipped to [-1, 1], of six decimals."""
    result = np.empty(len(rows), dtype=np.float64)
    count = max(1, min(len(rows), 256))
    taken, pair = np.empty((count, left.shape[1]), np.float32), np.empty((2, count, left.shape[1]))
    for first in range(0, len(rows), count):
        part = slice(first, first + count)
        many = len(rows[part])
        for side, (unit, places) in enumerate(((left, rows[part]), (right, columns[part]))):
            # All places are there: "clip" only spares the copy that "raise" makes.
            pair[side, :many] = np.take(unit, places, axis=0, out=taken[:many], mode="clip")
        result[part] = np.einsum("ij,ij->i", pair[0, :many], pair[1, :many])
    clipped: NDArray[np.float64] = np.clip(result, -1.0, 1.0)
    return np.round(clipped, DECIMALS)
