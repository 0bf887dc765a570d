"""Suggestions that a second editor reads without seeing the first decision (review.overlap).

They come among the open suggestions of the list that would have held them, and look as they looked then. What is said
of them is kept by itself, and changes no suggestion.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Exists, OuterRef

from linker.models import CandidateEdge, EdgeStatus
from review.models import Decision, DueReading, SecondReading, SetAside, Verb
from review.overlap import LOOKED_AT, due_to, read_by
from review.queue import selectors
from review.queue.cards import JOINED, LONG, Card, cards_for
from review.queue.cursor import Cursor
from review.queue.selectors import Line, Lines
from review.undoing import take_out

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from django.contrib.auth.models import User

    from linker.models import Project
    from review.queue.filters import QueueFilter
    from review.rulings import Ruling, Shown


def mixed_in(project: Project, chosen: QueueFilter, user: User, found: Lines, most: int) -> Lines:
    """The lines of a list of open suggestions, and among them some that the user is to read as the second: no more than
    the share of the project while the list goes on, and as many as there are, up to `most` lines, at its end. What the
    user has set aside is in the list of just that."""
    if (
        not project.read_twice
        or chosen.status != EdgeStatus.SUGGESTED
        or chosen.asked
        or chosen.waiting
        or chosen.regressed
    ):
        return found
    number = ceil(len(found.lines) * project.read_twice / 100) if found.next else most - len(found.lines)
    aside = Exists(SetAside.objects.filter(project=project, user=user, edge=OuterRef("edge")))
    wanted = due_to(project, user).filter(aside if chosen.later else ~aside)
    newest = list(wanted.order_by("-pk").values_list("edge", flat=True)[:LOOKED_AT])
    if not newest:
        return found
    listed = list(chosen.scope(project).filter(pk__in=newest).order_by("pk").values_list("pk", flat=True)[:number])
    return Lines(_spread(found.lines, _as_they_were(project, user, listed), chosen), found.next)


def due_line(project: Project, chosen: QueueFilter, user: User, edge_id: int) -> Line | None:
    """The suggestion as it was, if the user is to read it as the second; else None."""
    found = _as_they_were(project, user, [edge_id])
    return _line(found[0], Cursor.of(found[0].edge, chosen.order, 0)) if found else None


def is_due(project: Project, user: User, edge_id: int) -> bool:
    """Whether the user is to read a suggestion as the second."""
    return due_to(project, user).filter(edge=edge_id).exists()


def cards_of(project: Project, user: User, edge_ids: Sequence[int]) -> list[Card]:
    """The cards of some edges, read again; of what the user is to read as the second, the card as it was."""
    were = _as_they_were(project, user, edge_ids)
    blind = {one.edge_id: one.decision.at for one in were}
    cards = selectors.cards_of(project, [pk for pk in edge_ids if pk not in blind])
    return cards + cards_for([one.edge for one in were], [None] * len(were), blind)


def as_they_were(project: Project, user: User, edge_ids: Sequence[int]) -> dict[int, CandidateEdge]:
    """Of some edges, those that the user is to read as the second, as they were before the decision."""
    return {one.edge_id: one.edge for one in _as_they_were(project, user, edge_ids)}


def _as_they_were(project: Project, user: User, edge_ids: Sequence[int]) -> list[DueReading]:
    """What the user is to read as the second of some edges; each edge, unsaved, as it was before the decision."""
    due = (
        due_to(project, user)
        .filter(edge__in=edge_ids)
        .select_related("decision", *(f"edge__{name}" for name in JOINED))
    )
    found = list(due.defer(*(f"edge__{name}" for name in LONG)).order_by("edge"))
    for one in found:
        one.edge.project = project
        take_out(one.edge, one.decision)
    return found


def _line(due: DueReading, cursor: Cursor) -> Line:
    return Line(due.edge, cursor, until=due.decision.at)


def _spread(lines: Sequence[Line], due: Sequence[DueReading], chosen: QueueFilter) -> tuple[Line, ...]:
    """The lines with what is to be read at even distances among them. Each goes on where the line before it does."""
    mixed: list[Line] = []
    start = 0
    for number, one in enumerate(due, start=1):
        end = len(lines) * number // (len(due) + 1)
        mixed += lines[start:end]
        mixed.append(_line(one, mixed[-1].cursor if mixed else Cursor.of(one.edge, chosen.order, 0)))
        start = end
    return (*mixed, *lines[start:])


# ------------------------------------------------------------------------------------------------ what is said of them


def take(
    project: Project, user: User, edge_id: int, verb: Verb, ruling: Ruling, shown: Shown, key: UUID | None = None
) -> bool:
    """Keeps what the user says of a suggestion that looked open; False where it is none that the user is to read.

    What is sent a second time, or said in a second window, is kept once. A suggestion that another has read in the
    meantime is kept as well: whoever reads it has not seen what others said.
    """
    if shown.status != EdgeStatus.SUGGESTED or not project.read_twice:
        return False
    with transaction.atomic():
        _lock(edge_id)
        is_sent_again = key is not None and SecondReading.objects.filter(project=project, reader=user, key=key).exists()
        if is_sent_again or read_by(user).filter(edge=edge_id).exists():
            return True
        due = DueReading.objects.filter(project=project, edge=edge_id).first()
        first = due.decision if due is not None else _read_already(project, edge_id)
        if first is None or Decision.objects.filter(edge=edge_id, user=user).exists():
            return False
        words = ruling.anchor if verb == Verb.EDIT and ruling.anchor is not None else shown.anchors.get(edge_id, "")
        said = {"verb": verb, "reason": ruling.reason, "note": ruling.note, "anchor": words, "key": key}
        SecondReading.objects.create(
            project=project, edge_id=edge_id, first=first, first_reader_id=first.user_id, reader=user, **said
        )
        if due is not None:
            due.delete()
    return True


def _lock(edge_id: int) -> None:
    """As a decision locks it: what is read is not taken back, and not read in another window, at the same time."""
    CandidateEdge.objects.select_for_update(no_key=True).only("pk").get(pk=edge_id)


def _read_already(project: Project, edge_id: int) -> Decision | None:
    """The decision that somebody else has read against; None where there is none, or it has been taken back."""
    read = SecondReading.objects.filter(project=project, edge=edge_id, undone_by=None, first__undone_by=None)
    found = read.exclude(verb=Verb.UNDO).select_related("first").last()
    return found.first if found is not None else None


def take_back(project: Project, user: User, of: UUID, key: UUID | None = None) -> int | None:
    """Takes back what the user said with the key `of`, and returns of which suggestion; None where that is no second
    reading. The suggestion is to be read again, by this user or another."""
    with transaction.atomic():
        said = SecondReading.objects.filter(project=project, reader=user, key=of).exclude(verb=Verb.UNDO)
        reading = said.select_related("first").first()
        if reading is None:
            return None
        _lock(reading.edge_id)
        if not SecondReading.objects.filter(undoes=reading).exists():
            _undo(reading, key)
        edge_id: int = reading.edge_id
        return edge_id


def _undo(reading: SecondReading, key: UUID | None) -> None:
    same = ("project", "edge", "first", "first_reader", "reader", "anchor")
    SecondReading.objects.create(
        **{name: getattr(reading, name) for name in same}, verb=Verb.UNDO, undoes=reading, key=key
    )
    if not Decision.objects.filter(undoes=reading.first_id).exists():
        again = {"project": reading.project, "decision": reading.first, "reader": reading.first_reader}
        DueReading.objects.get_or_create(edge=reading.edge, defaults=again)
