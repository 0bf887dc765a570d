"""A target's anchors differ: beyond the limit the next candidate takes its turn."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.anchors.candidates import AnchorCandidate
from linker.engine.anchors.diversity import AnchorUse, choose, may_replace, word_set
from tests.examples import tried


def candidates(*texts: str) -> list[AnchorCandidate]:
    return [AnchorCandidate(text, "h1", text) for text in texts]


def test_three_links_carry_the_best_anchor_and_the_fourth_the_next() -> None:
    use = AnchorUse()
    taken = [use.take(7, candidates("Tents", "Tent care"), limit=3).text for _ in range(8)]
    assert taken == ["Tents"] * 3 + ["Tent care"] * 3 + ["Tents", "Tent care"]


def test_targets_are_counted_apart() -> None:
    use = AnchorUse()
    assert [use.take(target, candidates("Tents", "Tent care"), limit=1).text for target in (1, 2)] == ["Tents"] * 2


def test_anchors_that_differ_in_case_or_accents_are_the_same() -> None:
    use = AnchorUse()
    use.add(1, ["ZELTE für  alle"])
    assert use.take(1, candidates("Zelte fur alle", "Zeltpflege"), limit=1).text == "Zeltpflege"


def test_with_all_used_up_the_least_used_comes_ties_by_rank() -> None:
    used = Counter({"a": 5, "b": 3, "c": 3})
    assert choose(candidates("a", "b", "c"), used.__getitem__, limit=3).text == "b"


def test_nothing_to_choose_from_is_an_error() -> None:
    with pytest.raises(ValueError, match="no anchor"):
        choose([], Counter[str]().__getitem__, limit=3)
    with pytest.raises(ValueError, match="at least 1"):
        choose(candidates("a"), Counter[str]().__getitem__, limit=0)


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 60))
@tried(100)
def test_no_anchor_is_used_more_than_the_limit_until_all_are_and_then_they_stay_level(
    count: int, limit: int, links: int
) -> None:
    use = AnchorUse()
    offered = candidates(*"abcdef"[:count])
    uses = Counter(use.take(7, offered, limit).text for _ in range(links))
    bound = max(limit, -(-links // count))
    assert all(times <= bound for times in uses.values())
    assert {text: use.times(7, text) for text in "abcdef"} == {text: uses[text] for text in "abcdef"}


def test_what_is_counted_of_a_million_targets_takes_up_little_memory() -> None:
    """A process may take 1.5 GiB for a match of a million pages, each of which has words to count."""
    use, words = AnchorUse(), "Tents for the snow"
    word_set(words)
    tracemalloc.start()
    try:
        for target in range(1_000_000, 1_010_000):
            use.add(target, [words])
        held = tracemalloc.get_traced_memory()[0] / 10_000
    finally:
        tracemalloc.stop()
    assert 1_000_000 * held <= 0.2 * 2**30


@pytest.mark.parametrize(
    ("words", "source", "weight", "expected"),
    [
        ("League", "url", 0.99, False),  # a name cut short
        ("Nations (1920", "text", 0.99, True),  # other words, however ragged: their weight says so
        ("joined the League of Nations", "text", 0.85, False),  # goes on around the best words
        ("first League of Nations", "text", 0.95, True),  # and fits almost as well
        ("League", "anchor", 0.75, True),  # links of the site say so
        ("The League of Nations, 1920", "title", 0.75, True),
        ("the Geneva organisation", "text", 0.75, True),
        ("the Geneva organisation", "text", 0.65, False),
    ],
)
def test_words_take_the_turn_of_the_best_ones_if_they_are_others(words, source, weight, expected) -> None:
    assert may_replace(words, source, weight, "League of Nations", 1.0) is expected


def test_without_words_to_replace_only_the_weight_counts() -> None:
    assert may_replace("League", "text", 0.7, "", 1.0)
    assert not may_replace("League", "text", 0.6, "", 1.0)
