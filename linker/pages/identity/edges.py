"""Suggestions follow their pages: where a page leads to another, its links do; where one is gone, they leave the queue.

A pair can be had once. Where two edges come to one, the one that says more holds it: what is decided on the pair itself
stays, then comes what is out, then what was accepted, rejected, is open. Where another stood in its place, the two
change places, so that a pair that was rejected stays so and no decision is lost. What comes too late is closed: it is
stale, and a note (EdgeMove) says why. Once its pages are live again, it is what it was.

An import or an event writes down what pages are in one transaction. Edges follow after its commit, some at a time, so
that no editor waits for more than these; what a process that was killed has left is found by the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, connection, transaction
from django.utils.module_loading import import_string

from linker.models.linked import linked_sql
from linker.models.querysets import (
    ACCEPTED,
    DECIDED,
    GIVES,
    LIVE_STATUS,
    OPEN,
    OUT,
    PROPOSED,
    RECEIVES,
    REFUSED,
    REOPENED,
    UNDECIDED,
    sql,
)
from linker.storage.copy import analyze
from linker.storage.locks import lock_project

if TYPE_CHECKING:
    from linker.models import Project

AT_A_TIME = 2_000  # pairs that are written together
ROUNDS = 5  # edges that somebody decides on meanwhile are looked at again
# What other apps do for edges that were moved, within the same transaction: called with the project. They find the
# edges in `edge_moved`, see _LOT.
FOLLOWED_BY = ("review.releases.readdressed.follow",)
# What they do for pages that moved, whose edges stay as they are.
READDRESSED = "review.releases.readdressed.readdress"

_RANK = f"""CASE WHEN {sql(OUT, "e")} THEN 5 WHEN {sql(ACCEPTED, "e")} THEN 4 WHEN {sql(REFUSED, "e")} THEN 3
    ELSE 2 END"""
# The pair itself: what was decided on it stays, and so does what a rule or an editor has taken out of the queue.
_HELD_RANK = f"""CASE WHEN {sql(DECIDED | REOPENED, "o")} THEN 9
    WHEN o.suppressed_by_id IS NOT NULL OR o.barred_by_id IS NOT NULL OR {sql(OPEN, "o")} THEN 2 ELSE 1 END"""
_ACTS = f"({sql(OPEN, 'e')} OR {sql(ACCEPTED, 'e')} OR {sql(OUT, 'e')} OR {sql(REFUSED, 'e')})"
# What is taken away from an edge that cannot stay: a link that is out stays out, and is to be withdrawn.
_STILL_THERE = f"({sql(REOPENED & (UNDECIDED | ACCEPTED), 'e')})"
_PLAN = f"""
CREATE TEMP TABLE edge_plan AS
WITH page AS MATERIALIZED (
    SELECT p.id, coalesce(p.successor_id, p.id) AS leads_to, p.state_since
    FROM linker_page p WHERE p.project_id = %(project)s AND NOT {sql(LIVE_STATUS, "p")}
), touched AS (
    SELECT e.id FROM page JOIN linker_candidateedge e ON e.source_id = page.id WHERE {_ACTS}
    UNION
    SELECT e.id FROM page JOIN linker_candidateedge e ON e.target_id = page.id WHERE {_ACTS}
), wanted AS (
    SELECT e.id, e.source_id, e.target_id, e.status, e.stale, e.regressed, e.placement,
        coalesce(s.leads_to, e.source_id) AS new_source, coalesce(t.leads_to, e.target_id) AS new_target,
        {_RANK} AS rank, {_STILL_THERE} AS is_reopened
    FROM touched JOIN linker_candidateedge e ON e.id = touched.id
    LEFT JOIN page s ON s.id = e.source_id LEFT JOIN page t ON t.id = e.target_id
), judged AS (
    SELECT w.*, CASE WHEN w.new_source = w.new_target THEN 'itself'
        WHEN NOT ({sql(LIVE_STATUS, "ns")} AND {sql(LIVE_STATUS, "nt")}) THEN 'gone'
        WHEN w.rank = 2 AND {linked_sql("l")} THEN 'linked' ELSE '' END AS reason
    FROM wanted w JOIN linker_page ns ON ns.id = w.new_source JOIN linker_page nt ON nt.id = w.new_target,
    LATERAL (SELECT w.new_source AS source_id, w.new_target AS target_id, w.placement) l
), first AS (
    SELECT j.*, o.id AS other, row_number() OVER (
        PARTITION BY new_source, new_target, j.reason = '' ORDER BY rank DESC, j.id
    ) = 1 AND rank > coalesce({_HELD_RANK}, 0) AS wins
    FROM judged j LEFT JOIN linker_candidateedge o
        ON j.reason = '' AND o.source_id = j.new_source AND o.target_id = j.new_target
)
SELECT f.id, f.source_id, f.target_id, f.status, f.stale, f.regressed, f.new_source, f.new_target,
    CASE WHEN f.reason <> '' THEN f.reason WHEN f.wins THEN 'moved' ELSE 'exists' END AS reason,
    CASE WHEN f.reason = '' AND f.wins THEN f.other END AS other,
    o.status AS other_status, o.stale AS other_stale, dense_rank() OVER (ORDER BY f.new_source, f.new_target) AS place
