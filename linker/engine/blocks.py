"""Which pages are compared with which: the category tree, and its blocks and batches.

A source is compared with the targets of its own category (level 0), then of its parent's subtree (level 1), and so on,
as many levels up as the run says. One level above the top of the tree is the whole site. A pair's level is the lowest
at which it is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

ROOT = 0


class CategoryTree:
    """The editors' tree as arrays over nodes 0..n-1; node 0 is the root, where pages without a category hang.

    `parent` int64 [n]: each node's parent, the root's being itself. `enter`, `leave` int64 [n]: node t lies in the
    subtree of a exactly when enter[a] <= enter[t] < leave[a] (numbers of a depth-first walk).
    """

    def __init__(self, parent: NDArray[np.int64]) -> None:
        """Raises ValueError where the parents do not form a tree under node 0."""
        count = len(parent)
        if not count or parent[ROOT] != ROOT:
            raise ValueError("node 0 must be the root")
        children: list[list[int]] = [[] for _ in range(count)]
        for node in range(1, count):
            children[int(parent[node])].append(node)
        self.parent = parent
        self.enter = np.full(count, -1, dtype=np.int64)
        self.leave = np.full(count, -1, dtype=np.int64)
        walk, clock = [ROOT], 0
        while walk:
            node = walk.pop()
            if node < 0:
                self.leave[~node] = clock
                continue
            self.enter[node] = clock
            clock += 1
            walk.append(~node)
            walk.extend(reversed(children[node]))
        if clock != count:
            raise ValueError("the categories hold a cycle")

    def __len__(self) -> int:
        return len(self.parent)

    def ancestor(self, nodes: NDArray[np.int64], levels: int) -> NDArray[np.int64]:
        """The nodes `levels` steps up from each of `nodes`, int64 [n], stopping at the root; int64 [n]."""
        for _ in range(levels):
            nodes = self.parent[nodes]
        return nodes

    @cached_property
    def height(self) -> int:
        """Levels up from the deepest node that reach the whole tree, one at least."""
        nodes, height = self.parent, 1
        while (nodes != ROOT).any():
            nodes, height = self.parent[nodes], height + 1
        return height

    def within(self, sources: NDArray[np.int64], targets: NDArray[np.int64], levels_up: int) -> NDArray[np.bool_]:
        """Whether the level of each pair of nodes, int64 [n] both, is at most `levels_up`; bool [n]."""
        if not levels_up:
            return np.equal(sources, targets)
        top, entered = self.ancestor(sources, levels_up), self.enter[targets]
        return (self.enter[top] <= entered) & (entered < self.leave[top])

    def levels(self, sources: NDArray[np.int64], targets: NDArray[np.int64], levels_up: int) -> NDArray[np.int8]:
        """The level of every pair of nodes, int8 [len(sources), len(targets)]; -1 beyond `levels_up`."""
        found = np.full((len(sources), len(targets)), -1, dtype=np.int8)
        entered = self.enter[targets][None, :]
        for level in range(levels_up, 0, -1):
            top = self.ancestor(sources, level)
            found[(self.enter[top][:, None] <= entered) & (entered < self.leave[top][:, None])] = level
        found[sources[:, None] == targets[None, :]] = 0
        return found


@dataclass(frozen=True)
class Block:
    """Sources and the targets they are compared with.

    `top` is the node whose subtree the targets lie in. `sources` int64 [n] are page ids by (category, id), `targets`
    int64 [m] by id.
    """

    top: int
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]


def plan_blocks(
    tree: CategoryTree,
    sources: NDArray[np.int64],
    source_nodes: NDArray[np.int64],
    targets: NDArray[np.int64],
    target_nodes: NDArray[np.int64],
    levels_up: int,
) -> list[Block]:
    """Groups sources by the node `levels_up` above their category; every source is in exactly one block.

    Page ids and the tree's nodes they hang on, int64 [n] and [m]. Blocks without targets are left out.
    """
    tops = tree.ancestor(source_nodes, levels_up)
    by_node = np.lexsort((targets, tree.enter[target_nodes]))
    entered = tree.enter[target_nodes][by_node]
    order = np.lexsort((sources, source_nodes, tops))
    edges = np.flatnonzero(np.diff(tops[order])) + 1
    blocks = []
    for group in np.split(order, edges) if len(order) else []:
        top = int(tops[group[0]])
        last = tree.enter[top] + 1 if levels_up == 0 else tree.leave[top]
        first, stop = np.searchsorted(entered, [tree.enter[top], last])
        if first < stop:
            blocks.append(Block(top, sources[group], np.sort(targets[by_node[first:stop]])))
    return blocks


def plan_batches(sizes: Sequence[tuple[int, int]], cost: int, most_sources: int) -> list[list[tuple[int, int, int]]]:
    """Cuts blocks into jobs of about `cost` pairs: small blocks share a job, large ones are cut by sources.

    `sizes` gives sources and targets of each block. Returns per job its slices (block, first source, last source + 1);
    every source of every block is in exactly one slice. A job has at most `most_sources`, which bounds its memory,
    and its time where the blocks are many and small.
    """
    batches: list[list[tuple[int, int, int]]] = []
    current: list[tuple[int, int, int]] = []
    load = held = 0
    for number, (sources, targets) in enumerate(sizes):
        step = max(1, min(most_sources, cost // max(1, targets)))
        for first in range(0, sources, step):
            stop = min(first + step, sources)
            pairs = (stop - first) * targets
            if current and (load + pairs > cost or held + stop - first > most_sources):
                batches.append(current)
                current, load, held = [], 0, 0
            current.append((number, first, stop))
            load += pairs
            held += stop - first
    if current:
        batches.append(current)
    return batches
