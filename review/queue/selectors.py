"""Reads for the review queue. Each function asks a constant number of queries, whatever it lists."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext

from linker import wording
from linker.models import CandidateEdge, Category, EdgeStatus, Page, Project, Run, RunKind
from linker.models.edge_counts import kept_counts, total
from linker.models.querysets import APPROVED, OPEN, UNDECIDED, sql
from linker.models.run import ACTIVE, IMPORTS
from linker.runs.pilot_progress import open_pilot
from review.models import Decision, SetAside
from review.overlap import due_to
from review.queue import opinions
from review.queue.card_words import authority_in_words
from review.queue.cards import JOINED, LONG, Card, cards_for, decisions_of, page_href
from review.queue.cursor import Cursor
from review.queue.filters import ALL, QueueFilter, of_runs
from review.queue.known_edges import closed_donors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from django.contrib.auth.models import User

PAGE_SIZE = 20
MOST_COUNTED = 1000  # links of an acceptor
MOST_IN_GROUP = 100  # accepted together
# Runs that suggestions come from, or that bring what a match needs.
BEFORE_CARDS = (*IMPORTS, RunKind.FETCH, RunKind.EMBED, RunKind.MATCH, RunKind.CHANGES, RunKind.FOLLOW_UP)


@dataclass(frozen=True)
class Quota:
    """The links of a group: `total` are those approved, and the `open` ones that the list shows. `is_bound`: counting
    stopped there, and there may be more."""

    accepted: int
    total: int
    open: int
    is_bound: bool = False


@dataclass(frozen=True)
class Head:
    """What the suggestions of a group have in common, by its id: their donor, their acceptor (each a `page`), or the
    `category` of their donors, None for those without. `authority`: how much a donor has, in words; empty where nobody
    knows."""

    side: str
    id: int
    quota: Quota
    page: Page | None = None
    category: Category | None = None
    authority: str = ""

    @property
    def total_in_words(self) -> str:
        return wording.number(self.quota.total) + ("+" if self.quota.is_bound else "")

    @property
    def href(self) -> str:
        return page_href(self.page) if self.page is not None else ""


@dataclass(frozen=True)
class Line:
    """An edge in one line of a list, with the decision in force, and where the list goes on after it. `until`: the
    edge is as it was then, and so is what was said of it."""

    edge: CandidateEdge
    cursor: Cursor
    decision: Decision | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class Lines:
    """A part of the list. `next` is the cursor of what follows, empty at the end."""

    lines: tuple[Line, ...]
    next: str


def lines(
    project: Project,
    chosen: QueueFilter,
    user: User,
    after: Cursor | None = None,
    size: int = PAGE_SIZE,
    only: Sequence[str] = (),
) -> Lines:
    """At most `size` edges that follow `after`, in the filter's order; with `only`, just these columns of edges and
    of their two pages, and no decisions: for lists that are long.

    The open suggestions of an open pilot come before all others.
    """
    parts = [of_user(project, part, chosen, user) for part in chosen.parts(project)]
    pilot = _put_first(project, chosen)
    if pilot is None and after is not None and after.in_pilot:
        after = None  # the pilot has ended since: from the top, so that nothing is left out
    following = [part.filter(chosen.after(after)) for part in parts] if after is not None else parts
    if pilot is None:
        found = _first(following, chosen, size + 1, only)
    elif after is None or after.in_pilot:
        found = _first([part.filter(of_runs([pilot.pk])) for part in following], chosen, size + 1, only)
        found += _first([part.exclude(run=pilot) for part in parts], chosen, size + 1 - len(found), only)
    else:
        found = _first([part.exclude(run=pilot) for part in following], chosen, size + 1, only)
    start = after.position if after is not None else 0
    last = {} if only else decisions_of(project, found[:size])
    shown = tuple(
        Line(edge, _cursor(edge, chosen, start + at, pilot), last.get(edge.pk))
        for at, edge in enumerate(found[:size], start=1)
    )
    return Lines(shown, str(shown[-1].cursor) if len(found) > size else "")


def _first(
    parts: Sequence[QuerySet[CandidateEdge]], chosen: QueueFilter, most: int, only: Sequence[str] = ()
) -> list[CandidateEdge]:
    """The first `most` edges of all parts together, in the filter's order."""
    keys = [name.lstrip("-") for name in chosen.order.fields]
    ids = first_ids(parts, chosen.order.fields, most)
    wanted = CandidateEdge.objects.filter(pk__in=ids)
    if only:
        wanted = wanted.select_related("source", "target").only(*only, *keys, "run")
    else:
        wanted = wanted.select_related(*JOINED).defer(*LONG)
    edges = wanted.in_bulk() if ids else {}
    return [edges[pk] for pk in ids if pk in edges]