FROM first f LEFT JOIN linker_candidateedge o ON o.id = f.other AND f.wins
WHERE f.reason = '' AND f.wins OR f.rank IN (2, 4) OR f.is_reopened OR f.rank = 3 AND {sql(PROPOSED, "f")}
"""
# What is still as it was planned, locked in the order of the ids; a pair that somebody else took meanwhile is not.
_LOCK = """
SELECT id FROM linker_candidateedge WHERE id IN (
    SELECT id FROM edge_plan WHERE place >= %(first)s AND place < %(end)s
    UNION SELECT other FROM edge_plan WHERE place >= %(first)s AND place < %(end)s AND other IS NOT NULL
) ORDER BY id FOR NO KEY UPDATE
"""
_SAME = "ROW({0}.source_id, {0}.target_id, {0}.status, {0}.stale, {0}.regressed)"
_LOT = f"""
CREATE TEMP TABLE edge_moved ON COMMIT DROP AS
SELECT f.id, f.reason, e.source_id AS source_before, e.target_id AS target_before, e.status AS status_before,
    CASE WHEN f.reason = 'moved' THEN f.new_source ELSE e.source_id END AS source_after,
    CASE WHEN f.reason = 'moved' THEN f.new_target ELSE e.target_id END AS target_after,
    CASE WHEN f.reason = 'moved' OR {sql(REFUSED, "e")} THEN e.status WHEN e.regressed THEN 'exported'
        ELSE 'suggested' END AS status_after,
    f.reason <> 'moved' AND NOT {sql(REFUSED, "e")} AS closed, f.reason <> 'moved' AS stale, e.run_id AS run
FROM edge_plan f JOIN linker_candidateedge e ON e.id = f.id LEFT JOIN linker_candidateedge o ON o.id = f.other
WHERE f.place >= %(first)s AND f.place < %(end)s AND {_SAME.format("e")} = {_SAME.format("f")}
    AND (f.other IS NULL OR ROW(o.source_id, o.target_id, o.status, o.stale)
        = ROW(f.new_source, f.new_target, f.other_status, f.other_stale))
UNION ALL
SELECT o.id, 'swapped', o.source_id, o.target_id, o.status, e.source_id, e.target_id, o.status, {sql(OPEN, "o")}, true,
    o.run_id
FROM edge_plan f JOIN linker_candidateedge e ON e.id = f.id JOIN linker_candidateedge o ON o.id = f.other
WHERE f.place >= %(first)s AND f.place < %(end)s AND {_SAME.format("e")} = {_SAME.format("f")}
    AND ROW(o.source_id, o.target_id, o.status, o.stale)
        = ROW(f.new_source, f.new_target, f.other_status, f.other_stale)
