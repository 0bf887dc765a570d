"""Which links give way: only for a gain, each for one candidate, and never more than the quotas allow."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.allocation.replacements import Quotas, choose_replacements, is_gain

PROBABILITIES = st.integers(0, 20).map(lambda twentieths: twentieths / 20)
PAGES, PLACES = st.integers(1, 3), st.integers(0, 1)
CANDIDATES = st.lists(
    st.tuples(PAGES, st.integers(10, 16), PLACES, PROBABILITIES), max_size=12, unique_by=lambda one: one[:2]
)
STANDING = st.lists(st.tuples(PAGES, PLACES, PROBABILITIES), max_size=8)
QUOTAS = st.builds(
    Quotas,
    st.dictionaries(PAGES, st.integers(-1, 3)),
    st.integers(-1, 6),
    st.dictionaries(st.integers(10, 16), st.integers(-1, 2)),
)
NONE = Quotas({}, 0, {})


def columns(rows, kinds):
    return tuple(np.array([row[place] for row in rows], dtype=kind) for place, kind in enumerate(kinds))


def chosen(candidates, standing, gain, quotas):
    return choose_replacements(
        columns(candidates, ("i8", "i8", "i8", "f8")), columns(standing, ("i8", "i8", "f8")), gain, quotas
    )


def by_definition(candidates, standing, gain, quotas):
    """The same, by looking for the best and the worst that are left, again and again."""
    found = []
    for key in sorted({(source, place) for source, _, place, _ in candidates}):
        mine = [at for at, (source, _, place, _) in enumerate(candidates) if (source, place) == key]
        links = [at for at, (source, place, _) in enumerate(standing) if (source, place) == key]
        while mine and links:
            best = min(mine, key=lambda at: (-candidates[at][3], candidates[at][1]))
            worst = min(links, key=lambda at: (standing[at][2], at))
            mine.remove(best)
            links.remove(worst)
            if is_gain(candidates[best][3], standing[worst][2], gain):
                found.append((best, worst))
    found.sort(key=lambda pair: (standing[pair[1]][2] - candidates[pair[0]][3], *candidates[pair[0]][:2]))
    kept, given_by, taken_by = [], Counter(), Counter()
    for best, worst in found:
        source, target = candidates[best][:2]
        room = quotas.per_target.get(target, 99) - taken_by[target]
        if len(kept) < quotas.in_all and given_by[source] < quotas.per_source.get(source, 0) and room > 0:
            kept.append((best, worst))
            given_by[source] += 1
            taken_by[target] += 1
    return kept


@given(CANDIDATES, STANDING, st.sampled_from([0.05, 0.2, 1.0]), QUOTAS)
def test_the_choice_is_the_one_by_definition(candidates, standing, gain, quotas):
    assert chosen(candidates, standing, gain, quotas) == by_definition(candidates, standing, gain, quotas)


@given(CANDIDATES, STANDING, QUOTAS)
def test_less_than_a_fifth_is_never_a_gain_and_no_link_counts_twice(candidates, standing, quotas):
    pairs = chosen(candidates, standing, 0.2, quotas)

    assert all(candidates[new][3] >= standing[old][2] * 1.2 - 1e-9 and standing[old][2] > 0 for new, old in pairs)
    assert all(
        (candidates[new][0], candidates[new][2]) == standing[old][:2] for new, old in pairs
    )  # of one page, in one place
    assert len({new for new, _ in pairs}) == len({old for _, old in pairs}) == len(pairs)


@given(CANDIDATES, STANDING, QUOTAS)
def test_the_quotas_are_never_exceeded(candidates, standing, quotas):
    pairs = chosen(candidates, standing, 0.2, quotas)
    sources = Counter(candidates[new][0] for new, _ in pairs)
    targets = Counter(candidates[new][1] for new, _ in pairs)

    assert len(pairs) <= max(quotas.in_all, 0)
    assert all(links <= quotas.per_source.get(source, 0) for source, links in sources.items())
    assert all(links <= quotas.per_target.get(target, links) for target, links in targets.items())


def test_exactly_a_fifth_is_enough_in_spite_of_how_numbers_are_kept():
    assert is_gain(0.72, 0.6, 0.2)
    assert is_gain(0.6, 0.5, 0.2)
    assert not is_gain(0.599999, 0.5, 0.2)
    assert not is_gain(1.0, 0.0, 0.2)
    assert not is_gain(float("nan"), 0.5, 0.2)
    assert not is_gain(0.9, float("nan"), 0.2)


def test_the_best_goes_against_the_worst_and_the_highest_gain_first():
    candidates = [(1, 10, 1, 0.8), (1, 11, 1, 0.9), (2, 12, 1, 0.9)]
    standing = [(1, 1, 0.6), (1, 1, 0.4), (2, 1, 0.7)]
    whole = Quotas({1: 9, 2: 9}, 9, {})

    assert chosen(candidates, standing, 0.2, whole) == [(1, 1), (0, 0), (2, 2)]
    assert chosen(candidates, standing, 0.2, Quotas({1: 1, 2: 1}, 9, {})) == [(1, 1), (2, 2)]
    assert chosen(candidates, standing, 0.2, Quotas({1: 9, 2: 9}, 1, {})) == [(1, 1)]
    assert chosen(candidates, standing, 0.2, NONE) == []
