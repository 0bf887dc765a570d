"""From proposed to live: how many links are at each step, how long a step takes, and which need somebody."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import merge
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, Q, Subquery, Value
from django.utils import timezone
from django.utils.translation import gettext as _

from linker.models import Membership, Run, RunKind, RunStatus
from linker.models.edge_counts import kept_counts, total
from linker.models.querysets import ACCEPTED, REOPENED
from linker.models.subtrees import categories_below
from linker.query_strings import is_id, unknown_fields
from review.live.counts import released_links
from review.live.seeing import AT_REST
from review.models import Decision, LiveState, Operation, Pending, PublishedLink, Verb

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.db.models import QuerySet

    from linker.models import Project

PAGE_SIZE = 50
STUCK_DAYS = 30
RELEASED_BEFORE = 10_000
SAMPLED = 1000  # newest links, of which the length of a step is the median
MOST = 5000  # links that are counted for a filter
# Given to nobody, or to somebody who has left the project.
WITH_NOBODY = Q(owner=None) | ~Exists(Membership.objects.filter(project=OuterRef("project"), user=OuterRef("owner")))
TO_SEE_TO = tuple(state for state in LiveState if state not in AT_REST)
FIRST = LiveState.DEAD  # listed before all others: readers follow these links, and arrive nowhere
LOOKED_AT = 1000  # links that lead nowhere, of which those that wait for somebody are counted


@dataclass(frozen=True)
class Step:
    """A step of the funnel: how many links have come so far, and their share of those of the step before."""

    name: str
    links: int
    share: float | None


@dataclass(frozen=True)
class Funnel:
    """Whatever became of it since, a link that was released was approved: by a person or by the rules of its tier.

    `states` counts released links that nobody has closed, `closed` the others; `stuck` those that have needed somebody
    for more than STUCK_DAYS, as far as MOST; `found_otherwise` those that are on the site, and not as they were
    released; `to_release` and `to_live` are medians in days, None where no link has come so far."""

    steps: list[Step]
    lost: int
    found_otherwise: int
    states: dict[LiveState, int]
    closed: int
    stuck: int
    to_release: float | None
    to_live: float | None
    looked_at: datetime | None


def funnel(project: Project) -> Funnel:
    proposed = int(kept_counts(project).aggregate(links=total())["links"])
    out = released_links(project)
    released, live, lost = out.released, out.live, out.states.get(LiveState.LOST, 0)
    approved = released + count_accepted(project)
    to_release, to_live = _days_a_step(project)
    return Funnel(
        steps=[
            Step(_("Proposed"), proposed, None),
            Step(_("Approved"), approved, _share(approved, proposed)),
            Step(_("Released"), released, _share(released, approved)),
            Step(_("Found on the site"), live, _share(live, released)),
            Step(_("Lost"), lost, _share(lost, released)),
        ],
        lost=lost,
        found_otherwise=live - out.states.get(LiveState.LIVE, 0),
        states={state: out.to_see_to(state) for state in LiveState if out.states.get(state)},
        closed=released - sum(out.still_open.values()),
        stuck=number_stuck(project, STUCK_DAYS),
        to_release=to_release,
        to_live=to_live,
        looked_at=_looked_at(project),
    )


def count_accepted(project: Project) -> int:
    """Accepted links that no release has named. Those that one did are few, and taken off what is kept: what came back
    to the queue, and what was withdrawn, of which the RELEASED_BEFORE that left last are looked at."""
    accepted = int(kept_counts(project).aggregate(links=total(ACCEPTED))["links"])
    back = project.edges.filter(ACCEPTED & REOPENED)[:RELEASED_BEFORE].count()
    off = PublishedLink.objects.filter(project=project)
    for state in (LiveState.REMOVED, LiveState.STILL_THERE):
        rows = off.filter(state=state).order_by("-since").values("edge")[:RELEASED_BEFORE]
        back += project.edges.filter(ACCEPTED, pk__in=rows).exclude(REOPENED).count()
    return accepted - back


def _share(links: int, base: int) -> float | None:
    return links / base if base else None


def number_stuck(project: Project, days: int) -> int:
    """Links that have needed somebody for so many days, as far as MOST."""
    return LiveFilter(days=days).links(project).order_by()[: MOST + 1].count()


def lead_nowhere(project: Project) -> QuerySet[PublishedLink]:
    """The links that stand on the site and lead nowhere, as far as nobody has closed one or asked for its removal: of
    the LOOKED_AT that have done so the longest."""
    first = LiveFilter(state=FIRST).links(project).values("edge")[:LOOKED_AT]
    asked = Pending.objects.filter(edge=OuterRef("edge"), operation=Operation.REMOVE)
    return PublishedLink.objects.filter(~Exists(asked), edge__in=first)


def _looked_at(project: Project) -> datetime | None:
    """When released links were last looked for."""
    looks = Run.objects.filter(project=project, kind=RunKind.VERIFY, status=RunStatus.SUCCEEDED).order_by("-pk")
    return looks.values_list("finished_at", flat=True).first()


def _days_a_step(project: Project) -> tuple[float | None, float | None]:
    """Median days from the decision to the release, and from there to the first sight on the site."""
    decisions = Decision.objects.filter(edge=OuterRef("edge"), verb__in=[Verb.ACCEPT, Verb.EDIT]).order_by("-pk")
    links = PublishedLink.objects.filter(project=project).annotate(decided_at=Subquery(decisions.values("at")[:1]))
    rows = list(links.order_by("-edge").values_list("decided_at", "released_at", "first_live_at")[:SAMPLED])
    return (
        _median_days([(decided, sent) for decided, sent, _ in rows]),
        _median_days([(sent, live) for _, sent, live in rows]),
    )


def _median_days(pairs: list[tuple[datetime | None, datetime | None]]) -> float | None:
    waits = [end - start for start, end in pairs if start is not None and end is not None and start <= end]
    return median(wait / timedelta(days=1) for wait in waits) if waits else None


@dataclass(frozen=True)
class LiveFilter:
    """Which released links are listed, those that are so the longest first. Empty fields do not restrict, but that only
    links are listed which somebody has to see to, and of these those first that lead nowhere.

    `days`: for at least so many days. `owner`: the id of who has them, 0 for nobody who is still a member. `category`:
    the donor's, with all below it. `closed`: those that a person took as they are.
    """

    state: str = ""
    days: int | None = None
    owner: int | None = None
    category: int | None = None
    closed: bool = False
    ignored: tuple[str, ...] = ()

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> Self:
        """Reads a QueryDict; what is not understood is left out and named in `ignored`."""
        ignored = unknown_fields(query, {"state", "days", "owner", "category", "closed", "after"})
        state = query.get("state", "")
        if state and state not in LiveState.values:
            ignored, state = (*ignored, "state"), ""
        numbers: dict[str, int | None] = {}
        for name in ("days", "owner", "category"):
            text = query.get(name, "").strip()
            numbers[name] = int(text) if text == "0" or is_id(text) else None
            if text and numbers[name] is None:
                ignored = (*ignored, name)
        days = numbers["days"]
        if days is not None and days > timedelta.max.days // 1000:
            ignored, numbers["days"] = (*ignored, "days"), None
        return cls(state, **numbers, closed=query.get("closed", "") == "on", ignored=tuple(ignored))

    def to_query(self, **more: Any) -> str:
        """The inverse of from_query, without what does not restrict."""
        values = {"state": self.state, "days": self.days, "owner": self.owner, "category": self.category}
        values |= {"closed": "on" if self.closed else "", **more}
        return urlencode({name: value for name, value in values.items() if value not in ("", None)})

    def links(self, project: Project) -> QuerySet[PublishedLink]:
        links = PublishedLink.objects.filter(project=project)
        links = links.filter(state__in=[self.state] if self.state else TO_SEE_TO)
        links = links.filter(closed_at__isnull=not self.closed)
        if self.days is not None:
            links = links.filter(since__lte=timezone.now() - timedelta(days=self.days))
        if self.owner is not None:
            links = links.filter(Q(owner=self.owner) if self.owner else WITH_NOBODY)
        if self.category is not None:
            links = links.filter(edge__section__in=categories_below(project, [self.category]))
        return links.order_by("since", "edge")


def page(project: Project, chosen: LiveFilter, after: str) -> tuple[list[PublishedLink], str]:
    """One screen of links with their pages and owners, and the cursor of the next one, empty at the end. A cursor that
    cannot be read is the beginning.

    A query a state, each on its range of the index: however many links there are, few are read and none are sorted.
    """
    links = left = chosen.links(project)
    since, _sign, place = after.rpartition("~")
    edge, _sign, in_first = place.partition(".")
    if is_id(edge) and (moment := _moment(since)) is not None:
        left = links.filter(Q(since__gt=moment) | Q(since=moment, edge__gt=int(edge)), since__gte=moment)
    else:
        in_first = "first"
    states = [chosen.state] if chosen.state else [state for state in TO_SEE_TO if in_first or state != FIRST]
    ranges = [
        (links if in_first and state != FIRST else left)
        .filter(state=state)
        .annotate(later=Value(state != FIRST))
        .values_list("later", "since", "edge")[: PAGE_SIZE + 1]
        for state in states
    ]
    found = list(islice(merge(*map(list, ranges)), PAGE_SIZE + 1))
    joined = PublishedLink.objects.select_related(
        "edge__source", "edge__target", "owner", "release", "closed_by", "edge__pending"
    )
    edges = [edge for _, _, edge in found[:PAGE_SIZE]]
    shown = joined.defer("edge__source__body", "edge__target__body").in_bulk(edges)
    return [shown[edge] for edge in edges], _cursor(*found[PAGE_SIZE - 1]) if len(found) > PAGE_SIZE else ""


def _cursor(later: bool, since: datetime, edge: int) -> str:
    return f"{since.isoformat()}~{edge}{'' if later else '.first'}"


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None
