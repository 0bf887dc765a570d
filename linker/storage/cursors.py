"""Queries read row by row, in constant memory."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import connection, transaction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Row = TypeVar("Row")


def stream(
    name: str, query: str, params: Sequence[Any] | Mapping[str, Any], size: int = 2000
) -> Iterator[tuple[Any, ...]]:
    """Streams a query through a server-side cursor, in constant memory."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f'DECLARE "{name}" NO SCROLL CURSOR FOR {query}', params)
        while True:
            cursor.execute(f'FETCH {size} FROM "{name}"')
            rows = cursor.fetchall()
            yield from rows
            if len(rows) < size:
                break
        cursor.execute(f'CLOSE "{name}"')


def batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """Lists of so many rows: the connection can either read or write."""
    rest = iter(rows)
    while batch := list(islice(rest, size)):
        yield batch
