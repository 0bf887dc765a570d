"""The tiled search gives what a plain double loop gives, whatever the size of its tiles and the threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.arrays.vectors import unit_rows
from linker.engine.blocks import CategoryTree
from linker.engine.candidates.block_search import Side, Tiling, search
from tests.examples import tried

TREE = CategoryTree(np.array([0, 0, 1, 1, 2, 2, 0, 6]))


def side(ids, vectors, nodes) -> Side:
    return Side(np.asarray(ids, dtype=np.int64), unit_rows(np.asarray(vectors)), np.asarray(nodes, dtype=np.int64))


def oracle(sources: Side, targets: Side, levels_up, forbidden, threshold, level_penalty, pool):
    """Every pair, one by one, in Python's own floats."""
    banned = set(zip(forbidden[0].tolist(), forbidden[1].tolist(), strict=True))
    level = TREE.levels(sources.nodes, targets.nodes, levels_up)
    found = []
    for i, source in enumerate(sources.ids.tolist()):
        mine = []
        for j, target in enumerate(targets.ids.tolist()):
            if source == target or (source, target) in banned or level[i, j] < 0:
                continue
            cosine = sum(float(a) * float(b) for a, b in zip(sources.unit[i], targets.unit[j], strict=True))
            cosine = round(max(-1.0, min(1.0, cosine)), 6)
            score = round(cosine - int(level[i, j]) * level_penalty, 6)
            if score >= threshold:
                mine.append((source, -score, target, int(level[i, j]), cosine))
        found += sorted(mine)[:pool]
    return [(source, target, level, cosine, -minus) for source, minus, target, level, cosine in sorted(found)]


def as_rows(pairs) -> list[tuple]:
    return list(
        zip(
            pairs.sources.tolist(),
            pairs.targets.tolist(),
            pairs.levels.tolist(),
            pairs.similarity.tolist(),
            pairs.score.tolist(),
            strict=True,
        )
    )


def tiled(targets: Side, size: int):
    for first in range(0, len(targets.ids), size):
        part = slice(first, first + size)
        yield Side(targets.ids[part], targets.unit[part], targets.nodes[part])


@pytest.mark.nightly
@given(st.data())
@tried(150)
def test_agrees_with_the_oracle_in_tiles_of_any_size(data):
    seed = data.draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    count = data.draw(st.integers(2, 60))
    # Few distinct vectors, so that exact ties are the rule.
    vectors = random.integers(-2, 3, size=(count, 4)).astype(np.float16)
    if data.draw(st.booleans()):
        vectors = random.normal(size=(count, 4)).astype(np.float16)
    nodes = random.integers(0, len(TREE), size=count)
    pages = side(np.arange(1, count + 1) * 7, vectors, nodes)
    chosen = random.random(count) < 0.7
    sources = Side(pages.ids[chosen], pages.unit[chosen], pages.nodes[chosen])
    forbidden = (random.choice(pages.ids, 20), random.choice(pages.ids, 20))
    wanted = {
        "threshold": data.draw(st.sampled_from([-1.0, 0.0, 0.3, 0.7])),
        "level_penalty": data.draw(st.sampled_from([0.0, 0.02])),
        "pool": data.draw(st.integers(1, 8)),
    }
    levels_up = data.draw(st.integers(0, 3))
    size = data.draw(st.integers(1, count))
    there = random.random(count) < data.draw(st.sampled_from([0.5, 0.9, 1.0]))
    targets = Side(pages.ids[there], pages.unit[there], pages.nodes[there])

    largest = {"rows": 12, "columns": 30, "pending": 200, "fold": 4}
    found = search(
        sources,
        tiled(targets, size),
        lambda left, right: TREE.levels(left, right, levels_up),
        forbidden,
        threads=data.draw(st.sampled_from([1, 3])),
        tiling=Tiling(**{name: data.draw(st.integers(1, most)) for name, most in largest.items()}),
        **wanted,
    )

    assert as_rows(found) == oracle(sources, targets, levels_up, forbidden, **wanted)


@pytest.mark.nightly
@pytest.mark.parametrize("threads", [1, 4])
def test_a_product_of_two_pages_on_both_sides_serves_both(monkeypatch, threads):
    random = np.random.default_rng(2)
    pages = side(np.arange(400), np.round(random.normal(size=(400, 6))), np.zeros(400))
    forbidden = (random.choice(400, 900), random.choice(400, 900))
    wanted = {"threshold": 0.2, "level_penalty": 0.0, "pool": 6}
    multiplied = []
    products = np.matmul

    def counted(left, right, out):
        multiplied.append(out.size)
        return products(left, right, out=out)

    monkeypatch.setattr(np, "matmul", counted)
    tiling = Tiling(rows=40)
    found = search(
        pages, [pages], lambda a, b: TREE.levels(a, b, 0), forbidden, threads=threads, tiling=tiling, **wanted
    )
    assert as_rows(found) == oracle(pages, pages, 0, forbidden, **wanted)
    assert sum(multiplied) == sum(40 * (400 - first) for first in range(0, 400, 40))


def test_no_pair_is_lost_at_the_edges_of_donor_chunks_and_tiles():
    random = np.random.default_rng(1)
    pages = side(np.arange(300), random.normal(size=(300, 16)), np.zeros(300))
    nothing = (np.empty(0, np.int64), np.empty(0, np.int64))
    flat = TREE.levels
    wanted = {"threshold": -1.0, "level_penalty": 0.0, "pool": 10}
    whole = search(pages, [pages], lambda a, b: flat(a, b, 0), nothing, **wanted)
    cut = search(pages, tiled(pages, 13), lambda a, b: flat(a, b, 0), nothing, tiling=Tiling(rows=7), **wanted)
    assert as_rows(whole) == as_rows(cut)
    assert len(whole) == 3000


def test_ties_go_to_the_lower_id():
    pages = side([30, 10, 20, 40][::1], [[1, 0]] * 4, [0] * 4)
    order = np.argsort(pages.ids)
    pages = Side(pages.ids[order], pages.unit[order], pages.nodes[order])
    found = search(
        pages,
        [pages],
        lambda a, b: TREE.levels(a, b, 0),
        (np.empty(0, np.int64), np.empty(0, np.int64)),
        threshold=0.0,
        level_penalty=0.0,
        pool=2,
    )
    assert [(a, b) for a, b, *_ in as_rows(found)] == [
        (10, 20), (10, 30), (20, 10), (20, 30), (30, 10), (30, 20), (40, 10), (40, 20),
    ]  # fmt: skip


@pytest.mark.parametrize("empty", ["sources", "targets"])
def test_an_empty_side_gives_no_pairs(empty):
    full = side([1, 2], [[1, 0], [1, 0]], [0, 0])
    none = side(np.empty(0), np.empty((0, 2)), np.empty(0))
    found = search(
        none if empty == "sources" else full,
        [none if empty == "targets" else full],
        lambda a, b: TREE.levels(a, b, 0),
        (np.empty(0, np.int64), np.empty(0, np.int64)),
        threshold=-1.0,
        level_penalty=0.0,
        pool=3,
    )
    assert len(found) == 0
