"""Links that were exported: confirmed with another rel or withdrawn, or that cancelled, until the next release says so.

Each function works in one transaction: the project's row first, as releases lock it, then the edges in the order of
their ids, in batches. A Decision is appended for each edge; what the next release exports waits in Pending. The second
of two users changes nothing: the functions return how many links they changed.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode
from uuid import uuid4

from django.db import transaction
from django.db.models import OuterRef, Q, Subquery, TextChoices
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from linker.models import CandidateEdge, EdgeStatus, Project, Rel
from linker.models.querysets import DECIDED, REOPENED
from linker.query_strings import day_of, is_id, unknown_fields
from linker.storage.locks import lock_project
from review.decisions import decision_on, with_outcome
from review.models import GONE_STATES, Decision, LiveState, Operation, Pending, PublishedLink, ReleaseLink, Verb
from review.queue.cursor import Cursor
from review.queue.filters import MAX_TEXT, Order, QueueFilter
from review.releases import readdressed
from review.releases.pages_back import PAGE_BACK, is_page_gone

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import date
    from uuid import UUID

    from django.contrib.auth.models import User
    from django.db.models import QuerySet


AT_A_TIME = 2000
PAGE_SIZE = 50


# --------------------------------------------------------------------------------------------------------- writes


@transaction.atomic
def confirm(project: Project, edges: QuerySet[CandidateEdge], user: User, rel: Rel, note: str = "") -> int:
    """Gives links that have left another rel; the next release carries the change. Those that are to be removed, and
    those that have this rel already, stay as they are."""
    done = 0
    wanted = edges.exclude(pending__operation=Operation.REMOVE).exclude(rel=rel)
    for part in _locked(project, wanted):
        sent = _sent(part)
        rels = {edge.pk: rel for edge in part}
        done += _decide(part, user, Verb.CONFIRM, rels, sent, Operation.CHANGE, note=note)
    return done


@transaction.atomic
def withdraw(
    project: Project, edges: QuerySet[CandidateEdge], user: User, note: str = "", batch: UUID | None = None
) -> int:
    """Asks for the removal of links that have left; the next release carries it. Until then they count as links. Of
    those that are to be removed already, only what waits because a page is back is asked for anew.
    `batch`: of which these are a part; else they are one of their own."""
    done = 0
    batch = batch or uuid4()
    for part in _locked(project, edges.filter(~Q(pending__operation=Operation.REMOVE) | PAGE_BACK)):
        sent = _sent(part)
        done += _decide(part, user, Verb.WITHDRAW, sent, sent, Operation.REMOVE, note=note, batch=batch)
    return done


@transaction.atomic
def ask_again(project: Project, edges: QuerySet[CandidateEdge], user: User, note: str = "") -> int:
    """Asks once more for links that are out and that the site shows otherwise or not at all; the next release carries
    them as they were released last. Those with something pending stay as they are, and so do those of pages that are
    gone: no release would carry them."""
    done = 0
    wanted = edges.filter(pending__isnull=True, published__is_out=True)
    for part in _locked(project, wanted.exclude(published__state__in=GONE_STATES)):
        sent = _sent(part)
        shown = set(
            PublishedLink.objects.filter(edge__in=part, state=LiveState.DIFFERENT).values_list("edge", flat=True)
        )
        for operation in (Operation.CHANGE, Operation.ADD):
            some = [edge for edge in part if (edge.pk in shown) == (operation == Operation.CHANGE)]
            done += _decide(some, user, Verb.ASK, sent, sent, operation, note=note, always=True)
    return done


@transaction.atomic
def take_back(project: Project, edges: QuerySet[CandidateEdge], user: User) -> int:
    """Forgets the changes and removals that were asked for and have not left; the links are what was released last."""
    done = 0
    for part in _locked(project, edges.filter(pending__decision__isnull=False)):
        retract(part, user)
        _save(part)
        done += len(part)
    readdressed.ask(project)
    return done


def _locked(project: Project, edges: QuerySet[CandidateEdge]) -> Iterator[list[CandidateEdge]]:
    """Those of `edges` that have left, locked, by id, some at a time. The statement that locks asks their status again:
    what leaves or comes back meanwhile is not touched."""
    lock_project(project.pk)
    left = CandidateEdge.objects.filter(project=project, status=EdgeStatus.EXPORTED)
    left = left.select_related("tier", "pending__decision", "source", "target")
    left = left.defer("source__body", "target__body").select_for_update(of=("self",), no_key=True)
    ids = list(edges.filter(project=project, status=EdgeStatus.EXPORTED).order_by("pk").values_list("pk", flat=True))
    for first in range(0, len(ids), AT_A_TIME):
        yield list(left.filter(pk__in=ids[first : first + AT_A_TIME]).order_by("pk"))


def _sent(edges: Iterable[CandidateEdge]) -> dict[int, Rel]:
    """The rel that was released last, by edge."""
    rows = ReleaseLink.objects.filter(edge__in=[edge.pk for edge in edges]).order_by("edge", "-pk").distinct("edge")
    return {edge: Rel(rel) for edge, rel in rows.values_list("edge", "rel")}


def _decide(
    edges: list[CandidateEdge],
    user: User,
    verb: Verb,
    rels: Mapping[int, Rel],
    sent: Mapping[int, Rel],
    operation: Operation,
    *,
    note: str,
    batch: UUID | None = None,
    always: bool = False,
) -> int:
    """Writes a decision on each edge, in place of one that has not left, and what is to leave for it: a change only if
    it is one, or `always`."""
    retract([edge for edge in edges if hasattr(edge, "pending")], user)
    decisions = []
    for edge in edges:
        decision = decision_on(edge, verb, user, note=note, batch=batch)
        edge.rel, edge.reviewed = rels.get(edge.pk, Rel(edge.rel)), True
        decisions.append(with_outcome(decision))
    Decision.objects.bulk_create(decisions)
    Pending.objects.bulk_create(
        Pending(
            edge=decision.edge,
            project_id=decision.project_id,
            operation=operation,
            decision=decision,
            page_gone=operation == Operation.REMOVE and is_page_gone(decision.edge),
        )
        for decision in decisions
        if always or operation == Operation.REMOVE or decision.edge.rel != sent.get(decision.edge_id)
    )
    _save(edges)
    if edges:
        readdressed.ask(edges[0].project)
    return len(edges)


def retract(edges: Sequence[CandidateEdge], user: User) -> None:
    """Takes back what was asked for and has not left; the edges are not saved."""
    sent = _sent(edges)
    undoing = []
    for edge in edges:
        asked = edge.pending.decision
        if asked is None:  # nobody did: the page has moved
            continue
        decision = decision_on(edge, Verb.UNDO, user, undoes=asked, batch=asked.batch)
        edge.rel = sent.get(edge.pk, Rel(edge.rel))
        undoing.append(with_outcome(decision))
    Decision.objects.bulk_create(undoing)
    Pending.objects.filter(edge__in=edges).delete()


def _save(edges: Iterable[CandidateEdge]) -> None:
    """Writes rel and who has looked: one statement a rel, of which there are few."""
    now = timezone.now()
    alike: dict[tuple[str, bool], list[int]] = defaultdict(list)
    for edge in edges:
        alike[edge.rel, edge.reviewed].append(edge.pk)
    for (rel, reviewed), ids in alike.items():
        CandidateEdge.objects.filter(pk__in=ids).update(rel=rel, reviewed=reviewed, updated_at=now)


# ---------------------------------------------------------------------------------------------------------- reads


class State(TextChoices):
    OUT = "out", _("Out now")
    WAITING = "waiting", _("Waiting for the next release")
    WITHDRAWN = "withdrawn", _("Withdrawn")


@dataclass(frozen=True)
class LinkFilter:
    """Which links that have left are listed, donor by donor as in the queue. Empty fields do not restrict.

    `release` is the number of a release that names the link, `rel` what it has or is to have, `since` the day from
    which on it was first proposed.
    """

    state: State = State.OUT
    rel: str = ""
    release: int | None = None
    text: str = ""
    since: date | None = None
    ignored: tuple[str, ...] = ()

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> Self:
        """Reads a QueryDict. A field that is not known and a value of the wrong form are left out, and the name stands
        in `ignored`."""
        ignored = []
        state, rel, number = query.get("state", State.OUT), query.get("rel", ""), query.get("release", "").strip()
        if state not in State.values:
            ignored.append("state")
            state = State.OUT
        if rel not in ("", *Rel.values):
            ignored.append("rel")
            rel = ""
        release = int(number) if is_id(number) else None
        if number and release is None:
            ignored.append("release")
        text = query.get("text", "").strip()[:MAX_TEXT]
        if "\0" in text:
            ignored.append("text")
            text = ""
        day = query.get("since", "").strip()
        since = day_of(day)
        if day and since is None:
            ignored.append("since")
        ignored += unknown_fields(query, {"state", "rel", "release", "text", "since", "after"})
        return cls(State(state), rel, release, text, since, tuple(ignored))

    def to_query(self, **more: Any) -> str:
        """The inverse of from_query, without the defaults."""
        values = {"state": "" if self.state == State.OUT else self.state.value, "rel": self.rel}
        values |= {"release": "" if self.release is None else str(self.release), "text": self.text}
        values |= {"since": self.since.isoformat() if self.since else "", **more}
        return urlencode({name: value for name, value in values.items() if value})

    def ranges(self, project: Project) -> list[QuerySet[CandidateEdge]]:
        """The links, unsorted, in parts that have nothing in common: each has an index of its own in the list's
        order, or is small."""
        edges = QueueFilter(text=self.text, since=self.since).scope(project)
        if self.rel:
            edges = edges.filter(rel=self.rel)
        if self.release is not None:
            edges = edges.filter(pk__in=named_by(project, self.release).values("edge"))
        left = edges.filter(status=EdgeStatus.EXPORTED)
        if self.state == State.WITHDRAWN:
            return [edges.filter(status=EdgeStatus.WITHDRAWN)]
        if self.state == State.WAITING:
            return [left.filter(pending__isnull=False), edges.filter(REOPENED, DECIDED)]
        return [left, edges.filter(REOPENED)]


def named_by(project: Project, number: int, *operations: Operation) -> QuerySet[ReleaseLink]:
    """The rows of a release, of some operations or all."""
    rows = ReleaseLink.objects.filter(release__project=project, release__number=number)
    return rows.filter(operation__in=operations) if operations else rows


def links_page(project: Project, chosen: LinkFilter, after: str) -> tuple[list[Any], str]:
    """One screen of links, edges with both pages, what is pending, and `release_number`: the last release of
    each; and the cursor of the next screen, empty at the end."""
    cursor = Cursor.parse(after, Order.DONOR)
    last = ReleaseLink.objects.filter(edge=OuterRef("pk")).order_by("-pk").values("release__number")[:1]
    screens = []
    for edges in chosen.ranges(project):
        rest = edges if cursor is None else edges.filter(QueueFilter().after(cursor))
        whole = rest.select_related("source", "target", "pending__decision__user").defer("source__body", "target__body")
        screen = whole.annotate(release_number=Subquery(last)).order_by(*Order.DONOR.fields)[: PAGE_SIZE + 1]
        screens.append(list(screen))
    found = list(islice(merge(*screens, key=_in_order), PAGE_SIZE + 1))
    place = cursor.position if cursor else 0
    more = len(found) > PAGE_SIZE
    return found[:PAGE_SIZE], str(Cursor.of(found[PAGE_SIZE - 1], Order.DONOR, place + PAGE_SIZE)) if more else ""


def _in_order(edge: CandidateEdge) -> tuple[float, ...]:
    """Where the edge stands in the order of the list."""
    return tuple(
        -getattr(edge, name[1:]) if name.startswith("-") else getattr(edge, name) for name in Order.DONOR.fields
    )
