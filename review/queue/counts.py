"""How many edges there are under a filter, by what can be done with them.

The counts are kept (linker.models.edge_counts) for what most filters ask for. What no count is kept of, such as the
words of a search, is counted as far as MOST, so that a page takes no longer on a large site than on a small one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import Q, Sum
from django.utils import timezone

from linker.models import EdgeStatus, Project, Tier
from linker.models.querysets import ACCEPTED, PROPOSED, STALE, UNDECIDED, holds
from review.models import Decision, SetAside, Verb
from review.queue.filters import ALL, QueueFilter
from review.queue.search import Search

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

MOST = 10_000
SENSITIVE = ~Q(sensitive="")


class AtLeast(int):
    """A number that counting stopped at: there may be more."""


@dataclass(frozen=True)
class Counts:
    """Edges under a filter's scope, by what can be done with them; `today` is the user's own decisions. What the user
    has set aside is in `later` alone. Where not all were counted, each is an AtLeast."""

    to_review: int
    sensitive: int
    held: int
    stale: int
    accepted: int
    rejected: int
    exported: int
    withdrawn: int
    today: int
    later: int

    @property
    def total(self) -> int:
        return self._sum(self.to_review, self.later, self.held, self.stale, self.decided)

    @property
    def decided(self) -> int:
        return self._sum(self.accepted, self.rejected, self.exported, self.withdrawn)

    @staticmethod
    def _sum(*numbers: int) -> int:
        is_whole = not any(isinstance(number, AtLeast) for number in numbers)
        return sum(numbers) if is_whole else AtLeast(sum(numbers))

    def of(self, status: str) -> int:
        """The edges that a list of this status holds, or of all; those set aside have a list of their own."""
        found: int = getattr(self, {EdgeStatus.SUGGESTED: "to_review", ALL: "total"}.get(status, status))
        return found

    @property
    def percent(self) -> int:
        """Decided, of what is decided or to review; 100 only when nothing is left."""
        known = self.decided + self.to_review + self.later
        return self.decided * 100 // known if known else 0


@dataclass(frozen=True)
class _Kind:
    """`number` edges of one kind, as the rules about edges look at them."""

    tier: Tier | None
    status: str
    stale: bool
    sensitive: str
    number: int

    @property
    def tier_id(self) -> int | None:
        return self.tier.pk if self.tier else None


def queue_counts(project: Project, chosen: QueueFilter, user: User) -> Counts:
    """Counts under every field of the filter but its status; what is held or stale counts where it is shown."""
    kept = chosen.counts(project)
    kinds, are_all = _counted(project, chosen) if kept is None else (_kept(project, kept), True)
    is_shown = chosen.hidden_left_out()

    def number(rule: Q, *, shown: bool | None = None) -> int:
        found = _number(kinds, rule, is_shown, shown)
        return found if are_all else AtLeast(found)

    def without(found: int, aside: int) -> int:
        return type(found)(max(0, found - aside))

    set_aside = _set_aside(project, chosen, user)
    later = _number(set_aside, UNDECIDED, is_shown, shown=True)
    later_sensitive = _number(set_aside, UNDECIDED & SENSITIVE, is_shown, shown=True)
    return Counts(
        to_review=without(number(UNDECIDED, shown=True), later),
        sensitive=without(number(UNDECIDED & SENSITIVE, shown=True), later_sensitive),
        held=number(UNDECIDED & PROPOSED, shown=False),
        stale=number(UNDECIDED & STALE, shown=False),
        accepted=number(ACCEPTED),
        rejected=number(Q(status=EdgeStatus.REJECTED)),
        exported=number(Q(status=EdgeStatus.EXPORTED)),
        withdrawn=number(Q(status=EdgeStatus.WITHDRAWN)),
        today=_today(project, user),
        later=later,
    )


def _number(kinds: Iterable[_Kind], rule: Q, is_shown: Q, shown: bool | None) -> int:
    """Edges that meet the rule, of those that the queue shows, of those that it does not, or of all."""
    return sum(kind.number for kind in kinds if holds(rule, kind) and shown in (None, holds(is_shown, kind)))


def _set_aside(project: Project, chosen: QueueFilter, user: User) -> list[_Kind]:
    """What the user has set aside under the filter: no more than one person puts there."""
    ids = list(SetAside.objects.filter(project=project, user=user).values_list("edge", flat=True))
    if not ids:
        return []
    rows = chosen.scope(project).filter(pk__in=ids).values_list("tier", "status", "stale", "sensitive")
    return _kinds(project, ((*row, 1) for row in rows.order_by()))


def _today(project: Project, user: User) -> int:
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    decided = Decision.objects.filter(project=project, user=user, at__gte=midnight, undone_by__isnull=True)
    return decided.exclude(verb=Verb.UNDO).count()


def _kept(project: Project, kept: QuerySet) -> list[_Kind]:
    rows = kept.order_by().values_list("tier", "status", "stale", "is_sensitive").annotate(Sum("number"))
    return _kinds(project, rows)


def _counted(project: Project, chosen: QueueFilter) -> tuple[list[_Kind], bool]:
    """Of the edges that no count is kept of, and whether all were counted."""
    search = Search(project, chosen.text) if chosen.text else None
    edges = chosen.scope(project, search).order_by()
    some = edges.values("tier_id", "status", "stale", "sensitive")[: MOST + 1]
    sql, params = some.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tier_id, status, stale, sensitive <> '', count(*) "
            f"FROM ({sql}) counted (tier_id, status, stale, sensitive) GROUP BY 1, 2, 3, 4",
            params,
        )
        kinds = _kinds(project, cursor.fetchall())
    is_whole = search is None or not search.is_wide
    return kinds, is_whole and sum(kind.number for kind in kinds) <= MOST


def _kinds(project: Project, rows: Iterable[tuple]) -> list[_Kind]:
    tiers = {tier.pk: tier for tier in Tier.objects.filter(project=project)}
    return [
        _Kind(tiers.get(tier), status, stale, "sensitive" if sensitive else "", number)
        for tier, status, stale, sensitive, number in rows
    ]
