"""Reads: what caps of a section would do, before they are saved.

Bounded, whatever the size of the site: of the section's pages the first MOST_PAGES are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection

from linker.matching.donor_caps import TAKES_ROOM
from linker.matching.room import beside_sql, in_text_sql, links_beside_sql, of_edges_run
from linker.matching.section_caps import CAPS, section_caps_sql
from linker.models import CandidateEdge, Page
from linker.models.querysets import ACCEPTED, OPEN, PRESENT, UNDECIDED, sql
from linker.models.subtrees import subtree

if TYPE_CHECKING:
    from linker.models import SectionCap

MOST_PAGES = 10_000
EXAMPLES = 10
# The caps in force, with those that are asked about in place of the section's own.
_CAPS_THEN = f"""(
    SELECT id, project_id, category_id, ended_at, {", ".join(CAPS)} FROM linker_sectioncap
    WHERE category_id IS DISTINCT FROM %(category)s::bigint
    UNION ALL SELECT 0, %(project)s, %(category)s::bigint, NULL::timestamptz,
        {", ".join(f"%({name})s::smallint" for name in CAPS)}
)"""
_OF_PAGES = "c.id IN (SELECT coalesce(category_id, 0) FROM linker_page WHERE id = ANY(%(pages)s::bigint[]))"
_ROOMS = f"""
SELECT a.source_id, a.run_id, {in_text_sql("donor", of_edges_run).room} - coalesce(taken.inline, 0) AS inline,
    {beside_sql(links_beside_sql("donor.id"), of_edges_run).room} - coalesce(taken.related, 0) AS related
FROM (SELECT DISTINCT source_id, run_id FROM edges) a
JOIN linker_page donor ON donor.id = a.source_id JOIN linker_run run ON run.id = a.run_id
LEFT JOIN taken ON taken.source_id = a.source_id
LEFT JOIN ({{caps}}) section ON section.category = coalesce(donor.category_id, 0)
"""
_EDGES = f"""
WITH edges AS MATERIALIZED (
    SELECT e.id, e.source_id, e.run_id, e.placement, e.score, {sql(OPEN, "e")} AS is_open,
        {sql(ACCEPTED, "e")} AS is_accepted, e.id = ANY(%(let_out)s::bigint[]) AS is_let_out,
        e.capped_at IS NOT NULL AS is_out
    FROM linker_candidateedge e WHERE e.project_id = %(project)s AND e.source_id = ANY(%(pages)s::bigint[])
    AND ({sql(OPEN, "e")} AND NOT e.regressed OR {sql(ACCEPTED, "e")}
        OR {sql(UNDECIDED, "e")} AND e.capped_at IS NOT NULL)
), taken AS MATERIALIZED (
    SELECT e.source_id, count(*) FILTER (WHERE e.placement = 'inline') AS inline,
        count(*) FILTER (WHERE e.placement = 'related') AS related
    FROM linker_candidateedge e
    WHERE e.project_id = %(project)s AND e.source_id = ANY(%(pages)s::bigint[]) AND {TAKES_ROOM} GROUP BY 1
), now AS MATERIALIZED ({_ROOMS.format(caps=section_caps_sql(_OF_PAGES))}
), afterwards AS MATERIALIZED ({_ROOMS.format(caps=section_caps_sql(_OF_PAGES, _CAPS_THEN))}
), both_ways AS (
    SELECT e.*, now.inline > 0 OR now.related > 0 AS room_now, t.inline > 0 OR t.related > 0 AS room_then,
        CASE e.placement WHEN 'inline' THEN now.inline ELSE now.related END AS left_now,
        CASE e.placement WHEN 'inline' THEN t.inline ELSE t.related END AS left_then,
        row_number() OVER (PARTITION BY e.source_id, e.placement, e.is_accepted ORDER BY e.score, e.id DESC) AS worst
    FROM edges e JOIN now USING (source_id, run_id) JOIN afterwards t USING (source_id, run_id)
)
"""
_COUNTS = (
    _EDGES
    + """
SELECT count(DISTINCT source_id) FILTER (WHERE left_then <= 0 AND left_now > 0),
    count(*) FILTER (WHERE is_open AND placement = 'inline' AND left_then <= 0 AND left_now > 0),
    count(*) FILTER (WHERE is_open AND placement = 'related' AND left_then <= 0 AND left_now > 0),
    count(*) FILTER (WHERE is_out AND room_then AND NOT room_now),
    count(*) FILTER (WHERE is_accepted AND NOT is_let_out AND worst <= -left_then AND worst > -left_now)
FROM both_ways
"""
)
_FIRST = (
    _EDGES
    + f"""
SELECT id FROM both_ways WHERE is_open AND left_then <= 0 AND left_now > 0
    OR is_accepted AND NOT is_let_out AND worst <= -left_then AND worst > -left_now
    OR is_out AND room_then AND NOT room_now
ORDER BY is_accepted DESC, is_open DESC, score DESC, id LIMIT {EXAMPLES}
"""
)


@dataclass(frozen=True)
class CapTouched:
    """What caps would change. `donors` that would become full in their text or beside it; open suggestions that would
    leave the text (`from_text`: they go beside it, where there is room) and the queue (`from_queue`); those that would
    come `back`; accepted links that the next release would hold back (`held`; not those that an editor accepted in
    spite of a full donor). `is_more`: only some pages were looked at. `examples` of all of these."""

    donors: int
    from_text: int
    from_queue: int
    back: int
    held: int
    is_more: bool
    examples: list[CandidateEdge]


def touched_by(cap: SectionCap) -> CapTouched:
    """What the caps would change, which are not saved. With all numbers empty: what their removal would."""
    pages = Page.objects.filter(PRESENT, project=cap.project)
    if cap.category is not None:
        pages = pages.filter(category__in=subtree(cap.category))
    found = list(pages.order_by("pk").values_list("pk", flat=True)[: MOST_PAGES + 1])
    let_out = CandidateEdge.objects.filter(
        ACCEPTED,
        source__in=found[:MOST_PAGES],
        decisions__overruled__contains=[{"code": "donor_full"}],
        decisions__undone_by=None,
    )
    params = {
        "project": cap.project_id,
        "category": cap.category_id,
        "pages": found[:MOST_PAGES],
        "let_out": list(let_out.values_list("pk", flat=True).distinct()),
        **{name: getattr(cap, name) for name in CAPS},
    }
    with connection.cursor() as cursor:
        cursor.execute(_COUNTS, params)
        donors, from_text, from_queue, back, held = cursor.fetchone()
        cursor.execute(_FIRST, params)
        ids = [pk for (pk,) in cursor.fetchall()]
    edges = CandidateEdge.objects.select_related("source", "target").defer("source__body", "target__body")
    best = edges.in_bulk(ids)
    return CapTouched(donors, from_text, from_queue, back, held, len(found) > MOST_PAGES, [best[pk] for pk in ids])
