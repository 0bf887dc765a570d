"""Cards whose answer is known as one person has them: as edges, with the status that this person gave each.

To the person they are suggestions like others: counted with what is left, with what was decided and with what was set
aside. Nobody else's answers, and no other table, know of it.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING
from zlib import crc32

from django.db.models import OuterRef, Q, Subquery

from linker.models import CandidateEdge, EdgeStatus, KnownAnswer, Placement, SuppressedKind
from linker.models.edge_counts import kept_counts, total
from linker.models.placements import Stands
from linker.models.querysets import TO_REVIEW
from linker.models.search_words import Holds
from linker.pages.posed_links import posed
from linker.pages.sensitive_marks import why_sensitive
from review.models import RULES_OUT, Comment, Decision, KnownReading, Verb
from review.overlap import decides
from review.queue.filters import GAP, OfPilot, QueueFilter, Sensitive

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from linker.models import Project

# What ends a card for a person, and the status that the suggestion would have after it.
STATUS_AFTER = {
    "accept": EdgeStatus.ACCEPTED,
    "edit": EdgeStatus.ACCEPTED,
    "reject": EdgeStatus.REJECTED,
    "aside": EdgeStatus.SUGGESTED,
    "ask": EdgeStatus.SUGGESTED,
}
_JOINED = ("source__category", "target__category", "tier", "run__model")
_LONG = ("source__body", "source__headings", "target__body", "target__headings")


def known_of(project: Project, chosen: QueueFilter, user: User) -> QuerySet:
    """The cards under every field of the filter but its status that an editor has said something of, or may be shown,
    each with the verb in `said`, None where nothing was said. None of a viewer."""
    read = KnownReading.objects.filter(project=project, reader=user, verb__in=STATUS_AFTER, undone_by=None)
    last = read.filter(answer=OuterRef("pk")).order_by("-pk").values("verb")[:1]
    known = KnownAnswer.objects.filter(project=project).annotate(said=Subquery(last))
    of_others = chosen.placement in (GAP, Stands.LINE, Stands.SENTENCE)
    asks_for_others = of_others or chosen.sensitive == Sensitive.ONLY or chosen.pilot == OfPilot.ONLY
    if not project.known_share or asks_for_others or chosen.regressed or chosen.second or chosen.since:
        return known.none()
    is_there = Q(pk__in=_in_play(project)) | Q(pk__in=read.values("answer"))
    known = known.filter(decides(project, user), is_there, _of_columns(project, chosen))
    known = known.exclude(said=None, source__in=closed_donors(project, user))
    if chosen.text:
        sides = ("source__url", "source__title"), ("target__url", "target__title"), ("anchor",)
        donor, acceptor, anchor = (Q(Holds(*columns, text=chosen.text)) for columns in sides)
        known = known.filter(donor | acceptor | anchor)
    return known


def _of_columns(project: Project, chosen: QueueFilter) -> Q:
    if chosen.placement == Stands.LIST:  # no paragraphs are looked for: what is not in the text is in the list
        chosen = replace(chosen, placement=Placement.RELATED.value)
    return chosen.of_columns(project)


def _in_play(project: Project) -> list[int]:
    """Those of the sample that come up while the list is as long as it is now: the share of it, by chance. Rounded to
    the next power of two, so that they are the same ones after nearly every decision. None that a rule has made
    sensitive since."""
    pairs = list(posed(project).values_list("pk", "source", "target"))
    sensitive = why_sensitive(project, sorted({page for _, *pages in pairs for page in pages})) if pairs else {}
    ids = [pk for pk, source, target in pairs if source not in sensitive and target not in sensitive]
    left = kept_counts(project).filter(TO_REVIEW).aggregate(left=total())["left"] if ids else 0
    most = ceil(project.known_share * 2 ** max(left - 1, 0).bit_length() / 100)
    return sorted(ids, key=lambda pk: crc32(f"in play {pk}".encode()))[:most]


def closed_donors(project: Project, user: User) -> QuerySet:
    """The donors that take no more links, as the user has said on such a card. To the user their suggestions are gone,
    as they would be if the card were a suggestion; to others nothing has changed."""
    reasons = [reason for reason, kind in RULES_OUT.items() if kind == SuppressedKind.PAGE]
    said = KnownReading.objects.filter(project=project, reader=user, verb=Verb.REJECT, undone_by=None)
    return said.filter(reason__in=reasons).values_list("answer__source", flat=True)


def as_edges(project: Project, answers: QuerySet[KnownAnswer], user: User) -> list[CandidateEdge]:
    """The answers as edges, unsaved, with what the user said of each, if that is a decision, as a decision."""
    found = list(answers.select_related(*_JOINED).defer(*_LONG))
    last = said_of(project, user, [answer.pk for answer in found])
    return [_as_edge(project, user, answer, last.get(answer.pk)) for answer in found]


def edges_at(project: Project, numbers: Collection[int], user: User) -> list[CandidateEdge]:
    """The cards with these numbers as edges; other numbers are those of suggestions."""
    return as_edges(project, KnownAnswer.objects.filter(project=project, pk__in=numbers), user) if numbers else []


def said_of(project: Project, user: User, answers: Collection[int]) -> dict[int, KnownReading]:
    """By card, what the user said of it last and has not taken back."""
    read = KnownReading.objects.filter(project=project, reader=user, verb__in=STATUS_AFTER, undone_by=None)
    return {reading.answer_id: reading for reading in read.filter(answer__in=answers).order_by("pk")}


def _as_edge(project: Project, user: User, answer: KnownAnswer, reading: KnownReading | None) -> CandidateEdge:
    columns = {column.attname: getattr(answer, column.attname) for column in KnownAnswer._meta.concrete_fields}
    edge = CandidateEdge(**columns | {"stale": False, "donor_best": answer.score, "donor_worth": answer.worth})
    edge.section = answer.source.category_id or 0
    edge.project, edge.source, edge.target, edge.tier, edge.run = (
        project, answer.source, answer.target, answer.tier, answer.run,
    )  # fmt: skip
    edge.is_known = True
    if reading is not None and STATUS_AFTER[reading.verb] != EdgeStatus.SUGGESTED:
        edge.said = _as_decision(edge, reading, user)
        edge.status, edge.reviewed = edge.said.status_after, True
        edge.anchor, edge.edited = reading.anchor, reading.verb == Verb.EDIT
        edge.rel = edge.tier.confirmed_rel if edge.tier is not None else edge.rel
    return edge


def _as_decision(edge: CandidateEdge, reading: KnownReading, user: User) -> Decision:
    """What was said, as the decision that it would have been: it has no number, and is taken back by its key."""
    return Decision(
        edge=edge, project=edge.project, user=user, at=reading.at, verb=reading.verb, reason=reading.reason,
        note=reading.note, key=reading.key, anchor_before=edge.anchor, anchor_after=reading.anchor,
        status_before=EdgeStatus.SUGGESTED, status_after=STATUS_AFTER[reading.verb],
    )  # fmt: skip


def comments_of(project: Project, user: User, edges: Sequence[CandidateEdge]) -> dict[int, tuple[Comment, ...]]:
    """By card, the comments that the user wrote on it."""
    said = KnownReading.objects.filter(project=project, reader=user, verb="comment", answer__in=[e.pk for e in edges])
    found: dict[int, tuple[Comment, ...]] = {}
    for one in said.order_by("pk"):
        comment = Comment(project=project, author=user, at=one.at, text=one.note)
        found[one.answer_id] = (*found.get(one.answer_id, ()), comment)
    return found
