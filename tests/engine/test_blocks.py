"""Blocks hold, for every donor, exactly the targets within reach up the tree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.blocks import CategoryTree, plan_batches, plan_blocks
from tests.examples import tried


@st.composite
def trees(draw) -> list[int]:
    parents = [0]
    for node in range(1, draw(st.integers(1, 15))):
        parents.append(draw(st.integers(0, node - 1)))
    return parents


def ancestors(parents: list[int], node: int) -> list[int]:
    line = [node]
    while line[-1] != 0:
        line.append(parents[line[-1]])
    return line


def slow_level(parents: list[int], source: int, target: int, levels_up: int) -> int:
    """Walks up from the donor until the target is below."""
    if source == target:
        return 0
    line = ancestors(parents, source)
    for level in range(1, levels_up + 1):
        if line[min(level, len(line) - 1)] in ancestors(parents, target):
            return level
    return -1


@given(trees(), st.integers(0, 4))
@tried(80)
def test_levels_are_what_walking_up_the_tree_gives(parents, levels_up):
    tree = CategoryTree(np.array(parents))
    nodes = np.arange(len(parents))
    found = tree.levels(nodes, nodes, levels_up)
    for source in nodes.tolist():
        for target in nodes.tolist():
            assert found[source, target] == slow_level(parents, source, target, levels_up)


@given(trees(), st.integers(0, 3), st.integers(0, 2**32 - 1))
@tried(80)
def test_every_donor_stands_in_one_block_with_all_targets_in_reach(parents, levels_up, seed):
    random = np.random.default_rng(seed)
    tree = CategoryTree(np.array(parents))
    sources, targets = np.arange(1, 31), np.arange(20, 60)
    nodes = random.integers(0, len(parents), size=60)
    blocks = plan_blocks(tree, sources, nodes[sources], targets, nodes[targets], levels_up)
    seen: dict[int, list[int]] = {}
    for block in blocks:
        assert (np.diff(block.targets) > 0).all()
        for source in block.sources.tolist():
            assert source not in seen
            seen[source] = block.targets.tolist()
    for source in sources.tolist():
        reach = [
            int(target)
            for target in targets
            if slow_level(parents, int(nodes[source]), int(nodes[target]), levels_up) >= 0
        ]
        assert set(reach) <= set(seen.get(source, []))
        if levels_up == 0:
            assert reach == seen.get(source, [])


@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), max_size=20), st.integers(1, 400), st.integers(1, 60)
)
@tried(80)
def test_batches_cover_every_donor_once_and_keep_to_their_cost(sizes, cost, most):
    covered = set()
    for batch in plan_batches(sizes, cost, most):
        pairs = sum((stop - first) * sizes[number][1] for number, first, stop in batch)
        alone = len(batch) == 1 and batch[0][2] - batch[0][1] == 1
        assert pairs <= cost or alone
        for number, first, stop in batch:
            assert stop - first <= most
            for source in range(first, stop):
                assert (number, source) not in covered
                covered.add((number, source))
    assert covered == {(n, d) for n, (sources, _) in enumerate(sizes) for d in range(sources)}


def test_small_blocks_share_a_job():
    assert len(plan_batches([(10, 10)] * 100, cost=5000, most_sources=1000)) == 2


@pytest.mark.parametrize("parents", [[1, 0], [0, 2, 1], []])
def test_parents_that_are_no_tree_are_refused(parents):
    with pytest.raises(ValueError):
        CategoryTree(np.array(parents))
