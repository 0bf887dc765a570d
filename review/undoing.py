"""Decisions that still hold, and how one is taken back: in one transaction, by a decision that names it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from linker.matching.suppressions import hide, lift_of, lock_with_suppressed, suppress_as_before
from linker.matching.tiers import keep_apart, retier
from linker.models import CandidateEdge, EdgeStatus, Placement, Project
from linker.models.querysets import DECIDED, UNDECIDED, holds
from linker.pages.gates import Gates
from linker.storage.locks import lock_project
from review import overlap
from review.decisions import conflicts_of, decision_on, locked, with_outcome, write_decisions, write_edges
from review.link_places import read_around
from review.models import AFTER_RELEASE, Decision, OpinionRequest, PublishedLink, Verb
from review.rulings import NothingToUndo, Outcome

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from django.contrib.auth.models import User


AROUND = timedelta(minutes=10)  # for how long the decisions of one batch are written at most
PAGES, BODIES = ("edge__source", "edge__target"), ("edge__source__body", "edge__target__body")
AT_A_TIME = 100  # of a user's decisions, looked at for those that hold
# The link left with this decision, and came back to the queue from the site.
_RELEASED_SINCE = Exists(
    PublishedLink.objects.filter(edge=OuterRef("edge"), edge__regressed=True, released_at__gte=OuterRef("at"))
)


def undo(
    project: Project, user: User, decision: Decision | None = None, key: UUID | None = None, *, whole: bool = False
) -> Outcome:
    """Takes back a decision, with `whole` all of its batch, or the user's newest that holds, with all of its batch.

    `key` is kept with the undoing decision, of a batch with the first.

    What is a suggestion again has the tier, placement and rel that the tiers of today read from its score.
    Requests for an opinion that the decision had answered are open again.
    `decided` holds the undoing decisions. Where another editor decided in between, the edge is a conflict.
    Raises NothingToUndo where there is none, it was undone already, or a link of it was exported.
    """
    with transaction.atomic():
        # The tiers must stand still until what is open again was read by them. Before the edges, as releases do.
        project = lock_project(project.pk)
        if decision is None:
            decision = next(newest_of(project, user), None)
            if decision is None:
                raise NothingToUndo(_("There is no decision of yours left to undo."))
            together = _together(project, decision)
        elif decision.verb in AFTER_RELEASE:
            raise NothingToUndo(_("The link has been exported. Take this back on the list of exported links."))
        else:
            together = _together(project, decision) if whole else [decision]
        lock_with_suppressed(project, [item.edge_id for item in together])
        edges = {edge.pk: edge for edge in locked(project, [item.edge_id for item in together])}
        _refuse_exported(edges, together)
        valid = set(
            decisions_in_force(project).filter(pk__in=[item.pk for item in together]).values_list("pk", flat=True)
        )
        if not valid and len(together) == 1 and Decision.objects.filter(undoes=together[0]).exists():
            raise NothingToUndo(_("This decision was undone already."))
        undoing = [_undo_one(edges[item.edge_id], item, user) for item in together if item.pk in valid]
        for first in undoing[:1]:
            first.key = key
        back = [decision.edge for decision in undoing]
        rejected = {one.edge_id: one.undoes for one in undoing if one.edge.status == EdgeStatus.REJECTED and one.undoes}
        _reject_as_before(back, rejected)
        _wait_again(project, back)
        write_edges(back)
        lift_of(project, back, user)
        suppress_as_before({edge: decision.at for edge, decision in rejected.items()}, user)
        _retier(project, back)
        hide(project, edges=[edge.pk for edge in back])
        write_decisions([with_outcome(decision) for decision in undoing])
        _ask_again(valid)
        overlap.offer_no_longer(valid)
        conflicts = conflicts_of([edges[item.edge_id] for item in together if item.pk not in valid], None)
    return Outcome(tuple(undoing), conflicts)


def _wait_again(project: Project, edges: Sequence[CandidateEdge]) -> None:
    """What is accepted again needs a second person again, where its pages have a gate."""
    gates = Gates(project)
    for edge in edges:
        edge.waits, edge.second_by = edge.status == EdgeStatus.ACCEPTED and gates.stops(edge), None


def decisions_in_force(project: Project) -> QuerySet[Decision]:
    """The decisions that still hold: not undone, and the last of their edge."""
    later = Decision.objects.filter(edge=OuterRef("edge"), pk__gt=OuterRef("pk"), undone_by__isnull=True)
    return Decision.objects.filter(
        ~Exists(later.exclude(verb=Verb.UNDO)), project=project, undone_by__isnull=True
    ).exclude(verb=Verb.UNDO)


def newest_of(project: Project, user: User) -> Iterator[Decision]:
    """The user's decisions that still hold and were made before a release, the newest first.

    Looks at some of the user's decisions at a time: the planner would look at all of them to find the first that holds.
    """
    last = Decision.objects.filter(project=project, user=user).exclude(verb=Verb.UNDO).order_by("-pk")
    some = list(last.values_list("pk", flat=True)[:AT_A_TIME])
    while some:
        holding = decisions_in_force(project).filter(~_RELEASED_SINCE, pk__in=some).exclude(verb__in=AFTER_RELEASE)
        yield from holding.select_related(*PAGES).defer(*BODIES).order_by("-pk")
        is_last = len(some) < AT_A_TIME
        some = [] if is_last else list(last.filter(pk__lt=some[-1]).values_list("pk", flat=True)[:AT_A_TIME])


def _undo_one(edge: CandidateEdge, decision: Decision, user: User) -> Decision:
    undoing = decision_on(edge, Verb.UNDO, user, undoes=decision, batch=decision.batch)
    take_out(edge, decision)
    return undoing


def take_out(edge: CandidateEdge, decision: Decision) -> None:
    """Makes the edge, unsaved, what it was before the decision."""
    edge.status = decision.status_before
    edge.reviewed = holds(DECIDED, edge)
    # Where neither words nor place were changed, a run may have placed it again since, and knows better.
    if edge.anchor != decision.anchor_before or decision.moved_to or decision.sentence:
        edge.anchor = decision.anchor_before
        edge.anchor_source = decision.source_before or edge.anchor_source  # none is known of older decisions
        edge.span_start, edge.span_end = decision.seen_span_start, decision.seen_span_end
        read_around(edge)
        edge.placement, edge.content_gap = Placement(decision.seen_placement), decision.seen_content_gap
        edge.own_line, edge.new_sentence = False, ""
    edge.rel = decision.rel_before
    edge.edited = decision.edited_before


def _reject_as_before(edges: Sequence[CandidateEdge], undone: Mapping[int, Decision]) -> None:
    """Gives edges that are rejected again the reason of the rejection that holds again; `undone`: the decision that is
    taken back, by edge."""
    earlier = Decision.objects.filter(edge__in=undone, verb=Verb.REJECT, undone_by__isnull=True).order_by("pk")
    reasons = {one.edge_id: one.reason for one in earlier if one.pk < undone[one.edge_id].pk} if undone else {}
    for edge in edges:
        edge.rejected_for = reasons.get(edge.pk, edge.rejected_for)


def _retier(project: Project, edges: Sequence[CandidateEdge]) -> None:
    """Tier, placement and rel of those that are open again, which may have moved while they were decided, and their
    words, which too many others may say by now."""
    if not edges:
        return
    retier(project, [edge.pk for edge in edges if holds(UNDECIDED, edge)])
    keep_apart(project, [edge.target_id for edge in edges])
    readings = CandidateEdge.objects.filter(pk__in=[edge.pk for edge in edges]).values_list("pk", "rel", "anchor")
    known = {pk: (rel, anchor) for pk, rel, anchor in readings}
    for edge in edges:
        edge.rel, edge.anchor = known[edge.pk]


def _ask_again(undone: Collection[int]) -> None:
    """Requests that these decisions had answered are open again."""
    OpinionRequest.objects.filter(decision__in=undone).update(answered_at=None, answered_by=None, decision=None)


def sizes_of_batches(project: Project, decisions: Iterable[Decision]) -> dict[UUID | None, int]:
    """How many decisions of the batches that some of one user belong to are not undone yet. Those of a batch are looked
    for AROUND the ones given, since no index has the batches."""
    known = [one for one in decisions if one.batch is not None]
    if not known:
        return {}
    days = min(one.at for one in known) - AROUND, max(one.at for one in known) + AROUND
    batches = {one.batch for one in known if one.batch is not None}
    made = _of_batches(project, batches).filter(user=known[0].user_id, at__range=days)
    return dict(made.values_list("batch").annotate(decisions=Count("pk")))


def _together(project: Project, decision: Decision) -> list[Decision]:
    """The decision with those of its batch that are not undone yet."""
    if decision.batch is None:
        return [decision]
    return list(_of_batches(project, [decision.batch]).order_by("pk"))


def _of_batches(project: Project, batches: Collection[UUID]) -> QuerySet[Decision]:
    return Decision.objects.filter(project=project, batch__in=batches, undone_by__isnull=True).exclude(verb=Verb.UNDO)


def _refuse_exported(edges: Mapping[int, CandidateEdge], decisions: Iterable[Decision]) -> None:
    reopened = [pk for pk, edge in edges.items() if edge.regressed]
    released = dict(PublishedLink.objects.filter(edge__in=reopened).values_list("edge", "released_at"))
    exported = {
        one.edge_id
        for one in decisions
        if edges[one.edge_id].status == EdgeStatus.EXPORTED
        or (one.edge_id in released and one.at <= released[one.edge_id])
    }
    if exported:
        raise NothingToUndo(
            ngettext(
                "The link has been exported already, so the decision cannot be undone here.",
                "%(links)d of these links have been exported already, so the decision cannot be undone here.",
                len(exported),
            )
            % {"links": len(exported)}
        )
