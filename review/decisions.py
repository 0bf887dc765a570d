"""What editors say of the edges: with review.undoing, the sole writer of an edge's status but for the export.

Each function works in one transaction: the edges are locked in the order of their ids, compared with what the editor
saw, changed, and a Decision is appended for each. The second of two editors changes nothing and sees who was first.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.utils import timezone
from django.utils.translation import gettext as _

from linker.errors import UserError
from linker.matching.anchor_use import use_of
from linker.matching.suppressions import lift_of, lock_with_suppressed, suppress
from linker.matching.tiers import keep_apart
from linker.models import CandidateEdge, EdgeStatus, Placement, Project
from linker.models.edge_columns import SEEN_COLUMNS
from linker.pages.gates import Gates
from linker.storage.locks import lock_project
from review import full_pages, overlap
from review.allowed import refuse_barred
from review.anchor_warnings import AnchorWarning, overruled, stopping, warnings_about
from review.link_places import PLACEMENT_OF, make_accepted, where_of
from review.models import Decision, OpinionRequest, Reason, Verb, Where, ruled_out_by
from review.replacements import need_two
from review.rulings import (
    Conflict,
    Doubt,
    NotInProject,
    Outcome,
    Ruling,
    Shown,
    clean_anchor,
    gone_in_words,
    same_words,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from django.contrib.auth.models import User

    from linker.matching.anchor_use import WordsInUse
    from review.full_pages import Caps

_PLACE = ("span_start", "span_end", "sentence", "section_heading", "body_hash", "placement", "content_gap")
_WRITTEN = ("own_line", "new_sentence")
_CHANGED = (
    "status",
    "reviewed",
    "rejected_for",
    "anchor",
    "anchor_source",
    "rel",
    "edited",
    "waits",
    "second_by",
    *_PLACE,
    *_WRITTEN,
    "updated_at",
)
NOTHING_MORE = Ruling()
AS_OPEN = Shown()


def decide_edges(
    project: Project,
    edge_ids: Sequence[int],
    verb: Verb,
    user: User,
    ruling: Ruling = NOTHING_MORE,
    shown: Shown = AS_OPEN,
    key: UUID | None = None,
    batch: UUID | None = None,
    counted: Counted | None = None,
) -> Outcome:
    """Accepts or rejects edges that are still as `shown`; the others come back as conflicts, unchanged.

    `verb` is ACCEPT, EDIT or REJECT. EDIT takes an anchor and one edge; an anchor that is the edge's already is a plain
    accept. An edited anchor is looked for in the donor's text again: if it is there, a content gap is closed and the
    link becomes inline; if not, the link has no place until somebody changes the copy. More than one edge share a
    batch; decisions of several calls do if they are given one. `key` is kept with the decision on a single edge.

    `counted`: what the pages have, without any of the edges of a piece of work that takes several calls. Each call adds
    what it accepts, and whoever makes them calls keep_apart at the end: no call changes the words of the next.

    Where there is something to be said against the words of an accepted link (see review.anchor_warnings), it
    comes back as a doubt, unchanged, unless the ruling overrules it; the decision keeps what was overruled. Open
    suggestions of the same targets get other words where too many would say the same now. Requests for an opinion on
    what is decided are answered.

    Links of pages that are merged, redirected or removed by now are conflicts as well.

    Raises AnchorError where the anchor cannot be used, UserError where an edge is not the project's or was exported
    when it was shown; nothing is written then.
    """
    if shown.status == EdgeStatus.EXPORTED:
        raise UserError(_("The link was exported: it can no longer be decided on here."))
    if verb == Verb.EDIT and (ruling.anchor is None or len(edge_ids) != 1):
        raise ValueError("an edit takes one edge and its anchor")
    if key is not None and len(edge_ids) != 1:
        raise ValueError("a key names the decision on one edge")
    with transaction.atomic():
        if shown.status == EdgeStatus.REJECTED:  # what that ruled out is allowed again; the project before the edges
            lock_project(project.pk)
            lock_with_suppressed(project, edge_ids)
        edges = locked(project, edge_ids)
        if verb != Verb.REJECT:
            refuse_barred(project, edges)
        same = [edge for edge in edges if shown.is_same(edge) and not gone_in_words(edge)]
        reworded = {edge.pk for edge in same if verb != Verb.REJECT and not shown.reads_same(edge)}
        if batch is None and len(edge_ids) > 1:
            batch = uuid4()
        deciding = _Deciding(project, verb, user, ruling, shown, batch, key, counted)
        deciding.decide([edge for edge in same if edge.pk not in reworded])
        decisions, doubts = deciding.decisions, deciding.doubts
        changed = [decision.edge for decision in decisions]
        write_edges(changed)
        write_decisions(decisions)
        if changed:
            _answer_requests(decisions, user)
            if shown.status == EdgeStatus.REJECTED:
                lift_of(project, changed, user)
            if verb == Verb.REJECT:
                suppress(changed, ruled_out_by(ruling.reason, widely=ruling.widely), ruling.reach, user)
            if batch is None:  # what is decided in bulk is not read one by one
                overlap.offer_again(project, decisions[0])
            if counted is None:
                keep_apart(project, [edge.target_id for edge in changed])
        answered = {edge.pk for edge in changed} | {doubt.edge.pk for doubt in doubts}
        left = [edge for edge in edges if edge.pk not in answered]
        conflicts = conflicts_of(left, shown.status, reworded, deciding)
    return Outcome(tuple(decisions), conflicts, tuple(doubts))


@dataclass(frozen=True)
class Counted:
    """What the pages of some edges have apart from these edges: how often an acceptor is linked with which words, and
    how much room donor and acceptor have."""

    words: WordsInUse
    caps: Caps

    def add(self, edge: CandidateEdge) -> None:
        """The edge was accepted."""
        self.words.add(edge.target_id, [edge.anchor])
        self.caps.add(edge)


def counted_of(project: Project, edges: Sequence[CandidateEdge]) -> Counted:
    words = use_of(project, sorted({edge.target_id for edge in edges}), without=[edge.pk for edge in edges])
    return Counted(words, full_pages.caps_of(project, edges))


class _Deciding:
    """One ruling on some edges: decisions and doubts, not saved, and whether an earlier decision was the same."""

    def __init__(
        self,
        project: Project,
        verb: Verb,
        user: User,
        ruling: Ruling,
        shown: Shown,
        batch: UUID | None,
        key: UUID | None,
        counted: Counted | None,
    ) -> None:
        self.project, self.verb, self.user = project, verb, user
        self.ruling, self.shown, self.batch, self.key = ruling, shown, batch, key
        self.counted = counted
        self.decisions: list[Decision] = []
        self.doubts: list[Doubt] = []

    def decide(self, edges: Sequence[CandidateEdge]) -> None:
        """Changes the edges and makes a decision of each, or a doubt."""
        if self.verb == Verb.REJECT:
            self.decisions = [self._rejected(edge) for edge in edges]
        elif edges:
            counted = self.counted if self.counted is not None else counted_of(self.project, edges)
            gates = Gates(self.project)
            two = need_two(edges, gates)
            for edge in edges:
                self._accept(edge, counted)
                stops = edge.pk in two or gates.stops(edge)
                edge.waits, edge.second_by = edge.status == EdgeStatus.ACCEPTED and stops, None

    def _rejected(self, edge: CandidateEdge) -> Decision:
        decision = self._decision(edge)
        edge.status, edge.reviewed, edge.rejected_for = EdgeStatus.REJECTED, True, decision.reason
        edge.waits, edge.second_by = False, None
        return with_outcome(decision)

    def _accept(self, edge: CandidateEdge, counted: Counted) -> None:
        anchor, warnings = words_and_warnings(edge, self.verb, self.ruling, counted, self.user)
        codes = self.ruling.overrules.get(edge.pk, ())
        asked = stopping(warnings)
        if any(warning.code not in codes for warning in asked):
            self.doubts.append(Doubt(edge, anchor, asked))
            return
        decision = self._decision(edge)
        decision.overruled = overruled(warnings)
        make_accepted(edge, decision, anchor, self.ruling)
        counted.add(edge)
        self.decisions.append(with_outcome(decision))

    def _decision(self, edge: CandidateEdge) -> Decision:
        decision = decision_on(edge, self.verb, self.user, note=self.ruling.note, batch=self.batch, key=self.key)
        decision.reason = Reason(self.ruling.reason) if self.ruling.reason else ""
        decision.position = self.shown.position
        return decision


def words_and_warnings(
    edge: CandidateEdge, verb: Verb, ruling: Ruling, counted: Counted, user: User
) -> tuple[str, list[AnchorWarning]]:
    """The words that an accept or an edit with this ruling gives the link, and what is to be said against it.

    `counted`: what the pages have apart from this edge. Raises AnchorError where no link could have these words.
    """
    anchor, wanted = edge.anchor, ruling.anchor
    if verb == Verb.EDIT and wanted is not None and wanted.strip() != edge.anchor:
        anchor = clean_anchor(wanted)

    def placement() -> Placement:
        if ruling.where is not None:
            return PLACEMENT_OF[ruling.where]
        if anchor == edge.anchor:
            return Placement(edge.placement)
        return PLACEMENT_OF[where_with(edge, ruling, user)]

    warnings = warnings_about(edge, anchor, counted.words, written=anchor != edge.anchor, placement=placement)
    return anchor, warnings + full_pages.warnings_about(edge, counted.caps, placement)


def warnings_about_words(edge: CandidateEdge, anchor: str, where: Where) -> list[AnchorWarning]:
    """What an accept of the edge with these words, which puts the link there, would be asked about. Raises AnchorError
    where no link could have them."""
    anchor = edge.anchor if anchor.strip() == edge.anchor else clean_anchor(anchor)
    use = use_of(edge.project, [edge.target_id], without=[edge.pk])
    if edge.is_known:  # its own link is not another one
        use.add(edge.target_id, [edge.anchor], -1)
    written = anchor != edge.anchor
    warnings = warnings_about(edge, anchor, use, written=written, placement=lambda: PLACEMENT_OF[where])
    caps = full_pages.caps_of(edge.project, [edge])
    return warnings + full_pages.warnings_about(edge, caps, lambda: PLACEMENT_OF[where])


def where_with(edge: CandidateEdge, ruling: Ruling, user: User) -> Where:
    """Where an accept with this ruling would put the link; see accepted_with."""
    return where_of(accepted_with(edge, ruling, user))


def accepted_with(edge: CandidateEdge, ruling: Ruling, user: User) -> CandidateEdge:
    """What an accept with this ruling would make of the edge; changes nothing. Raises AnchorError where the link cannot
    go to the place that is wanted, or can have no such words."""
    trial = copy(edge)
    anchor = trial.anchor if ruling.anchor is None else clean_anchor(ruling.anchor)
    make_accepted(trial, decision_on(trial, Verb.ACCEPT, user), anchor, ruling)
    return trial


def warnings_beforehand(project: Project, edges: Sequence[CandidateEdge]) -> dict[int, list[AnchorWarning]]:
    """What an accept would ask about some open edges, accepted one after the other, by edge; without those that it asks
    nothing about."""
    counted = counted_of(project, edges)
    found = {}
    for edge in edges:
        warnings = warnings_about(edge, edge.anchor, counted.words, written=False)
        warnings += full_pages.warnings_about(edge, counted.caps, lambda edge=edge: edge.placement)  # type: ignore[misc]
        if asked := stopping(warnings):
            found[edge.pk] = list(asked)
        else:
            counted.add(edge)
    return found


def locked(project: Project, edge_ids: Iterable[int]) -> list[CandidateEdge]:
    wanted = set(edge_ids)
    edges = list(
        CandidateEdge.objects.filter(project=project, pk__in=wanted)
        .select_related("tier", "source", "target")
        .defer("source__body", "target__body")
        .select_for_update(of=("self",), no_key=True)
        .order_by("pk")
    )
    if len(edges) != len(wanted):
        raise NotInProject(_("Some of these suggestions are not in this project. Reload the queue and try again."))
    for edge in edges:
        edge.project = project
    return edges


def decision_on(edge: CandidateEdge, verb: Verb, user: User, **fields: object) -> Decision:
    """A decision on the edge as it is now, not saved; see with_outcome."""
    return Decision(
        edge=edge,
        project_id=edge.project_id,
        user=user,
        verb=verb,
        status_before=edge.status,
        anchor_before=edge.anchor,
        source_before=edge.anchor_source,
        rel_before=edge.rel,
        edited_before=edge.edited,
        seen_tier=edge.tier.name if edge.tier else "",
        **{f"seen_{name}": getattr(edge, name) for name in SEEN_COLUMNS},
        **fields,
    )


def with_outcome(decision: Decision) -> Decision:
    """The decision, with what its edge has become."""
    edge = decision.edge
    decision.status_after, decision.anchor_after, decision.rel_after = edge.status, edge.anchor, edge.rel
    return decision


def write_edges(edges: Sequence[CandidateEdge]) -> None:
    now = timezone.now()
    for edge in edges:
        edge.updated_at = now
    CandidateEdge.objects.bulk_update(edges, _CHANGED, batch_size=500)


def write_decisions(decisions: Sequence[Decision]) -> None:
    Decision.objects.bulk_create(decisions, batch_size=500)


def _answer_requests(decisions: Sequence[Decision], user: User) -> None:
    """Whoever asked for an opinion on what has been decided now has it."""
    made = Decision.objects.filter(pk__in=[decision.pk for decision in decisions], edge=OuterRef("edge"))
    asked = OpinionRequest.objects.filter(edge__in=[decision.edge_id for decision in decisions])
    asked.filter(answered_at__isnull=True).update(
        answered_at=timezone.now(), answered_by=user, decision=Subquery(made.values("pk"))
    )


def conflicts_of(
    edges: Sequence[CandidateEdge],
    expected: EdgeStatus | None,
    reworded: Collection[int] = (),
    deciding: _Deciding | None = None,
) -> tuple[Conflict, ...]:
    """Each edge with its newest decision; none is named where the status is as expected and a run came between."""
    last = newest_decisions(edges)
    conflicts = []
    for edge in edges:
        by = None if edge.status == expected else last.get(edge.pk)
        readdressed = deciding is not None and not deciding.shown.is_of_pages(edge)
        conflict = Conflict(edge, by, edge.pk in reworded, readdressed)
        if deciding is not None:
            conflict = against(conflict, deciding.verb, deciding.user, deciding.ruling, deciding.shown)
        conflicts.append(conflict)
    return tuple(conflicts)


def newest_decisions(edges: Sequence[CandidateEdge]) -> dict[int, Decision]:
    """By edge, its newest decision, with who made it."""
    found = Decision.objects.filter(edge__in=edges).select_related("user").order_by("pk")
    return {decision.edge_id: decision for decision in found}


def against(conflict: Conflict, verb: Verb, user: User, ruling: Ruling, shown: Shown) -> Conflict:
    """The conflict as it is for who wants to decide this: whether it is their own decision, and just this one."""
    by = conflict.by
    if by is None or by.user_id != user.pk:
        return conflict
    return replace(conflict, is_own=True, is_saved=_says_the_same(by, verb, ruling, shown))


def _says_the_same(decision: Decision, verb: Verb, ruling: Ruling, shown: Shown) -> bool:
    if verb == Verb.REJECT:
        return decision.verb == Verb.REJECT and decision.reason == ruling.reason
    words = ruling.anchor if verb == Verb.EDIT else shown.anchors.get(decision.edge_id)
    return (
        decision.verb in (Verb.ACCEPT, Verb.EDIT)
        and (words is None or same_words(words, decision.anchor_after))
        and ruling.rel in (None, decision.rel_after)
        and ruling.where in (None, decision.moved_to)
    )
