"""What editors say of the edges: the sole writer of an edge's status but for the export.

Each function works in one transaction: the edges are locked in the order of their ids, compared with what the editor
saw, changed, and a Decision is appended for each. The second of two editors changes nothing and sees who was first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from linker.engine.anchors.placement import LinkableText
from linker.engine.anchors.source_labels import EDITOR
from linker.engine.text.clean import collapse, has_word, visible
from linker.engine.text.sentences import reads_as, sentence_and_heading
from linker.errors import UserError
from linker.matching.anchor_use import use_of
from linker.matching.tiers import keep_apart, retier
from linker.models import CandidateEdge, EdgeStatus, ExistingLink, Placement, Project, Rel
from linker.models.edge_columns import SEEN_COLUMNS
from linker.models.linked import TEXT_LINK
from linker.models.querysets import APPROVED, DECIDED, UNDECIDED, holds
from review.anchor_warnings import AnchorWarning, overruled, warnings_about
from review.models import AFTER_RELEASE, Decision, Reason, Verb, Where

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from django.contrib.auth.models import User

    from linker.engine.anchors.diversity import AnchorUse

_PLACE = ("span_start", "span_end", "sentence", "section_heading", "body_hash", "placement", "content_gap")
AT_A_TIME = 100  # of a user's decisions, looked at for those that hold
MAX_ANCHOR = 200  # characters, whatever an editor overrules: no project may allow more
_CHANGED = ("status", "reviewed", "rejected_for", "anchor", "anchor_source", "rel", "edited", *_PLACE, "updated_at")


class AnchorError(UserError):
    """The anchor an editor wrote cannot be used."""


class NothingToUndo(UserError):
    """There is no decision to take back, or it can no longer be taken back."""


@dataclass(frozen=True)
class Conflict:
    """An edge that was not changed, as it is now. `by` is the decision that came first; None where a run did.

    `reworded`: its words changed since they were looked at. `is_own`: who decided first is who decides now; `is_saved`:
    and decided just this, as where a form was sent twice.
    """

    edge: CandidateEdge
    by: Decision | None
    reworded: bool = False
    is_own: bool = False
    is_saved: bool = False

    @property
    def message(self) -> str:
        if self.reworded:
            return (
                "The words have changed since you looked, because too many links to the page would have said the same. "
                "Look again, then decide."
            )
        if self.by is None:
            return "A newer match run has refreshed this suggestion since you looked. Look again, then decide."
        who = self.by.user.get_username()
        if self.by.verb == Verb.UNDO:
            if self.is_own:
                return "You took an earlier decision back since. Nothing new was saved. Look again, then decide."
            return f"{who} took an earlier decision back before you. Nothing of yours was saved."
        reason = f" ({self.by.get_reason_display()})" if self.by.reason else ""
        if self.is_own:
            done = f"You decided this already: {self.by.get_verb_display().lower()}{reason}."
            if self.is_saved:
                return f"{done} That decision is saved."
            return f"{done} That decision stands, and nothing new was saved."
        return f"{who} decided first: {self.by.get_verb_display().lower()}{reason}. Nothing of yours was saved."


@dataclass(frozen=True)
class Doubt:
    """An edge that was not accepted: there is something to be said against its words that was not overruled."""

    edge: CandidateEdge
    anchor: str
    warnings: tuple[AnchorWarning, ...]


@dataclass(frozen=True)
class Outcome:
    """`decided` holds the decisions written, by edge id; `conflicts` the edges that others changed before; `doubts`
    those that wait for a word of the editor."""

    decided: tuple[Decision, ...]
    conflicts: tuple[Conflict, ...]
    doubts: tuple[Doubt, ...] = ()


def clean_anchor(text: str) -> str:
    """The anchor with white space collapsed and control and formatting characters taken out.

    Raises AnchorError where no link could have it: it is empty, or longer than any project may allow.
    """
    anchor = collapse(visible(text))
    if not has_word(anchor):
        raise AnchorError("The anchor is empty. Write the words that the link will stand on.")
    if len(anchor) > MAX_ANCHOR:
        raise AnchorError(f"The anchor has {len(anchor)} characters; no link may have more than {MAX_ANCHOR}.")
    return anchor


@dataclass(frozen=True)
class Ruling:
    """What the editor says beside the verb. `anchor`: the words of an edit, and `span` the characters of the donor's
    text that they were picked from, if any. `rel`: the editor's choice; without one an accepted link takes its tier's
    confirmed rel. `where`: where the link shall go, if not where the run put it. `overrules`: by edge, codes of the
    warnings that the editor accepts the words in spite of."""

    anchor: str | None = None
    span: tuple[int, int] | None = None
    where: Where | None = None
    rel: Rel | None = None
    reason: str = ""
    note: str = ""
    overrules: Mapping[int, Collection[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Shown:
    """What the editor saw: edges of this `status`, which run made each suggestion (`runs`), with which words
    (`anchors`), and the `position` in the list, from 1. An edge that is not named may be of any run and say anything.
    """

    status: EdgeStatus = EdgeStatus.SUGGESTED
    runs: Mapping[int, int] = field(default_factory=dict)
    anchors: Mapping[int, str] = field(default_factory=dict)
    position: int | None = None

    def is_same(self, edge: CandidateEdge) -> bool:
        """Whether the edge still has the status and is of the run that was shown."""
        return edge.status == self.status and self.runs.get(edge.pk, edge.run_id) == edge.run_id

    def reads_same(self, edge: CandidateEdge) -> bool:
        return _same_words(self.anchors.get(edge.pk, edge.anchor), edge.anchor)


def decide_edges(
    project: Project,
    edge_ids: Sequence[int],
    verb: Verb,
    user: User,
    ruling: Ruling = Ruling(),
    shown: Shown = Shown(),
    key: UUID | None = None,
    batch: UUID | None = None,
) -> Outcome:
    """Accepts or rejects edges that are still as `shown`; the others come back as conflicts, unchanged.

    `verb` is ACCEPT, EDIT or REJECT. EDIT takes an anchor and one edge; an anchor that is the edge's already is a plain
    accept. An edited anchor is looked for in the donor's text again: if it is there, a content gap is closed and the
    link becomes inline; if not, the link has no place until somebody changes the copy. More than one edge share a
    batch; decisions of several calls do if they are given one. `key` is kept with the decision on a single edge.

    Where there is something to be said against the words of an accepted link (see review.anchor_warnings), it
    comes back as a doubt, unchanged, unless the ruling overrules it; the decision keeps what was overruled. Open
    suggestions of the same targets get other words where too many would say the same now.

    Raises AnchorError where the anchor cannot be used, UserError where an edge is not the project's or was exported
    when it was shown; nothing is written then.
    """
    if shown.status == EdgeStatus.EXPORTED:
        raise UserError("The link was exported: it can no longer be decided on here.")
    if verb == Verb.EDIT and (ruling.anchor is None or len(edge_ids) != 1):
        raise ValueError("an edit takes one edge and its anchor")
    if key is not None and len(edge_ids) != 1:
        raise ValueError("a key names the decision on one edge")
    with transaction.atomic():
        edges = _locked(project, edge_ids)
        same = [edge for edge in edges if shown.is_same(edge)]
        reworded = {edge.pk for edge in same if verb != Verb.REJECT and not shown.reads_same(edge)}
        if batch is None and len(edge_ids) > 1:
            batch = uuid4()
        deciding = _Deciding(project, verb, user, ruling, shown, batch, key)
        deciding.decide([edge for edge in same if edge.pk not in reworded])
        decisions, doubts = deciding.decisions, deciding.doubts
        changed = [decision.edge for decision in decisions]
        _write_edges(changed)
        _write_decisions(decisions)
        if changed:
            keep_apart(project, [edge.target_id for edge in changed])
        answered = {edge.pk for edge in changed} | {doubt.edge.pk for doubt in doubts}
        left = [edge for edge in edges if edge.pk not in answered]
        conflicts = _conflicts(left, shown.status, reworded, deciding)
    return Outcome(tuple(decisions), conflicts, tuple(doubts))


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
    ) -> None:
        self.project, self.verb, self.user = project, verb, user
        self.ruling, self.shown, self.batch, self.key = ruling, shown, batch, key
        self.decisions: list[Decision] = []
        self.doubts: list[Doubt] = []

    def decide(self, edges: Sequence[CandidateEdge]) -> None:
        """Changes the edges and makes a decision of each, or a doubt."""
        if self.verb == Verb.REJECT:
            self.decisions = [self._rejected(edge) for edge in edges]
        elif edges:
            use = use_of(self.project, [edge.target_id for edge in edges], without=[edge.pk for edge in edges])
            for edge in edges:
                self._accept(edge, use)

    def _rejected(self, edge: CandidateEdge) -> Decision:
        decision = self._decision(edge)
        edge.status, edge.reviewed, edge.rejected_for = EdgeStatus.REJECTED, True, decision.reason
        return with_outcome(decision)

    def _accept(self, edge: CandidateEdge, use: AnchorUse) -> None:
        anchor, wanted = edge.anchor, self.ruling.anchor
        if self.verb == Verb.EDIT and wanted is not None and wanted.strip() != edge.anchor:
            anchor = clean_anchor(wanted)
        warnings = warnings_about(edge, anchor, use, written=anchor != edge.anchor)
        codes = self.ruling.overrules.get(edge.pk, ())
        if any(warning.code not in codes for warning in warnings):
            self.doubts.append(Doubt(edge, anchor, tuple(warnings)))
            return
        decision = self._decision(edge)
        decision.overruled = overruled(warnings)
        _make_accepted(edge, decision, anchor, self.ruling)
        use.add(edge.target_id, [edge.anchor])
        self.decisions.append(with_outcome(decision))

    def _decision(self, edge: CandidateEdge) -> Decision:
        decision = decision_on(edge, self.verb, self.user, note=self.ruling.note, batch=self.batch, key=self.key)
        decision.reason = Reason(self.ruling.reason) if self.ruling.reason else ""
        decision.position = self.shown.position
        return decision

    def is_by(self, decision: Decision | None) -> bool:
        """Whether the decision is the same person's."""
        return decision is not None and decision.user_id == self.user.pk

    def is_done_by(self, decision: Decision | None) -> bool:
        """Whether the decision is the same person's, and the same."""
        if decision is None or not self.is_by(decision):
            return False
        if self.verb == Verb.REJECT:
            return decision.verb == Verb.REJECT and decision.reason == self.ruling.reason
        words = self.ruling.anchor if self.verb == Verb.EDIT else self.shown.anchors.get(decision.edge_id)
        return (
            decision.verb in (Verb.ACCEPT, Verb.EDIT)
            and (words is None or _same_words(words, decision.anchor_after))
            and self.ruling.rel in (None, decision.rel_after)
            and self.ruling.where in (None, decision.moved_to)
        )


