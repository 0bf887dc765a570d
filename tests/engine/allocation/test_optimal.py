"""The assignment reaches the total that trying everything reaches."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.allocation.allocate import Caps, allocate
from linker.engine.allocation.optimal import assign
from linker.engine.params import Mode
from tests.examples import tried


def best_total(pairs: list[tuple[int, int, float]], per_source: int, per_target: int) -> float:
    best = 0.0
    for size in range(len(pairs) + 1):
        for chosen in combinations(pairs, size):
            sources = [source for source, _, _ in chosen]
            targets = [target for _, target, _ in chosen]
            fits = all(sources.count(source) <= per_source for source in sources)
            if fits and (not per_target or all(targets.count(target) <= per_target for target in targets)):
                best = max(best, sum(score for _, _, score in chosen))
    return best


def solve(sources, targets, score, per_source: int, per_target: int):
    pairs = len(sources)
    return assign(sources, targets, score, np.full(pairs, per_source), np.full(pairs, per_target or 10**6))


def arrays(pairs: list[tuple[int, int, float]]):
    return (
        np.array([pair[0] for pair in pairs], dtype=np.int64),
        np.array([pair[1] for pair in pairs], dtype=np.int64),
        np.array([pair[2] for pair in pairs], dtype=np.float64),
    )


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 3), st.integers(10, 13)), st.integers(-2, 9).map(lambda n: n / 10), max_size=9
    ),
    st.integers(1, 3),
    st.integers(0, 3),
)
@tried(150)
def test_reaches_the_best_total_within_the_caps(scored, per_source: int, per_target: int) -> None:
    pairs = [(source, target, score) for (source, target), score in scored.items()]
    sources, targets, score = arrays(pairs)
    chosen = solve(sources, targets, score, per_source, per_target)
    assert len(set(chosen.tolist())) == len(chosen)
    assert np.bincount(sources[chosen], minlength=1).max(initial=0) <= per_source
    if per_target:
        assert np.bincount(targets[chosen], minlength=1).max(initial=0) <= per_target
    assert abs(score[chosen].sum() - best_total(pairs, per_source, per_target)) < 1e-9
    assert chosen.tolist() == solve(sources, targets, score, per_source, per_target).tolist()


@pytest.mark.nightly
def test_is_never_worse_than_best_first_on_a_large_site() -> None:
    rng = np.random.default_rng(5)
    key = np.unique(rng.integers(0, 2000 * 500, 40_000))
    sources, targets = key // 500, key % 500
    score = np.round(rng.random(len(key)), 6)
    best = allocate(sources, targets, score, Caps(10, 20), Mode.BEST).chosen
    chosen = solve(sources, targets, score, 10, 20)
    assert score[chosen].sum() >= score[best].sum()
    assert np.bincount(targets[chosen]).max() <= 20


def test_nothing_to_choose_from() -> None:
    nothing = np.empty(0, dtype=np.int64)
    assert len(solve(nothing, nothing, np.empty(0), 3, 2)) == 0
    one = np.array([1])
    assert len(solve(one, one + 1, np.array([np.nan]), 3, 2)) == 0
