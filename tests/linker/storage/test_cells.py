"""Text that leaves in a CSV: what a spreadsheet might run gets an apostrophe, in Python and in SQL alike."""

from __future__ import annotations

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from linker.storage.cells import SIGNS, UNSEEN, safe_cell, safe_cell_sql
from tests.examples import tried

SIGN = ["=", "+", "-", "@", "＝", "＋", "－", "＠"]
AHEAD = ["", " ", "\u00a0", "\u200b", "\ufeff", "\u3000", "\u2060\u200e", "\x0b", "\x1f", "\u00ad"]


def in_sql(text: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {safe_cell_sql('cell')} FROM (SELECT %s::text AS cell) one", [text])
        return cursor.fetchone()[0]


@pytest.mark.parametrize("ahead", AHEAD)
@pytest.mark.parametrize("sign", SIGN)
def test_a_formula_gets_an_apostrophe_whatever_stands_unseen_before_it(db, ahead, sign):
    cell = f"{ahead}{sign}HYPERLINK(1)"

    assert (safe_cell(cell), in_sql(cell)) == (f"'{cell}",) * 2


@pytest.mark.parametrize("first", ["\t", "\r", "\n", "\r\n"])
def test_a_cell_that_begins_with_a_break_gets_one_too(db, first):
    assert (safe_cell(f"{first}x"), in_sql(f"{first}x")) == (f"'{first}x",) * 2


@pytest.mark.parametrize(
    "cell", ["", " ", "a=1", "1-2", "'=1", " tent", "Zelte & Öfen", "«=»", "日本", "\u200b", "a\n=1"]
)
def test_any_other_text_leaves_as_it_is(db, cell):
    assert (safe_cell(cell), in_sql(cell)) == (cell, cell)


@tried(300)
@given(
    cell=st.text(
        st.one_of(
            st.sampled_from(SIGNS + UNSEEN + "\t\n\raZ'~\x7f\x80"),
            st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"),
        ),
        max_size=8,
    )
)
def test_python_and_sql_agree(db, cell):
    assert in_sql(cell) == safe_cell(cell)
