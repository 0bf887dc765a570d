"""Links of pages that have a gate: somebody else approves what one person has accepted, or rejects it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils.translation import gettext as _

from linker.errors import UserError
from linker.models import CandidateEdge, EdgeStatus
from linker.models.querysets import WAITING, holds
from linker.projects.experts import may_approve_for, may_approve_in
from linker.runs.under_way import Waiting
from review.decisions import decide_edges, decision_on, locked, with_outcome, write_decisions, write_edges
from review.models import Verb
from review.rulings import Ruling, Shown
from review.undoing import decisions_in_force

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from linker.models import Membership, Project
    from review.models import Decision


LOOKED_AT = 1000  # links that wait, of which those for a member are counted


class NotTheSecond(UserError):
    """Who asks may not be the second person for this link."""


def why_not_second(edge: CandidateEdge, membership: Membership, accepted: Decision | None) -> str:
    """Why the member may not be the second person for the link, in a sentence; empty where they may. `accepted`: the
    decision in force."""
    return _why_not(edge, membership, accepted, is_theirs=may_approve_for(membership, [edge.source, edge.target]))


def why_not_those(membership: Membership, links: Iterable[tuple[CandidateEdge, Decision | None]]) -> dict[int, str]:
    """The same of many links, by their ids, with two queries however many there are."""
    sections = may_approve_in(membership)
    return {
        edge.pk: _why_not(
            edge,
            membership,
            accepted,
            is_theirs=sections is None or {edge.source.category_id, edge.target.category_id} <= sections,
        )
        for edge, accepted in links
    }


def _why_not(edge: CandidateEdge, membership: Membership, accepted: Decision | None, *, is_theirs: bool) -> str:
    if not holds(WAITING, edge):
        return _("This link does not wait for a second person any more.")
    if not is_theirs:
        return _("This link needs a manager, or an expert who is named for the sections of both pages.")
    if accepted is not None and accepted.user_id == membership.user_id:
        return _("You accepted this link yourself, so somebody else has to approve it.")
    return ""


def may_approve(membership: Membership) -> QuerySet[CandidateEdge]:
    """The links that wait and that the member may approve, of the first LOOKED_AT that wait in the order of the list:
    who has accepted thousands of them is asked about no more."""
    project, sections = membership.project, may_approve_in(membership)
    if sections is not None and not sections:
        return CandidateEdge.objects.none()
    first = project.edges.filter(WAITING).order_by("-donor_best", "source", "-score", "pk").values("pk")[:LOOKED_AT]
    own = decisions_in_force(project).filter(edge=OuterRef("pk"), user=membership.user_id)
    found = CandidateEdge.objects.filter(~Exists(own), pk__in=first)
    if sections is None:
        return found
    return found.filter(source__category__in=sections, target__category__in=sections)


@transaction.atomic
def approve(membership: Membership, edge_id: int, user: User, note: str = "") -> Decision:
    """Approves an accepted link that waits, so that the next release takes it. Raises NotTheSecond."""
    edge = _waiting(membership, edge_id)
    decision = decision_on(edge, Verb.APPROVE, user, note=note)
    edge.waits, edge.second_by = False, user
    write_edges([edge])
    write_decisions([with_outcome(decision)])
    return decision


@transaction.atomic
def reject(membership: Membership, edge_id: int, user: User, note: str = "") -> Decision:
    """Rejects an accepted link that waits. Raises NotTheSecond."""
    _waiting(membership, edge_id)
    ruling, shown = Ruling(note=note), Shown(EdgeStatus.ACCEPTED)
    return decide_edges(membership.project, [edge_id], Verb.REJECT, user, ruling, shown).decided[0]


def _waiting(membership: Membership, edge_id: int) -> CandidateEdge:
    [edge] = locked(membership.project, [edge_id])
    accepted = decisions_in_force(membership.project).filter(edge=edge).first()
    if said := why_not_second(edge, membership, accepted):
        raise NotTheSecond(said)
    return edge


def waiting(project: Project) -> list[Waiting]:
    """That links wait for a second person, where any does."""
    if not project.edges.filter(WAITING).order_by().exists():
        return []
    url = f"{reverse('queue', args=[project.slug])}?second=1"
    return [Waiting(_("Accepted links"), _("They wait for a second person to approve them."), url)]
