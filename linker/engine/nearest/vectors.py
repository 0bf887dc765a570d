"""The nearest pages by meaning: on the whole site, within some levels of the category tree, or in a category."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from linker.engine.arrays.sparse import rows_at
from linker.engine.arrays.vectors import any_values, slices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.arrays.vectors import Vectors
    from linker.engine.blocks import CategoryTree

SORTED = 128  # pages whose targets are put in order together
PILE, MANY = 64, 8  # see largest


@dataclass(frozen=True)
class SearchOptions:
    """How far the search for the nearest pages is exact.

    exact          targets up to which every page is compared with every one; beyond, an inverted file is searched
    trained_on     vectors that the centre of one of its cells is the mean of
    probed         cells that are looked through for each page
    largest_block  targets of a category up to which all its pages are compared
    rows           pages compared together; changes no result
    """

    exact: int = 40_000
    trained_on: int = 64
    probed: int = 24
    largest_block: int = 5_000
    rows: int = 1024


USUAL = SearchOptions()


def nearest(
    unit: Vectors,
    most: int,
    is_target: NDArray[np.bool_],
    options: SearchOptions = USUAL,
    asked: NDArray[np.int64] | None = None,
) -> sparse.csr_matrix:
    """The `most` targets of highest cosine for each page, or for those `asked` about, int64 [k], ascending, the others
    having none: CSR [n, n] of cosines, positive ones alone.

    `unit` [n, d]: rows of length 1, or 0 for pages without a vector, which are near to nothing. Exact up to
    `options.exact` targets, ties to the lower page; beyond, an inverted file (faiss IndexIVFFlat) looks through the
    `options.probed` cells nearest to each page, whose work grows with the square root of the pages.
    """
    targets = np.flatnonzero(is_target & any_values(unit))
    pages = np.arange(len(unit)) if asked is None else asked
    return rows_at(_nearest(unit, most, [(pages, targets)], options), pages, len(unit))


def nearest_within(
    unit: Vectors,
    most: int,
    is_target: NDArray[np.bool_],
    nodes: NDArray[np.int64],
    tree: CategoryTree,
    levels_up: int,
    options: SearchOptions = USUAL,
) -> sparse.csr_matrix:
    """As `nearest`, CSR [n, n], of the targets that lie within `levels_up` levels of each page's category. Pages that
    look over all targets have none: those of `nearest` are theirs. `nodes` int64 [n]: each page's node of `tree`."""
    groups = list(groups_within(nodes, is_target & any_values(unit), tree, levels_up))
    found = _nearest(unit, most, groups, options)
    return found[np.argsort(np.concatenate([pages for pages, _ in groups]))] if groups else found


