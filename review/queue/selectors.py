"""Reads for the review queue. Each function asks a constant number of queries, whatever it lists."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from django.db.models import Count, Exists, OuterRef, QuerySet

from linker.models import CandidateEdge, Category, EdgeStatus, Page, Project, Run, RunKind
from linker.models.querysets import ACTIVE, APPROVED, UNDECIDED
from linker.runs.pilot_progress import open_pilot
from review.decisions import AT_A_TIME, newest_of
from review.models import Decision, SetAside
from review.queue.cards import JOINED, LONG, Card, authority_in_words, cards_for, decisions_of, page_href
from review.queue.filters import ALL, Cursor, QueueFilter, of_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User

PAGE_SIZE = 20
RECENT = 10


@dataclass(frozen=True)
class Quota:
    """A donor's links: `total` leaves out what was rejected, withdrawn or is no longer proposed."""

    accepted: int
    total: int
    open: int


@dataclass(frozen=True)
class Donor:
    """The page that a card's link would stand on. `authority`: how much it has, in words; empty where nobody knows."""

    page: Page
    quota: Quota
    authority: str

    @property
    def href(self) -> str:
        return page_href(self.page)


@dataclass(frozen=True)
class Line:
    """An edge in one line of a list, with the decision in force, and where the list goes on after it."""

    edge: CandidateEdge
    cursor: Cursor
    decision: Decision | None = None


@dataclass(frozen=True)
class Lines:
    """A part of the list. `next` is the cursor of what follows, empty at the end."""

    lines: tuple[Line, ...]
    next: str


def lines(
    project: Project, chosen: QueueFilter, user: User, after: Cursor | None = None, size: int = PAGE_SIZE
) -> Lines:
    """At most `size` edges that follow `after`, in the filter's order.

    The open suggestions of an open pilot come before all others.
    """
    parts = [of_user(part, chosen, user) for part in chosen.parts(project)]
    pilot = _put_first(project, chosen)
    if pilot is None and after is not None and after.in_pilot:
        after = None  # the pilot has ended since: from the top, so that nothing is left out
    following = [part.filter(chosen.after(after)) for part in parts] if after is not None else parts
    if pilot is None:
        found = _first(following, chosen, size + 1)
    elif after is None or after.in_pilot:
        found = _first([part.filter(of_runs([pilot.pk])) for part in following], chosen, size + 1)
        found += _first([part.exclude(run=pilot) for part in parts], chosen, size + 1 - len(found))
    else:
        found = _first([part.exclude(run=pilot) for part in following], chosen, size + 1)
    start = after.position if after is not None else 0
    last = decisions_of(project, found[:size])
    shown = tuple(
        Line(edge, _cursor(edge, chosen, start + at, pilot), last.get(edge.pk))
        for at, edge in enumerate(found[:size], start=1)
    )
    return Lines(shown, str(shown[-1].cursor) if len(found) > size else "")


def _first(parts: Sequence[QuerySet[CandidateEdge]], chosen: QueueFilter, most: int) -> list[CandidateEdge]:
    """The first `most` edges of all parts together, in the filter's order: the first of each part, sorted."""
    if not parts or most <= 0:
        return []
    keys = [name.lstrip("-") for name in chosen.order.fields]
    firsts = [part.values_list(*keys)[:most] for part in parts]  # the last of the keys is the id
    rows = firsts[0].union(*firsts[1:], all=True) if len(firsts) > 1 else firsts[0]
    signs = [-1 if name.startswith("-") else 1 for name in chosen.order.fields]
    ordered = sorted(rows, key=lambda row: tuple(sign * value for sign, value in zip(signs, row, strict=True)))
    ids = [row[-1] for row in ordered[:most]]
    edges = CandidateEdge.objects.filter(pk__in=ids).select_related(*JOINED).defer(*LONG).in_bulk() if ids else {}
    return [edges[pk] for pk in ids if pk in edges]


def line_at(project: Project, chosen: QueueFilter, edge_id: int) -> Line | None:
    """One edge of the project as a line of the list, whether or not the filter lists it."""
    edge = CandidateEdge.objects.filter(project=project, pk=edge_id)
    found = edge.select_related(*JOINED).defer(*LONG).first()
    if found is None:
        return None
    last = decisions_of(project, [found])
    return Line(found, _cursor(found, chosen, 0, _put_first(project, chosen)), last.get(found.pk))


def _cursor(edge: CandidateEdge, chosen: QueueFilter, position: int, pilot: Run | None) -> Cursor:
    return Cursor.of(edge, chosen.order, position, in_pilot=pilot is not None and edge.run_id == pilot.pk)


