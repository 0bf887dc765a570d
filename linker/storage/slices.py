"""Statements over a million rows, some at a time.

PostgreSQL keeps an event in memory for each row and foreign key of a statement until it has checked them, at the end of
the statement or of the transaction. Slices whose keys are checked at once keep that small.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from django.db import connection

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROWS = 50_000  # of a slice


def slices_of(table: str, key: str) -> list[tuple[int, int]]:
    """Where the slices of a table begin and end, in the order of its unique column `key`: above the first number, and
    at most the second."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {key} FROM (SELECT {key}, row_number() OVER (ORDER BY {key}) AS nth FROM {table}) numbered "
            f"WHERE nth %% {ROWS} = 0 UNION SELECT max({key}) FROM {table} ORDER BY 1",
            [],
        )
        return list(pairwise([-1, *(end for (end,) in cursor.fetchall() if end is not None)]))


def in_slices(
    statement: str,
    values: Mapping[str, Any],
    table: str,
    key: str,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> int:
    """Runs a statement for one slice of `table` after the other, in the order of its unique column `key`; returns how
    many rows it wrote. The statement keeps to the slice: its keys are above %(after)s, and %(last)s at most.

    For use within a transaction. Foreign keys hold after each slice. `progress` is told slices, and may raise.
    """
    written, slices = 0, slices_of(table, key)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for number, (after, last) in enumerate(slices):
            progress(number, len(slices))
            cursor.execute(statement, {**values, "after": after, "last": last})
            written += cursor.rowcount
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    return written
