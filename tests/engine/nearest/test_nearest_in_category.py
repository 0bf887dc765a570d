"""The nearest pages of a category, beside a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from linker.engine.blocks import CategoryTree
from linker.engine.nearest.vectors import SearchOptions, nearest, nearest_in_category


def tree_and_pages(seed: int) -> tuple:
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 7))
    tree = CategoryTree(np.array([0, *(int(random.integers(0, node)) for node in range(1, count))], dtype=np.int64))
    pages = int(random.integers(1, 40))
    unit = random.standard_normal((pages, 4)).astype(np.float32)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    return tree, random.integers(0, count, pages), unit, random.random(pages) < 0.8


def below(tree: CategoryTree, top: int, node: int) -> bool:
    while node != top and node != 0:
        node = int(tree.parent[node])
    return node == top


@given(st.integers(0, 5000), st.integers(1, 6))
def test_they_are_those_of_a_plain_loop(seed, most):
    tree, nodes, unit, is_target = tree_and_pages(seed)
    near = nearest(unit, 10, is_target)
    found = nearest_in_category(unit, near, most, is_target, nodes, tree)
    for page, node in enumerate(nodes.tolist()):
        block = [o for o in np.flatnonzero(is_target).tolist() if node and below(tree, node, nodes[o])]
        above = int(tree.parent[node])
        if node and above and len(block) <= most:
            block = [o for o in np.flatnonzero(is_target).tolist() if below(tree, above, nodes[o])]
        cosines = sorted((float(unit[page] @ unit[o]) for o in block if o != page), reverse=True)
        expected = [cosine for cosine in cosines[:most] if cosine > 0]
        assert sorted(found[page].data.tolist(), reverse=True) == pytest.approx(expected, abs=1e-5)
        assert page not in found[page].indices


def test_a_large_category_keeps_what_of_the_nearest_lies_in_it():
    near = sparse.csr_matrix(np.array([[0, 0.9, 0.8], [0.9, 0, 0], [0.8, 0, 0]], dtype=np.float32))
    tree, nodes = CategoryTree(np.array([0, 0, 0])), np.array([1, 2, 1])
    every, small = np.ones(3, dtype=bool), SearchOptions(largest_block=1)
    found = nearest_in_category(np.eye(3, dtype=np.float32), near, 1, every, nodes, tree, small)
    assert found.toarray()[0].tolist() == pytest.approx([0, 0, 0.8])
