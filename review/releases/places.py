"""Where links stand in the texts as they are now, and how the texts spell them: settled as a release is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection

from linker.models import CandidateEdge
from linker.models.project import GapLinks
from linker.storage.cursors import batches
from linker.storage.slices import in_slices
from review.link_places import DonorTexts, allowed_place, read_around
from review.releases import held_sayings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linker.models import Project

AT_A_TIME = 500

_CHANGED = """
SELECT e.id FROM leaving l JOIN linker_candidateedge e ON e.id = l.edge JOIN linker_page donor ON donor.id = e.source_id
WHERE l.operation = 'add' AND l.reason = '' AND e.placement = 'inline' AND e.span_start IS NOT NULL
    AND e.body_hash IS DISTINCT FROM donor.body_hash
ORDER BY e.source_id, e.id
"""
_FOUND = """
UPDATE linker_candidateedge e SET span_start = f.first, span_end = f.stop, sentence = f.sentence,
    section_heading = f.heading, body_hash = f.hash
FROM unnest(%s::bigint[], %s::int[], %s::int[], %s::text[], %s::text[], %s::bigint[])
    f (edge, first, stop, sentence, heading, hash)
WHERE e.id = f.edge
"""
_CLOSED = f"""
UPDATE leaving SET reason = 'words_gone', detail = {held_sayings.WORDS_CLOSED.said_in_sql(anchor="e.anchor")}
FROM linker_candidateedge e WHERE e.id = leaving.edge AND e.id = ANY(%s)
"""
_SPELLED = """
UPDATE linker_candidateedge e SET anchor = substr(donor.body, e.span_start + 1, e.span_end - e.span_start)
FROM leaving l JOIN linker_candidateedge own ON own.id = l.edge JOIN linker_page donor ON donor.id = own.source_id
WHERE e.id = l.edge AND l.edge > %(after)s AND l.edge <= %(last)s AND e.id > %(after)s AND e.id <= %(last)s
    AND l.operation = 'add' AND l.reason = '' AND e.placement = 'inline' AND e.body_hash = donor.body_hash
    AND e.span_start IS NOT NULL
    AND e.anchor <> substr(donor.body, e.span_start + 1, e.span_end - e.span_start)
"""

# As review.link_places.by_itself puts what an editor accepts.
_WORDLESS = """
UPDATE linker_candidateedge e SET content_gap = e.content_gap AND %(are_gaps)s,
    own_line = %(are_lines)s AND e.paragraph_hash IS NOT DISTINCT FROM donor.body_hash AND e.paragraph_hash IS NOT NULL
FROM leaving l JOIN linker_candidateedge own ON own.id = l.edge JOIN linker_page donor ON donor.id = own.source_id
WHERE e.id = l.edge AND l.edge > %(after)s AND l.edge <= %(last)s AND e.id > %(after)s AND e.id <= %(last)s
    AND l.operation = 'add' AND l.reason = '' AND NOT l.decided AND e.placement = 'related'
"""


def put_wordless(project: Project) -> None:
    """Puts the links of `leaving` that nobody has decided on, and that the text has no words for, where the project has
    such links go: on a line of their own where a paragraph is known, in the list at the end, or into a sentence."""
    asked = {"are_gaps": project.gap_links == GapLinks.GAP, "are_lines": project.gap_links == GapLinks.LINE}
    in_slices(_WORDLESS, asked, "leaving", "edge")


def find_again() -> None:
    """Gives the links of `leaving` whose donor's text has changed their place in it, and holds back those whose words
    are nowhere any more where a link may stand."""
    with connection.cursor() as cursor:
        cursor.execute(_CHANGED)
        changed = [edge for (edge,) in cursor.fetchall()]
    for some in batches(changed, AT_A_TIME):
        _find(some)


def spell() -> None:
    """Gives the links that leave the words as the text spells them: letters of another case, curly quotes and spaces
    that do not break make no difference to an editor, and do to whoever looks for the words."""
    in_slices(_SPELLED, {}, "leaving", "edge")


def _find(ids: Sequence[int]) -> None:
    edges = list(CandidateEdge.objects.filter(pk__in=ids).select_related("source"))
    texts, closed, found = DonorTexts(edges), [], []
    for edge in edges:
        place = allowed_place(edge, texts=texts)
        if place is None:
            closed.append(edge.pk)
            continue
        edge.span_start, edge.span_end = place
        read_around(edge)
        found.append((edge.pk, *place, edge.sentence, edge.section_heading, edge.body_hash))
    with connection.cursor() as cursor:
        if found:
            cursor.execute(_FOUND, [list(column) for column in zip(*found, strict=True)])
        if closed:
            cursor.execute(_CLOSED, [closed])
