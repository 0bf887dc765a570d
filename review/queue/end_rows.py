"""What stands where no card is left: what was decided, and what waits elsewhere, each with its list."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from linker.models import EdgeStatus

if TYPE_CHECKING:
    from review.queue.counts import Counts
    from review.queue.filters import QueueFilter


@dataclass(frozen=True)
class EndRow:
    """`name` is that of the number among those that an answer to decisions brings; `query` shows the list."""

    name: str
    label: str
    number: int
    query: str


def end_rows(chosen: QueueFilter, counts: Counts) -> list[EndRow]:
    """Of the same filter, what waits first; rows of 0 are there as well, for numbers that change."""
    plain = replace(chosen, status=EdgeStatus.SUGGESTED, later=False, asked=False, waiting=False, second=False)
    rows = (
        ("suggested", _("To review"), counts.to_review, plain),
        ("asked", _("Asked of me"), counts.asked, replace(plain, asked=True)),
        ("later", _("Set aside for later"), counts.later, replace(plain, later=True)),
        ("waiting", _("Asked by me"), counts.waiting, replace(plain, waiting=True)),
        ("accepted", _("Accepted"), counts.accepted, replace(plain, status=EdgeStatus.ACCEPTED)),
        ("rejected", _("Rejected"), counts.rejected, replace(plain, status=EdgeStatus.REJECTED)),
        ("exported", _("Exported"), counts.exported, replace(plain, status=EdgeStatus.EXPORTED)),
        ("withdrawn", _("Withdrawn"), counts.withdrawn, replace(plain, status=EdgeStatus.WITHDRAWN)),
        ("held", _("Held back"), counts.held, replace(plain, held=True)),
        ("stale", _("No longer proposed"), counts.stale, replace(plain, stale=True)),
    )
    return [
        EndRow(name, str(label), number, there.to_query()) for name, label, number, there in rows if there != chosen
    ]
