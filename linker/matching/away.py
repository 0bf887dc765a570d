"""Open suggestions whose donor or acceptor has gone missing, or may not be linked any more: they leave the queue as
soon as an import says so, whatever the match that follows it does, and come back to it with their pages.

A trigger notes each page that turns (linker.models.PageTurn), so that only suggestions of pages that changed are read.
What is done with them follows the commit, some at a time, so that no editor waits for more than these; what a process
that was killed has left is done by the next import, or by the next verification of suggestions. A match that was under
way had read the page before it turned and may propose it yet: its notes stay until such a match has ended, which then
follows them itself.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import connection, transaction
from django.utils import timezone

from linker.matching.suppressions import hide
from linker.matching.tiers import retier
from linker.models.identity import follows_sql
from linker.models.kept_run import STANDING_RUN
from linker.models.querysets import GIVES, LIVE_STATUS, OPEN, RECEIVES, UNDECIDED, sql
from linker.storage.cursors import stream
from linker.storage.locks import lock_edges_by_id, lock_project

if TYPE_CHECKING:
    from linker.models import Project

AT_A_TIME = 2_000  # suggestions that are locked together: no editor waits longer than for these
PAGES = 20_000  # that have turned, and are looked at together

# What a page that leads elsewhere or is gone gives up, linker.pages.identity.edges says.
_LEAVES = (
    f"{sql(OPEN, 'e')} AND NOT e.regressed AND {sql(LIVE_STATUS, 's')} AND {sql(LIVE_STATUS, 't')} "
    f"AND NOT ({sql(GIVES, 's')} AND {sql(RECEIVES, 't')})"
)
_RETURNS = f"{sql(UNDECIDED, 'e')} AND e.away_at IS NOT NULL AND {sql(GIVES, 's')} AND {sql(RECEIVES, 't')}"
_TOUCHED = f"""
SELECT e.id FROM (
    SELECT o.id FROM linker_candidateedge o WHERE o.project_id = %(project)s AND o.source_id = ANY(%(pages)s)
    UNION SELECT i.id FROM linker_candidateedge i WHERE i.project_id = %(project)s AND i.target_id = ANY(%(pages)s)
) touched JOIN linker_candidateedge e ON e.id = touched.id
JOIN linker_page s ON s.id = e.source_id JOIN linker_page t ON t.id = e.target_id
WHERE ({_LEAVES}) OR ({_RETURNS}) ORDER BY e.id
"""
_LOCKED = """
WITH locked AS (
    SELECT e.id, {more} FROM linker_candidateedge e
    JOIN linker_page s ON s.id = e.source_id JOIN linker_page t ON t.id = e.target_id
    WHERE e.id = ANY(%(edges)s) AND {where} ORDER BY e.id FOR NO KEY UPDATE OF e
)
"""
_TAKE_OUT = (
    _LOCKED.format(more="1", where=_LEAVES)
    + "UPDATE linker_candidateedge e SET stale = true, away_at = now() FROM locked WHERE e.id = locked.id"
)
# All but what a match that is under way, or has ended since these were read, may not know of.
_FORGET = """
DELETE FROM linker_pageturn WHERE id = ANY(%(turns)s) AND NOT EXISTS (
    SELECT FROM linker_run WHERE project_id = %(project)s AND kind IN ('match', 'changes')
    AND (status IN ('queued', 'running') OR finished_at >= %(read_at)s)
)
"""
# Where a run that ended after the suggestion left has passed it over, the next one decides.
_NOT_PASSED_OVER = f"""
    {follows_sql("e")} AND (e.run_id = ({STANDING_RUN}) OR NOT EXISTS (
        SELECT FROM linker_run later WHERE later.project_id = %(project)s AND later.kind IN ('match', 'stand')
        AND later.status = 'succeeded' AND later.finished_at > e.away_at
        AND NOT EXISTS (SELECT FROM linker_pilot p WHERE p.run_id = later.id)
    )) AND NOT EXISTS (
        SELECT FROM linker_run later WHERE later.project_id = %(project)s AND later.kind = 'changes'
        AND later.status = 'succeeded' AND later.finished_at > e.away_at
    ) AS returns
"""
_BRING_BACK = (
    _LOCKED.format(more=_NOT_PASSED_OVER, where=_RETURNS)
    + """
UPDATE linker_candidateedge e SET away_at = NULL, stale = e.stale AND NOT locked.returns
FROM locked WHERE e.id = locked.id RETURNING e.id, locked.returns
"""
)


class Followed(NamedTuple):
    """How many suggestions left the queue, and how many came back to it."""

    left: int
    back: int


def follow(project: Project) -> Followed:
    """Brings the open suggestions of all pages that have turned in line with them. Not for use within a transaction;
    may run twice."""
    left = back = last = 0
    read_at = timezone.now()
    while turned := _turned(project, last):
        pages = sorted({page for _turn, page in turned})
        query, params = _TOUCHED, {"project": project.pk, "pages": pages}
        touched = array("q", (pk for (pk,) in stream("touched", query, params)))  # 8 bytes each
        for start in range(0, len(touched), AT_A_TIME):
            written = _write(project, touched[start : start + AT_A_TIME].tolist())
            left, back = left + written.left, back + written.back
        turns = [turn for turn, _page in turned]
        with connection.cursor() as cursor:
            cursor.execute(_FORGET, {"project": project.pk, "turns": turns, "read_at": read_at})
        last = turns[-1]
        read_at = timezone.now()
    return Followed(left, back)


def _turned(project: Project, after: int) -> list[tuple[int, int]]:
    """The notes that come next, and their pages."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT id, page_id FROM linker_pageturn WHERE project_id = %s AND id > %s ORDER BY id LIMIT {PAGES}",
            [project.pk, after],
        )
        return cursor.fetchall()


def _write(project: Project, edges: list[int]) -> Followed:
    params: dict[str, Any] = {"project": project.pk, "edges": edges}
    with transaction.atomic(), connection.cursor() as cursor:
        project = lock_project(project.pk)
        lock_edges_by_id(edges)
        cursor.execute(_TAKE_OUT, params)
        left = cursor.rowcount
        back = _bring_back(cursor, params)
        if back:
            retier(project, back)
            hide(project, edges=back)
    return Followed(left, len(back))


def _bring_back(cursor: Any, params: dict[str, Any]) -> list[int]:
    """Which suggestions are open again."""
    cursor.execute(_BRING_BACK, params)
    return [pk for pk, returns in cursor.fetchall() if returns]
