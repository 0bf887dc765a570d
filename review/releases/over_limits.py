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
from linker.matching.anchor_use import carried_query, is_another, may_repeat
from linker.matching.donor_caps import BESIDE, IN_TEXT, PlaceCaps, SectionNames
from linker.matching.room import of_edges_run
from linker.matching.section_caps import section_caps_sql
from linker.models import EdgeStatus
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
# which the limit does not hold for, linker.matching.anchor_use says; of the links that have left, here.
_OVERRULED = """EXISTS (SELECT FROM review_decision d WHERE d.edge_id = e.id AND d.overruled @> '[{{"code": "{code}"}}]'
            AND NOT EXISTS (SELECT FROM review_decision u WHERE u.undoes_id = d.id))"""
_ANCHORS = """
SELECT said.target_id, said.edge, said.anchor, said.settled, said.links, said.overruled, said.placement,
    coalesce(t.title, ''), coalesce(t.h1, '')
FROM (
    SELECT leaving.target_id, leaving.edge, e.anchor, '' AS settled, 1 AS links,
        {overruled} AS overruled, leaving.placement
    FROM leaving JOIN linker_candidateedge e ON e.id = leaving.edge
    WHERE leaving.operation = 'add' AND leaving.reason = ''
    UNION ALL
    SELECT target_id, NULL, anchor, settled, links, false, '' FROM ({carried}) carried
) said LEFT JOIN linker_page t ON t.id = said.target_id AND said.placement = 'related'
ORDER BY said.target_id
"""
_TARGETS, _REMOVED = "SELECT target_id FROM leaving", "SELECT edge FROM leaving WHERE operation = 'remove'"


# Links of the project that left and that no crawl has seen there yet, less those that this release removes.
_STANDING = f"""e.project_id = %(project)s AND e.status = 'exported'
            AND NOT EXISTS (SELECT FROM leaving WHERE leaving.edge = e.id AND leaving.operation = 'remove')
            AND NOT {linked_sql("e")}"""
_GIVEN = f"""
SELECT e.source_id, e.placement, count(*) FROM linker_candidateedge e
WHERE {_STANDING} AND e.source_id IN (SELECT source_id FROM leaving) GROUP BY 1, 2
"""
_RECEIVED = f"""
SELECT e.target_id, count(*) FROM linker_candidateedge e
WHERE {_STANDING} AND e.target_id = ANY (ARRAY(SELECT DISTINCT target_id FROM leaving)) GROUP BY 1
"""
# What each link needs room for, in the order in which links are let through: beside its donor's text or in it, and at
# its acceptor, under the caps of the run that proposed it and of the donor's section; and among the links of its target
# with the same anchor, if these come near the project's limit. The cap that the run worked with has the largest share
# of its links in it. An editor may have overruled that the donor is full.
_NEEDS = f"""
WITH section AS MATERIALIZED ({section_caps_sql()})
SELECT l.edge, l.source_id, l.placement, l.target_id, repeated.words, repeated.said, repeated.is_free,
    {_OVERRULED.format(code="donor_full")} AS may_be_over,
    coalesce((run.report #>> '{{allocation,target_cap}}')::int, {of_edges_run("per_target")}) AS most,
    CASE l.placement WHEN 'inline' THEN ARRAY[{IN_TEXT}] ELSE ARRAY[{BESIDE}] END AS caps
FROM leaving l
JOIN linker_candidateedge e ON e.id = l.edge
JOIN linker_run run ON run.id = e.run_id
JOIN linker_page donor ON donor.id = l.source_id
LEFT JOIN section ON section.category = coalesce(donor.category_id, 0)
LEFT JOIN repeated ON repeated.edge = l.edge
WHERE l.operation = 'add' AND l.reason = ''
ORDER BY l.decided DESC, l.score DESC, l.edge
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
    for over in batches(_over(project), AT_A_TIME):
        copy_rows_in("over", ["edge", "reason", "detail"], over)
    analyze("over")
    _execute("UPDATE leaving SET reason = over.reason, detail = over.detail FROM over WHERE over.edge = leaving.edge")


def _repeated(project: Project) -> Iterator[tuple[int, int, int, bool]]:
    """Links that may come to be too many with the same anchor: the edge, a number for the target and the words, how
    many links say these already, and whether it may say them all the same: a person or the rule says so."""
    limit = project.identical_anchor_limit
    carried, params = carried_query(project, _TARGETS, statuses=[EdgeStatus.EXPORTED], drafts=False, without=_REMOVED)
    number = 0
    for _same, rows in groupby(
        stream("anchors", _ANCHORS.format(carried=carried, overruled=_OVERRULED.format(code="identical")), params),
        key=itemgetter(0),
    ):
        said: Counter[str] = Counter()
        edges: defaultdict[str, list[tuple[int, bool]]] = defaultdict(list)
        for _target, edge, anchor, settled, links, overruled, placement, title, h1 in rows:
            if edge is not None:
                is_free = overruled or may_repeat(anchor, placement, title, h1)
                edges[word_set(anchor)].append((edge, is_free))
            elif is_another(anchor, settled):
                said[word_set(anchor)] += links
        for words, those in edges.items():
            if said[words] + len(those) > limit:
                number += 1
                yield from ((edge, number, said[words], is_free) for edge, is_free in those)


def _over(project: Project) -> Iterator[tuple[int, str, str]]:
    """Edges that there is no room for, with reason and detail."""
    limit, params, sections = project.identical_anchor_limit, {"project": project.pk}, SectionNames(project)
    # Links there are and those let through so far, by donor and placement, and by target; by target and words, those
    # let through.
    giving = Counter({(source, placement): links for source, placement, links in stream("given", _GIVEN, params)})
    receiving = Counter(dict(stream("received", _RECEIVED, params)))
    saying: Counter[int] = Counter()
    needs = stream("needs", _NEEDS, params)
    for edge, source, placement, target, words, said, is_free, may_be_over, most, numbers in needs:
        caps, given = PlaceCaps(*numbers), giving[source, placement]
        same = 0 if words is None else said + saying[words]
        if same >= limit and not is_free:
            yield edge, Held.SAME_ANCHOR, held_sayings.SAME_ANCHOR.said(links=same, limit=limit)
        elif given >= caps.room and not may_be_over:
            full, values = caps.said(placement, given, sections)
            yield edge, Held.DONOR_FULL, full.said(**values)
        elif 0 < most <= receiving[target]:
            yield edge, Held.ACCEPTOR_FULL, room_for(most, held_sayings.ACCEPTOR_ROOM)
        else:
            giving[source, placement] += 1
            receiving[target] += 1
            if words is not None:
                saying[words] += 1


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
