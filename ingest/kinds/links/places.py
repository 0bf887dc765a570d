"""Where links stand in the texts of their pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ingest.kinds.links.merge import ANCHOR_KEY
from ingest.kinds.links.parse import NOWHERE
from ingest.kinds.sql import execute
from linker.models import Block
from linker.models.linked import read_block_sql
from linker.models.querysets import PRESENT, sql
from linker.storage.background import pack
from linker.storage.copy import copy_in
from linker.storage.page_writes import KEEP_PLANS

if TYPE_CHECKING:
    from array import array

    from numpy.typing import NDArray

    from ingest.kinds.links.parse import Links
    from linker.models import Project
    from linker.storage.background import BackgroundCopy

# A link that a page has several times under the same words is known by its first place. Only where the anchor does
# stand there is the place kept.
KEEP_PLACES = f"""
UPDATE linker_existinglink e SET place = found.place FROM (
    SELECT s.source, s.target, {ANCHOR_KEY.replace("anchor", "s.anchor")} AS words, min(s.place) AS place
    FROM stage_place s JOIN linker_page p ON p.id = s.source
    WHERE substr(p.body, s.place + 1, char_length(s.anchor)) = s.anchor GROUP BY 1, 2, 3
) found
WHERE e.source_id = found.source AND e.target_id = found.target AND {sql(PRESENT, "e")}
    AND {read_block_sql("e")} = {Block.CONTENT.value}
    AND {ANCHOR_KEY.replace("anchor", "e.anchor")} = found.words AND e.place IS DISTINCT FROM found.place
"""
FORGET_PLACES = (
    "UPDATE linker_existinglink e SET place = NULL FROM linker_page p WHERE e.project_id = %s AND p.id = e.source_id "
    "AND e.place IS NOT NULL AND e.source_id IN (SELECT source FROM stage_place) "
    "AND substr(p.body, e.place + 1, char_length(e.anchor)) <> e.anchor"
)


_ELSEWHERE = f"""
UPDATE linker_page p SET linked_elsewhere = found.spans, linked_elsewhere_hash = p.body_hash, {KEEP_PLANS} FROM (
    SELECT s.page, array_agg(span.edge ORDER BY s.start, span.n)::int[] AS spans
    FROM (SELECT DISTINCT page, start, stop FROM stage_elsewhere) s
    CROSS JOIN LATERAL unnest(ARRAY[s.start, s.stop]) WITH ORDINALITY span(edge, n) GROUP BY 1
) found
WHERE p.id = found.page
    AND (p.linked_elsewhere, p.linked_elsewhere_hash) IS DISTINCT FROM (found.spans, p.body_hash)
"""
_NONE_ELSEWHERE = f"""
UPDATE linker_page p SET linked_elsewhere = '{{}}', linked_elsewhere_hash = NULL, {KEEP_PLANS}
WHERE p.project_id = %s AND p.linked_elsewhere_hash IS NOT NULL
    AND NOT EXISTS (SELECT FROM stage_elsewhere s WHERE s.page = p.id)
"""


def keep_elsewhere(project: Project, found: array[int], *, is_whole: bool) -> None:
    """Notes on each page where links stand in its text that lead to no other page of the site. `found`: page, start and
    end of each; `is_whole`: the import saw the whole site, so that other pages have none."""
    page, start, stop = np.frombuffer(found, dtype=np.int64).reshape(-1, 3).T if len(found) else ([], [], [])
    execute("CREATE TEMP TABLE stage_elsewhere (page bigint, start int, stop int)")
    copy_in(
        "stage_elsewhere",
        [("page", ">i8", np.array(page)), ("start", ">i4", np.array(start)), ("stop", ">i4", np.array(stop))],
    )
    execute("ANALYZE stage_elsewhere")
    execute(_ELSEWHERE)
    if is_whole:
        execute(_NONE_ELSEWHERE, [project.pk])
    execute("DROP TABLE stage_elsewhere")


class LinkPlaces:
    """The places that the rows of an import name."""

    def __init__(self) -> None:
        execute("CREATE TEMP TABLE stage_place (source bigint, target bigint, place int, anchor text)")

    def add(self, links: Links, background: BackgroundCopy) -> None:
        placed = links.take(np.flatnonzero(links.place != NOWHERE))
        columns: list[tuple[str, Any, NDArray[Any]]] = [
            ("source", ">i8", placed.source),
            ("target", ">i8", placed.target),
            ("place", ">i4", placed.place),
        ]
        rows = pack("stage_place", columns, "anchor", placed.anchor)
        background.wait()
        background.copy_packed(rows)

    def save(self, project: Project) -> int:
        """Keeps them with the links that are in the table by now, and forgets those that no longer hold on the same
        pages. Returns how many links have another place than before."""
        execute("ANALYZE stage_place")
        execute(FORGET_PLACES, [project.pk])
        changed = execute(KEEP_PLACES)
        execute("DROP TABLE stage_place")
        return changed