def _same_words(one: str, other: str) -> bool:
    return collapse(visible(one)) == collapse(visible(other))


def warnings_about_words(edge: CandidateEdge, anchor: str) -> list[AnchorWarning]:
    """What an accept of the edge with these words would be asked about. Raises AnchorError where no link could have
    them."""
    anchor = edge.anchor if anchor.strip() == edge.anchor else clean_anchor(anchor)
    use = use_of(edge.project, [edge.target_id], without=[edge.pk])
    return warnings_about(edge, anchor, use, written=anchor != edge.anchor)


def warnings_beforehand(project: Project, edges: Sequence[CandidateEdge]) -> dict[int, list[AnchorWarning]]:
    """What is to be said against the words of some open edges, accepted one after the other, by edge; without those
    that nothing is to be said against."""
    use = use_of(project, [edge.target_id for edge in edges], without=[edge.pk for edge in edges])
    found = {}
    for edge in edges:
        if warnings := warnings_about(edge, edge.anchor, use, written=False):
            found[edge.pk] = warnings
        else:
            use.add(edge.target_id, [edge.anchor])
    return found


def undo(
    project: Project, user: User, decision: Decision | None = None, key: UUID | None = None, *, whole: bool = False
) -> Outcome:
    """Takes back a decision, with `whole` all of its batch, or the user's newest that holds, with all of its batch.

    `key` is kept with the undoing decision, of a batch with the first.

    What is a suggestion again has the tier, placement and rel that the tiers of today read from its score.
    `decided` holds the undoing decisions. Where another editor decided in between, the edge is a conflict.
    Raises NothingToUndo where there is none, it was undone already, or a link of it was exported.
    """
    with transaction.atomic():
        # The tiers must stand still until what is open again was read by them. Before the edges, as releases do.
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if decision is None:
            decision = next(newest_of(project, user), None)
            if decision is None:
                raise NothingToUndo("There is no decision of yours left to undo.")
            together = _together(project, decision)
        elif decision.verb in AFTER_RELEASE:
            raise NothingToUndo("The link has been exported. Take this back on the list of exported links.")
        else:
            together = _together(project, decision) if whole else [decision]
        edges = {edge.pk: edge for edge in _locked(project, [item.edge_id for item in together])}
        _refuse_exported(edges.values())
        valid = set(
            decisions_in_force(project).filter(pk__in=[item.pk for item in together]).values_list("pk", flat=True)
        )
        if not valid and len(together) == 1 and Decision.objects.filter(undoes=together[0]).exists():
            raise NothingToUndo("This decision was undone already.")
        undoing = [_undo_one(edges[item.edge_id], item, user) for item in together if item.pk in valid]
        for first in undoing[:1]:
            first.key = key
        back = [decision.edge for decision in undoing]
        _write_edges(back)
        _retier(project, back)
        _write_decisions([with_outcome(decision) for decision in undoing])
        conflicts = _conflicts([edges[item.edge_id] for item in together if item.pk not in valid], None)
    return Outcome(tuple(undoing), conflicts)


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
        holding = decisions_in_force(project).filter(pk__in=some).exclude(verb__in=AFTER_RELEASE)
        yield from holding.select_related("edge__target").order_by("-pk")
        is_last = len(some) < AT_A_TIME
        some = [] if is_last else list(last.filter(pk__lt=some[-1]).values_list("pk", flat=True)[:AT_A_TIME])


