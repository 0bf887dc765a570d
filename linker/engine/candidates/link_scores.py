"""What the links around some sources say of every page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from linker.engine.arrays.sparse import scale_columns, top_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.evidence import Evidence

NEIGHBOURS = 20  # nearest pages whose links are looked at


class LinkScores:
    """Scores of every page of the site for each of k sources, CSR float32 [k, n], indices sorted.

    `neighbour`, `word_neighbour`: the share of the source's nearest pages, by meaning and by words, that link to a
    page; `similar`: of the pages that link to the same targets; `cocited_links`: how often a page is linked together
    with what the source links to; `cocited`, `coupled`: rows of the graph's own; `near_linked`: how near a page is to
    what the source links to; `two_steps`: how likely a reader who follows two links at random ends there; `back`: 1
    where the page links to the source."""

    def __init__(self, evidence: Evidence, pages: NDArray[np.int64]) -> None:
        """`pages` int64 [k]: the sources."""
        index, graph = evidence.index, evidence.graph
        links, near = graph.links, top_rows(index.near[pages], NEIGHBOURS)
        self.neighbour = _sorted(_sharp(near) @ links)
        self.word_neighbour = _sorted(top_rows(index.near_words[pages], NEIGHBOURS) @ links)
        self.coupled = graph.coupled[pages]
        self.similar = _sorted(_shares(self.coupled) @ links)
        damp = (1 / np.sqrt(np.maximum(graph.indegree, 1))).astype(np.float32)
        mine = scale_columns(links[pages], damp)
        self.cocited_links = _sorted(mine @ graph.cocited)
        self.cocited = graph.cocited[pages]
        self.near_linked = _sorted(mine @ index.around)
        step = (1 / np.maximum(graph.outdegree, 1)).astype(np.float32)
        self.two_steps = _sorted(scale_columns(links[pages], step) @ links)
        self.back = graph.back[pages]


def _sharp(near: sparse.csr_matrix) -> sparse.csr_matrix:
    """Cosines cubed, so that the nearest pages count for most; rows of sum 1."""
    sharp = near.copy()
    sharp.data = sharp.data**3
    return _shares(sharp)


def _shares(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    total = np.asarray(matrix.sum(axis=1)).ravel()
    return sparse.csr_matrix(
        sparse.diags(np.divide(1, total, out=np.zeros(len(total)), where=total > 0).astype(np.float32)) @ matrix
    )


def _sorted(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    matrix = sparse.csr_matrix(matrix, dtype=np.float32)
    matrix.sort_indices()
    return matrix
