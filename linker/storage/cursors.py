"""Queries read row by row, in constant memory."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import DatabaseError, connection, transaction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Row = TypeVar("Row")


def stream(
    name: str, query: str, params: Sequence[Any] | Mapping[str, Any], size: int = 2000
) -> Iterator[tuple[Any, ...]]:
    """Streams a query through a server-side cursor, in constant memory."""
    within = nullcontext() if connection.in_atomic_block else transaction.atomic()  # a savepoint is two queries more
    with within, connection.cursor() as cursor:
        cursor.execute(f'DECLARE "{name}" NO SCROLL CURSOR FOR {query}', params)
        try:
            while True:
                cursor.execute(f'FETCH {size} FROM "{name}"')
                rows = cursor.fetchall()
                yield from rows
                if len(rows) < size:
                    break
        except GeneratorExit:  # the reader has had enough, perhaps since the transaction failed
            with suppress(DatabaseError):
                cursor.execute(f'CLOSE "{name}"')
            raise
        cursor.execute(f'CLOSE "{name}"')


def batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """Lists of so many rows: the connection can either read or write."""
    rest = iter(rows)
    while batch := list(islice(rest, size)):
        yield batch
