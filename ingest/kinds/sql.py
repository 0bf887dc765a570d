"""Statements of SQL, and the lock that lets imports into one project take turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import connection

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from linker.models import Project

LOCK_SPACE = 7304  # merges into one project's pages and links come one after the other


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


def lock(project: Project) -> None:
    """Waits for other merges into the project, for as long as they take; held until the transaction ends."""
    before = fetch("SELECT current_setting('lock_timeout'), set_config('lock_timeout', '0', true)")[0][0]
    execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK_SPACE, project.pk])
    execute("SELECT set_config('lock_timeout', %s, true)", [before])
