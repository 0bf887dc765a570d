"""The best targets of each source: exact, tiled, repeatable.

Products are taken piece by piece in float32. Whatever might belong to the result, a margin for rounding included, is
computed again in float64 and rounded to six decimals, and that number alone decides. The result therefore does not
depend on the size of the tiles, the number of threads or the order of the work. A product of two sources serves both of
them, so that a block whose pages are on both sides costs half.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    _Work = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
    Levels = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int8]]

DECIMALS = 6
# More than float32 products of unit vectors and the rounding can be off by.
MARGIN = np.float32(2e-5)


@dataclass(frozen=True)
class Tiling:
    """The sizes of pieces; none of them changes a result.

    rows, columns  sources and targets of a piece in which products are made and looked through: it stays in a
                   processor's cache
    fold           columns of a piece of which the highest product is found first
    pending        pairs that wait to be computed again
    """

    rows: int = 512
    columns: int = 4096
    fold: int = 16
    pending: int = 2**20


USUAL = Tiling()


@dataclass(frozen=True)
class Side:
    """Pages on one side of a block: `ids` int64 [n], `unit` float32 [n, d], `nodes` int64 [n] of the category tree."""

    ids: NDArray[np.int64]
    unit: NDArray[np.float32]
    nodes: NDArray[np.int64]


@dataclass(frozen=True)
class Pairs:
    """Found pairs, by source id, then score (highest first), then target id; all arrays [n].

    `similarity` is the cosine and `score` the cosine less the penalty of the level, float64 of six decimals.
    """

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    levels: NDArray[np.int16]
    similarity: NDArray[np.float64]
    score: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.sources)


class _Best:
    """The best `pool` pairs of each source so far, and those that may yet be among them.

    `floor` float32 [sources] is what a product has to reach to matter, MARGIN taken off.
    """

    def __init__(
        self, sources: Side, levels: Levels, pool: int, threshold: float, level_penalty: float, tiling: Tiling
    ) -> None:
        self.sources, self._levels, self.pool = sources, levels, pool
        self.threshold, self.level_penalty, self.tiling = threshold, level_penalty, tiling
        self.floor = np.full(len(sources.ids), threshold - MARGIN, dtype=np.float32)
        self._highest = np.full((len(sources.ids), pool), -np.inf, dtype=np.float32)
        self._waiting: list[tuple[NDArray[Any], ...]] = []
        self._count = 0
        self._lock = threading.RLock()
        self.row, self.target = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        self.level = np.empty(0, dtype=np.int16)
        self.similarity, self.score = np.empty(0), np.empty(0)

    def look(
        self,
        rows: NDArray[np.int64],
        targets: Side,
        columns: NDArray[np.int64],
        products: NDArray[np.float32],
        hidden: tuple[NDArray[np.int64], NDArray[np.int64]],
    ) -> None:
        """Notes what may matter among the products [rows, columns] of some sources with some of the targets.

        `hidden` are the places in `products` of forbidden pairs.
        """
        source_kinds, source_kind = _kinds(self.sources.nodes[rows])
        kinds, kind = _kinds(targets.nodes[columns])
        table = self._levels(source_kinds, kinds)
        if table.any():
            products = products.copy()
            penalty = np.where(table < 0, np.inf, table * self.level_penalty).astype(np.float32)
            for number in range(len(source_kinds)):
                products[source_kind == number] -= penalty[number, kind]
        kept = products[hidden]
        products[hidden] = -np.inf
        row, column, product = self._promising(rows, products, alone=len(columns) == len(targets.ids))
        products[hidden] = kept
        if not len(row):
            return
        level = table[source_kind[row], kind[column]]
        with self._lock:
            self._waiting.append((rows[row], columns[column], product, level))
            self._count += len(row)
            if self._count > self.tiling.pending:
                self.settle(targets)

    def _promising(
        self, part: NDArray[np.int64], products: NDArray[np.float32], *, alone: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
        """Rows, columns and values of the products that may be among their row's `pool` best; raises the floor.

        The highest of each group of `fold` columns is found first: any `pool` of a row's products bound its best from
        below, and only groups that reach the bound need a closer look.
        """
        rows, columns = products.shape
        floor = self.floor[part]
        fold = self.tiling.fold if columns // self.tiling.fold > self.pool else 1
        groups = columns // fold
        # Column j of group g is g + j * groups: the fold runs along memory.
        folded = products[:, : groups * fold].reshape(rows, fold, groups)
        highest = folded.max(axis=1)
        reached = highest >= floor[:, None]
        crowded = (np.count_nonzero(reached, axis=1) > self.pool).nonzero()[0]
        if len(crowded):
            some = highest[crowded]
            bound = np.partition(some, groups - self.pool, axis=1)[:, groups - self.pool] - MARGIN
            floor[crowded] = np.maximum(floor[crowded], bound)
            reached[crowded] = some >= floor[crowded][:, None]
        row, group = reached.nonzero()
        if len(row) and not alone:
            with self._lock:
                self._raise(part, row, highest[row, group])
        near = folded[row, :, group]
        place, turn = (near >= floor[row][:, None]).nonzero()
        found = row[place], group[place] + turn * groups, near[place, turn]
        if groups * fold == columns:
            return found
        left = products[:, groups * fold :]
        rest_row, rest = (left >= floor[:, None]).nonzero()
        return (
            np.concatenate([found[0], rest_row]),
            np.concatenate([found[1], rest + groups * fold]),
            np.concatenate([found[2], left[rest_row, rest]]),
        )

    def _raise(self, part: NDArray[np.int64], row: NDArray[np.int64], value: NDArray[np.float32]) -> None:
        """Takes products of different targets, by row of `part`, into the highest known ones."""
        begins = np.append(0, (row[1:] != row[:-1]).nonzero()[0] + 1)
        size = np.diff(begins, append=len(row))
        rank = np.arange(len(row)) - np.repeat(begins, size)
        known = np.full((len(begins), 2 * self.pool), -np.inf, dtype=np.float32)
        some = rank < self.pool
        known[np.repeat(np.arange(len(begins)), size)[some], rank[some]] = value[some]
        touched = part[row[begins]]
        known[:, self.pool :] = self._highest[touched]
        known.partition(self.pool, axis=1)
        self._highest[touched] = known[:, self.pool :]
        self.floor[touched] = np.maximum(self.floor[touched], known[:, self.pool] - MARGIN)

    def settle(self, targets: Side) -> None:
        """Computes what waits again, exactly, and keeps the best; columns are places in `targets`."""
        if not self._waiting:
            return
        row, column, product, level = map(np.concatenate, zip(*self._waiting, strict=True))
        self._waiting, self._count = [], 0
        near = product >= self.floor[row]
        row, column, level = row[near], column[near], level[near].astype(np.int16)
        similarity = _cosine(self.sources.unit, targets.unit, row, column)
        score: NDArray[np.float64] = np.round(similarity - level.astype(np.float64) * self.level_penalty, DECIMALS)
        keep = score >= self.threshold
        row = np.concatenate([self.row, row[keep]])
        target = np.concatenate([self.target, targets.ids[column[keep]]])
        score = np.concatenate([self.score, score[keep]])
        order = np.lexsort((target, -score, row))
        rank = np.arange(len(order)) - np.searchsorted(row[order], row[order])
        order, rank = order[rank < self.pool], rank[rank < self.pool]
        self.row, self.target, self.score = row[order], target[order], score[order]
        self.level = np.concatenate([self.level, level[keep]])[order]
        self.similarity = np.concatenate([self.similarity, similarity[keep]])[order]
        full = rank == self.pool - 1
        self.floor[self.row[full]] = np.maximum(self.floor[self.row[full]], (self.score[full] - MARGIN).astype("f4"))

    def pairs(self) -> Pairs:
        return Pairs(self.sources.ids[self.row], self.target, self.level, self.similarity, self.score)


def tile_columns(memory: int, dimensions: int) -> int:
    """How many targets a tile may hold so that its vectors and products stay within `memory` bytes.

    A column costs its vector as read, as float16 and twice as float32. Products need a piece's rows times columns
    whatever is asked for, and as much again for masks.
    """
    return max(64, (memory - USUAL.rows * USUAL.columns * 8) // (dimensions * 14))


def search(
    sources: Side,
    tiles: Iterable[Side],
    levels: Levels,
    forbidden: tuple[NDArray[np.int64], NDArray[np.int64]],
    *,
    threshold: float,
    level_penalty: float,
    pool: int,
    threads: int = 1,
    tiling: Tiling = USUAL,
) -> Pairs:
    """The `pool` best targets of each source at or above `threshold`; ties go to the lower target id.

    `tiles` yields the targets in pieces by id, each target once; a page that is on both sides is the same on both.
    `levels(source nodes, target nodes)` gives the levels of pairs of nodes, -1 where a pair is out of reach.
    `forbidden` are sources and targets, int64 [k] each, left out, as is a page's link to itself.
    `threads` look through products at a time; numpy's own threads are best kept to one then.
    """
    if (sources.ids[1:] < sources.ids[:-1]).any():
        order = np.argsort(sources.ids)
        sources = Side(sources.ids[order], sources.unit[order], sources.nodes[order])
    best = _Best(sources, levels, pool, threshold, level_penalty, tiling)
    ban = _Ban(sources.ids, forbidden)
    back = _Ban(sources.ids, forbidden[::-1]) if len(sources.ids) > tiling.rows else ban
    local = threading.local()

    def look(tile: Side, work: _Work) -> None:
        rows, columns, mine = work
        left, right = _rows(sources.unit, rows), _rows(tile.unit, columns)
        if not hasattr(local, "room"):
            local.room = np.empty(min(tiling.rows, len(sources.ids)) * tiling.columns, dtype=np.float32)
        products = np.matmul(left, right.T, out=local.room[: len(left) * len(right)].reshape(len(left), len(right)))
        best.look(rows, tile, columns, products, ban.within(rows, tile.ids[columns]))
        if len(mine):
            row, column = back.within(rows, sources.ids[mine])
            best.look(mine, tile, _found(tile.ids, sources.ids[rows])[0], products[:, -len(mine) :].T, (column, row))

    with ThreadPoolExecutor(threads) if threads > 1 else nullcontext() as executor:
        for tile in tiles:
            work = list(_work(sources, tile, tiling))
            for _ in executor.map(look, repeat(tile), work) if executor else map(look, repeat(tile), work):
                pass
            best.settle(tile)
    return best.pairs()


def _work(sources: Side, tile: Side, tiling: Tiling) -> Iterator[_Work]:
    """Rows of sources and columns of a tile to be multiplied, and sources among the columns that are served as well.

    A product of two pages that are on both sides is made once.
    """
    height, width = tiling.rows, tiling.columns
    every, none = np.arange(len(sources.ids)), np.empty(0, dtype=np.int64)
    mutual, same = _found(sources.ids, tile.ids)
    if len(mutual) <= height:  # no product would be spared
        mutual = same = none
    for columns in _cut(_without(len(tile.ids), same), width):
        for rows in _cut(every, height):
            yield rows, columns, none
    for columns in _cut(same, width):
        for rows in _cut(_without(len(every), mutual), height):
            yield rows, columns, none
    for first in range(0, len(mutual), height):
        for at in range(first, len(mutual), width):
            later = mutual[max(at, first + height) : at + width]
            yield mutual[first : first + height], same[at : at + width], later


def _cut(places: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    return [places[at : at + size] for at in range(0, len(places), size)]


def _without(count: int, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers below `count` but for some."""
    return np.delete(np.arange(count), places) if len(places) < count else np.empty(0, dtype=np.int64)


