"""Links that wait for a second person when they are about to leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection

from linker.pages.gates import IS_GATED, write_gated
from review.models import Held
from review.releases import held_sayings

if TYPE_CHECKING:
    from linker.models import Project

_PAGES = "SELECT unnest(ARRAY[source_id, target_id]) FROM leaving WHERE operation = 'add'"
_HOLD = f"""
UPDATE leaving SET reason = %s, detail = {held_sayings.SECOND.said_in_sql()} FROM (
    SELECT l.edge FROM leaving l JOIN linker_candidateedge e ON e.id = l.edge
    WHERE l.operation = 'add' AND l.reason = '' AND e.second_by_id IS NULL AND {IS_GATED}
) found WHERE found.edge = leaving.edge
"""


def hold_for_second(project: Project) -> None:
    """Writes the reason on links that come in addition, whose pages have a gate, and that nobody has approved besides
    who accepted them: also on those that their tier would let leave unreviewed."""
    if write_gated(project, _PAGES):
        with connection.cursor() as cursor:
            cursor.execute(_HOLD, [Held.SECOND])
