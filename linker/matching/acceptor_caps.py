"""How many new links an acceptor may receive, and which acceptors have as many.

The cap is that of the run which proposed the link: by number, or by share of its links. Links that the site has do not
count, since pages rightly differ by thousands; approved ones that it does not have yet do, released or not.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from django.db import connection

from linker.matching import cap_sayings
from linker.matching.donor_caps import TAKES_ROOM
from linker.matching.room import of_edges_run

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from linker.engine.sayings import Saying
    from linker.models import CandidateEdge, Project

# The cap of the row `run`, 0 for none. What the run worked with has the largest share of its links in it.
MOST = f"coalesce((run.report -> 'allocation' ->> 'target_cap')::int, {of_edges_run('per_target')})"
_READ = f"""
SELECT 'most', run.id, {MOST} FROM linker_run run WHERE run.id = ANY(%(runs)s::bigint[])
UNION ALL
SELECT 'received', e.target_id, count(*) FROM linker_candidateedge e
WHERE e.project_id = %(project)s AND e.target_id = ANY(%(pages)s::bigint[]) AND e.id <> ALL(%(without)s::bigint[])
    AND {TAKES_ROOM}
GROUP BY e.target_id
"""


class AcceptorCaps:
    """The caps of the acceptors of some edges, read once, and the links that use them up. One query."""

    def __init__(self, project: Project, edges: Collection[CandidateEdge], *, without: Iterable[int] = ()) -> None:
        """`without`: ids of edges that take no room."""
        self._most: dict[int, int] = {}  # by run
        self._received: Counter[int] = Counter()  # by page
        if not edges:
            return
        params: dict[str, Any] = {
            "project": project.pk,
            "runs": sorted({edge.run_id for edge in edges}),
            "pages": sorted({edge.target_id for edge in edges}),
            "without": list(without),
        }
        with connection.cursor() as cursor:
            cursor.execute(_READ, params)
            for what, key, count in cursor:
                (self._most if what == "most" else self._received)[key] = count

    def full(self, edge: CandidateEdge) -> tuple[Saying, dict[str, int | str]] | None:
        """That the acceptor may receive no more, with the numbers; None where there is room for one more link."""
        most, ours = self._most[edge.run_id], self._received[edge.target_id]
        return (cap_sayings.ACCEPTOR_NEW, {"ours": ours, "limit": most}) if 0 < most <= ours else None

    def add(self, edge: CandidateEdge) -> None:
        """One more link was approved."""
        self._received[edge.target_id] += 1
