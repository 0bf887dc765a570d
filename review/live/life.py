"""The life of a link: what people decided, what releases did, and what the site showed, in one order."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import merge
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from linker.models import EdgeMove, Page
from review.live import sayings
from review.models import Decision, LinkEvent, LiveState, Operation, ReleaseLink, Verb
from review.queue.notes import note_of
from review.queue.sentences import in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from django.contrib.auth.models import User

    from linker.models import CandidateEdge, Run
    from review.models import Release

MOST = 200  # of either kind: a link that had more to live through is told from its beginning

_RELEASED = {
    Operation.ADD: gettext_lazy("Released"),
    Operation.CHANGE: gettext_lazy("Change released"),
    Operation.REMOVE: gettext_lazy("Removal released"),
}


@dataclass(frozen=True)
class Moment:
    """Something that happened to a link: `what`, by a person, a release or a run, with a note.

    `anchor` and `rel` are those that were decided, released or seen; empty where the moment says nothing of them.
    """

    at: datetime
    what: str
    user: User | None = None
    release: Release | None = None
    run: Run | None = None
    note: str = ""
    anchor: str = ""
    rel: str = ""


def life_of(edge: CandidateEdge) -> list[Moment]:
    """The moments of a link, the first first. Four queries, one more where its pages moved, however long it is."""
    return list(merge(_decisions(edge), _events(edge), _moves(edge), key=lambda moment: moment.at))


def _moves(edge: CandidateEdge) -> Iterator[Moment]:
    """What became of its pages, and of the link with them."""
    moves = list(
        EdgeMove.objects.filter(edge=edge).select_related("event__run", "event__user").order_by("at", "pk")[:MOST]
    )
    pages = {page for move in moves for page in (move.source_after, move.target_after)}
    urls = dict(Page.objects.filter(pk__in=pages).values_list("pk", "url")) if pages else {}
    for move in moves:
        event, now = move.event, f"{urls.get(move.source_after, '')} → {urls.get(move.target_after, '')}"
        is_elsewhere = (move.source_before, move.target_before) != (move.source_after, move.target_after)
        yield Moment(
            move.at,
            move.get_reason_display(),
            event.user if event else None,
            run=event.run if event else None,
            note=now if is_elsewhere else "",
        )


def _decisions(edge: CandidateEdge) -> Iterator[Moment]:
    made = Decision.objects.filter(edge=edge).select_related("user", "undoes").order_by("at", "pk")[:MOST]
    for decision in made:
        says_words = decision.verb not in (Verb.REJECT, Verb.WITHDRAW, Verb.UNDO)
        yield Moment(
            decision.at,
            _what(decision),
            decision.user,
            note=" · ".join(filter(None, (decision.get_reason_display(), note_of(decision)))),
            anchor=decision.anchor_after if says_words else "",
            rel=decision.rel_after if says_words else "",
        )


def _what(decision: Decision) -> str:
    if decision.undoes is None:
        return decision.get_verb_display()
    return _("Undone: %(decision)s") % {"decision": decision.undoes.get_verb_display()}


def _events(edge: CandidateEdge) -> Iterator[Moment]:
    sent = {link.release_id: link for link in ReleaseLink.objects.filter(edge=edge).order_by("pk")[:MOST]}
    events = LinkEvent.objects.filter(edge=edge).select_related("release", "run", "user").order_by("at", "pk")[:MOST]
    for event in events:
        yield _released(event, sent) if event.release is not None else _seen(event)


def _released(event: LinkEvent, sent: Mapping[int, ReleaseLink]) -> Moment:
    link = sent.get(event.release_id or 0)
    if link is None:
        return Moment(event.at, event.get_after_display(), release=event.release)
    is_again = link.operation == Operation.ADD and event.before not in ("", LiveState.REMOVED, LiveState.STILL_THERE)
    what = _("Released again") if is_again else str(_RELEASED[Operation(link.operation)])
    is_out = link.operation != Operation.REMOVE
    return Moment(
        event.at, what, release=event.release, anchor=link.anchor if is_out else "", rel=link.rel if is_out else ""
    )


def _seen(event: LinkEvent) -> Moment:
    """What a look found, or what somebody did about it."""
    if event.user is not None:
        return Moment(event.at, in_words(event.note, sayings.SENTENCES), event.user)
    return Moment(event.at, event.get_after_display(), run=event.run, note=event.note, anchor=event.seen_anchor)
