"""A pattern that cannot be read is answered with the place of its fault."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.patterns import PatternError, compile_pattern
from tests.examples import tried


@pytest.mark.parametrize(
    ("pattern", "column"),
    [
        ("a(b", 2),
        ("(a)(b", 4),
        ("/[", 2),
        ("a)b", 2),
        ("*a", 1),
        ("a**", 2),
        ("z-a[z-a]", 5),
        ("(?=x)", 1),
        (r"(a\q)", 3),
        ("x{2000}", 2),
        ("x\\", 2),
        ("é**", 2),
    ],
)
def test_the_message_names_the_column_of_the_fault(pattern, column):
    with pytest.raises(PatternError, match=rf"^Column {column}: ") as caught:
        compile_pattern(pattern)
    assert caught.value.column == column


@given(st.text(alphabet="ab()[]*{}?\\-+|^$1,é", max_size=12))
@tried(200)
def test_every_text_is_a_pattern_or_has_a_fault_within_it(text):
    column = 1
    try:
        compile_pattern(text)
    except PatternError as error:
        column = error.column
    assert 1 <= column <= max(1, len(text))


def test_what_takes_other_engines_ages_is_searched_at_once():
    assert compile_pattern("(a+)+$").search("a" * 50_000 + "b") is None
