"""A text that another sentence follows ends with a mark."""

from __future__ import annotations

import pytest

from linker.engine.text.marks import ended


@pytest.mark.parametrize(
    ("text", "with_stop"),
    [
        ("Our promise to parents", "Our promise to parents."),
        ("Our promise. ", "Our promise."),
        ("Really?", "Really?"),
        ("They said “no.”", "They said “no.”"),
        ("They said “no”", "They said “no”."),
        ("約束です。", "約束です。"),
        ("", ""),
    ],
)
def test_a_full_stop_is_added_where_no_mark_is(text, with_stop):
    assert ended(text) == with_stop
