"""Carrying out what a spreadsheet that came back decides.

Each row is compared with what the file said of the suggestion: one that has changed in the meantime is refused, and the
others are not. Rows that say the same are decided together, which takes a tenth of the time.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from linker.models import CandidateEdge, Reach
from linker.wording import number
from review.decisions import decide_edges
from review.models import Verb
from review.queue.bulk import AT_ONCE
from review.queue.sheet_in import Refused
from review.rulings import AnchorError, Ruling, Shown, clean_anchor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from django.contrib.auth.models import User

    from linker.models import Project
    from review.queue.sheet_in import Wish

NOT_HERE = gettext_lazy("This suggestion is not in this project.")
MAX_SHOWN = 80  # characters of a cell, in a sentence


@dataclass(frozen=True)
class Outcome:
    """`accepted` and `rejected` count decisions; `refused` says of each other row why nothing was done."""

    accepted: int
    rejected: int
    refused: tuple[Refused, ...]


def foreseen(project: Project, wishes: Sequence[Wish]) -> dict[int, str]:
    """By row, why it will be refused, of those of which that is known before anything is decided."""
    asked = CandidateEdge.objects.filter(project=project, pk__in=[wish.edge for wish in wishes])
    known = asked.only("status", "run", "anchor").in_bulk()
    first = {wish.edge: wish.row for wish in reversed(wishes)}
    return {wish.row: text for wish in wishes if (text := _problem(wish, known.get(wish.edge), first[wish.edge]))}


def _problem(wish: Wish, edge: CandidateEdge | None, first: int) -> str:
    if edge is None:
        return str(NOT_HERE)
    if first != wish.row:
        return _("Row %(row)s decides on the same suggestion.") % {"row": number(first)}
    if wish.verb == Verb.EDIT:
        try:
            clean_anchor(wish.anchor)
        except AnchorError as error:
            return str(error)
    shown = Shown(runs={wish.edge: wish.run}, anchors={wish.edge: wish.shown} if wish.shown else {})
    if wish.verb != Verb.REJECT and shown.is_same(edge) and not shown.reads_same(edge):
        return _(
            "The column “anchor” says “%(shown)s”, and the suggestion says “%(anchor)s”: somebody has changed the "
            "column, or the suggestion has other words by now. Words of your own go into “new_anchor”."
        ) % {"shown": wish.shown[:MAX_SHOWN], "anchor": edge.anchor}
    return ""


def apply(project: Project, user: User, wishes: Sequence[Wish]) -> Outcome:
    """Decides on each row; all decisions share a batch, which one undo takes back."""
    batch = uuid4()
    refused = foreseen(project, wishes)
    for alike in _alike([wish for wish in wishes if wish.row not in refused]):
        refused |= _apply(project, user, alike, batch)
    done = Counter(wish.verb for wish in wishes if wish.row not in refused)
    ordered = tuple(Refused(row, text) for row, text in sorted(refused.items()))
    return Outcome(done[Verb.ACCEPT] + done[Verb.EDIT], done[Verb.REJECT], ordered)


def _alike(wishes: Sequence[Wish]) -> Iterator[list[Wish]]:
    """Rows that say the same of their suggestions, some at a time; one that writes an anchor is by itself."""
    by_ruling: dict[object, list[Wish]] = {}
    for wish in wishes:
        own = wish.row if wish.verb == Verb.EDIT else None
        by_ruling.setdefault((wish.verb, wish.reason, wish.reach, wish.note, own), []).append(wish)
    for same in by_ruling.values():
        for start in range(0, len(same), AT_ONCE):
            yield same[start : start + AT_ONCE]


def _apply(project: Project, user: User, alike: Sequence[Wish], batch: UUID) -> dict[int, str]:
    """Decides on suggestions of which rows say the same; by row, why nothing was done."""
    [wish, *_others] = alike
    ruling = Ruling(anchor=wish.anchor or None, reason=wish.reason, reach=Reach(wish.reach), note=wish.note)
    shown = Shown(
        runs={wish.edge: wish.run for wish in alike}, anchors={wish.edge: wish.shown for wish in alike if wish.shown}
    )
    rows = {wish.edge: wish.row for wish in alike}
    try:
        outcome = decide_edges(project, list(rows), wish.verb, user, ruling, shown, batch=batch)
    except AnchorError as error:
        return {wish.row: str(error)}
    doubted = {rows[one.edge.pk]: " ".join(warning.text for warning in one.warnings) for one in outcome.doubts}
    return doubted | {rows[one.edge.pk]: one.message for one in outcome.conflicts if not one.is_saved}


def in_words(outcome: Outcome) -> str:
    """One sentence on what was done."""
    said = ngettext(
        "%(accepted)s link accepted, %(rejected)s rejected, undone as one.",
        "%(accepted)s links accepted, %(rejected)s rejected, undone as one.",
        outcome.accepted,
    ) % {"accepted": number(outcome.accepted), "rejected": number(outcome.rejected)}
    if not outcome.refused:
        return said
    rows = len(outcome.refused)
    refused = ngettext("%(rows)s row was refused.", "%(rows)s rows were refused.", rows) % {"rows": number(rows)}
    return f"{said} {refused}"
