"""What editors say of cards whose answer is known. It is kept by itself and changes no suggestion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from review import decisions
from review.anchor_warnings import stopping
from review.models import KnownReading, Verb
from review.overlap import change_share
from review.rulings import Doubt

if TYPE_CHECKING:
    from uuid import UUID

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from linker.models import CandidateEdge, Project
    from review.rulings import Ruling

MOST = 20  # cards for each hundred suggestions


def set_share(project: Project, user: User, cards: int) -> None:
    """From now on, so many cards whose answer is known come among a hundred suggestions; 0 ends it."""
    change_share(project, user, "known_share", cards, "Cards whose answer is known", "cards")


def take(
    project: Project, user: User, edge: CandidateEdge, verb: Verb, ruling: Ruling, key: UUID | None = None
) -> Doubt | None:
    """Keeps an accept, an edit or a rejection; what is sent a second time, once. Where there is something to be said
    against the words that the ruling does not overrule, nothing is kept, and the doubt comes back, as for a suggestion.

    Raises AnchorError where the words cannot be used.
    """
    words = ruling.anchor if verb == Verb.EDIT and ruling.anchor is not None else edge.anchor
    if verb != Verb.REJECT:
        where = decisions.where_with(edge, ruling, user)
        warnings = stopping(decisions.warnings_about_words(edge, words, where))
        if any(warning.code not in ruling.overrules.get(edge.pk, ()) for warning in warnings):
            return Doubt(edge, words, warnings)
    note(project, user, edge, verb, key, reason=ruling.reason, note=ruling.note, anchor=words)
    return None


def note(project: Project, user: User, edge: CandidateEdge, verb: str, key: UUID | None = None, **said: str) -> None:
    """Keeps what the user said of a card, or did with it, with `reason`, `note` and `anchor`; what has the same key,
    once."""
    said = {"anchor": edge.anchor} | said
    reading = KnownReading(project=project, answer_id=edge.pk, reader=user, verb=verb, key=key, **said)
    KnownReading.objects.bulk_create([reading], ignore_conflicts=True)


def take_back(project: Project, user: User, of: UUID, key: UUID | None = None) -> int | None:
    """Takes back what the user said with the key `of`, and returns of which card; None where that is nothing of the
    kind."""
    return _take_back(user, KnownReading.objects.filter(project=project, reader=user, key=of), key)


def take_back_on(project: Project, user: User, pk: int, verb: str, key: UUID | None = None) -> int | None:
    """Takes back the user's newest of this verb on a card; None where there is none."""
    said = KnownReading.objects.filter(project=project, reader=user, answer=pk, verb=verb, undone_by=None)
    return _take_back(user, said, key)


def _take_back(user: User, said: QuerySet[KnownReading], key: UUID | None) -> int | None:
    with transaction.atomic():
        readings = said.exclude(verb=Verb.UNDO).select_for_update(of=("self",))
        reading = readings.order_by("-pk").first()
        if reading is None:
            return None
        if not KnownReading.objects.filter(undoes=reading).exists():
            same = {name: getattr(reading, name) for name in ("project_id", "answer_id", "anchor")}
            undo = KnownReading(**same, reader=user, verb=Verb.UNDO, undoes=reading, key=key)
            KnownReading.objects.bulk_create([undo], ignore_conflicts=True)
        card: int = reading.answer_id
        return card
