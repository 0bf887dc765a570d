"""What people wrote on cards whose answer is known, for managers: nobody else sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from review.models import KnownReading, Verb

if TYPE_CHECKING:
    from datetime import datetime

    from linker.models import KnownAnswer, Project

MOST = 20


@dataclass(frozen=True)
class Remark:
    """`says`: what it was written with, in words."""

    person: str
    at: datetime
    says: str
    text: str
    answer: KnownAnswer


def known_remarks(project: Project, since: datetime) -> list[Remark]:
    """Comments, questions and notes since a moment that were not taken back, the newest first, MOST at most. One
    query."""
    written = KnownReading.objects.filter(project=project, at__gte=since, undone_by=None).exclude(note="")
    rows = written.exclude(verb=Verb.UNDO).select_related("reader", "answer__source", "answer__target")
    says = {"comment": _("Comment"), "ask": _("Opinion asked")}
    return [
        Remark(row.reader.get_username(), row.at, says.get(row.verb) or str(Verb(row.verb).label), row.note, row.answer)
        for row in rows.order_by("-at", "-pk")[:MOST]
    ]
