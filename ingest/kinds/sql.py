"""Statements of SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import connection

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def execute(query: str, params: Sequence[Any] | Mapping[str, Any] = ()) -> int:
    """Executes a statement; the number of rows it touched."""
    with connection.cursor() as cursor:
        cursor.execute(query, params)
        return cursor.rowcount


def fetch(query: str, params: Sequence[Any] | Mapping[str, Any] = ()) -> list[tuple[Any, ...]]:
    """The rows that a query finds."""
    with connection.cursor() as cursor:
        cursor.execute(query, params)
        return cursor.fetchall()


def fetch_number(query: str, params: Sequence[Any] | Mapping[str, Any] = ()) -> int:
    """The one number that a query finds."""
    return fetch(query, params)[0][0]
