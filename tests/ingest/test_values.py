"""Cells are read as people and programs write them, in several languages."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.cells import values
from tests.examples import tried


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        (" Tents¶", "Tents"),
        ("Tents ¶ ", "Tents"),
        ("Tents 🔗", "Tents"),
        ("Tents #", "Tents"),
        ("Learn C#", "Learn C#"),
        ("#", "#"),
        ("¶", ""),
        ("", ""),
    ],
)
def test_a_heading_ends_before_the_sign_that_links_to_it(text, heading):
    assert values.heading(text) == heading


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12),
        ("1,5", 1.5),
        ("1.5", 1.5),
        ("1,234.5", 1234.5),
        ("1.234,5", 1234.5),
        ("24\u202f541", 24541),
        ("1\u00a0234,5", 1234.5),
        ("10,00 %", 0.1),
        ("10%", 0.1),
        ("1.2e-05", 1.2e-05),
        ("1,234,567", 1234567),
        ("-3", -3),
    ],
)
def test_numbers_are_read_with_either_decimal_sign(text, number):
    assert values.parse_number(text) == pytest.approx(number)


@pytest.mark.parametrize(("text", "count"), [("1,234", 1234), ("1.234", 1234), ("24 541", 24541), ("7", 7), ("7.0", 7)])
def test_counts_take_groups_of_three_for_thousands(text, count):
    assert values.parse_count(text) == count


@pytest.mark.parametrize("text", ["", "n/a", "1,2,x", "--3", "nan", "inf", "1e999", "٣"])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(ValueError):
        values.parse_number(text)


@pytest.mark.parametrize("text", ["-1", "99999999999", "9" * 5000])
def test_a_count_that_no_column_can_hold_is_refused(text):
    with pytest.raises(ValueError):
        values.parse_count(text)


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (values.parse_count, "-1", "-1, not from 0 to 2,147,483,647"),
        (values.parse_count, "9" * 50, f"{'9' * 50}, not from 0 to 2,147,483,647"),
        (values.parse_status_code, "1200", "1200, not from 0 to 999"),
        (values.parse_position, "-0.5", "-0.5, not 0 or more"),
        (values.parse_importance, "-3 %", "-3 %, not 0 or more"),
        (values.parse_value, "1e999", "1e999, not below 1.8e308"),
        (values.parse_time, "0001-01-01T00:00:00+23:00", "0001-01-01T00:00:00+23:00, not from the year 1 to the year "),
    ],
)
def test_a_number_out_of_range_is_left_out_with_the_range_and_not_as_one_that_is_not_understood(parse, text, value):
    known, left_out = values.of_cells(parse, [text, "many"])
    assert known == {text: None, "many": None}
    assert left_out["many"] == ("bad_cell", "many")
    reason, shown = left_out[text]
    assert reason == "out_of_range"
    assert shown.startswith(value)


@tried(60)
@given(st.text(max_size=40))
def test_any_text_is_a_finite_number_or_an_error(text):
    with contextlib.suppress(ValueError):
        assert np.isfinite(values.parse_number(text))


@pytest.mark.parametrize(
    ("text", "indexable"),
    [
        ("Indexable", True),
        ("Non-Indexable", False),
        ("Non indexable", False),
        ("Indexierbar", True),
        ("Nicht indexierbar", False),
        ("No indexable", False),
        ("true", True),
        ("noindex", False),
    ],
)
def test_indexability_is_read_in_the_interface_s_language(text, indexable):
    assert values.parse_indexable(text) is indexable


def test_times_are_rfc_1123_or_iso_and_utc_without_a_zone():
    expected = datetime(2026, 2, 12, 16, 48, 29, tzinfo=UTC)
    assert values.parse_time("Thu, 12 Feb 2026 16:48:29 GMT") == expected
    assert values.parse_time("2026-02-12 16:48:29") == expected
    assert values.parse_time("2026-02-12T17:48:29+01:00") == expected
    for text in ("yesterday", "Thu, 99 Feb 2026 16:48:29 GMT", "0001-01-01T00:00:00+23:00"):
        with pytest.raises(ValueError):
            values.parse_time(text)


@pytest.mark.parametrize("form", ["{}", "[{}]", "{{{}}}", '"[{}]"', " [ {} ] \n"])
def test_a_vector_is_read_in_every_bracket_and_made_a_unit(form):
    vector = values.parse_vector(form.format("3, 4e0,0.0, 1.2e-05"))
    assert vector.dtype == np.float32
    np.testing.assert_allclose(vector, [0.6, 0.8, 0, 2.4e-06], atol=1e-7)


@pytest.mark.parametrize("text", ["", "[]", "0,0,0", "1,nan", "1,inf", "1,,2", "1,two", "Error: rate limit", "1 2 3"])
def test_a_broken_vector_is_refused(text):
    with pytest.raises(ValueError):
        values.parse_vector(text)


def test_a_vector_longer_than_a_column_can_hold_is_refused():
    with pytest.raises(ValueError, match="16,000"):
        values.parse_vector(",".join(["1"] * 16_001))


@tried(60)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=60))
def test_every_finite_vector_but_zero_comes_out_with_length_one(numbers):
    text = ",".join(map(repr, numbers))
    if any(numbers):
        assert np.linalg.norm(values.parse_vector(text)) == pytest.approx(1, abs=1e-5)
    else:
        with pytest.raises(ValueError):
            values.parse_vector(text)


def test_vectors_are_known_by_fifty_numbers():
    assert values.looks_like_vector(",".join(["-0.01"] * 50))
    assert values.looks_like_vector("[" + ", ".join(["1.2e-05"] * 768) + "]")
    assert not values.looks_like_vector(",".join(["-0.01"] * 49))
    assert not values.looks_like_vector("a sentence, " * 60)


CRUMBS = (
    '{"@type":"ListItem","position":2,"name":"Tents","item":{"@id":"https://shop.example/tents/","name":"x"}},'
    '{"@type":"ListItem","position":1,"item":{"@id":"https://shop.example/","name":"Home"}},'
    '{"@type":"ListItem","position":3,"name":"Dome 2"}'
)
LIST = '{"@context":"https://schema.org","@type":"BreadcrumbList","itemListElement":[' + CRUMBS + "]}"


@pytest.mark.parametrize(
    "text",
    [
        LIST,
        f"[{LIST}]",
        f'{{"@graph":[{{"@type":"WebSite","name":"Shop"}},{LIST}]}}',
        f'[{{"@type":"Product"}},{{"@graph":[[{LIST}]]}}]',
        f'{{"@type":"WebPage","breadcrumb":{LIST}}}',
        LIST.replace('"BreadcrumbList"', '["BreadcrumbList","Thing"]'),
    ],
)
def test_a_breadcrumb_is_found_in_every_shape_of_json_ld_and_put_in_order(text):
    assert values.parse_json_ld(text) == [
        ("Home", "https://shop.example/"),
        ("Tents", "https://shop.example/tents/"),
        ("Dome 2", ""),
    ]


def test_json_ld_that_is_none_is_refused_and_odd_entries_are_passed_over():
    with pytest.raises(ValueError):
        values.parse_json_ld('{"@type": "BreadcrumbList", ')
    with pytest.raises(ValueError):
        values.parse_json_ld("[" * 100_000)
    assert values.parse_json_ld('{"@type":"BreadcrumbList","itemListElement":[1,null,{"name":7},{"name":"A"}]}') == [
        ("A", "")
    ]
    assert values.parse_json_ld('{"@type":"Product"}') == []
