"""How much authority the links of a site give each of its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

DAMPING = 0.85
ROUNDS = 100
CLOSE = 1e-9  # how much all values together may still move


def pagerank(links: sparse.csr_matrix) -> NDArray[np.float64]:
    """PageRank of the pages of an adjacency matrix (see linker.graph.links), float64 [n], adding up to 1.

    Power iteration with a damping of 0.85 (Brin and Page 1998); a page without links gives what it has to all pages
    alike. It ends when a round moves less than CLOSE, or after ROUNDS.
    """
    pages = links.shape[0]
    if not pages:
        return np.zeros(0)
    given = np.asarray(links.sum(axis=1), dtype=np.float64).ravel()
    share = np.divide(1.0, given, out=np.zeros(pages), where=given > 0)
    to_pages = links.T.tocsr().astype(np.float64)
    rank = np.full(pages, 1 / pages)
    for _ in range(ROUNDS):
        kept = rank[given == 0].sum()
        following = DAMPING * (to_pages @ (rank * share) + kept / pages) + (1 - DAMPING) / pages
        moved = np.abs(following - rank).sum()
        rank = following
        if moved < CLOSE:
            break
    return rank
