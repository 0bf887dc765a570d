"""Need is a sum of stated parts between 0 and 1, with the words that explain it; worth never makes up for a poor
suggestion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.engine import worth

NAN = float("nan")


def facts(*pages: dict[str, float]) -> worth.Facts:
    names = ("links", "depth", "impressions", "clicks", "position", "value", "new")
    return worth.Facts(*(np.array([page.get(name, NAN) for page in pages], dtype=np.float64) for name in names))


def need(**page: float) -> float:
    return float(worth.need(facts(page))[0])


def test_nothing_is_lacking_where_nothing_is_known():
    assert need() == 0
    assert worth.in_words(facts({}), 0) == ""


def test_two_links_or_fewer_are_few():
    assert [need(links=number) for number in range(5)] == pytest.approx([0.5, 1 / 3, 1 / 6, 0, 0], abs=1e-6)
    assert worth.under_linked(facts(*({"links": number} for number in (0, 2, 3)), {})).tolist() == [1, 1, 0, 0]


def test_a_new_page_lacks_links_as_if_none_had_any_to_it():
    assert [need(links=number, new=1) for number in (0, 3, 90)] == pytest.approx([0.5] * 3)
    assert need(new=1) == pytest.approx(0.5)
    assert worth.in_words(facts({"links": 90, "new": 1}), 0) == "Needs links: is new"
    assert worth.in_words(facts({"links": 0, "new": 1}), 0) == "Needs links: is new, has none from texts"
    assert worth.in_words(facts({"links": 90, "new": 0}), 0) == ""


def test_pages_lie_deep_from_the_fourth_click_on():
    assert [need(depth=depth) for depth in (0, 3, 4, 5, 6, 90)] == pytest.approx([0, 0, 0.05, 0.1, 0.15, 0.15])


def test_impressions_count_at_positions_5_to_20_as_far_as_nobody_clicked():
    assert [need(impressions=9999, position=at) for at in (4.9, 5, 20, 20.1)] == pytest.approx([0, 0.2, 0.2, 0])
    assert need(impressions=1e9, position=8) == pytest.approx(0.2)
    assert need(impressions=9999, clicks=9900, position=8) == pytest.approx(0.1)
    assert need(impressions=10, clicks=20, position=8) == 0
    assert need(impressions=100) == 0


def test_values_count_by_how_they_stand_among_those_of_other_pages():
    found = worth.need(facts({"value": 0}, {"value": 10}, {"value": 1000}, {}))
    assert found == pytest.approx([0, 0.15 * 0.5, 0.15 * 5 / 6, 0])


@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                name: st.floats(0, 1e9) for name in ("links", "depth", "impressions", "clicks", "position", "value")
            },
        ),
        min_size=1,
        max_size=6,
    )
)
def test_need_lies_between_0_and_1_and_has_words_where_it_is_above(pages):
    known = facts(*({name: float(int(number)) for name, number in page.items()} for page in pages))
    found = worth.need(known)
    assert ((found >= 0) & (found <= 1)).all()
    for place, number in enumerate(found.tolist()):
        assert number == 0 or worth.in_words(known, place)


def test_the_words_say_what_is_lacking():
    known = facts(
        {"links": 0, "depth": 5, "impressions": 1240, "position": 8.2, "value": 80},
        {"links": 1, "depth": 3, "impressions": 1, "position": 5},
        {"links": 2},
        {"links": 9, "depth": 2, "value": 1234.5},
        {"links": 3, "impressions": 900, "position": 3, "value": 0},
    )
    assert [worth.in_words(known, place) for place in range(5)] == [
        "Needs links: has none from texts, 5 clicks deep, 1,240 impressions at position 8, value 80",
        "Needs links: has only 1 from a text, 1 impression at position 5",
        "Needs links: has only 2 from texts",
        "Has value 1,234.5",
        "",
    ]


def test_the_most_needed_page_is_worth_little_more_than_twice_as_much():
    weights = worth.weight(np.array([0.0, 1.0, 1.0]), np.array([NAN, NAN, 1.0]))
    assert weights == pytest.approx([0.4, 0.9, 1.0])