"""
# Who gives up a pair leaves it before the other comes: it has none in between, which no key is checked for until the
# transaction ends.
_MAKE_ROOM = """
UPDATE linker_candidateedge e SET target_id = -e.id FROM edge_moved m WHERE m.id = e.id AND m.reason = 'swapped'
"""
_WRITE = """
UPDATE linker_candidateedge e SET source_id = m.source_after, target_id = m.target_after, status = m.status_after,
    stale = e.stale OR m.stale, regressed = e.regressed AND NOT m.closed,
    waits = e.waits AND NOT m.closed, second_by_id = CASE WHEN NOT m.closed THEN e.second_by_id END,
    section = coalesce(p.category_id, 0), updated_at = now()
FROM edge_moved m JOIN linker_page p ON p.id = m.source_after WHERE m.id = e.id AND (m.reason = 'swapped') = {swapped}
"""
_NOTE = """
INSERT INTO linker_edgemove (project_id, edge_id, event_id, at, reason, source_before, target_before, source_after,
    target_after, status_before, status_after, closed, run)
SELECT %(project)s, m.id, (
    SELECT max(v.id) FROM linker_pageevent v
    WHERE v.page_id IN (m.source_before, m.target_before, m.source_after, m.target_after)
        AND v.kind NOT IN ('created', 'changed')
), now(), m.reason, m.source_before, m.target_before, m.source_after, m.target_after, m.status_before, m.status_after,
    m.closed, m.run
FROM edge_moved m ORDER BY m.id
"""
# What was closed for its pages, if they are live again and no match has looked at it since; so is what was closed
# because its page led to one that was gone, and is so no longer: the next plan has it follow.
_BACK = f"""
CREATE TEMP TABLE edge_moved ON COMMIT DROP AS
SELECT e.id, 'back' AS reason, e.source_id AS source_before, e.target_id AS target_before, e.status AS status_before,
    e.source_id AS source_after, e.target_id AS target_after, m.status_before AS status_after, false AS closed,
    false AS stale, e.run_id AS run
FROM linker_edgemove m JOIN linker_candidateedge e ON e.id = m.edge_id
JOIN linker_page s ON s.id = e.source_id JOIN linker_page t ON t.id = e.target_id
JOIN linker_page sl ON sl.id = CASE m.reason WHEN 'gone' THEN coalesce(s.successor_id, s.id) ELSE s.id END
JOIN linker_page tl ON tl.id = CASE m.reason WHEN 'gone' THEN coalesce(t.successor_id, t.id) ELSE t.id END
WHERE m.project_id = %(project)s AND m.closed AND m.reason <> 'swapped' AND m.run = e.run_id
    AND m.status_before IN ('suggested', 'accepted')
    AND NOT EXISTS (SELECT FROM linker_edgemove later WHERE later.edge_id = m.edge_id AND later.id > m.id)
    AND {sql(UNDECIDED, "e")} AND e.stale AND NOT e.regressed AND e.suppressed_by_id IS NULL
    AND e.barred_by_id IS NULL AND e.capped_at IS NULL AND {sql(GIVES, "sl")} AND {sql(RECEIVES, "tl")}
