"""The category tree of a project with its nodes' database ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linker.engine import blocks as blocking
from linker.engine.params import MatchParams, Ranking
from linker.models import (
    Category,
    Project,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class CategoryNodes:
    """The category tree with its nodes' database ids: `ids[0]` is 0, the root."""

    tree: blocking.CategoryTree
    ids: NDArray[np.int64]

    def of(self, categories: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.searchsorted(self.ids, categories)


def category_nodes(project: Project) -> CategoryNodes:
    rows = list(Category.objects.filter(project=project).order_by("pk").values_list("pk", "parent_id"))
    ids = np.array([0, *(pk for pk, _ in rows)], dtype=np.int64)
    parent = np.searchsorted(ids, np.array([0, *(parent or 0 for _, parent in rows)], dtype=np.int64))
    return CategoryNodes(blocking.CategoryTree(parent), ids)


def levels_looked_up(params: MatchParams, nodes: CategoryNodes) -> int:
    """How many levels up a run by cosine looks; where it looks over the whole site, as many as the tree has."""
    levels = params.levels(Ranking.COSINE)
    return nodes.tree.height if levels is None else levels
