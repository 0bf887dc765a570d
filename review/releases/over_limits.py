"""The limits of a release: links with the same anchor a target, and the room of donors and acceptors.

What gather collected and nothing else holds back is looked at in one pass, the links that leave first before others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from django.db import connection

from linker.engine.anchors.diversity import word_set
from linker.matching.acceptor_caps import MOST
from linker.matching.anchor_use import carried_query, is_another, may_repeat
from linker.matching.donor_caps import BESIDE, IN_TEXT, ROOM_BESIDE, ROOM_IN_TEXT, PlaceCaps, SectionNames
from linker.matching.section_caps import section_caps_sql
from linker.models import AnchorRepeats, EdgeStatus
from linker.models.linked import linked_sql
from linker.storage.copy import analyze, copy_rows_in
from linker.storage.cursors import batches, stream
from review.models import Held
from review.releases import held_sayings
from review.releases.held_sayings import room_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from linker.models import Project

AT_A_TIME = 5000  # rows that are written

# The anchors that targets carry when this release has left, then those of the links about to leave. Which count, and
# which the limit does not hold for, linker.matching.anchor_use says; of the links that have left, here. Where a project
# only says that words are used often, the limit holds back what nobody has read.
_OVERRULED = """EXISTS (SELECT FROM review_decision d WHERE d.edge_id = e.id AND d.overruled @> '[{{"code": "{code}"}}]'
            AND NOT EXISTS (SELECT FROM review_decision u WHERE u.undoes_id = d.id))"""
_ANCHORS = """
SELECT said.target_id, said.edge, said.anchor, said.settled, said.links, said.may, said.placement,
    coalesce(t.title, ''), coalesce(t.h1, '')
FROM (
    SELECT leaving.target_id, leaving.edge, e.anchor, '' AS settled, 1 AS links,
        {overruled} OR leaving.decided AND %(says)s AS may, leaving.placement
    FROM leaving JOIN linker_candidateedge e ON e.id = leaving.edge
    WHERE leaving.operation = 'add' AND leaving.reason = ''
    UNION ALL
    SELECT target_id, NULL, anchor, settled, links, false, '' FROM ({carried}) carried
) said LEFT JOIN linker_page t ON t.id = said.target_id AND said.edge IS NOT NULL
ORDER BY said.target_id
"""
# A link that is asked for again has left before, and is no other link beside itself.
_ADDED_OR_REMOVED = "leaving.operation IN ('add', 'remove') AND leaving.reason = ''"
_TARGETS, _COUNTED_ELSEWHERE = (
    "SELECT target_id FROM leaving",
    f"SELECT edge FROM leaving WHERE {_ADDED_OR_REMOVED}",
)


# Links of the project that left and that no crawl has seen there yet, less those that this release adds again or
# removes.
_STANDING = f"""e.project_id = %(project)s AND e.status = 'exported'
            AND NOT EXISTS (SELECT FROM leaving WHERE leaving.edge = e.id AND {_ADDED_OR_REMOVED})
            AND NOT {linked_sql("e")}"""
# What each link needs room for: beside its donor's text or in it, under the caps of the run that proposed it and of the
# donor's section, which are those of all its links there; and at its acceptor, under the cap that the run worked with,
# which has the largest share of its links in it.
_ROOM = {
    "asked": """
SELECT l.edge, l.source_id, l.target_id, l.placement, e.run_id
FROM leaving l JOIN linker_candidateedge e ON e.id = l.edge WHERE l.operation = 'add' AND l.reason = ''
""",
    "place": f"""
WITH section AS MATERIALIZED ({section_caps_sql()})
SELECT a.source_id, a.placement, a.run_id,
    CASE a.placement WHEN 'inline' THEN ARRAY[{IN_TEXT}] ELSE ARRAY[{BESIDE}] END AS caps,
    CASE a.placement WHEN 'inline' THEN {ROOM_IN_TEXT} ELSE {ROOM_BESIDE} END AS room
FROM (SELECT DISTINCT source_id, placement, run_id FROM asked) a
JOIN linker_run run ON run.id = a.run_id JOIN linker_page donor ON donor.id = a.source_id
LEFT JOIN section ON section.category = coalesce(donor.category_id, 0)
""",
    "most": f"""
SELECT run.id AS run_id, {MOST} AS most FROM linker_run run WHERE run.id IN (SELECT run_id FROM asked)
""",
    "given": f"""
SELECT e.source_id, e.placement, count(*) AS links FROM linker_candidateedge e
WHERE {_STANDING} AND e.source_id IN (SELECT source_id FROM asked) GROUP BY 1, 2
""",
    "received": f"""
SELECT e.target_id, count(*) AS links FROM linker_candidateedge e
WHERE {_STANDING} AND e.target_id = ANY (ARRAY(SELECT DISTINCT target_id FROM asked)) GROUP BY 1
""",
    # Where a donor or an acceptor has room for all of its links, none of them stands in the way of another.
    "full_donor": """
SELECT source_id, placement, coalesce(given.links, 0) AS links
FROM (SELECT source_id, placement, count(*) AS links FROM asked GROUP BY 1, 2) a
JOIN (SELECT source_id, placement, min(room) AS room FROM place GROUP BY 1, 2) p USING (source_id, placement)
LEFT JOIN given USING (source_id, placement) WHERE a.links + coalesce(given.links, 0) > p.room
""",
    "full_acceptor": """
SELECT a.target_id, coalesce(received.links, 0) AS links
FROM (
    SELECT target_id, count(*) AS links, min(most) FILTER (WHERE most > 0) AS most
    FROM asked JOIN most USING (run_id) GROUP BY 1
) a LEFT JOIN received USING (target_id) WHERE a.links + coalesce(received.links, 0) > a.most
""",
    "contested": """