def first_ids(parts: Sequence[QuerySet[CandidateEdge]], order: Sequence[str], most: int) -> list[int]:
    """The ids of the first `most` edges of all parts together: the first of each part, sorted. `order`: names of
    columns, the last of them the id."""
    if not parts or most <= 0:
        return []
    firsts = [part.values_list(*(name.lstrip("-") for name in order))[:most] for part in parts]
    rows = firsts[0].union(*firsts[1:], all=True) if len(firsts) > 1 else firsts[0]
    signs = [-1 if name.startswith("-") else 1 for name in order]
    ordered = sorted(rows, key=lambda row: tuple(sign * value for sign, value in zip(signs, row, strict=True)))
    return [row[-1] for row in ordered[:most]]


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


def of_user(
    project: Project, edges: QuerySet[CandidateEdge], chosen: QueueFilter, user: User
) -> QuerySet[CandidateEdge]:
    """What the user set aside, or waits for an opinion on, leaves the list, unless the filter asks for just that."""
    aside = _is_aside(user)
    if chosen.asked:
        edges = edges.filter(opinions.is_asked(user))
    if chosen.waiting:
        edges = edges.filter(opinions.waits_for(user))
    if chosen.later:
        return edges.filter(aside, UNDECIDED)
    if chosen.status != EdgeStatus.SUGGESTED:  # without the decisions that the user is not to know yet
        return edges.exclude(Exists(due_to(project, user).filter(edge=OuterRef("pk")))) if project.read_twice else edges
    if project.known_share:
        edges = edges.exclude(source__in=closed_donors(project, user))
    return edges.filter(~aside) if chosen.is_personal else edges.filter(~aside, ~opinions.waits_for(user))


def _is_aside(user: User) -> Exists:
    return Exists(SetAside.objects.filter(project=OuterRef("project"), user=user, edge=OuterRef("pk")))


def cards_of_lines(shown: Sequence[Line]) -> list[Card]:
    """The cards of some lines, with their places in the list."""
    until = {line.edge.pk: line.until for line in shown if line.until is not None}
    return cards_for([line.edge for line in shown], [line.cursor.position or None for line in shown], until)


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
        of_user(project, part, chosen, user).exclude(pk=edge.pk)
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


def _put_first(project: Project, chosen: QueueFilter) -> Run | None:
    """The pilot whose suggestions come first in the list; None where there is none, or the list asks for more than
    what is to be reviewed."""
    if chosen.status != EdgeStatus.SUGGESTED or chosen.pilot:
        return None
    return open_pilot(project)


def _listed(chosen: QueueFilter) -> Q:
    """The condition for what counts in a group: what was approved, and what is open and not hidden. A tier that is
    asked for by name is shown, held back or not; of the others still only those that are not."""
    shown = dataclasses.replace(chosen, tier=None).hidden_left_out()
    if chosen.tier is not None:
        shown |= chosen.hidden_left_out() & Q(tier_id=chosen.tier)
    return APPROVED | UNDECIDED & shown


def quotas(project: Project, chosen: QueueFilter, donor_ids: Sequence[int]) -> dict[int, Quota]:
    """How many links each donor gives and could give, over the whole project: of the filter only counts what it
    hides."""
    rows = (
        CandidateEdge.objects.filter(_listed(chosen), project=project, source__in=donor_ids)
        .values("source_id")
        .annotate(
            total=Count("pk"),
            accepted=Count("pk", filter=APPROVED),
            open=Count("pk", filter=UNDECIDED),
        )
    )
    known = {row["source_id"]: Quota(row["accepted"], row["total"], row["open"]) for row in rows}
    return {donor: known.get(donor, Quota(0, 0, 0)) for donor in donor_ids}