def _locked(project: Project, edge_ids: Iterable[int]) -> list[CandidateEdge]:
    wanted = set(edge_ids)
    edges = list(
        CandidateEdge.objects.filter(project=project, pk__in=wanted)
        .select_related("tier", "source", "target")
        .defer("source__body", "target__body")
        .select_for_update(of=("self",))
        .order_by("pk")
    )
    if len(edges) != len(wanted):
        raise UserError("Some of these suggestions are not in this project. Reload the queue and try again.")
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


def _make_accepted(edge: CandidateEdge, decision: Decision, anchor: str, ruling: Ruling) -> None:
    # Without a script a form sends where the link was shown to go: that is no wish to move it.
    moves = ruling.where is not None and ruling.where != where_of(edge)
    edge.status, edge.reviewed = EdgeStatus.ACCEPTED, True
    edge.rel = ruling.rel or (edge.tier.confirmed_rel if edge.tier else edge.rel)
    decision.verb = Verb.ACCEPT
    if anchor != edge.anchor:
        edge.anchor, edge.anchor_source, edge.edited, decision.verb = anchor, EDITOR, True, Verb.EDIT
        edge.span_start, edge.span_end = _place(edge, ruling.span) or (None, None)
        _read_around(edge)
        if edge.content_gap and edge.span_start is not None:
            edge.content_gap, edge.placement = False, Placement.INLINE
    if moves and ruling.where is not None:
        _move(edge, ruling.where, ruling.span)
        decision.moved_to = ruling.where
    elif decision.verb == Verb.ACCEPT and ruling.span is not None and _stand_there(edge, ruling.span):
        decision.moved_to = Where.TEXT


