"""Caps hold on both sides, best first is greedy by score, equal rounds shares out."""

from __future__ import annotations

import time
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.allocation.allocate import Caps, Reason, allocate
from linker.engine.params import Mode
from tests.examples import tried

pairs = st.dictionaries(
    st.tuples(st.integers(1, 8), st.integers(11, 18)), st.sampled_from([0.5, 0.6, 0.7, 0.8]), max_size=40
)


rooms = st.dictionaries(st.integers(1, 8), st.integers(0, 5), max_size=4)  # of donors with a cap of their own


def as_arrays(rooms: dict[int, int]) -> tuple[np.ndarray, np.ndarray]:
    sources = sorted(rooms)
    return np.array(sources, dtype=np.int64), np.array([rooms[source] for source in sources], dtype=np.int64)


def run(
    scores: dict[tuple[int, int], float],
    per_source: int,
    per_target: int,
    mode: Mode,
    rooms: dict[int, int] | None = None,
    needy: set[tuple[int, int]] | None = None,
) -> list[tuple[int, int]]:
    keys = list(scores)
    chosen = allocate(
        np.array([d for d, _ in keys], dtype=np.int64),
        np.array([t for _, t in keys], dtype=np.int64),
        np.array([scores[key] for key in keys], dtype=np.float64),
        Caps(
            per_source,
            per_target,
            source_limits=as_arrays(rooms) if rooms else None,
            in_need=None if needy is None else np.array([key in needy for key in keys], dtype=bool),
        ),
        mode,
    ).chosen
    return [keys[place] for place in chosen.tolist()]


def ranked(scores):
    return sorted(scores, key=lambda pair: (-scores[pair], pair))


