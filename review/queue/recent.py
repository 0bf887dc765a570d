"""What a user did last and can take back, whichever page it was done on."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from linker.models import EdgeStatus
from linker.models.querysets import UNDECIDED, of
from review.models import Decision, KnownReading, OperationKey, SecondReading, SetAside, Verb
from review.overlap import due_to
from review.queue import opinions
from review.queue.known_edges import STATUS_AFTER, edges_at
from review.undoing import AT_A_TIME, BODIES, PAGES, newest_of, sizes_of_batches

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from uuid import UUID

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from linker.models import CandidateEdge, Project

RECENT = 10
SENT = 80  # twice what a browser sends at once: see static/js/queue/outbox.js


@dataclass(frozen=True)
class Done:
    """A decision that holds; or the `reading` with this key, of a suggestion read as the second or of a card whose
    answer is known; or what the operation `taken_back_by` ends: a suggestion set aside, or a request for an opinion.
    `anchor` are the words that it then had; `together`: how many decisions were made at once, and are taken back so.
    """

    edge: CandidateEdge
    at: datetime
    says: str
    anchor: str
    decision: Decision | None = None
    reading: UUID | None = None
    taken_back_by: str = ""
    verb: str = ""
    together: int = 1

    @property
    def is_accept(self) -> bool:
        return self.verb in (Verb.ACCEPT, Verb.EDIT)


def recent_work(project: Project, user: User, most: int = RECENT) -> list[Done]:
    """The newest first. Of decisions, those among the newest that were looked at, where many of them cannot be taken
    back here any more."""
    kinds = (_decisions, _set_aside, _asked, _read, _known)
    found = chain.from_iterable(kind(project, user, most) for kind in kinds)
    return sorted(found, key=lambda one: one.at, reverse=True)[:most]


def saved_keys(project: Project, user: User) -> list[UUID]:
    """The browser's names of what the user did last, as far back as a browser may not have heard that it was saved."""
    kinds: list[QuerySet[Any]] = [Decision.objects.filter(user=user), OperationKey.objects.filter(user=user)]
    if project.read_twice:
        kinds.append(SecondReading.objects.filter(reader=user))
    if project.known_share:
        kinds.append(KnownReading.objects.filter(reader=user))
    newest = (rows.filter(project=project).order_by("-pk").values_list("key", flat=True)[:SENT] for rows in kinds)
    return [key for key in chain.from_iterable(newest) if key]


def _decisions(project: Project, user: User, most: int) -> Iterator[Done]:
    found = islice(newest_of(project, user), AT_A_TIME)
    newest = list(islice((one for one in found if one.edge.status != EdgeStatus.EXPORTED), most))
    sizes = sizes_of_batches(project, newest)
    for one in newest:
        together = sizes.get(one.batch, 1)
        said = one.get_verb_display()
        yield Done(one.edge, one.at, said, one.anchor_after, one, verb=one.verb, together=together)


def _set_aside(project: Project, user: User, most: int) -> Iterator[Done]:
    rows = SetAside.objects.filter(project=project, user=user)
    is_open = of("edge", UNDECIDED)
    if project.read_twice:
        is_open |= Q(Exists(due_to(project, user).filter(edge=OuterRef("edge"))))
    for row in rows.filter(is_open).select_related(*PAGES).defer(*BODIES).order_by("-at", "-pk")[:most]:
        yield Done(row.edge, row.at, _("Later"), row.edge.anchor, taken_back_by="back")


def _asked(project: Project, user: User, most: int) -> Iterator[Done]:
    for row in opinions.unanswered(project, user).select_related(*PAGES).defer(*BODIES)[:most]:
        yield Done(row.edge, row.at, _("Opinion asked"), row.edge.anchor, taken_back_by="unask")


def _read(project: Project, user: User, most: int) -> Iterator[Done]:
    if not project.read_twice:
        return
    rows = SecondReading.objects.filter(project=project, reader=user, undone_by=None, key__isnull=False)
    for row in rows.exclude(verb=Verb.UNDO).select_related(*PAGES).defer(*BODIES).order_by("-at", "-pk")[:most]:
        yield Done(row.edge, row.at, str(Verb(row.verb).label), row.anchor, reading=row.key, verb=row.verb)


def _known(project: Project, user: User, most: int) -> Iterator[Done]:
    if not project.known_share:
        return
    rows = KnownReading.objects.filter(project=project, reader=user, undone_by=None, key__isnull=False)
    found = list(rows.filter(verb__in=STATUS_AFTER).order_by("-at", "-pk")[:most])
    edges = {edge.pk: edge for edge in edges_at(project, [row.answer_id for row in found], user)}
    says = {"aside": _("Later"), "ask": _("Opinion asked")}
    for row in found:
        said = says.get(row.verb) or str(Verb(row.verb).label)
        yield Done(edges[row.answer_id], row.at, said, row.anchor, reading=row.key, verb=row.verb)