def groups_within(
    nodes: NDArray[np.int64], is_target: NDArray[np.bool_], tree: CategoryTree, levels_up: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Pages that look at the same targets, int64 [k], each page in one group, and the targets that lie within
    `levels_up` levels of their category, int64 [m], ascending. No targets for pages that look at all of them."""
    place = tree.enter[nodes]
    order = np.argsort(place, kind="stable")
    ranked, everything = place[order], int(is_target.sum())
    tops = tree.ancestor(nodes, levels_up)
    by_top = np.argsort(tops, kind="stable")
    for pages in np.split(by_top, np.flatnonzero(np.diff(tops[by_top])) + 1) if len(nodes) else []:
        top = int(tops[pages[0]])
        last = tree.leave[top] if levels_up else tree.enter[top] + 1
        inside = order[np.searchsorted(ranked, tree.enter[top]) : np.searchsorted(ranked, last)]
        targets = np.sort(inside[is_target[inside]])
        yield pages, targets if len(targets) < everything else targets[:0]


def _nearest(
    unit: Vectors, most: int, groups: list[tuple[NDArray[np.int64], NDArray[np.int64]]], options: SearchOptions
) -> sparse.csr_matrix:
    """The nearest targets of each page of some groups, pages and targets, in the order of the groups."""
    counts, columns, values = [], [], []
    for pages, targets in groups:
        width = min(most + 1, len(targets))
        if not width:
            counts.append(np.zeros(len(pages), dtype=np.int64))
            continue
        search = _exact(unit, targets) if len(targets) <= options.exact else _cells(unit, targets, options)
        for first in range(0, len(pages), options.rows):
            mine = pages[first : first + options.rows]
            value, place = search(unit[mine], width)
            page = targets[place]
            order = np.lexsort((page, -value), axis=1)
            page, value = np.take_along_axis(page, order, axis=1), np.take_along_axis(value, order, axis=1)
            keep = (value > 0) & (page != mine[:, None])
            keep &= np.cumsum(keep, axis=1) <= most
            columns.append(page[keep].astype(np.int32))
            values.append(value[keep])
            counts.append(keep.sum(axis=1))
    height = sum(map(len, counts))
    matrix = sparse.csr_matrix(
        (
            np.concatenate(values or [np.empty(0, np.float32)]).astype(np.float32),
            np.concatenate(columns or [np.empty(0, np.int32)]),
            np.concatenate([[0], np.cumsum(np.concatenate(counts or [np.empty(0, np.int64)]))]),
        ),
        shape=(height, len(unit)),
    )
    matrix.sort_indices()
    return matrix


def nearest_in_category(
    unit: Vectors,
    near: sparse.csr_matrix,
    most: int,
    is_target: NDArray[np.bool_],
    nodes: NDArray[np.int64],
    tree: CategoryTree,
    options: SearchOptions = USUAL,
    asked: NDArray[np.int64] | None = None,
) -> sparse.csr_matrix:
    """The `most` targets of highest cosine for each page, or those `asked` about, in its category and those
    below: CSR [n, n], positive ones.

    Categories with fewer targets look through the one above, if there is one. Those with more than
    `options.largest_block` keep what of `near`, the nearest of the whole site, lies in them. Pages without a category,
    at the root, have none.
    """
    place = tree.enter[nodes]
    order = np.argsort(place, kind="stable")
    ranked = place[order]
    rows, columns, values = [], [], []
    looks = np.ones(len(nodes), dtype=np.bool_) if asked is None else np.isin(np.arange(len(nodes)), asked)
    for node in np.unique(nodes[looks & (nodes > 0)]).tolist():
        block = _targets_below(node, order, ranked, is_target, tree)
        above = int(tree.parent[node])
        if above and len(block) <= most:
            block = _targets_below(above, order, ranked, is_target, tree)
        pages = order[np.searchsorted(ranked, tree.enter[node]) : np.searchsorted(ranked, tree.enter[node] + 1)]
        pages = pages[looks[pages]]
        if len(block) > options.largest_block:
            kept = near[pages].tocoo()
            inside = np.isin(kept.col, block)
            rows.append(pages[kept.row[inside]])
            columns.append(kept.col[inside].astype(np.int64))
            values.append(kept.data[inside])
            continue
        for first in range(0, len(pages) if len(block) else 0, options.rows):
            part = pages[first : first + options.rows]
            cosine = unit[part] @ unit[block].T
            cosine[part[:, None] == block[None, :]] = -1
            width = min(most, len(block))
            best = largest(cosine, width)
            rows.append(np.repeat(part, width))
            columns.append(block[best].ravel())
            values.append(np.take_along_axis(cosine, best, axis=1).ravel())
    if not rows:
        return sparse.csr_matrix((len(unit), len(unit)), dtype=np.float32)
    value, row, column = np.concatenate(values), np.concatenate(rows), np.concatenate(columns)
    keep = value > 0
    matrix = sparse.csr_matrix((value[keep], (row[keep], column[keep])), shape=(len(unit), len(unit)))
    matrix.sort_indices()
    return matrix


def _targets_below(
    node: int, order: NDArray[np.int64], ranked: NDArray[np.int64], is_target: NDArray[np.bool_], tree: CategoryTree
) -> NDArray[np.int64]:
    """Targets in the node's subtree, ascending; `order` are the pages by their place `ranked` in the tree's walk."""
    inside = order[np.searchsorted(ranked, tree.enter[node]) : np.searchsorted(ranked, tree.leave[node])]
    return np.sort(inside[is_target[inside]])


# (queries [m, d], how many) -> cosines and places [m, how many]; a place that is not there has a cosine of -1
_Search = Callable[["NDArray[np.float32]", int], "tuple[NDArray[np.float32], NDArray[np.int64]]"]


def _exact(unit: Vectors, targets: NDArray[np.int64]) -> _Search:
    columns = np.empty((unit.shape[1], len(targets)), dtype=np.float32)
    for part in slices(len(targets)):
        columns[:, part] = unit[targets[part]].T

    def search(queries: NDArray[np.float32], width: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        cosine = queries @ columns
        chosen = np.empty((len(queries), width), dtype=np.int64)
        for part in slices(len(queries), SORTED):
            chosen[part] = largest(cosine[part], width)
        return np.take_along_axis(cosine, chosen, axis=1), chosen

    return search


def largest(values: NDArray[np.float32], width: int) -> NDArray[np.int64]:
    """The columns of the `width` largest values of each row, int64 [m, width], in no order; `values` [m, n], n at least
    `width`. Ties go to any of the columns.

    A row is dealt out into piles, neighbours into different ones, since pages of a category lie side by side. As many
    piles as are wanted have a largest value of at least the smallest of these, so nothing below it is among the
    largest, and hardly more than these is above: it takes a twentieth of the time of parting whole rows.
    """
    rows, columns = values.shape
    piles = columns // PILE
    if piles < 2 * width:
        return np.argpartition(-values, width - 1, axis=1)[:, :width]
    tops = values[:, : piles * PILE].reshape(rows, PILE, piles).max(axis=1)
    bound = np.partition(tops, -width, axis=1)[:, -width]
    row, column = np.divmod(np.flatnonzero(values >= bound[:, None]), columns)
    counts = np.bincount(row, minlength=rows)
    if counts.max(initial=0) > MANY * width:  # rows of equal values
        return np.argpartition(-values, width - 1, axis=1)[:, :width]
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    few = np.full((rows, counts.max(initial=0)), -np.inf, dtype=np.float32)
    kept = np.zeros(few.shape, dtype=np.int64)
    few[row, place], kept[row, place] = values[row, column], column
    best = np.argpartition(-few, width - 1, axis=1)[:, :width]
    return np.take_along_axis(kept, best, axis=1)


def _cells(unit: Vectors, targets: NDArray[np.int64], options: SearchOptions) -> _Search:
    import faiss  # heavy, and only needed on large sites

    dimensions, cells = unit.shape[1], 2 * math.isqrt(len(targets))
    coarse = faiss.IndexFlatIP(dimensions)
    index = faiss.IndexIVFFlat(coarse, dimensions, cells, faiss.METRIC_INNER_PRODUCT)
    index.cp.niter, index.cp.max_points_per_centroid = 8, options.trained_on
    index.train(unit[targets])
    for part in slices(len(targets)):
        index.add(unit[targets[part]])
    index.nprobe = options.probed

    def search(queries: NDArray[np.float32], width: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        cosine, place = index.search(np.ascontiguousarray(queries), width)
        return np.where(place < 0, np.float32(-1), cosine), np.maximum(place, 0)

    return search
