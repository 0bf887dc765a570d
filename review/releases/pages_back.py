"""Removals that were asked for while a page of the link was gone, and whose pages are back before they have left.

Whoever asked for the removal may have wanted to be rid of a link that led nowhere, and it leads somewhere again. No
release carries such a removal until somebody says once more which of the two is wanted: the draft asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import Q

from linker.models import CandidateEdge
from linker.models.querysets import LINKABLE, holds, of, sql
from review.models import DraftLink, Held, Operation
from review.releases import held_sayings

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from linker.models import Project
    from review.models import ReleaseDraft

# Edges of which such a removal waits. Asking for it again makes it a removal like any other.
PAGE_BACK = Q(pending__operation=Operation.REMOVE, pending__page_gone=True)
PAGE_BACK &= of("source", LINKABLE) & of("target", LINKABLE)

_HOLD = f"""
UPDATE leaving SET reason = '{Held.PAGE_BACK}', detail = {held_sayings.PAGE_BACK.said_in_sql()}
FROM review_pending a, linker_page s, linker_page t
WHERE a.project_id = %s AND a.page_gone AND a.edge_id = leaving.edge AND leaving.operation = 'remove'
    AND leaving.for_edge IS NULL AND leaving.reason = '' AND s.id = leaving.source_id AND t.id = leaving.target_id
    AND {sql(LINKABLE, "s")} AND {sql(LINKABLE, "t")}
"""


def hold_for_pages_back(project: Project) -> None:
    """Writes the reason on the removals of `leaving` whose pages are back."""
    with connection.cursor() as cursor:
        cursor.execute(_HOLD, [project.pk])


def is_page_gone(edge: CandidateEdge) -> bool:
    """Whether a page of the edge, which has them both, is none that a link could lead from or to."""
    return not (holds(LINKABLE, edge.source) and holds(LINKABLE, edge.target))


def is_page_back(edge: CandidateEdge) -> bool:
    """The same as PAGE_BACK, of an edge in memory."""
    pending = getattr(edge, "pending", None)
    if pending is None or pending.operation != Operation.REMOVE or not pending.page_gone:
        return False
    return not is_page_gone(edge)


def in_draft(draft: ReleaseDraft) -> QuerySet[CandidateEdge]:
    """The links of a draft of which such a removal waits, held back by it or not: a page may have come back since."""
    return CandidateEdge.objects.filter(
        PAGE_BACK, project=draft.project_id, pk__in=DraftLink.objects.filter(draft=draft).values("edge")
    )
