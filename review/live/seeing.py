"""What people do about released links that are not as they were released: each change is told in the link's life."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from linker.errors import UserError
from linker.models import CandidateEdge, EdgeStatus, Membership, Role
from linker.models.querysets import LIVE_STATUS, of
from review.live import sayings
from review.models import LinkEvent, LiveState, Pending, PublishedLink

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User

    from linker.models import Project

# States in which nobody has to do anything, or not yet.
AT_REST = (LiveState.SENT, LiveState.LIVE, LiveState.REMOVED)
NOTE_LENGTH = 500


@transaction.atomic
def close(project: Project, edge_ids: Sequence[int], user: User, note: str) -> int:
    """Takes links as the site shows them, until that changes. Raises UserError without a word why."""
    note = note.strip()[:NOTE_LENGTH]
    if not note:
        raise UserError(_("Nothing was closed: write in the note why these links may stay as they are."))
    links = [link for link in _locked(project, edge_ids) if link.closed_at is None and link.state not in AT_REST]
    for link in links:
        link.closed_at, link.closed_by, link.closed_note = timezone.now(), user, note
    PublishedLink.objects.bulk_update(links, ["closed_at", "closed_by", "closed_note"])
    _tell(links, user, sayings.CLOSED.said(note=note)[:NOTE_LENGTH])
    return len(links)


def not_closed(project: Project, edge_ids: Sequence[int]) -> list[int]:
    """Those of the links that nobody has closed."""
    links = PublishedLink.objects.filter(project=project, edge__in=edge_ids, closed_at=None)
    return list(links.values_list("edge", flat=True))


@transaction.atomic
def give(project: Project, edge_ids: Sequence[int], user: User, to: int | None) -> int:
    """Gives links to a member of the project to see to, or to nobody. Raises UserError where `to` is no member, or may
    not do anything with them."""
    member = Membership.objects.select_related("user").filter(project=project, user=to).first()
    if to is not None and member is None:
        raise UserError(_("Nothing was changed: this person is not a member of the project."))
    if member is not None and member.role == Role.VIEWER:
        raise UserError(_("Nothing was changed: a viewer may not see to links. Give them to an editor."))
    links = [link for link in _locked(project, edge_ids) if link.owner_id != to]
    for link in links:
        link.owner_id = to
    PublishedLink.objects.bulk_update(links, ["owner"])
    who = member.user.get_username() if member else ""
    _tell(links, user, sayings.GIVEN.said(who=who) if who else sayings.GIVEN_TO_NOBODY.said())
    return len(links)


@transaction.atomic
def reopen(project: Project, edge_ids: Sequence[int], user: User, note: str) -> int:
    """Puts links back into the queue, to be decided on again: those that are out, that nothing is pending for, and that
    are not live as they were released. Those of pages that are no pages any more can only be withdrawn."""
    edges = CandidateEdge.objects.filter(project=project, pk__in=edge_ids, status=EdgeStatus.EXPORTED)
    edges = edges.filter(of("source", LIVE_STATUS), of("target", LIVE_STATUS))
    edges = edges.filter(pending__decision__isnull=True, published__is_out=True).exclude(published__state__in=AT_REST)
    ids = list(edges.select_for_update(of=("self",), no_key=True).order_by("pk").values_list("pk", flat=True))
    CandidateEdge.objects.filter(pk__in=ids).update(
        status=EdgeStatus.SUGGESTED, stale=False, regressed=True, updated_at=timezone.now()
    )
    Pending.objects.filter(edge__in=ids).delete()  # what nobody asked for; the address goes along with the link
    note = note.strip()
    said = sayings.REOPENED_WHY.said(note=note) if note else sayings.REOPENED.said()
    _tell(_locked(project, ids), user, said[:NOTE_LENGTH])
    return len(ids)


def _locked(project: Project, edge_ids: Sequence[int]) -> list[PublishedLink]:
    links = PublishedLink.objects.filter(project=project, edge__in=edge_ids)
    return list(links.select_for_update(of=("self",), no_key=True).order_by("edge"))


def _tell(links: Sequence[PublishedLink], user: User, note: str) -> None:
    now = timezone.now()
    LinkEvent.objects.bulk_create(
        LinkEvent(
            project_id=link.project_id,
            edge_id=link.edge_id,
            at=now,
            before=link.state,
            after=link.state,
            user=user,
            seen_anchor=link.seen_anchor,
            note=note,
        )
        for link in links
    )
