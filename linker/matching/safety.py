"""What safety classes bar: not proposed, out of the queue, and back in it when it may be linked again.

linker.pages.safety says which pages a class holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from django.db import connection, transaction

from linker.models.identity import follows_sql
from linker.models.kept_run import STANDING_RUN
from linker.models.querysets import OPEN, sql
from linker.pages.safety import BARRED, barred_pairs, directions, pages_by_class, write_barred

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from linker.models import Project

PAGES_OF_EDGES = "SELECT unnest(ARRAY[source_id, target_id]) FROM linker_candidateedge WHERE id = ANY(%(ids)s)"
# A link that was live and is gone waits for an editor, who can only reject it.
_OPEN = f"l.project_id = %(project)s AND {sql(OPEN, 'l')} AND NOT l.regressed"
_BAR = """
WITH barred AS ({barred}), locked AS (
    SELECT e.id, b.pair FROM linker_candidateedge e JOIN barred b ON b.id = e.id
    ORDER BY e.id FOR NO KEY UPDATE OF e SKIP LOCKED
)
UPDATE linker_candidateedge e SET stale = true, barred_by_id = k.pair FROM locked k WHERE e.id = k.id
"""
# What no pair bars any more. Where a run that came after the pair passed the link over, the next one decides.
_BRING_BACK = f"""
WITH free AS (
    SELECT e.id, {follows_sql("e")} AND (e.run_id = ({STANDING_RUN}) OR NOT EXISTS (
        SELECT FROM linker_run r WHERE r.project_id = %(project)s AND r.kind IN ('match', 'stand')
        AND r.status = 'succeeded' AND r.started_at > pair.made_at
        AND NOT EXISTS (SELECT FROM linker_pilot p WHERE p.run_id = r.id)
    )) AS returns FROM linker_candidateedge e JOIN linker_barredpair pair ON pair.id = e.barred_by_id
    WHERE e.project_id = %(project)s AND e.barred_by_id IS NOT NULL AND e.id NOT IN ({{barred}})
    ORDER BY e.id FOR NO KEY UPDATE OF e
)
UPDATE linker_candidateedge e SET barred_by_id = NULL, stale = e.stale AND NOT free.returns
FROM free WHERE e.id = free.id RETURNING e.id, free.returns
"""


def barred_rows(project: Project, source: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which pairs of pages, int64 [n] each, may never be linked, bool [n]."""
    barred = np.zeros(len(source), dtype=np.bool_)
    pairs = barred_pairs(project)
    if not pairs or not len(source):
        return barred
    members = pages_by_class(project, pairs, np.unique(np.concatenate([source, target])).tolist())
    for pair in pairs:
        for one, other in directions(pair):
            barred |= np.isin(source, members.get(one, [])) & np.isin(target, members.get(other, []))
    return barred


def bar(project: Project, edges: Sequence[int] | None = None) -> int:
    """Takes open suggestions out of the queue that a pair of classes bars: all, or those of some ids.

    One that somebody is deciding on just now is left to them, and refused there.
    """
    with transaction.atomic():
        if not (write_barred(project) if edges is None else write_barred(project, PAGES_OF_EDGES, edges)):
            return 0
        asked = "" if edges is None else " AND l.id = ANY(%(ids)s)"
        barred = BARRED.format(table="linker_candidateedge", key="id", where=_OPEN + asked)
        with connection.cursor() as cursor:
            cursor.execute(_BAR.format(barred=barred), {"project": project.pk, "ids": list(edges or ())})
            return cursor.rowcount


def bring_back(project: Project) -> list[int]:
    """The suggestions that no pair of classes bars any more, open again but for those that a newer run passed over."""
    with transaction.atomic(), connection.cursor() as cursor:
        barred = "SELECT NULL::bigint WHERE false"
        if write_barred(project):
            kept = "l.project_id = %(project)s AND l.barred_by_id IS NOT NULL"
            found = BARRED.format(table="linker_candidateedge", key="id", where=kept)
            barred = f"SELECT id FROM ({found}) still"
        cursor.execute(_BRING_BACK.format(barred=barred), {"project": project.pk})
        return [pk for pk, returns in cursor.fetchall() if returns]
