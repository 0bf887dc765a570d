"""A link that replaces another leaves together with the other's removal, or not at all: also where it is rolled back.

Which links do so, linker.models.replacement says. The removal of a pair names the link that comes in its place in
`for_edge` of `leaving`; one that somebody asked for by itself names none, and leaves whatever becomes of the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection

from linker.models.querysets import ACCEPTED, sql
from linker.models.replacement import ReplacementEnd, stands_sql
from linker.pages.gates import write_gated
from linker.storage.copy import analyze
from review.models import Held
from review.releases import held_sayings

if TYPE_CHECKING:
    from linker.models import Project

# To the table `ready` of review.releases.checks: the removals that go with what was accepted.
_REMOVALS = f"""
INSERT INTO ready (id, status, operation, for_edge)
SELECT o.id, o.status, 'remove', e.id FROM linker_replacement r
JOIN ready n ON n.id = r.edge_id AND n.operation = 'add' JOIN linker_candidateedge e ON e.id = r.edge_id
JOIN linker_candidateedge o ON o.id = r.replaced_id
WHERE r.project_id = %s AND {sql(ACCEPTED, "e")} AND {stands_sql("r")}
ON CONFLICT (id) DO UPDATE SET operation = 'remove', for_edge = excluded.for_edge WHERE ready.operation <> 'remove'
"""
# The same of a roll-back: what is added again goes with the removal of what had come in its place.
_BACK = f"""
UPDATE leaving SET for_edge = r.edge_id FROM linker_replacement r JOIN leaving n ON n.edge = r.edge_id
WHERE leaving.edge = r.replaced_id AND leaving.operation = 'add' AND n.operation = 'remove'
    AND r."end" = '{ReplacementEnd.RELEASED}'
"""
# It has no second half: nobody has accepted it, the file has no word for a removal, or the removal was asked for by
# itself and is held back by now.
_ALONE = f"""
UPDATE leaving SET reason = '{Held.PAIR}', detail = {held_sayings.NOT_ALONE.said_in_sql()}
FROM linker_replacement r WHERE r.edge_id = leaving.edge AND leaving.operation = 'add' AND leaving.reason = ''
    AND {stands_sql("r")}
    AND NOT EXISTS (
        SELECT FROM leaving o
        WHERE o.edge = r.replaced_id AND o.operation = 'remove' AND o.reason <> '{Held.PAGE_BACK}'
    )
"""
_BROKEN = f"""
UPDATE leaving SET reason = '{Held.PAIR}', detail = {held_sayings.OTHER_HALF.said_in_sql()} FROM (
    SELECT unnest(ARRAY[o.edge, o.for_edge]) AS edge FROM leaving o LEFT JOIN leaving n ON n.edge = o.for_edge
    WHERE o.for_edge IS NOT NULL AND (o.reason <> '' OR n.reason <> '' OR n.edge IS NULL)
) broken WHERE leaving.edge = broken.edge AND leaving.reason = ''
"""
# A link to a page with a gate was approved by two people: it takes two to take it off.
_GATED_PAGES = "SELECT target_id FROM leaving WHERE operation = 'remove' AND for_edge IS NOT NULL"
_GATED = f"""
UPDATE leaving SET reason = '{Held.SECOND}', detail = {held_sayings.SECOND.said_in_sql()}
FROM linker_candidateedge e, gated g
WHERE e.id = leaving.for_edge AND e.second_by_id IS NULL AND g.page = leaving.target_id AND leaving.reason = ''
    AND leaving.operation = 'remove'
"""
_ENDED = f"""
UPDATE linker_replacement r SET ended_at = now(), "end" = '{ReplacementEnd.RELEASED}' FROM leaving l
WHERE r.edge_id = l.for_edge AND r.replaced_id = l.edge AND l.operation = 'remove' AND l.reason = ''
    AND r.ended_at IS NULL
"""


def add_removals(project: Project) -> None:
    """Adds to `ready` the removals that go with the links in it that were accepted as replacements."""
    _execute(_REMOVALS, [project.pk])


def find_pairs_back() -> None:
    """Of a roll-back: notes which links of `leaving` go back together."""
    _execute(_BACK)
    analyze("leaving")


def are_leaving() -> bool:
    """Whether any link of `leaving` takes another off."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM leaving WHERE for_edge IS NOT NULL)")
        return bool(cursor.fetchone()[0])


def hold_for_gates(project: Project) -> None:
    """Writes the reason on removals that take two people, where one has accepted what comes in their place."""
    if are_leaving() and write_gated(project, _GATED_PAGES):
        _execute(_GATED)


def hold_alone() -> None:
    """Writes the reason on links that would replace one whose removal does not leave with them."""
    _execute(_ALONE)


def hold_broken() -> None:
    """Writes the reason on both halves of pairs of which one must not leave."""
    _execute(_BROKEN)


def end_released() -> None:
    """Notes which replacements have left."""
    _execute(_ENDED)


def _execute(statement: str, params: list[int] | None = None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