SELECT edge FROM asked JOIN full_donor USING (source_id, placement)
UNION SELECT edge FROM asked JOIN full_acceptor USING (target_id) UNION SELECT edge FROM repeated
""",
}
# The links that there may be no room for, in the order in which links are let through; and which of them are among the
# links of their target with the same anchor, if these come near the project's limit. An editor may have overruled that
# the donor or the acceptor is full.
_REPLACES = "EXISTS (SELECT FROM leaving o WHERE o.for_edge = edge)"  # its room is that of the link it takes off
_NEEDS = f"""
SELECT edge, a.source_id, a.placement, a.target_id, repeated.words, repeated.said, repeated.is_free,
    {_OVERRULED.format(code="donor_full")} OR {_REPLACES} AS may_fill_donor,
    {_OVERRULED.format(code="acceptor_full")} AS may_fill_acceptor, most.most, place.room, place.caps
FROM contested JOIN asked a USING (edge) JOIN leaving l USING (edge) JOIN linker_candidateedge e ON e.id = edge
JOIN most ON most.run_id = a.run_id
JOIN place ON place.source_id = a.source_id AND place.placement = a.placement AND place.run_id = a.run_id
LEFT JOIN repeated USING (edge)
ORDER BY l.decided DESC, l.score DESC, edge
"""


def hold_over_limits(project: Project) -> None:
    """Links whose anchor their target carries as often as the project allows, and those that donor or acceptor has no
    room for; undecided links before others, and the worst first.

    One pass over the links: one that is held back takes no room away from those that come after it.
    """
    _execute("DROP TABLE IF EXISTS repeated, over")
    _execute(
        "CREATE TEMP TABLE repeated (edge bigint PRIMARY KEY, words bigint, said int, is_free boolean) ON COMMIT DROP"
    )
    _execute("CREATE TEMP TABLE over (edge bigint PRIMARY KEY, reason text, detail text) ON COMMIT DROP")
    for repeated in batches(_repeated(project), AT_A_TIME):
        copy_rows_in("repeated", ["edge", "words", "said", "is_free"], repeated)
    analyze("repeated")
    for table, query in _ROOM.items():
        _execute(f"DROP TABLE IF EXISTS {table}")
        _execute(f"CREATE TEMP TABLE {table} ON COMMIT DROP AS {query}", {"project": project.pk})
        analyze(table)
    for over in batches(_over(project), AT_A_TIME):
        copy_rows_in("over", ["edge", "reason", "detail"], over)
    analyze("over")
    _execute("UPDATE leaving SET reason = over.reason, detail = over.detail FROM over WHERE over.edge = leaving.edge")


def _repeated(project: Project) -> Iterator[tuple[int, int, int, bool]]:
    """Links that may come to be too many with the same anchor: the edge, a number for the target and the words, how
    many links say these already, and whether it may say them all the same: a person or the rule says so."""
    limit = project.identical_anchor_limit
    carried, params = carried_query(
        project, _TARGETS, statuses=[EdgeStatus.EXPORTED], drafts=False, without=_COUNTED_ELSEWHERE
    )
    number = 0
    for _same, rows in groupby(
        stream(
            "anchors",
            _ANCHORS.format(carried=carried, overruled=_OVERRULED.format(code="identical")),
            params | {"says": project.anchor_repeats == AnchorRepeats.SAY},
        ),
        key=itemgetter(0),
    ):
        said: Counter[str] = Counter()
        edges: defaultdict[str, list[tuple[int, bool, tuple[str, str, str, str]]]] = defaultdict(list)
        for _target, edge, anchor, settled, links, may, placement, title, h1 in rows:
            if edge is not None:
                edges[word_set(anchor)].append((edge, may, (anchor, placement, title, h1)))
            elif is_another(anchor, settled):
                said[word_set(anchor)] += links
        for words, those in edges.items():
            if said[words] + len(those) > limit:
                number += 1
                for edge, may, link in those:
                    yield edge, number, said[words], may or may_repeat(project, *link)


def _over(project: Project) -> Iterator[tuple[int, str, str]]:
    """Edges that there is no room for, with reason and detail."""
    limit, sections = project.identical_anchor_limit, SectionNames(project)
    # Links there are and those let through so far, by donor and placement, and by target; by target and words, those
    # let through.
    given = stream("given_so_far", "SELECT source_id, placement, links FROM full_donor", [])
    giving = Counter({(source, placement): links for source, placement, links in given})
    receiving = Counter(dict(stream("received_so_far", "SELECT target_id, links FROM full_acceptor", [])))
    saying: Counter[int] = Counter()
    for (
        edge,
        source,
        placement,
        target,
        words,
        said,
        is_free,
        may_fill_donor,
        may_fill_acceptor,
        most,
        room,
        numbers,
    ) in stream("needs", _NEEDS, []):
        same = 0 if words is None else said + saying[words]
        if same >= limit and not is_free:
            yield edge, Held.SAME_ANCHOR, held_sayings.SAME_ANCHOR.said(links=same, limit=limit)
        elif giving[source, placement] >= room and not may_fill_donor:
            full, values = PlaceCaps(*numbers).said(placement, giving[source, placement], sections)
            yield edge, Held.DONOR_FULL, full.said(**values)
        elif 0 < most <= receiving[target] and not may_fill_acceptor:
            yield edge, Held.ACCEPTOR_FULL, room_for(most, held_sayings.ACCEPTOR_ROOM)
        else:
            giving[source, placement] += 1
            receiving[target] += 1
            if words is not None:
                saying[words] += 1


def _execute(statement: str, params: dict[str, int] | None = None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
