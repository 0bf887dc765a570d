"""The tree that the addresses of a site's pages form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import numpy as np

from linker.engine.text.fold import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class AddressTree:
    """Pages in the tree of their addresses.

    `parent` int64 [n]: the page whose address is the longest proper beginning, by segments, or -1; `depth` int64 [n]:
    segments; `folder` int64 [n]: number of the address without its last segment; `last`: number of the last segment.
    """

    parent: NDArray[np.int64]
    depth: NDArray[np.int64]
    folder: NDArray[np.int64]
    last: NDArray[np.int64]

    @cached_property
    def by_parent(self) -> NDArray[np.int64]:
        """Pages by the page above them, then by position; int64 [n]."""
        return np.argsort(self.parent, kind="stable")

    @cached_property
    def by_folder(self) -> NDArray[np.int64]:
        """Pages by their folder, then by position; int64 [n]."""
        return np.argsort(self.folder, kind="stable")

    @cached_property
    def rooted(self) -> NDArray[np.int64]:
        """The parents as a tree under one root: node 0 is the root, node k + 1 is page k; int64 [n + 1]."""
        return np.concatenate([[0], self.parent + 1])

    @cached_property
    def rooted_depths(self) -> NDArray[np.int64]:
        """Steps from each node of `rooted` to the root; int64 [n + 1]."""
        return depths(self.rooted)


def depths(parent: NDArray[np.int64]) -> NDArray[np.int64]:
    """Steps from each node to the root, which is node 0 and its own parent; int64 [n]."""
    depth = np.zeros(len(parent), dtype=np.int64)
    node = np.arange(len(parent))
    while (node != 0).any():
        depth += node != 0
        node = parent[node]
    return depth


def segments(url: str) -> tuple[str, ...]:
    """Host, the parts of the path and the query, folded; index files and empty parts left out. An address that cannot
    be parsed is one part."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return (fold(url),)
    path = [part for part in fold(unquote(parts.path)).split("/") if part]
    if path and re.fullmatch(r"(?:index|default)\.\w{2,5}", path[-1]):
        path.pop()
    query = (fold(parts.query),) if parts.query else ()
    return (parts.netloc.lower(), *path, *query)


def address_tree(urls: Sequence[str]) -> AddressTree:
    """The tree of addresses; of pages with one address the first stands for it."""
    split = [segments(url) for url in urls]
    page_of: dict[tuple[str, ...], int] = {}
    for page, parts in enumerate(split):
        page_of.setdefault(parts, page)
    parent = np.full(len(urls), -1, dtype=np.int64)
    folders: dict[tuple[str, ...], int] = {}
    lasts: dict[str, int] = {}
    folder, last = np.empty(len(urls), np.int64), np.empty(len(urls), np.int64)
    for page, parts in enumerate(split):
        parent[page] = next(
            (page_of[parts[:stop]] for stop in range(len(parts) - 1, 0, -1) if parts[:stop] in page_of), -1
        )
        folder[page] = folders.setdefault(parts[:-1], len(folders))
        last[page] = lasts.setdefault(parts[-1], len(lasts))
    return AddressTree(parent, np.array([len(parts) for parts in split], dtype=np.int64), folder, last)