def slow_needy(scores, per_source, per_target, rooms, needy):
    """What targets in need take before the others."""
    given, received, chosen = Counter(), Counter(), []
    for turn in (1, 2):
        for source, target in ranked(scores):
            half = -(-rooms.get(source, per_source) // 2)
            roof = min(turn, per_target) if per_target else turn
            if (source, target) not in needy or (source, target) in chosen:
                continue
            if given[source] < half and received[target] < roof:
                given[source] += 1
                received[target] += 1
                chosen.append((source, target))
    return given, received, chosen


def slow_best(scores, per_source, per_target, rooms, needy=frozenset()):
    given, received, chosen = slow_needy(scores, per_source, per_target, rooms, needy)
    for source, target in ranked(scores):
        if (source, target) in chosen:
            continue
        if given[source] < rooms.get(source, per_source) and (not per_target or received[target] < per_target):
            given[source] += 1
            received[target] += 1
            chosen.append((source, target))
    return chosen


def slow_equal(scores, per_source, per_target, rooms, needy=frozenset()):
    given, received, chosen = slow_needy(scores, per_source, per_target, rooms, needy)
    for turn in range(1, len(scores) + per_source + 1):
        for source, target in ranked(scores):
            roof = min(turn, per_target) if per_target else turn
            most = min(turn, rooms.get(source, per_source))
            if (source, target) not in chosen and given[source] < most and received[target] < roof:
                given[source] += 1
                received[target] += 1
                chosen.append((source, target))
    return chosen


@given(pairs, st.integers(1, 5), st.integers(0, 5), rooms)
@tried(150)
def test_best_first_is_the_plain_greedy_loop(scores, per_source, per_target, rooms):
    assert run(scores, per_source, per_target, Mode.BEST, rooms) == slow_best(scores, per_source, per_target, rooms)


@given(pairs, st.integers(1, 5), st.integers(0, 5), rooms)
@tried(150)
def test_equal_rounds_are_the_plain_rounds(scores, per_source, per_target, rooms):
    assert run(scores, per_source, per_target, Mode.EQUAL, rooms) == slow_equal(scores, per_source, per_target, rooms)


def some_of(scores: dict[tuple[int, int], float], targets: set[int]) -> set[tuple[int, int]]:
    """The pairs of these targets that score 0.6 or more."""
    return {pair for pair, score in scores.items() if pair[1] in targets and score >= 0.6}


in_need = st.sets(st.integers(11, 18))


@given(pairs, st.integers(1, 5), st.integers(0, 5), rooms, in_need)
@tried(200)
def test_targets_in_need_choose_first_from_half_of_each_donor(scores, per_source, per_target, rooms, targets):
    needy = some_of(scores, targets)
    for mode, slow in ((Mode.BEST, slow_best), (Mode.EQUAL, slow_equal)):
        wanted = slow(scores, per_source, per_target, rooms, needy)
        assert run(scores, per_source, per_target, mode, rooms, needy) == wanted


@given(pairs, st.integers(1, 4), st.integers(0, 4), rooms, in_need, st.sampled_from(list(Mode)))
@tried(150)
def test_caps_hold_with_targets_in_need_and_more_of_them_get_a_link(
    scores, per_source, per_target, rooms, targets, mode
):
    needy = some_of(scores, targets)
    before = run(scores, per_source, per_target, mode, rooms)
    after = run(scores, per_source, per_target, mode, rooms, needy)
    given_by, received_by = (Counter(pair[side] for pair in after) for side in (0, 1))
    assert all(count <= rooms.get(source, per_source) for source, count in given_by.items())
    assert not per_target or all(count <= per_target for count in received_by.values())
    taken = slow_needy(scores, per_source, per_target, rooms, needy)[2]
    assert set(taken) <= set(after)
    if not targets:
        assert after == before


def test_a_page_in_need_gets_its_best_link_before_others_get_their_tenth():
    scores = {(1, target): 0.9 for target in range(20, 30)} | {(1, 11): 0.8, (2, 11): 0.7, (1, 12): 0.75}
    assert (1, 11) not in run(scores, 10, 0, Mode.BEST)
    found = run(scores, 10, 0, Mode.BEST, needy={(1, 11), (2, 11), (1, 12)})
    assert found[:3] == [(1, 11), (1, 12), (2, 11)]
    assert sum(source == 1 for source, _ in found) == 10


def test_links_that_stand_count_for_pages_in_need():
    keys = [(1, 11), (2, 11), (3, 11), (1, 12), (2, 12)]
    sources, targets = (np.array([key[side] for key in keys], dtype=np.int64) for side in (0, 1))
    standing = np.array([1, 2]), np.array([11, 11])
    caps = Caps(2, existing=standing, in_need=targets == 11)
    found = allocate(sources, targets, np.full(5, 0.8), caps, Mode.BEST)
    assert found.for_need.tolist() == []


@given(pairs, st.integers(1, 4), st.integers(0, 4), st.sampled_from(list(Mode)))
@tried(100)
def test_standing_links_use_up_the_caps_and_come_first(scores, per_source, per_target, mode):
    keys = sorted(scores)
    standing = keys[::3]
    chosen = allocate(
        np.array([d for d, _ in keys], dtype=np.int64),
        np.array([t for _, t in keys], dtype=np.int64),
        np.array([scores[key] for key in keys], dtype=np.float64),
        Caps(
            per_source,
            per_target,
            existing=(
                np.array([d for d, _ in standing], dtype=np.int64),
                np.array([t for _, t in standing], dtype=np.int64),
            ),
        ),
        mode,
    ).chosen
    result = [keys[place] for place in chosen.tolist()]
    assert len(result) == len(set(result))
    assert set(standing) <= set(result)
    for side, cap in ((0, per_source), (1, per_target or 10**9)):
        held = Counter(pair[side] for pair in standing)
        for page, count in Counter(pair[side] for pair in result).items():
            assert count <= max(cap, held[page])


@given(pairs, st.integers(1, 5), st.integers(0, 5), rooms, st.sampled_from(list(Mode)))
@tried(100)
def test_a_donor_with_less_room_gives_no_more_than_that(scores, per_source, per_target, rooms, mode):
    given_by = Counter(source for source, _ in run(scores, per_source, per_target, mode, rooms))
    assert all(count <= rooms.get(source, per_source) for source, count in given_by.items())


def test_equal_rounds_give_everybody_a_first_link_before_anybody_a_second():
    scores = {(1, 11): 0.9, (1, 12): 0.89, (2, 11): 0.88, (2, 12): 0.5}
    assert run(scores, 1, 0, Mode.EQUAL) == [(1, 11), (2, 12)]
    assert run(scores, 1, 0, Mode.BEST) == [(1, 11), (2, 11)]


@given(pairs, st.integers(1, 4), st.integers(0, 4), st.sampled_from(list(Mode)))
@tried(100)
def test_a_pair_that_is_left_out_says_which_side_is_full(scores, per_source, per_target, mode):
    keys = sorted(scores)
    sources, targets = (np.array([key[side] for key in keys], dtype=np.int64) for side in (0, 1))
    found = allocate(sources, targets, np.array([scores[key] for key in keys]), Caps(per_source, per_target), mode)
    held = set(found.chosen.tolist())
    given_by, received_by = Counter(sources[found.chosen].tolist()), Counter(targets[found.chosen].tolist())
    for place, (source, target) in enumerate(keys):
        if place in held:
            assert found.reason[place] == 0
        elif found.reason[place] == Reason.SOURCE_FULL:
            assert given_by[source] == per_source
        else:
            assert found.reason[place] == Reason.TARGET_FULL
            assert received_by[target] == per_target


@given(pairs, st.integers(1, 4), st.integers(1, 4))
@tried(100)
def test_the_optimal_mode_is_never_below_best_first_and_says_by_how_much(scores, per_source, per_target):
    keys = sorted(scores)
    sources, targets = (np.array([key[side] for key in keys], dtype=np.int64) for side in (0, 1))
    score = np.array([scores[key] for key in keys])
    greedy = allocate(sources, targets, score, Caps(per_source, per_target), Mode.BEST)
    best = allocate(sources, targets, score, Caps(per_source, per_target), Mode.OPTIMAL)
    assert best.total >= best.greedy_total - 1e-9
    assert abs(best.greedy_total - greedy.total) < 1e-9
    assert abs(best.planned - best.total) < 1e-9


def test_the_optimal_mode_says_what_it_lost_where_best_first_was_better():
    """The assignment knows no limit on links back: what it chose for its total may be refused."""
    scores = {(1, 2): 0.9, (2, 1): 0.8, (1, 3): 0.7, (3, 1): 0.3, (2, 3): 0.6, (3, 2): 0.5}
    keys = sorted(scores)
    sources, targets = (np.array([key[side] for key in keys], dtype=np.int64) for side in (0, 1))
    score = np.array([scores[key] for key in keys])
    lost = [
        found
        for per_target in (0, 1, 2)
        for limit in (0, 1)
        for found in [allocate(sources, targets, score, Caps(1, per_target, reciprocal=limit), Mode.OPTIMAL)]
        if found.planned < found.greedy_total
    ]
    assert lost
    assert all(found.total == found.greedy_total for found in lost)


among_five = st.dictionaries(
    st.tuples(st.integers(1, 5), st.integers(1, 5)).filter(lambda pair: pair[0] != pair[1]),
    st.sampled_from([0.3, 0.5, 0.6, 0.7, 0.8, 0.95]),
    max_size=20,
)


@given(among_five, st.integers(1, 3), st.integers(0, 3), st.integers(0, 2))
@tried(200)
def test_a_limit_on_links_back_leaves_the_optimal_mode_no_worse_than_best_first(scores, per_source, per_target, limit):
    keys = sorted(scores)
    sources, targets = (np.array([key[side] for key in keys], dtype=np.int64) for side in (0, 1))
    score = np.array([scores[key] for key in keys])
    caps = Caps(per_source, per_target, reciprocal=limit)
    best, optimal = (allocate(sources, targets, score, caps, mode) for mode in (Mode.BEST, Mode.OPTIMAL))
    assert optimal.total >= optimal.greedy_total - 1e-9  # sums in another order
    assert abs(optimal.greedy_total - best.total) < 1e-9


def slow_limited(scores, per_source, per_target, limit, back, turns):
    """Every round over every pair, as the words have it."""
    given, received, mutual, chosen, refused, one_way = Counter(), Counter(), Counter(), [], set(), set()
    for turn in turns:
        for source, target in ranked(scores):
            if (source, target) in chosen or given[source] >= min(turn, per_source):
                continue
            if received[target] >= (min(turn, per_target) if per_target else turn):
                continue
            is_mutual = (source, target) in back or (target, source) in chosen
            counted = [source] if is_mutual else []
            if (target, source) in one_way:
                counted.append(target)
            if any(mutual[page] >= limit for page in counted):
                refused.add((source, target))
                continue
            mutual.update(counted)
            if not is_mutual:
                one_way.add((source, target))
            given[source] += 1
            received[target] += 1
            chosen.append((source, target))
    return chosen, refused


@given(among_five, st.integers(1, 3), st.integers(0, 3), st.integers(0, 2), st.data())
@tried(300)
def test_under_a_limit_on_links_back_both_ways_are_the_plain_loops(scores, per_source, per_target, limit, data):
    keys = sorted(scores)
    back = data.draw(st.sets(st.sampled_from(keys))) if keys else set()
    sources, targets = (np.array([key[side] for key in keys], dtype=np.int64) for side in (0, 1))
    linked = np.array([key in back for key in keys], dtype=bool)
    caps = Caps(per_source, per_target, reciprocal=limit, back=linked)
    for mode, turns in ((Mode.BEST, [len(keys) + per_source]), (Mode.EQUAL, range(1, len(keys) + per_source + 1))):
        found = allocate(sources, targets, np.array([scores[key] for key in keys]), caps, mode)
        chosen, refused = slow_limited(scores, per_source, per_target, limit, back, turns)
        assert [keys[place] for place in found.chosen] == chosen
        assert {keys[place] for place in np.flatnonzero(found.reason == Reason.RECIPROCAL)} == refused


def test_equal_rounds_go_on_past_a_target_that_has_many_links_already():
    standing = np.arange(100, 110), np.full(10, 11)
    found = allocate(np.array([1, 2]), np.array([11, 12]), np.array([0.9, 0.8]), Caps(1, existing=standing), Mode.EQUAL)
    assert found.chosen.tolist() == [1, 0]


def test_equal_rounds_do_not_go_through_refused_pairs_again_and_again():
    sources, targets = (side.ravel() for side in np.meshgrid(np.arange(110), np.arange(110)))
    apart = sources != targets
    sources, targets = sources[apart], targets[apart]
    caps = Caps(200, reciprocal=0, back=np.ones(len(sources), dtype=bool))
    before = time.process_time()
    assert not len(allocate(sources, targets, np.ones(len(sources)), caps, Mode.EQUAL).chosen)
    assert time.process_time() - before < 5


def test_links_back_are_limited_by_donor():
    sources, targets = np.array([1, 2, 1, 1]), np.array([2, 1, 3, 4])
    score, back = np.array([0.9, 0.8, 0.7, 0.6]), np.array([False, False, True, False])
    none = allocate(sources, targets, score, Caps(5, reciprocal=0, back=back), Mode.BEST)
    assert none.chosen.tolist() == [0, 3]  # 2 -> 1 would close a circle, 3 links to 1 already
    assert none.reason.tolist() == [0, Reason.RECIPROCAL, Reason.RECIPROCAL, 0]
    one = allocate(sources, targets, score, Caps(5, reciprocal=1, back=back), Mode.BEST)
    assert one.chosen.tolist() == [0, 1, 3]  # 1 has its one: the circle with 2
    two = allocate(sources, targets, score, Caps(5, reciprocal=2, back=back), Mode.BEST)
    assert two.chosen.tolist() == [0, 1, 2, 3]


def test_a_link_back_counts_for_the_page_that_gave_the_first_one_as_well():
    sources, targets = np.array([0, 0, 0, 1, 2, 3]), np.array([1, 2, 3, 0, 0, 0])
    score = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
    for mode in Mode:
        found = allocate(sources, targets, score, Caps(5, reciprocal=1), mode)
        held = {(sources[place], targets[place]) for place in found.chosen}
        mutual = Counter(source for source, target in held if (target, source) in held)
        assert max(mutual.values()) == 1
        assert Counter(found.reason.tolist()) == {0: 4, Reason.RECIPROCAL: 2}


def test_a_link_back_to_one_that_stands_counts_for_both():
    standing = np.array([9, 9]), np.array([1, 2])
    caps = Caps(5, reciprocal=1, existing=standing)
    found = allocate(np.array([1, 2]), np.array([9, 9]), np.array([0.9, 0.8]), caps, Mode.BEST)
    assert found.reason.tolist() == [0, Reason.RECIPROCAL]
