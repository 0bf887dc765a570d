"""What an editor decides of one kind of link moves that kind, and hardly the others."""

from __future__ import annotations

import numpy as np
import pytest

from linker.engine.ranking.calibration import (
    BESIDE,
    MOST_ACCEPTORS,
    SOURCES,
    Calibration,
    Family,
    PageShifts,
    calibrate,
    common_kinds,
    kinds_of,
    learn,
    nearness_kind,
)

BOUND = 0.75  # from where suggestions are shown
HUB, ARTICLE = 1, 2
TITLE = SOURCES.index("title")
NO_TRAITS = np.zeros(600, dtype=int)
SMALL, CAPITAL = 100, 300  # traits of words that are written in small letters, and with capitals throughout


def shown(links: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """What the model states of links that are shown, and whether each leads to a hub: one in eight does."""
    rng = np.random.default_rng(seed)
    return rng.uniform(BOUND, 0.97, links), rng.random(links) < 0.12


def test_links_stay_that_have_nothing_in_common_with_what_a_careful_editor_rejects() -> None:
    stated, is_hub = shown(80, seed=1)
    approved = ~is_hub & (np.arange(80) % 12 != 0)
    lesson = learn(stated, approved, {Family.RECEIVER: np.where(is_hub, HUB, ARTICLE)}, np.ones(80, dtype=bool))
    receiving = np.array([lesson.shifts[Family.RECEIVER, HUB], lesson.shifts[Family.RECEIVER, ARTICLE]])
    moved = Calibration(
        lesson.slope, lesson.shift, 80, PageShifts(np.zeros(2), np.column_stack([receiving, receiving]))
    )

    others, to_hub = shown(600, seed=2)
    now = moved.of_links(others, np.zeros(600, dtype=int), np.where(to_hub, 0, 1), NO_TRAITS)
    assert (now >= BOUND).mean() >= 0.8
    assert (now[to_hub] >= BOUND).mean() < 0.5


def test_a_kind_that_nobody_decided_on_stays_where_it_was() -> None:
    kinds = {Family.TO: np.full(15, 7)}
    lesson = learn(np.full(15, 0.85), np.zeros(15, dtype=bool), kinds, np.ones(15, dtype=bool))
    assert lesson.shifts[Family.TO, 7] < -0.4
    assert list(lesson.shifts) == [(Family.TO, 7)]
    assert lesson.shift > -0.45


def test_a_kind_that_nearly_all_links_are_of_is_not_moved_beside_what_moves_all() -> None:
    kinds = {Family.RECEIVER: np.full(40, ARTICLE), Family.TO: np.where(np.arange(40) % 2, 7, 8)}
    stated, approved = np.full(40, 0.85), np.arange(40) % 20 < 11
    of_pair = np.ones(40, dtype=bool)
    common = common_kinds(kinds)
    assert common == {(Family.RECEIVER, ARTICLE)}
    lesson = learn(stated, approved, kinds, of_pair, common)
    assert set(lesson.shifts) == {(Family.TO, 7), (Family.TO, 8)}
    moved = Calibration(lesson.slope, lesson.shift, 40)
    assert moved(np.array([0.85]))[0] > BOUND
    assert learn(stated, approved, kinds, of_pair).shifts[Family.RECEIVER, ARTICLE] < -0.3


def test_rejected_words_move_words_that_nearly_all_links_have() -> None:
    kinds = {Family.WORDS: np.full(24, TITLE), Family.PLACE: np.ones(24, dtype=int)}
    of_pair = np.arange(24) < 12
    lesson = learn(np.full(24, 0.9), of_pair, kinds, of_pair, common_kinds(kinds))
    assert lesson.shifts[Family.WORDS, TITLE] < -0.3
    only_pairs = learn(
        np.full(12, 0.9),
        np.zeros(12, dtype=bool),
        {family: codes[:12] for family, codes in kinds.items()},
        np.ones(12, dtype=bool),
        common_kinds(kinds),
    )
    assert only_pairs.shifts[Family.WORDS, TITLE] == 0


def test_two_decisions_on_a_kind_are_too_few_to_move_it() -> None:
    lesson = learn(np.full(2, 0.85), np.zeros(2, dtype=bool), {Family.TO: np.full(2, 7)}, np.ones(2, dtype=bool))
    assert lesson.shifts == {}


def test_rejected_words_move_words_of_that_source_and_no_pair() -> None:
    kinds = {Family.TO: np.full(12, 7), Family.WORDS: np.full(12, TITLE), Family.PLACE: np.ones(12, dtype=int)}
    lesson = learn(np.full(12, 0.9), np.zeros(12, dtype=bool), kinds, np.zeros(12, dtype=bool))
    assert (lesson.slope, lesson.shift, lesson.shifts[Family.TO, 7]) == (1, 0, 0)
    words = lesson.words()
    assert words[TITLE] < words[SOURCES.index("anchor")] < words[BESIDE] == 0


def test_many_decisions_are_read_in_parts_and_teach_the_same() -> None:
    rng = np.random.default_rng(3)
    stated, approved = rng.uniform(0.2, 0.9, 25_000), rng.random(25_000) < 0.5
    kinds = {Family.FROM: rng.integers(0, 200, 25_000)}
    lesson = learn(stated, approved, kinds, np.ones(25_000, dtype=bool))
    assert len(lesson.shifts) == 60
    assert max(map(abs, lesson.shifts.values())) < 0.5


def test_approvals_raise_nothing_that_is_stated_lower_than_what_was_decided() -> None:
    """Editors saw what was stated at 0.75 and more, and liked all of it; nobody has seen the rest."""
    stated = np.linspace(0.75, 0.95, 60)
    moved = calibrate(stated, np.ones(60, dtype=np.bool_))
    assert moved.lowest == pytest.approx(0.77, abs=0.005)
    low, high = np.array([0.3, 0.6, 0.7]), np.array([0.8, 0.9])
    assert np.array_equal(moved(low), low)
    assert (moved(high) > high).all()


def test_rejections_lower_what_is_stated_lower_too() -> None:
    moved = calibrate(np.linspace(0.75, 0.95, 60), np.arange(60) % 2 == 0)
    assert (moved(np.array([0.3, 0.6])) < np.array([0.3, 0.6])).all()


@pytest.mark.parametrize("of_words", [False, True])
def test_words_are_worse_where_they_were_rejected_and_not_where_the_pair_was(of_words: bool) -> None:
    """An editor rejects half of the links on words of titles: for the pairs, or for the words."""
    approved = np.arange(60) % 2 == 0
    of_pair = np.full(60, True) if not of_words else approved
    kinds = {Family.PLACE: np.ones(60, dtype=int), Family.WORDS: np.full(60, TITLE)}
    lesson = learn(np.linspace(0.75, 0.95, 60), approved, kinds, of_pair)
    assert lesson.words()[TITLE] < -0.5
    moved = Calibration(words=lesson.words(), sources=lesson.sources)
    of_title = moved.by_source(np.array([0.8]), np.array([TITLE], dtype=np.int8))[0]
    assert of_title < 0.9 if of_words else of_title == 1


def test_an_editor_who_rejects_words_in_small_letters_is_shown_fewer_of_them() -> None:
    rng = np.random.default_rng(5)
    traits = np.where(rng.random(60) < 0.5, SMALL, CAPITAL) + nearness_kind(np.full(60, 0.2))
    kinds = {family: kinds_of(family, traits) for family in (Family.CAPITALS, Family.NEARNESS, Family.TITLE)}
    assert set(kinds[Family.TITLE]) == {-1}
    is_small = kinds[Family.CAPITALS] == 0
    lesson = learn(np.full(60, 0.85), ~is_small, kinds, np.ones(60, dtype=bool), common_kinds(kinds))
    moved = Calibration(lesson.slope, lesson.shift, lesson.decisions, words=lesson.words(), traits=lesson.traits())
    pages = np.zeros(2, dtype=int)
    small, capital = moved.of_links(np.full(2, 0.85), pages, pages, np.array([SMALL, CAPITAL]), pages)
    assert small < BOUND < capital
    assert capital > 0.84
    # Words are chosen by the same: of two for one target, those that its editors like.
    by_words = moved.by_words(np.full(2, 0.85), np.zeros(2, dtype=np.int8), np.array([SMALL, CAPITAL], dtype=np.int16))
    assert by_words[0] < 1 < by_words[1]


def test_links_whose_traits_nobody_told_are_not_moved_by_them() -> None:
    stated, kinds = np.full(40, 0.85), {Family.NEARNESS: np.full(40, -1), Family.CAPITALS: np.full(40, -1)}
    lesson = learn(stated, np.arange(40) % 2 == 0, kinds, np.ones(40, dtype=bool))
    assert lesson.traits() == {}


def test_pages_nearer_than_the_nearest_are_of_the_last_kind() -> None:
    assert nearness_kind(np.array([-0.4, -0.05, 0.05, 0.3])).tolist() == [1, 2, 3, 4]


def test_an_editor_who_rejects_links_to_a_page_is_shown_fewer_links_to_it_and_to_no_other() -> None:
    target = np.repeat([7, 8, 9], 4)
    approved = target != 8
    kinds = {Family.PLACE: np.ones(12, dtype=int)}
    lesson = learn(np.full(12, 0.85), approved, kinds, np.ones(12, dtype=bool), {(Family.PLACE, 1)}, target)
    by_page = dict(zip(lesson.acceptors.pages.tolist(), lesson.acceptors.shifts.tolist(), strict=True))
    assert by_page[8][1] < -1 < 0 < by_page[7][1] < 0.5
    assert by_page[8][0] == 0  # beside the text, nobody said anything
    ids = np.array([6, 7, 8, 9])
    pages = PageShifts(np.zeros(4), lesson.acceptors.of(ids))
    moved = Calibration(lesson.slope, lesson.shift, lesson.decisions, pages, lesson.words())
    place = np.arange(4)
    in_text = moved.of_links(np.full(4, 0.85), place, place, np.zeros(4, dtype=int), np.zeros(4, dtype=np.int8))
    beside = moved.of_links(np.full(4, 0.85), place, place, np.zeros(4, dtype=int))
    assert in_text[2] < 0.6 < BOUND < in_text[0] < in_text[1]
    assert beside[2] == beside[0]


def test_pages_moved_farthest_are_kept() -> None:
    rng = np.random.default_rng(3)
    target = np.concatenate([np.arange(2 * MOST_ACCEPTORS), np.full(5, 10 * MOST_ACCEPTORS)])
    approved = rng.random(len(target)) < 0.85
    approved[-5:] = False
    kinds = {Family.PLACE: np.zeros(len(target), dtype=int)}
    lesson = learn(np.full(len(target), 0.85), approved, kinds, np.ones(len(target), dtype=bool), (), target)
    assert len(lesson.acceptors.pages) == MOST_ACCEPTORS
    assert lesson.acceptors.pages[-1] == 10 * MOST_ACCEPTORS
    assert (np.diff(lesson.acceptors.pages) > 0).all()