ORDER BY e.id LIMIT {AT_A_TIME} FOR NO KEY UPDATE OF e
"""
_REOPEN = """
UPDATE linker_candidateedge e SET status = m.status_after, stale = false, updated_at = now()
FROM edge_moved m WHERE m.id = e.id
"""
# What followed its pages to others, if they are live again and nothing has been done with it since: a redirect of one
# night takes no link along for good. What was put aside for it takes its place once more.
_RETURNED = f"""
CREATE TEMP TABLE edge_moved ON COMMIT DROP AS
WITH returning_now AS (
    SELECT e.id, e.source_id, e.target_id, e.status, e.run_id, m.source_before, m.target_before
    FROM linker_edgemove m JOIN linker_candidateedge e ON e.id = m.edge_id AND e.updated_at = m.at
    JOIN linker_page s ON s.id = m.source_before JOIN linker_page t ON t.id = m.target_before
    WHERE m.project_id = %(project)s AND m.reason = 'moved'
        AND ROW(e.source_id, e.target_id, e.status) = ROW(m.source_after, m.target_after, m.status_after)
        AND NOT EXISTS (SELECT FROM linker_edgemove later WHERE later.edge_id = m.edge_id AND later.id > m.id)
        AND {sql(GIVES, "s")} AND {sql(RECEIVES, "t")} AND NOT EXISTS (
            SELECT FROM linker_candidateedge o WHERE o.source_id = m.source_before AND o.target_id = m.target_before
                AND {sql(DECIDED | REOPENED, "o")}
        )
    ORDER BY e.id LIMIT {AT_A_TIME} FOR NO KEY UPDATE OF e
)
SELECT r.id, 'back' AS reason, r.source_id AS source_before, r.target_id AS target_before, r.status AS status_before,
    r.source_before AS source_after, r.target_before AS target_after, r.status AS status_after, false AS closed,
    false AS stale, r.run_id AS run
FROM returning_now r
UNION ALL
SELECT o.id, 'swapped', o.source_id, o.target_id, o.status, r.source_id, r.target_id, o.status, {sql(OPEN, "o")}, true,
    o.run_id
FROM returning_now r JOIN linker_candidateedge o ON o.source_id = r.source_before AND o.target_id = r.target_before
"""


def settle(project: Project) -> int:
    """Brings each edge of pages that lead elsewhere, are gone or are back in line with them, some at a time, each lot
    in a transaction of its own. Returns how many it wrote. Not for use within a transaction."""
    written = 0
    while returned := _return(project):
        written += returned
    while back := _bring_back(project):
        written += back
    for _round in range(ROUNDS):
        lots = _plan(project)
        done = sum(_write_lot(project, first) for first in range(1, lots + 1, AT_A_TIME))
        written += done
        if not lots:
            break
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS edge_plan")
    import_string(READDRESSED)(project)
    return written


def _plan(project: Project) -> int:
    """What is to become of which edges, in the table `edge_plan`; returns of how many pairs."""
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS edge_plan")
        cursor.execute(_PLAN, {"project": project.pk})
        cursor.execute("CREATE INDEX ON edge_plan (place)")
    analyze("edge_plan")
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(max(place), 0) FROM edge_plan")
        return cursor.fetchone()[0]


def _write_lot(project: Project, first: int) -> int:
    """Does what is planned for some pairs. Where another transaction has just taken one of them, nothing of it: the
    next plan sees the edge that did."""
    values = {"project": project.pk, "first": first, "end": first + AT_A_TIME}
    try:
        with transaction.atomic():
            lock_project(project.pk)
            _execute(_LOCK, values)
            _execute(_LOT, values)
            _execute(_MAKE_ROOM)
            _execute(_WRITE.format(swapped="false"))
            _execute(_WRITE.format(swapped="true"))
            return _tell(project, values)
    except IntegrityError:
        return 0


def _return(project: Project) -> int:
    """Has some edges follow their pages back. Where another transaction has just taken one of their pairs, none."""
    values = {"project": project.pk}
    try:
        with transaction.atomic():
            lock_project(project.pk)
            _execute(_RETURNED, values)
            _execute(_MAKE_ROOM)
            _execute(_WRITE.format(swapped="false"))
            _execute(_WRITE.format(swapped="true"))
            return _tell(project, values)
    except IntegrityError:
        return 0


def _bring_back(project: Project) -> int:
    values = {"project": project.pk}
    with transaction.atomic():
        lock_project(project.pk)
        _execute(_BACK, values)
        _execute(_REOPEN)
        return _tell(project, values)


def _tell(project: Project, values: dict[str, Any]) -> int:
    """Notes what became of the edges of `edge_moved`, and lets others follow; returns how many there are."""
    told = _execute(_NOTE, values)
    if told:
        for follow in FOLLOWED_BY:
            import_string(follow)(project)
    _execute("DROP TABLE edge_moved")
    return told


def _execute(statement: str, values: dict[str, Any] | None = None) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.rowcount