def _rows(unit: NDArray[np.float32], places: NDArray[np.int64]) -> NDArray[np.float32]:
    """Rows of ascending places, without a copy where they are neighbours."""
    first, last = int(places[0]), int(places[-1])
    return unit[first : last + 1] if last - first + 1 == len(places) else unit[places]


class _Ban:
    """Forbidden pairs, looked up by sources and some targets."""

    def __init__(self, source_ids: NDArray[np.int64], forbidden: tuple[NDArray[np.int64], NDArray[np.int64]]) -> None:
        """`source_ids` ascending."""
        rows, known = _found(source_ids, np.concatenate([forbidden[0], source_ids]))
        order = np.argsort(rows, kind="stable")
        self.rows, self.targets = rows[order], np.concatenate([forbidden[1], source_ids])[known][order]

    def within(
        self, places: NDArray[np.int64], target_ids: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Row (of `places` of sources) and column (of `target_ids`) of the forbidden pairs; both ascending."""
        first, stop = self.rows.searchsorted([places[0], places[-1] + 1])
        columns, here = _found(target_ids, self.targets[first:stop])
        rows, there = _found(places, self.rows[first:stop][here])
        return rows, columns[there]


def _found(ids: NDArray[np.int64], wanted: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places in `ids`, ascending, of those wanted that are there, and which of the wanted these are."""
    places = ids.searchsorted(wanted)
    places[places == len(ids)] = 0
    there = (ids[places] == wanted).nonzero()[0] if len(ids) else places[:0]
    return places[there], there


def _kinds(nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if len(nodes) and (nodes == nodes[0]).all():
        return nodes[:1], np.zeros(len(nodes), dtype=np.int64)
    kinds, kind = np.unique(nodes, return_inverse=True)
    return kinds, kind


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
