"""Cards whose answer is known: links that the site's own editors made, shown among the suggestions as if they were not
there (linker.matching.known_answers).

Behind which suggestions one comes follows from their ids. It looks as a suggestion does, has a number of the same kind,
and is where a suggestion would be that its reader has decided on or set aside; what it is, only the tables know. It is
in no sheet or export, and no bulk decision meets it.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING
from zlib import crc32

from linker.models import EdgeStatus, KnownAnswer
from linker.models.querysets import APPROVED, UNDECIDED, holds
from linker.pages.posed_links import posed
from review.queue import selectors
from review.queue.cards import cards_for
from review.queue.cursor import Cursor
from review.queue.filters import ALL, QueueFilter
from review.queue.known_edges import as_edges, comments_of, edges_at, known_of
from review.queue.selectors import COLUMN_OF, Line, Lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.contrib.auth.models import User

    from linker.models import CandidateEdge, Project
    from review.queue.cards import Card
    from review.queue.selectors import Head


def is_behind(project: Project, edge_id: int) -> bool:
    """Whether such a card comes behind a suggestion."""
    return crc32(f"known {edge_id}".encode()) % 100 < project.known_share


def mixed_in(
    project: Project, chosen: QueueFilter, user: User, found: Lines, after: Cursor | None = None, *, at_end: bool = True
) -> Lines:
    """The lines of a list that follow `after`, and among them the cards whose answer is known.

    Of open suggestions, those that the user has said nothing of: the share of the project. Each comes where the group
    of its suggestion ends, or where the lines do, `at_end`, and what is left of them at the end of the list. In a list
    of what the user has decided on or set aside, each is in its place.
    """
    if not project.known_share or chosen.asked or chosen.waiting or chosen.regressed or chosen.second:
        return found
    if chosen.later or chosen.status != EdgeStatus.SUGGESTED:
        return _in_place(project, chosen, user, found, after)
    behind = [line.edge for line in found.lines if is_behind(project, line.edge.pk)]
    is_end = at_end and not found.next
    if not behind and not is_end:
        return found
    scores = dict(known_of(project, chosen, user).filter(said=None).values_list("pk", "score"))
    nearest = _nearest(behind, scores)
    edges = _edges(project, user, [*nearest.values(), *(scores if is_end else ())])
    shown = {edge: edges[known] for edge, known in nearest.items()}
    lines = list(_spread(found.lines, shown, chosen, at_end=at_end))
    if is_end:
        last = lines[-1].cursor if lines else None
        rest = [edges[pk] for pk in sorted(scores, key=lambda pk: (-scores[pk], pk))]
        lines += [Line(edge, last or Cursor.of(edge, chosen.order, 0)) for edge in rest]
    return Lines(tuple(lines), found.next)


def _edges(project: Project, user: User, numbers: Iterable[int]) -> dict[int, CandidateEdge]:
    return {edge.pk: edge for edge in edges_at(project, list(numbers), user)}


def _nearest(behind: Sequence[CandidateEdge], scores: dict[int, float]) -> dict[int, int]:
    """By the suggestion, the card that comes behind it: the one that scores most like it, since what stands out of an
    order would be noticed. It is taken out of `scores`."""
    found = {}
    for edge in behind:
        if scores:
            found[edge.pk] = min(scores, key=lambda known: (abs(scores[known] - edge.score), known))
            del scores[found[edge.pk]]
    return found


def _spread(
    lines: Sequence[Line], edges: dict[int, CandidateEdge], chosen: QueueFilter, *, at_end: bool
) -> Iterable[Line]:
    waiting: list[CandidateEdge] = []
    before: Line | None = None
    for line in lines:
        if before is not None and chosen.group_of(line.edge) != chosen.group_of(before.edge):
            yield from (Line(edge, before.cursor) for edge in waiting)
            waiting = []
        yield line
        before = line
        waiting += [edges[line.edge.pk]] if line.edge.pk in edges else []
    if before is not None and at_end:
        yield from (Line(edge, before.cursor) for edge in waiting)


def _in_place(project: Project, chosen: QueueFilter, user: User, found: Lines, after: Cursor | None) -> Lines:
    """Among the lines of a list of decided links, or of what was set aside, the user's own where the order has them."""
    verbs = {"aside"} if chosen.later else {
        EdgeStatus.ACCEPTED: {"accept", "edit"}, EdgeStatus.REJECTED: {"reject"}, ALL: {"accept", "edit", "reject"},
    }.get(chosen.status, set())  # fmt: skip
    known = known_of(project, chosen, user).filter(said__in=verbs)
    edges = as_edges(project, KnownAnswer.objects.filter(pk__in=list(known.values_list("pk", flat=True))), user)
    lines = [Line(edge, Cursor.of(edge, chosen.order, 0), edge.said) for edge in edges]
    if after is not None:
        lines = [line for line in lines if _turn(line.cursor, chosen) > _turn(after, chosen)]
    if found.next:
        lines = [line for line in lines if _turn(line.cursor, chosen) < _turn(found.lines[-1].cursor, chosen)]
    return Lines(tuple(sorted([*found.lines, *lines], key=lambda line: _turn(line.cursor, chosen))), found.next)


