"""Statements over a million rows, some at a time.

PostgreSQL keeps an event in memory for each row and foreign key of a statement until it has checked them, at the end of
the statement or of the transaction. Slices whose keys are checked at once keep that small.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from django.db import connection

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS = 50_000  # of a slice


def in_slices(statement: str, values: Mapping[str, Any], table: str, key: str) -> int:
    """Runs a statement for one slice of `table` after the other, in the order of its unique column `key`; returns how
    many rows it wrote. The statement keeps to the slice: its keys are above %(after)s, and %(last)s at most.

    For use within a transaction. Foreign keys hold after each slice.
    """
    written = 0
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {key} FROM (SELECT {key}, row_number() OVER (ORDER BY {key}) AS nth FROM {table}) numbered "
            f"WHERE nth %% {ROWS} = 0 UNION SELECT max({key}) FROM {table} ORDER BY 1",
            [],
        )
        ends = [end for (end,) in cursor.fetchall() if end is not None]
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for after, last in pairwise([-1, *ends]):
            cursor.execute(statement, {**values, "after": after, "last": last})
            written += cursor.rowcount
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    return written
