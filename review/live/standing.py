"""Released links that a better candidate may be proposed in place of: see linker.matching.replacing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linker.matching.replacing import RELEASED, days_ago
from linker.models.querysets import ACCEPTED, sql
from linker.storage.copy import copy_out
from review.models import LiveState

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.models import Project

# Out as it was released, and seen so if an import of links has looked for it; nobody sees to it, or has left it as it
# is; nothing else is asked for it; and it has stood for long enough, since a person said something of it, too.
_MAY_BE = f"""
SELECT e.id, e.source_id, e.target_id, e.placement = 'inline'
FROM review_publishedlink p JOIN linker_candidateedge e ON e.id = p.edge_id
WHERE p.project_id = %(project)s AND p.is_out AND e.status = 'exported'
    AND p.state IN ('{LiveState.SENT}', '{LiveState.LIVE}') AND p.closed_at IS NULL AND p.owner_id IS NULL
    AND p.released_at < %(before)s AND (p.first_live_at IS NULL OR p.first_live_at < %(before)s)
    AND NOT EXISTS (SELECT FROM review_pending w WHERE w.edge_id = e.id)
    AND NOT EXISTS (SELECT FROM review_decision d WHERE d.edge_id = e.id AND d.at >= %(before)s)
    AND NOT EXISTS (
        SELECT FROM linker_replacement r JOIN linker_candidateedge better ON better.id = r.edge_id
        WHERE r.replaced_id = e.id AND r.ended_at IS NULL AND {sql(ACCEPTED, "better")})
ORDER BY e.id
"""


def may_be_replaced(project: Project) -> NDArray[Any]:
    """The links, rows of RELEASED, by id."""
    before = days_ago(project, project.replace_after - 1)
    return copy_out(_MAY_BE, {"project": project.pk, "before": before}, RELEASED)