def of_user(edges: QuerySet[CandidateEdge], chosen: QueueFilter, user: User) -> QuerySet[CandidateEdge]:
    """What the user set aside leaves the list, unless the filter asks for just that."""
    aside = _is_aside(user)
    if chosen.later:
        return edges.filter(aside)
    return edges.filter(~aside) if chosen.status == EdgeStatus.SUGGESTED else edges


def _is_aside(user: User) -> Exists:
    return Exists(SetAside.objects.filter(project=OuterRef("project"), user=user, edge=OuterRef("pk")))


def cards_of_lines(shown: Sequence[Line]) -> list[Card]:
    """The cards of some lines, with their places in the list."""
    return cards_for([line.edge for line in shown], [line.cursor.position or None for line in shown])


def cards_of(project: Project, edge_ids: Sequence[int]) -> list[Card]:
    """The cards of some of a project's edges, read again, best first."""
    edges = CandidateEdge.objects.filter(project=project, pk__in=edge_ids).order_by("-score", "id")
    found = list(edges.select_related(*JOINED).defer(*LONG))
    return cards_for(found, [None] * len(found))


def card_of(edge: CandidateEdge) -> Card:
    """The card of one edge, read again."""
    return cards_of(edge.project, [edge.pk])[0]


def next_edge(project: Project, chosen: QueueFilter, user: User, edge: CandidateEdge) -> CandidateEdge | None:
    """The open suggestion that follows `edge` in the filter's order, or else the first of the list."""
    parts = [
        of_user(part, chosen, user).exclude(pk=edge.pk)
        for part in dataclasses.replace(chosen, status=EdgeStatus.SUGGESTED.value).parts(project)
    ]
    following = [part.filter(chosen.after(Cursor.of(edge, chosen.order, 0))) for part in parts]
    pilot = _put_first(project, chosen)
    if pilot is None:
        places = [following, parts]
    else:
        first, rest = [part.filter(of_runs([pilot.pk])) for part in parts], [part.exclude(run=pilot) for part in parts]
        if edge.run_id == pilot.pk:
            places = [[part.filter(of_runs([pilot.pk])) for part in following], rest, first]
        else:
            places = [[part.exclude(run=pilot) for part in following], first, rest]
    return next((found[0] for place in places if (found := _first(place, chosen, 1))), None)


def recent_decisions(project: Project, user: User, most: int = RECENT) -> list[Decision]:
    """The user's newest decisions that still hold and can be taken back here, the newest first: of the newest that
    were looked at, where many of them cannot be taken back any more."""
    found = islice(newest_of(project, user), AT_A_TIME)
    return list(islice((decision for decision in found if decision.edge.status != EdgeStatus.EXPORTED), most))


def _put_first(project: Project, chosen: QueueFilter) -> Run | None:
    """The pilot whose suggestions come first in the list; None where there is none, or the list asks for more than
    what is to be reviewed."""
    if chosen.status != EdgeStatus.SUGGESTED or chosen.pilot:
        return None
    return open_pilot(project)


def quotas(project: Project, donor_ids: Sequence[int]) -> dict[int, Quota]:
    """How many links each donor gives and could give, over the whole project whatever the filter."""
    rows = (
        CandidateEdge.objects.filter(ACTIVE, project=project, source__in=donor_ids)
        .values("source_id")
        .annotate(
            total=Count("pk"),
            accepted=Count("pk", filter=APPROVED),
            open=Count("pk", filter=UNDECIDED),
        )
    )
    known = {row["source_id"]: Quota(row["accepted"], row["total"], row["open"]) for row in rows}
    return {donor: known.get(donor, Quota(0, 0, 0)) for donor in donor_ids}


def group_suggestions(project: Project, chosen: QueueFilter, user: User, donor_id: int) -> list[Card]:
    """What "accept the group" would accept: the donor's open suggestions under the filter, best first."""
    edges = (
        of_user(chosen.queryset(project), chosen, user)
        .filter(UNDECIDED, source_id=donor_id)
        .order_by("-score", "id")
        .select_related(*JOINED)
        .defer(*LONG)
    )
    found = list(edges)
    return cards_for(found, [None] * len(found))


def has_matched(project: Project) -> bool:
    """Whether the project has ever been matched: an empty queue means something else before."""
    return project.runs.filter(kind=RunKind.MATCH).exists() and project.edges.exists()


def category_choices(project: Project) -> list[Category]:
    """The project's categories in the order of the tree."""
    return sorted(Category.objects.filter(project=project), key=lambda category: category.path)


def statuses() -> list[tuple[str, str]]:
    return [*EdgeStatus.choices, (ALL, "All")]


def donors_of(project: Project, edges: Sequence[CandidateEdge]) -> dict[int, Donor]:
    """The donors of some edges, by id."""
    sources = {edge.source_id: edge for edge in edges}
    known = quotas(project, sorted(sources))
    return {pk: Donor(edge.source, known[pk], authority_in_words(edge)) for pk, edge in sources.items()}
