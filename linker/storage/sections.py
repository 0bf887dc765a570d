"""The category of an edge's donor, which the edge has too, so that an index can list by it.

A trigger keeps it in the statement that moves a page. A transaction that moves many pages would hold the locks on all
their edges until it ends, and editors would wait: it puts that off and settles it once it is committed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection, transaction

if TYPE_CHECKING:
    from linker.models import Project

AT_A_TIME = 2_000  # edges that are locked together: no editor waits longer than for these

_BEHIND = """
    SELECT e.id FROM linker_candidateedge e JOIN linker_page p ON p.id = e.source_id
    WHERE e.project_id = %s AND e.section <> coalesce(p.category_id, 0) ORDER BY e.id
"""
# In the order of their ids, as whoever writes many of them locks them.
_SETTLE = """
    WITH locked AS (SELECT id FROM linker_candidateedge WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE)
    UPDATE linker_candidateedge e SET section = coalesce(p.category_id, 0)
    FROM locked, linker_page p
    WHERE e.id = locked.id AND p.id = e.source_id AND e.section <> coalesce(p.category_id, 0)
"""


def put_off() -> None:
    """Until the transaction ends, edges stay in the category that their donor had. Whoever calls this calls `settle`
    after the commit."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL anchorline.sections_later = 'on'")


def settle(project: Project) -> int:
    """Moves each edge that is behind into the category of its donor, some at a time, each lot in a transaction of its
    own; returns how many. Whatever an import that was killed has left is among them."""
    with connection.cursor() as cursor:
        cursor.execute(_BEHIND, [project.pk])
        behind = [pk for (pk,) in cursor.fetchall()]
    moved = 0
    for some in _lots(behind):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_SETTLE, [some])
            moved += cursor.rowcount
    return moved


def _lots(ids: list[int]) -> list[list[int]]:
    return [ids[start : start + AT_A_TIME] for start in range(0, len(ids), AT_A_TIME)]
