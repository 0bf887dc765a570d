"""The nearest pages within some levels of the category tree, beside a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.nearest.vectors import SearchOptions, nearest_within
from tests.engine.nearest.test_nearest_in_category import tree_and_pages


def slow(unit, most, is_target, nodes, tree, levels_up) -> dict[int, list[int]]:
    """Of each page its nearest targets, best first; none for pages that look at all of them."""
    found = {}
    for page in range(len(nodes)):
        level = tree.levels(nodes[[page]], nodes, levels_up)[0]
        inside = [other for other in np.flatnonzero(is_target).tolist() if level[other] >= 0]
        if len(inside) == is_target.sum():
            inside = []
        cosine = {other: float(unit[page] @ unit[other]) for other in inside if other != page}
        best = sorted((other for other in cosine if cosine[other] > 0), key=lambda other: (-cosine[other], other))
        found[page] = best[:most]
    return found


@given(st.integers(0, 5000), st.integers(1, 6), st.integers(0, 3))
def test_they_are_those_of_a_plain_loop(seed, most, levels_up):
    tree, nodes, unit, is_target = tree_and_pages(seed)
    found = nearest_within(unit, most, is_target, nodes, tree, levels_up, SearchOptions(rows=3))
    wanted = slow(unit, most, is_target, nodes, tree, levels_up)
    assert {page: sorted(found[page].indices.tolist()) for page in wanted} == {
        page: sorted(best) for page, best in wanted.items()
    }


@pytest.mark.parametrize("levels_up", [0, 1, 2])
def test_large_categories_are_searched_through_cells_of_their_own(levels_up):
    tree, nodes, unit, is_target = tree_and_pages(11)
    found = nearest_within(unit, 3, is_target, nodes, tree, levels_up, SearchOptions(exact=10))
    pages = np.repeat(np.arange(len(unit)), np.diff(found.indptr))
    assert (tree.within(nodes[pages], nodes[found.indices], levels_up)).all()


@given(st.integers(0, 5000), st.integers(0, 4))
def test_a_pair_lies_within_exactly_where_its_level_says_so(seed, levels_up):
    tree, nodes, *_ = tree_and_pages(seed)
    level = tree.levels(nodes, nodes, levels_up)
    source, target = np.indices(level.shape)
    inside = tree.within(nodes[source.ravel()], nodes[target.ravel()], levels_up)
    assert np.array_equal(inside, level.ravel() >= 0)
    assert (tree.levels(nodes, nodes, tree.height) >= 0).all()
