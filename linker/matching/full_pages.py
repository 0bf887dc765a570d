"""Open suggestions whose donor or acceptor is full: they leave the queue, and come back to it where there is room
again.

A donor is full in its text, or beside it, where the links that the site has and the approved ones meet a cap. What
counts and what the caps are, linker.matching.room and linker.matching.donor_caps say. An acceptor is full where it has
as many approved links as its run allowed it, see linker.matching.acceptor_caps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection

from linker.matching.acceptor_caps import MOST
from linker.matching.donor_caps import TAKES_ROOM
from linker.matching.room import beside_sql, in_text_sql, of_edges_run
from linker.matching.section_caps import section_caps_sql
from linker.models.identity import follows_sql
from linker.models.kept_run import STANDING_RUN
from linker.models.linked import own_beside_sql
from linker.models.querysets import OPEN, UNDECIDED, sql
from linker.models.replacement import replaces_sql

if TYPE_CHECKING:
    from linker.models import Project

OUT, BACK = "taken_out", "brought_back"  # temporary tables with the column `edge`: there may be a million of them

_TEXT = in_text_sql("donor", of_edges_run).room
_BESIDE = beside_sql("coalesce(beside.links, 0)", of_edges_run).room
# Tables of their own with statistics, since a planner that takes thousands of rows for one compares each with each:
# the suggestions that are asked about; the caps of sections; how many more links fit into the text of each of their
# donors, and beside it, under the caps of a run; and which of their acceptors are full.
_STAGED = {
    "asked": """
        SELECT e.id, e.source_id, e.target_id, e.run_id, e.placement, e.capped_at FROM linker_candidateedge e
        WHERE e.project_id = %(project)s AND {asked}
    """,
    "section_room": section_caps_sql(),
    "room": f"""
        WITH taken AS MATERIALIZED (
            SELECT e.source_id, count(*) FILTER (WHERE e.placement = 'inline') AS inline,
                count(*) FILTER (WHERE e.placement = 'related') AS related
            FROM linker_candidateedge e WHERE e.project_id = %(project)s AND {TAKES_ROOM} GROUP BY 1
        ), beside AS MATERIALIZED (
            SELECT source_id, count(DISTINCT target_id)::int AS links FROM linker_existinglink l
            WHERE project_id = %(project)s AND {own_beside_sql("l")} GROUP BY 1
        )
        SELECT a.source_id, a.run_id, {_TEXT} - coalesce(taken.inline, 0) AS inline,
            {_BESIDE} - coalesce(taken.related, 0) AS related
        FROM (SELECT DISTINCT source_id, run_id FROM asked) a
        JOIN linker_page donor ON donor.id = a.source_id JOIN linker_run run ON run.id = a.run_id
        LEFT JOIN section_room section ON section.category = coalesce(donor.category_id, 0)
        LEFT JOIN taken ON taken.source_id = a.source_id LEFT JOIN beside ON beside.source_id = a.source_id
    """,
    "full_acceptor": f"""
        WITH received AS MATERIALIZED (
            SELECT e.target_id, count(*) AS links FROM linker_candidateedge e
            WHERE e.project_id = %(project)s AND {TAKES_ROOM} GROUP BY 1
        )
        SELECT a.target_id, a.run_id FROM (SELECT DISTINCT target_id, run_id FROM asked) a
        JOIN received USING (target_id) JOIN linker_run run ON run.id = a.run_id
        WHERE {MOST} > 0 AND received.links >= {MOST}
    """,
}
_ACCEPTOR_IS_FULL = "(a.target_id, a.run_id) IN (SELECT target_id, run_id FROM full_acceptor)"
# A link that was live and is gone waits for an editor, whatever room there is; what replaces a link takes its room.
_MAY_GO = f"{sql(OPEN, 'e')} AND NOT e.regressed AND NOT {replaces_sql('e')}"
_TAKE_OUT = f"""
WITH locked AS (
    SELECT e.id FROM linker_candidateedge e JOIN asked a ON a.id = e.id
    JOIN room r ON r.source_id = a.source_id AND r.run_id = a.run_id
    WHERE (CASE a.placement WHEN 'inline' THEN r.inline ELSE r.related END <= 0 OR {_ACCEPTOR_IS_FULL})
    AND {sql(OPEN, "e")} AND NOT e.regressed -- somebody may have decided on it since it was asked about
    ORDER BY e.id FOR NO KEY UPDATE OF e SKIP LOCKED
), written AS (
    UPDATE linker_candidateedge e SET stale = true, capped_at = now() FROM locked WHERE e.id = locked.id RETURNING e.id
)
INSERT INTO {OUT} SELECT id FROM written
"""
# Where a run that came after the suggestion left has passed it over, the next one decides.
_MAY_RETURN = f"{sql(UNDECIDED, 'e')} AND e.capped_at IS NOT NULL"
_BRING_BACK = f"""
WITH locked AS (
    SELECT e.id, {follows_sql("e")} AND (e.run_id = ({STANDING_RUN}) OR NOT EXISTS (
        SELECT FROM linker_run later WHERE later.project_id = %(project)s AND later.kind IN ('match', 'stand')
        AND later.status = 'succeeded' AND later.started_at > a.capped_at
        AND NOT EXISTS (SELECT FROM linker_pilot p WHERE p.run_id = later.id)
    )) AS returns FROM linker_candidateedge e JOIN asked a ON a.id = e.id
    JOIN room r ON r.source_id = a.source_id AND r.run_id = a.run_id WHERE (r.inline > 0 OR r.related > 0)
    AND NOT {_ACCEPTOR_IS_FULL}
    ORDER BY e.id FOR NO KEY UPDATE OF e
), written AS (
    UPDATE linker_candidateedge e SET capped_at = NULL, stale = e.stale AND NOT locked.returns
    FROM locked WHERE e.id = locked.id RETURNING e.id, locked.returns
)
INSERT INTO {BACK} SELECT id FROM written WHERE returns
"""


def take_out(project: Project) -> int:
    """Takes open suggestions out of the queue that there is no room for where they would stand. Their ids lie in OUT,
    until the transaction ends; returns how many they are.

    One that somebody is deciding on just now is left to them, and asked about there.
    """
    return _write(OUT, _MAY_GO, _TAKE_OUT, project)


def bring_back(project: Project) -> int:
    """Opens the suggestions again whose donor has room again, in its text or beside it, and whose acceptor has. Their
    ids lie in BACK, until the transaction ends; returns how many they are.

    A reading of the tiers has to put each in its place, and take_out to see whether there is room for it.
    """
    return _write(BACK, _MAY_RETURN, _BRING_BACK, project)


def _write(table: str, asked: str, statement: str, project: Project) -> int:
    params = {"project": project.pk}
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {table}, {', '.join(_STAGED)}")
        cursor.execute(f"CREATE TEMP TABLE {table} (edge bigint PRIMARY KEY) ON COMMIT DROP")
        for name, rows in _STAGED.items():
            cursor.execute(f"CREATE TEMP TABLE {name} ON COMMIT DROP AS {rows.format(asked=asked)}", params)
            if name == "asked" and not cursor.rowcount:
                return 0
            cursor.execute(f"ANALYZE {name}")
        cursor.execute(statement, params)
        written = cursor.rowcount
        cursor.execute(f"ANALYZE {table}")
    return written


def in_both() -> int:
    """How many came back and went out again at once."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {OUT} JOIN {BACK} USING (edge)")
        return int(cursor.fetchone()[0])