def _stand_there(edge: CandidateEdge, span: tuple[int, int]) -> bool:
    """Puts a link in the text on its own words at another place; False where it has that place, or may not have it."""
    if where_of(edge) != Where.TEXT or span == (edge.span_start, edge.span_end) or _place(edge, span) != span:
        return False
    edge.span_start, edge.span_end = span
    _read_around(edge)
    return True


def where_of(edge: CandidateEdge) -> Where:
    """Where the link goes as the edge is now."""
    if edge.content_gap:
        return Where.GAP
    return Where.TEXT if edge.placement == Placement.INLINE else Where.BESIDE


def _move(edge: CandidateEdge, where: Where, span: tuple[int, int] | None) -> None:
    """Puts the link elsewhere. Raises AnchorError where the text does not hold its words."""
    place = _place(edge, span) if where == Where.TEXT else None
    if where == Where.TEXT and place is None:
        raise AnchorError(
            f"The text does not hold “{edge.anchor}” where a link may stand. Pick words of the text, or put the link "
            "beside it."
        )
    edge.span_start, edge.span_end = place or (None, None)
    edge.placement = Placement.INLINE if where == Where.TEXT else Placement.RELATED
    edge.content_gap = where == Where.GAP
    _read_around(edge)


def _place(edge: CandidateEdge, span: tuple[int, int] | None = None) -> tuple[int, int] | None:
    """Where the edge's anchor may stand in the donor's text, by the rules of a match run, or None.

    The span that an editor picked comes first, then the place it has, then those of its alternatives, where they read
    as the anchor.
    """
    body = edge.source.body
    approved = CandidateEdge.objects.filter(APPROVED, source=edge.source_id, span_start__isnull=False)
    rows = approved.exclude(pk=edge.pk).values_list("span_start", "span_end", "anchor")
    taken = [
        (start, end)
        for start, end, anchor in rows
        if start is not None and end is not None and reads_as(body, start, end, anchor)
    ]
    links = ExistingLink.objects.filter(TEXT_LINK, source=edge.source_id).exclude(anchor="")
    headings = [edge.source.h1, *edge.source.headings]
    page = LinkableText(body, links.values_list("anchor", flat=True), taken, headings)
    known: list[tuple[int | None, int | None]] = [span] if span is not None else []
    known += [(edge.span_start, edge.span_end)]
    known += [(item.get("start"), item.get("end")) for item in edge.anchor_alternatives]
    for start, end in known:
        if start is None or end is None or not reads_as(body, start, end, edge.anchor):
            continue
        if page.suits((start, end)) and not any(start < stop and first < end for first, stop in taken):
            return start, end
    found = page.take([(edge.anchor, "", 1.0)], (edge.anchor, "")).place
    return (found.start, found.end) if found else None


