"""The counts of edges that triggers keep (linker.models.edge_counts, linker.models.edge_bands): adding their rows up,
and counting anew.

Both are right whoever writes edges meanwhile. Rows of counts are never changed: what is added up is deleted and written
as one row, in one statement, and a difference that a count finds is written as one row more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection

from linker.models.edge_bands import outcome_sql

if TYPE_CHECKING:
    from linker.models import Project

MANY = 5_000  # rows of a project beyond one a kind, from which on adding them up pays off


@dataclass(frozen=True)
class _Counts:
    """A table of counts: the columns that are a kind, and SQL of the same by the edges of a project."""

    table: str
    kind: tuple[str, ...]
    counted: str

    @property
    def names(self) -> str:
        return ", ".join(self.kind)

    @property
    def fold(self) -> str:
        # Of two at once each takes the rows that the other has not locked, so that neither waits.
        return f"""
            WITH taken AS (
                DELETE FROM {self.table} WHERE id IN (
                    SELECT id FROM {self.table} WHERE project_id = %s FOR UPDATE SKIP LOCKED
                ) RETURNING {self.names}, number
            )
            INSERT INTO {self.table} ({self.names}, number)
            SELECT {self.names}, sum(number) FROM taken GROUP BY {self.names} HAVING sum(number) <> 0
        """

    @property
    def differences(self) -> str:
        # One statement sees one state of the edges and of their counts, which every transaction writes together.
        return f"""
            SELECT {self.names}, sum(number) FROM (
                {self.counted}
                UNION ALL
                SELECT {self.names}, -number FROM {self.table} WHERE project_id = %(project)s
            ) counted ({self.names}, number) GROUP BY {self.names} HAVING sum(number) <> 0
        """

    @property
    def many_rows(self) -> str:
        kind = ", ".join(f"c.{name}" for name in self.kind)
        return f"""
            SELECT project_id
            FROM (SELECT project_id FROM {self.table} GROUP BY project_id HAVING count(*) > {MANY}) large
            WHERE (
                SELECT count(*) > {MANY} + count(DISTINCT ({kind})) FROM {self.table} c
                WHERE c.project_id = large.project_id
            )
        """


_KINDS = _Counts(
    "linker_edgecount",
    ("project_id", "category_id", "tier_id", "status", "placement", "content_gap", "has_line",
     "is_sensitive", "stale", "ranked_by"),
    """
    SELECT e.project_id, p.category_id, e.tier_id, e.status, e.placement, e.content_gap,
        CASE e.status WHEN 'suggested' THEN e.paragraph_start IS NOT NULL ELSE e.own_line END, e.sensitive <> '',
        e.stale, e.ranked_by, count(*)
    FROM linker_candidateedge e JOIN linker_page p ON p.id = e.source_id
    WHERE e.project_id = %(project)s GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
    """,
)  # fmt: skip
_BANDS = _Counts(
    "linker_edgeband",
    ("project_id", "tier_id", "outcome", "by_probability", "basis", "band"),
    f"""
    SELECT e.project_id, e.tier_id, e.outcome, e.probability IS NOT NULL, v.basis, anchorline_band(v.value), count(*)
    FROM (
        SELECT e.*, {outcome_sql("e")} AS outcome
        FROM linker_candidateedge e WHERE e.project_id = %(project)s
    ) e CROSS JOIN LATERAL
        (VALUES ('probability', e.probability), ('quantile', e.quantile), ('cosine', e.similarity)) v (basis, value)
    WHERE e.outcome IS NOT NULL AND v.value IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6
    """,
)
_ALL = (_KINDS, _BANDS)


@dataclass(frozen=True)
class Difference:
    """Edges of one kind: how many more there are than were kept."""

    kind: dict[str, int | str | bool | None]
    missing: int


def fold(project_id: int) -> None:
    """Adds the rows of a project's counts up to one a kind."""
    with connection.cursor() as cursor:
        for counts in _ALL:
            cursor.execute(counts.fold, [project_id])


def fold_many() -> None:
    """Folds the counts of projects that have gathered many rows. For now and then, where nobody waits."""
    with connection.cursor() as cursor:
        for counts in _ALL:
            cursor.execute(counts.many_rows)
            for (project,) in cursor.fetchall():
                cursor.execute(counts.fold, [project])


def differences(project: Project) -> list[Difference]:
    """Where the counts that are kept are not those of the edges. Reads all of the project's edges."""
    found: list[Difference] = []
    with connection.cursor() as cursor:
        for counts in _ALL:
            cursor.execute(counts.differences, {"project": project.pk})
            rows = cursor.fetchall()
            found += [Difference(dict(zip(counts.kind, kind, strict=True)), int(number)) for *kind, number in rows]
    return found


def recount(project: Project) -> None:
    """Counts the project's edges, mends what is kept of them, and folds it."""
    with connection.cursor() as cursor:
        for counts in _ALL:
            into = f"INSERT INTO {counts.table} ({counts.names}, number) {counts.differences}"
            cursor.execute(into, {"project": project.pk})
    fold(project.pk)
