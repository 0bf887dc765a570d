"""Links that were approved and that an editor has ruled out: their words, or their acceptor for the donor's section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection

from linker.engine.anchors.diversity import word_set
from linker.models.subtrees import inside_sql
from linker.models.suppression import in_force_sql
from linker.storage.cursors import stream
from review.models import Held
from review.releases.held_sayings import SECTION_RULED_OUT, WORDS_RULED_OUT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from linker.models import Project

_SECTION = f"""
UPDATE leaving SET reason = %s, detail = {SECTION_RULED_OUT.said_in_sql(section="array_to_string(found.path, ' › ')")}
FROM (
    SELECT DISTINCT ON (l.edge) l.edge, section.path
    FROM linker_suppression s JOIN linker_category section ON section.id = s.section_id
    JOIN leaving l ON l.target_id = s.target_id JOIN linker_page donor ON donor.id = l.source_id
    JOIN linker_category c ON c.id = donor.category_id
    WHERE s.project_id = %s AND s.kind = 'section' AND {inside_sql("c", "section")} AND {in_force_sql("s")}
    ORDER BY l.edge, s.id
) found WHERE found.edge = leaving.edge AND leaving.operation = 'add' AND leaving.reason = ''
"""
_WORDS = f"""
SELECT l.edge, e.anchor, s.words FROM linker_suppression s JOIN leaving l ON l.target_id = s.target_id
JOIN linker_candidateedge e ON e.id = l.edge
WHERE s.project_id = %s AND s.kind = 'words' AND l.operation = 'add' AND l.reason = '' AND {in_force_sql("s")}
"""


def hold_ruled_out(project: Project) -> None:
    """Writes the reason on the links of `leaving` that come in addition and are ruled out by now."""
    edges = list(_with_words(project))
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE leaving SET reason = %s, detail = {WORDS_RULED_OUT.said_in_sql(anchor='e.anchor')} "
            "FROM linker_candidateedge e WHERE e.id = leaving.edge AND leaving.edge = ANY(%s)",
            [Held.SUPPRESSED, edges],
        )
        cursor.execute(_SECTION, [Held.SUPPRESSED, project.pk])


def _with_words(project: Project) -> Iterator[int]:
    for edge, anchor, words in stream("ruled_out", _WORDS, [project.pk]):
        if word_set(anchor) == words:
            yield edge
