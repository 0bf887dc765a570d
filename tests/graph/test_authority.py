"""PageRank is the stationary distribution of its random surfer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.graph.authority import DAMPING, pagerank
from linker.graph.links import adjacency


def exact(links: np.ndarray) -> np.ndarray:
    """The distribution, from a system of linear equations."""
    pages = len(links)
    given = links.sum(axis=1, keepdims=True)
    step = np.where(given > 0, links / np.maximum(given, 1), 1 / pages)
    return np.linalg.solve(np.eye(pages) - DAMPING * step.T, np.full(pages, (1 - DAMPING) / pages))


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.tuples(*2 * [st.integers(0, n - 1)])))))
@settings(max_examples=150, deadline=None)
def test_pagerank_is_the_solution_of_its_equations(site):
    pages, pairs = site
    source, target = (np.array([pair[side] for pair in sorted(pairs)], dtype=np.int64) for side in (0, 1))
    links = adjacency(source, target, pages)
    found = pagerank(links)
    assert found == pytest.approx(exact(links.toarray().astype(np.float64)), abs=1e-7)
    assert found.sum() == pytest.approx(1)


def test_a_site_without_pages_has_no_authority():
    assert pagerank(adjacency(np.zeros(0, np.int64), np.zeros(0, np.int64), 0)).tolist() == []