def _turn(cursor: Cursor, chosen: QueueFilter) -> tuple[float, ...]:
    signs = [-1 if name.startswith("-") else 1 for name in chosen.order.fields]
    return (not cursor.in_pilot, *(sign * value for sign, value in zip(signs, cursor.values, strict=True)))


def edge_at(project: Project, pk: int, user: User) -> CandidateEdge | None:
    """The card with this number as an edge, unsaved, as the user has it; None where there is none."""
    return _edges(project, user, [pk]).get(pk)


def line_at(project: Project, chosen: QueueFilter, pk: int, user: User) -> Line | None:
    """The edge or the card with this number as a line of the list, whether or not the filter lists it."""
    line = selectors.line_at(project, chosen, pk)
    if line is not None or (edge := edge_at(project, pk, user)) is None:
        return line
    if edge.said is None and not posed(project).filter(pk=pk).exists():
        return None
    return Line(edge, Cursor.of(edge, chosen.order, 0), edge.said)


def cards_of_lines(user: User, shown: Sequence[Line]) -> list[Card]:
    """The cards of some lines, with their places in the list."""
    return _with_what_was_said(user, selectors.cards_of_lines(shown))


def cards_of(project: Project, numbers: Sequence[int], user: User) -> list[Card]:
    """The cards with these numbers, read again; other numbers are those of suggestions."""
    known = list(_edges(project, user, numbers).values())
    return _with_what_was_said(user, cards_for(known, [None] * len(known)))


def _with_what_was_said(user: User, cards: Sequence[Card]) -> list[Card]:
    known = [card.edge for card in cards if card.edge.is_known]
    comments = comments_of(known[0].project, user, known) if known else {}
    return [
        dataclasses.replace(card, decision=card.edge.said, comments=comments.get(card.edge.pk, ()))
        if card.edge.is_known
        else card
        for card in cards
    ]


def heads_of(project: Project, chosen: QueueFilter, edges: Sequence[CandidateEdge], user: User) -> dict[int, Head]:
    """By edge, the head of its group, in whose numbers the cards are that come on it."""
    heads = selectors.heads_of(project, chosen, edges)
    if not project.known_share:
        return heads
    groups = {COLUMN_OF[chosen.side]: {head.id for head in heads.values()}}
    known = known_of(project, QueueFilter(), user).filter(**{f"{name}__in": ids for name, ids in groups.items()})
    of_group: dict[int, list[CandidateEdge]] = {}
    for edge in as_edges(project, known, user) if heads else ():
        of_group.setdefault(chosen.group_of(edge), []).append(edge)
    return {pk: _with(head, of_group.get(head.id, [])) for pk, head in heads.items()}


def _with(head: Head, known: Sequence[CandidateEdge]) -> Head:
    accepted, open_ones = (sum(holds(rule, edge) for edge in known) for rule in (APPROVED, UNDECIDED))
    quota = dataclasses.replace(
        head.quota,
        accepted=head.quota.accepted + accepted,
        total=head.quota.total + accepted + open_ones,
        open=head.quota.open + open_ones,
    )
    return dataclasses.replace(head, quota=quota)
