"""Arrays and texts come out of the database as they went in."""

from __future__ import annotations

import numpy as np
import pytest
from django.db import ProgrammingError, connection, transaction
from psycopg.errors import UndefinedFunction

from linker.storage.background import BackgroundCopy, pack
from linker.storage.copy import LOT, copy_in, copy_out, copy_rows_in, copy_text
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


@pytest.mark.parametrize("rows", [0, 1, LOT - 1, LOT, LOT + 1, 3 * LOT + 5])
def test_rows_come_in_the_order_of_the_query_however_many_there_are(rows: int) -> None:
    query = "SELECT n, n %% 3 = 0, (n * 0.5)::float4 FROM generate_series(1::int8, %s) n ORDER BY n %% 7, n DESC"
    found = copy_out(query, [rows], [("n", ">i8"), ("third", "?"), ("half", ">f4")])
    wanted = sorted(range(1, rows + 1), key=lambda n: (n % 7, -n))
    assert found["n"].tolist() == wanted
    assert found["third"].tolist() == [n % 3 == 0 for n in wanted]
    assert found["half"].tolist() == [n * 0.5 for n in wanted]


@pytest.mark.parametrize("null", [1, LOT, 2 * LOT + 1])
def test_one_null_among_many_rows_is_refused(null: int) -> None:
    query = "SELECT nullif(n, %s) FROM generate_series(1::int8, %s) n"
    with pytest.raises(ValueError, match="nulls"):
        copy_out(query, [null, 2 * LOT + 1], [("n", ">i8")])


def test_rows_with_nulls_or_of_another_width_are_refused(table: str) -> None:
    copy_rows_in(table, ["number", "name"], [(1, None)])
    with pytest.raises(ValueError, match="nulls"):
        copy_out(f"SELECT share FROM {table}", [], [("share", ">f8")])
    with pytest.raises(UndefinedFunction, match="int4send"), transaction.atomic():
        copy_out(f"SELECT number FROM {table}", [], [("number", ">i4")])


@pytest.mark.parametrize("name", ["plain", "a\tb\nc\rd", "\\N", "back\\slash", "é 漢"])
def test_any_text_is_written_in_the_background_as_it_is(table: str, name: str) -> None:
    with transaction.atomic(), BackgroundCopy() as background:
        background.copy_lines(table, ["number", "name"], [f"1\t{copy_text(name)}\n"])
        background.copy_packed(pack(table, [("number", ">i8", np.array([2]))], "name", [name]))
        count = background.execute((f"SELECT count(*) FROM {table}", ()))
        background.wait()
        assert count.result() == (2,)
    assert rows(table) == [(1, None, name), (2, None, name)]


def test_what_goes_wrong_in_the_background_is_raised_where_one_waits(table: str) -> None:
    missing = ("SELECT * FROM no_such_table", ())
    with pytest.raises(ProgrammingError, match="no_such_table"), transaction.atomic(), BackgroundCopy() as background:
        background.execute(missing)
