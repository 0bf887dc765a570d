"""Arrays and texts come out of the database as they went in."""

from __future__ import annotations

import numpy as np
import pytest
from django.db import ProgrammingError, connection, transaction

from linker.storage.background import BackgroundCopy
from linker.storage.copy import copy_in, copy_out, copy_rows_in, copy_text
from linker.storage.cursors import stream

pytestmark = pytest.mark.django_db


@pytest.fixture
def table() -> str:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE things (number bigint, share double precision, name text)")
    return "things"


def rows(table: str) -> list[tuple]:
    return list(stream("things_cursor", f"SELECT number, share, name FROM {table} ORDER BY number", [], size=2))


def test_arrays_come_back_as_they_went_in(table: str) -> None:
    numbers, shares = np.array([3, 1, 2**40]), np.array([0.5, -1.25, np.inf])
    assert copy_in(table, [("number", ">i8", numbers), ("share", ">f8", shares)]) == 3
    found = copy_out(f"SELECT number, share FROM {table} ORDER BY number DESC", [], [("n", ">i8"), ("s", ">f8")])
    assert found["n"].tolist() == [2**40, 3, 1]
    assert found["s"].tolist() == [np.inf, 0.5, -1.25]
    assert copy_in(table, [("number", ">i8", numbers[:0]), ("share", ">f8", shares[:0])]) == 0


def test_rows_with_nulls_or_of_another_width_are_refused(table: str) -> None:
    copy_rows_in(table, ["number", "name"], [(1, None)])
    with pytest.raises(ValueError, match="nulls"):
        copy_out(f"SELECT share FROM {table}", [], [("share", ">f8")])
    with pytest.raises(ValueError, match="another width"):
        copy_out(f"SELECT number FROM {table}", [], [("number", ">i4")])


@pytest.mark.parametrize("name", ["plain", "a\tb\nc\rd", "\\N", "back\\slash", "é 漢"])
def test_any_text_is_written_in_the_background_as_it_is(table: str, name: str) -> None:
    with transaction.atomic(), BackgroundCopy() as background:
        background.copy_lines(table, ["number", "name"], [f"1\t{copy_text(name)}\n"])
        background.copy_in(table, [("number", ">i8", np.array([2]))], "name", [name])
        count = background.execute((f"SELECT count(*) FROM {table}", ()))
        background.wait()
        assert count.result() == (2,)
    assert rows(table) == [(1, None, name), (2, None, name)]


def test_what_goes_wrong_in_the_background_is_raised_where_one_waits(table: str) -> None:
    missing = ("SELECT * FROM no_such_table", ())
    with pytest.raises(ProgrammingError, match="no_such_table"), transaction.atomic(), BackgroundCopy() as background:
        background.execute(missing)