def acceptor_quotas(project: Project, chosen: QueueFilter, acceptor_ids: Sequence[int]) -> dict[int, Quota]:
    """The same of acceptors, of each among MOST_COUNTED links: some receive links from the whole site."""
    listed = sql(_listed(chosen), "e", tier="tier")
    looked_at = sql(APPROVED | (UNDECIDED if chosen.stale else OPEN), "c")
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT t, count(*) FILTER (WHERE {sql(APPROVED, 'e')}), count(*) FILTER (WHERE {listed}), "
            f"count(*) FILTER (WHERE {sql(UNDECIDED, 'e')} AND {listed}), count(e.status) >= %s "
            "FROM unnest(%s::bigint[]) t LEFT JOIN LATERAL ("
            "SELECT status, stale, tier_id FROM linker_candidateedge c WHERE c.project_id = %s AND c.target_id = t "
            f"AND {looked_at} LIMIT %s) e ON true LEFT JOIN linker_tier tier ON tier.id = e.tier_id GROUP BY t",
            [MOST_COUNTED, list(acceptor_ids), project.pk, MOST_COUNTED],
        )
        return {page: Quota(*numbers) for page, *numbers in cursor.fetchall()}


def category_quotas(project: Project, chosen: QueueFilter, categories: Sequence[int]) -> dict[int, Quota]:
    """The same of categories, 0 for the pages without one, from the counts that are kept."""
    kept = kept_counts(project).filter(_listed(chosen), Q(category__in=categories) | Q(category=None))
    rows = kept.values("category").annotate(accepted=total(APPROVED), all=total(), open=total(UNDECIDED)).order_by()
    known = {row["category"] or 0: Quota(row["accepted"], row["all"], row["open"]) for row in rows}
    return {category: known.get(category, Quota(0, 0, 0)) for category in categories}


# Which of an edge's columns holds the id of its group.
COLUMN_OF = {"donor": "source_id", "acceptor": "target_id", "category": "section"}


def group_suggestions(project: Project, chosen: QueueFilter, user: User, side: str, group: int) -> list[Card]:
    """What "accept the group" would accept: the open suggestions of a donor, an acceptor or a category under the
    filter, the best first, and no more than MOST_IN_GROUP."""
    best_first = ("-score", "id")
    parts = [
        of_user(project, part, chosen, user).filter(**{COLUMN_OF[side]: group}).order_by(*best_first)
        for part in chosen.undecided_parts(project)
    ]
    return cards_of(project, first_ids(parts, best_first, MOST_IN_GROUP))


def has_matched(project: Project) -> bool:
    """Whether the project has ever been matched: an empty queue means something else before."""
    return project.runs.filter(kind=RunKind.MATCH).exists() and project.edges.exists()


def before_cards(project: Project) -> list[Run]:
    """The runs under way that suggestions come from, or that bring what a match needs."""
    return list(project.runs.filter(status__in=ACTIVE, kind__in=BEFORE_CARDS).defer("params", "report").order_by("pk"))


def statuses() -> list[tuple[str, str]]:
    return [(value, str(label)) for value, label in (*EdgeStatus.choices, (ALL, gettext("All")))]


def heads_of(project: Project, chosen: QueueFilter, edges: Sequence[CandidateEdge]) -> dict[int, Head]:
    """By edge, the head of its group."""
    counted = {"donor": quotas, "acceptor": acceptor_quotas, "category": category_quotas}[chosen.side]
    known = counted(project, chosen, sorted({chosen.group_of(edge) for edge in edges})) if edges else {}
    return {edge.pk: _head(chosen, edge, known[chosen.group_of(edge)]) for edge in edges}


def _head(chosen: QueueFilter, edge: CandidateEdge, quota: Quota) -> Head:
    group = chosen.group_of(edge)
    if chosen.side == "category":
        return Head(chosen.side, group, quota, category=edge.source.category if group else None)
    if chosen.side == "acceptor":
        return Head(chosen.side, group, quota, page=edge.target)
    return Head(chosen.side, group, quota, page=edge.source, authority=authority_in_words(edge))
