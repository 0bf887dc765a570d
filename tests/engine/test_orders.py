"""How far two rankings agree, and how far two histograms lie apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr, wasserstein_distance

from linker.engine.orders import PairOrder, histogram_distance, spearman

CHANCE = np.random.default_rng(5)
FIRST = CHANCE.integers(0, 8, 60).astype(np.float32)  # with ties
SECOND = np.round(FIRST + CHANCE.normal(0, 2, 60)).astype(np.float32)


def test_spearman_is_that_of_scipy_ties_included():
    assert spearman(FIRST, SECOND) == pytest.approx(spearmanr(FIRST, SECOND).statistic)
    assert spearman(FIRST, FIRST) == pytest.approx(1)
    assert spearman(FIRST, -FIRST) == pytest.approx(-1)


def test_nothing_is_said_of_too_few_things_or_of_ties_alone():
    assert spearman(FIRST[:2], SECOND[:2]) is None
    assert spearman(np.ones(9), np.arange(9.0)) is None
    assert PairOrder().tau is None


def test_kendall_is_that_of_scipy_within_one_group_and_looks_at_no_pairs_of_two():
    order = PairOrder()
    order.add(np.zeros(60, dtype=np.int64), FIRST, SECOND)
    assert order.tau == pytest.approx(kendalltau(FIRST, SECOND).statistic)
    apart = PairOrder()
    apart.add(np.array([1, 1, 2, 2]), np.array([0.9, 0.8, 0.2, 0.1]), np.array([0.2, 0.1, 0.9, 0.8]))
    assert (apart.tau, apart.agreeing, apart.disagreeing) == (1, 2, 0)


def test_it_is_the_same_however_the_groups_are_divided():
    group = np.repeat(np.arange(12), 5)
    whole, parts = PairOrder(), PairOrder()
    whole.add(group, FIRST, SECOND)
    for start in range(0, 60, 15):
        parts.add(group[start : start + 15], FIRST[start : start + 15], SECOND[start : start + 15])
    assert whole == parts


def test_histograms_that_have_nothing_in_common_lie_one_apart():
    low, high = np.array([5, 0, 0, 0]), np.array([0, 0, 0, 7])
    found = histogram_distance(low, high)
    assert found.divergence == pytest.approx(1)
    assert found.shift == pytest.approx(0.75)  # three bins of a quarter
    same = histogram_distance(low, 3 * low)
    assert (same.divergence, same.shift) == (0, 0)
    assert histogram_distance(low, np.zeros(4, dtype=np.int64)) is None


def test_the_shift_is_wassersteins_distance():
    one, two = CHANCE.integers(1, 50, 20), CHANCE.integers(1, 50, 20)
    expected = wasserstein_distance(np.arange(20), np.arange(20), one, two) / 20
    assert histogram_distance(one, two).shift == pytest.approx(expected)


def test_two_samples_of_one_distribution_lie_close_however_small_they_are():
    chance = np.random.default_rng(1)
    for size in (40, 400, 4000):
        first, second = (np.bincount(chance.integers(0, 100, size), minlength=100) for _ in range(2))
        assert histogram_distance(first, second).divergence < 0.3
    moved = np.bincount(chance.integers(0, 100, 400) // 2, minlength=100)
    assert histogram_distance(first, moved).divergence > 0.4


def test_what_moves_within_wide_bins_alone_is_no_distance_however_it_is_rounded():
    chance = np.random.default_rng(3)
    for _ in range(300):
        first = np.bincount(chance.integers(0, 100, 60), minlength=100)
        begin = np.arange(8) * 100 // 8  # twice the cube root of 60
        second = np.concatenate([chance.permutation(part) for part in np.split(first, begin[1:])])
        assert histogram_distance(first, second).divergence == pytest.approx(0, abs=1e-7)
