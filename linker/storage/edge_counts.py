"""The counts of edges that triggers keep (linker.models.edge_counts): adding their rows up, and counting anew.

Both are right whoever writes edges meanwhile. Rows of counts are never changed: what is added up is deleted and written
as one row, in one statement, and a difference that a count finds is written as one row more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection

if TYPE_CHECKING:
    from linker.models import Project

MANY = 5_000  # rows of a project beyond one a kind, from which on adding them up pays off
_KIND = ("project_id", "category_id", "tier_id", "status", "placement", "content_gap", "is_sensitive", "stale",
         "ranked_by")  # fmt: skip
_NAMES = ", ".join(_KIND)
_NAMES_OF_C = ", ".join(f"c.{name}" for name in _KIND)

# Of two at once each takes the rows that the other has not locked, so that neither waits.
_FOLD = f"""
WITH taken AS (
    DELETE FROM linker_edgecount WHERE id IN (
        SELECT id FROM linker_edgecount WHERE project_id = %s FOR UPDATE SKIP LOCKED
    ) RETURNING {_NAMES}, number
)
INSERT INTO linker_edgecount ({_NAMES}, number)
SELECT {_NAMES}, sum(number) FROM taken GROUP BY {_NAMES} HAVING sum(number) <> 0
"""
# One statement sees one state of the edges and of their counts, which every transaction writes together.
_DIFFERENCES = f"""
SELECT {_NAMES}, sum(number) FROM (
    SELECT e.project_id, p.category_id, e.tier_id, e.status, e.placement, e.content_gap, e.sensitive <> '', e.stale,
        e.ranked_by, count(*)
    FROM linker_candidateedge e JOIN linker_page p ON p.id = e.source_id
    WHERE e.project_id = %(project)s GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
    UNION ALL
    SELECT {_NAMES}, -number FROM linker_edgecount WHERE project_id = %(project)s
) counted ({_NAMES}, number) GROUP BY {_NAMES} HAVING sum(number) <> 0
"""
_MANY_ROWS = f"""
SELECT project_id FROM (SELECT project_id FROM linker_edgecount GROUP BY project_id HAVING count(*) > {MANY}) large
WHERE (
    SELECT count(*) > {MANY} + count(DISTINCT ({_NAMES_OF_C})) FROM linker_edgecount c
    WHERE c.project_id = large.project_id
)
"""


@dataclass(frozen=True)
class Difference:
    """Edges of one kind: how many more there are than were kept."""

    kind: dict[str, int | str | bool | None]
    missing: int


def fold(project_id: int) -> None:
    """Adds the rows of a project's counts up to one a kind."""
    with connection.cursor() as cursor:
        cursor.execute(_FOLD, [project_id])


def fold_many() -> None:
    """Folds the counts of projects that have gathered many rows. For now and then, where nobody waits."""
    with connection.cursor() as cursor:
        cursor.execute(_MANY_ROWS)
        projects = [project for (project,) in cursor.fetchall()]
    for project in projects:
        fold(project)


def differences(project: Project) -> list[Difference]:
    """Where the counts that are kept are not those of the edges. Reads all of the project's edges."""
    with connection.cursor() as cursor:
        cursor.execute(_DIFFERENCES, {"project": project.pk})
        return [Difference(dict(zip(_KIND, kind, strict=True)), int(number)) for *kind, number in cursor.fetchall()]


def recount(project: Project) -> None:
    """Counts the project's edges, mends what is kept of them, and folds it."""
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO linker_edgecount ({_NAMES}, number) {_DIFFERENCES}", {"project": project.pk})
    fold(project.pk)