def _read_around(edge: CandidateEdge) -> None:
    """Sentence and heading of the edge's place, if its text still reads so there."""
    edge.sentence, edge.section_heading, edge.body_hash = "", "", None
    start, end = edge.span_start, edge.span_end
    if start is None or end is None:
        return
    body = edge.source.body
    if reads_as(body, start, end, edge.anchor):
        edge.sentence, edge.section_heading = sentence_and_heading(body, start, end)
        edge.body_hash = edge.source.body_hash


def _undo_one(edge: CandidateEdge, decision: Decision, user: User) -> Decision:
    undoing = decision_on(edge, Verb.UNDO, user, undoes=decision, batch=decision.batch)
    edge.status = decision.status_before
    edge.reviewed = holds(DECIDED, edge)
    # Where neither words nor place were changed, a run may have placed it again since, and knows better.
    if edge.anchor != decision.anchor_before or decision.moved_to:
        edge.anchor = decision.anchor_before
        edge.anchor_source = decision.source_before or edge.anchor_source  # none is known of older decisions
        edge.span_start, edge.span_end = decision.seen_span_start, decision.seen_span_end
        _read_around(edge)
        edge.placement, edge.content_gap = Placement(decision.seen_placement), decision.seen_content_gap
    edge.rel = decision.rel_before
    edge.edited = decision.edited_before
    return undoing


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


def _write_edges(edges: Sequence[CandidateEdge]) -> None:
    now = timezone.now()
    for edge in edges:
        edge.updated_at = now
    CandidateEdge.objects.bulk_update(edges, _CHANGED, batch_size=500)


def _write_decisions(decisions: Sequence[Decision]) -> None:
    Decision.objects.bulk_create(decisions, batch_size=500)


def _conflicts(
    edges: Sequence[CandidateEdge],
    expected: EdgeStatus | None,
    reworded: Collection[int] = (),
    deciding: _Deciding | None = None,
) -> tuple[Conflict, ...]:
    """Each edge with its newest decision; none is named where the status is as expected and a run came between."""
    last = {
        decision.edge_id: decision
        for decision in Decision.objects.filter(edge__in=edges).select_related("user").order_by("pk")
    }
    conflicts = []
    for edge in edges:
        by = None if edge.status == expected else last.get(edge.pk)
        is_own, is_saved = (deciding.is_by(by), deciding.is_done_by(by)) if deciding is not None else (False, False)
        conflicts.append(Conflict(edge, by, edge.pk in reworded, is_own, is_saved))
    return tuple(conflicts)


def _together(project: Project, decision: Decision) -> list[Decision]:
    """The decision with those of its batch that are not undone yet."""
    if decision.batch is None:
        return [decision]
    batch = Decision.objects.filter(project=project, batch=decision.batch, undone_by__isnull=True)
    return list(batch.exclude(verb=Verb.UNDO).order_by("pk"))


def _refuse_exported(edges: Iterable[CandidateEdge]) -> None:
    exported = [edge for edge in edges if edge.status == EdgeStatus.EXPORTED]
    if exported:
        raise NothingToUndo(
            f"{len(exported)} of these links have been exported already, so the decision cannot be undone here."
            if len(exported) > 1
            else "The link has been exported already, so the decision cannot be undone here."
        )
