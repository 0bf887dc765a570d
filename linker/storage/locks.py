"""The order in which rows are locked. Whoever locks rows of several kinds, or many of one, does it here.

1. the project's pages and links, by whoever writes many of them: `lock_pages`
2. the project's row, where it is needed at all: `lock_project`
3. suggestions, in the order of their ids: `lock_edges`, `lock_edges_by_id`
4. rows about suggestions (released links, suppressions, pending changes), in the order of their suggestions

A transaction locks everything that it will write before it writes the first row of it. Two that each lock twice, in
whatever order, can wait for each other; PostgreSQL then ends one of them, and at size that is the one that has worked
for an hour. Only what leaves out what others hold (SKIP LOCKED, `try_lock_pages`) may lock more later on.

Whoever has waited for the project goes on with what `lock_project` returns: the row that was read before may hold
settings that somebody has changed meanwhile.

Rows are locked FOR NO KEY UPDATE, so that nobody who refers to one by a foreign key waits: an invitation or a run does
not wait for an import. How long anybody waits for a lock, linker.operations.limits says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import connection

from linker.models import Project

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


LOCK_SPACE = 7304  # merges into one project's pages and links come one after the other


def lock_pages(project_id: int) -> None:
    """Waits for others that write many of the project's pages and links, such as imports, for as long as they take;
    held until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('lock_timeout'), set_config('lock_timeout', '0', true)")
        before = cursor.fetchone()[0]
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK_SPACE, project_id])
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [before])


def try_lock_pages(project_id: int) -> bool:
    """The same without waiting: False where others are at it. For a transaction that holds the project's row."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [LOCK_SPACE, project_id])
        return bool(cursor.fetchone()[0])


def lock_project(project_id: int) -> Project:
    """The project, read anew, with its row locked until the transaction ends. Raises Project.DoesNotExist."""
    return Project.objects.select_for_update(no_key=True).get(pk=project_id)


def lock_edges(project_id: int, where: str, params: Mapping[str, Any] | None = None) -> int:
    """Locks the project's suggestions for which `where` holds, SQL about the alias `e`; returns how many.

    `params` are named, and `project` is among them.
    """
    return lock_rows("linker_candidateedge e", f"e.project_id = %(project)s AND ({where})", "e.id",
                     {**(params or {}), "project": project_id})  # fmt: skip


def lock_edges_by_id(edge_ids: Iterable[int]) -> int:
    """Locks suggestions, of whichever project; returns how many of them there are."""
    return lock_rows("linker_candidateedge e", "e.id = ANY(%(ids)s)", "e.id", {"ids": list(edge_ids)})


def lock_rows(table: str, where: str, order: str, params: Mapping[str, Any]) -> int:
    """Locks rows of a table, in this order; returns how many. For tables that this app does not know."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT count(*) FROM (SELECT FROM {table} WHERE {where} ORDER BY {order} FOR NO KEY UPDATE) locked",
            dict(params),
        )
        return int(cursor.fetchone()[0])
