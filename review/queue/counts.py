"""How many edges there are under a filter, by what can be done with them.

The counts are kept (linker.models.edge_counts) for what most filters ask for. What no count is kept of, such as the
words of a search, is counted as far as MOST, so that a page takes no longer on a large site than on a small one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Q, Sum
from django.utils import timezone

from linker.models import EdgeStatus, Project, Tier
from linker.models.querysets import ACCEPTED, PROPOSED, STALE, UNDECIDED, holds, of
from linker.wording import AtLeast
from review.models import AFTER_RELEASE, Decision, KnownReading, SecondReading, SetAside, Verb
from review.overlap import newest_due
from review.queue import opinions
from review.queue.filters import ALL, QueueFilter
from review.queue.known_edges import STATUS_AFTER, closed_donors, known_of
from review.queue.search import search_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

MOST = 5_000
SENSITIVE = ~Q(sensitive="")
DECIDES = (Verb.ACCEPT, Verb.EDIT, Verb.REJECT)


@dataclass(frozen=True)
class Counts:
    """Edges under a filter's scope, by what can be done with them; `today` is what the user has decided or read,
    without decisions on released links. What the user has set aside is in `later` alone, and what else the user waits
    for an opinion on in `waiting` alone. `asked` are those to be reviewed that others ask the user about. Where not all
    were counted, each is an AtLeast.
    """

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
    waiting: int
    asked: int

    @property
    def total(self) -> int:
        return self._sum(self.to_review, self.later, self.waiting, self.held, self.stale, self.decided)

    @property
    def decided(self) -> int:
        return self._sum(self.accepted, self.rejected, self.exported, self.withdrawn)

    @staticmethod
    def _sum(*numbers: int) -> int:
        is_whole = not any(isinstance(number, AtLeast) for number in numbers)
        return sum(numbers) if is_whole else AtLeast(sum(numbers))

    def left(self, chosen: QueueFilter) -> int:
        """The suggestions that the list of this filter still holds."""
        if chosen.later:
            return self.later
        if chosen.waiting:
            return self.waiting
        return self.asked if chosen.asked else self.to_review

    def of(self, status: str) -> int:
        """The edges that a list of this status holds, or of all; those set aside have a list of their own."""
        if status == ALL:  # without what is hidden, as the list
            return self._sum(self.to_review, self.later, self.waiting, self.decided)
        found: int = getattr(self, "to_review" if status == EdgeStatus.SUGGESTED else status)
        return found

    @property
    def percent(self) -> int:
        """Decided, of what is decided or to review; 100 only when nothing is left."""
        known = self.decided + self.to_review + self.later + self.waiting
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


@dataclass(frozen=True)
class _OfUser:
    """What the user has set aside; what else the user waits for an opinion on, and what the user is asked about."""

    aside: Sequence[_Kind] = ()
    waiting: Sequence[_Kind] = ()
    asked: Sequence[_Kind] = ()


def queue_counts(project: Project, chosen: QueueFilter, user: User) -> Counts:
    """Counts under every field of the filter but its status; what is held or stale counts where it is shown."""
    kept = chosen.counts(project)
    kinds, are_all = _counted(project, chosen) if kept is None else (_kept(project, kept), True)
    known = _known(project, chosen, user)
    kinds += [*known.kinds, *_to_read(project, chosen, user), *_closed(project, chosen, user)]
    is_shown = chosen.hidden_left_out()

    def number(rule: Q, *, shown: bool | None = None) -> int:
        found = _number(kinds, rule, is_shown, shown)
        return found if are_all else AtLeast(found)

    mine = _of_user(project, chosen, user, known)
    apart = [*mine.aside, *mine.waiting]

    def without_apart(rule: Q) -> int:
        found = number(rule, shown=True)
        return type(found)(max(0, found - _number(apart, rule, is_shown, shown=True)))

    return Counts(
        to_review=without_apart(UNDECIDED),
        sensitive=without_apart(UNDECIDED & SENSITIVE),
        held=number(UNDECIDED & PROPOSED, shown=False),
        stale=number(UNDECIDED & STALE, shown=False),
        accepted=number(ACCEPTED),
        rejected=number(Q(status=EdgeStatus.REJECTED)),
        exported=number(Q(status=EdgeStatus.EXPORTED)),
        withdrawn=number(Q(status=EdgeStatus.WITHDRAWN)),
        today=_today(project, user),
        later=_number(mine.aside, UNDECIDED, is_shown, shown=True),
        waiting=_number(mine.waiting, UNDECIDED, is_shown, shown=True),
        asked=_number(mine.asked, UNDECIDED, is_shown, shown=True),
    )


def _number(kinds: Iterable[_Kind], rule: Q, is_shown: Q, shown: bool | None) -> int:
    """Edges that meet the rule, of those that the queue shows, of those that it does not, or of all."""
    return sum(kind.number for kind in kinds if holds(rule, kind) and shown in (None, holds(is_shown, kind)))


def _closed(project: Project, chosen: QueueFilter, user: User) -> list[_Kind]:
    """What is open and counts no more for the user, who has said of its donors that they take no more links."""
    donors = list(closed_donors(project, user)) if project.known_share else []
    if not donors:
        return []
    edges = chosen.scope(project).filter(UNDECIDED, source__in=donors).order_by()
    return _kinds(project, ((*row, -1) for row in edges.values_list("tier", "status", "stale", "sensitive")))


def _to_read(project: Project, chosen: QueueFilter, user: User) -> list[_Kind]:
    """What the user is to read as the second counts as open, and not as it was decided."""
    due = newest_due(project, user) if project.read_twice else []
    if not due:
        return []
    aside = SetAside.objects.filter(project=project, user=user, edge__in=due).values_list("edge", flat=True)
    edges = chosen.scope(project).filter(pk__in=due).exclude(pk__in=aside).order_by()
    rows = list(edges.values_list("tier", "status", "stale", "sensitive"))
    were = _kinds(project, ((tier, EdgeStatus.SUGGESTED, *more, 1) for tier, _status, *more in rows))
    return [*were, *_kinds(project, ((*row, -1) for row in rows))]


@dataclass(frozen=True)
class _Known:
    """Cards whose answer is known: all, and of these what the user has set aside and asks for an opinion on."""

    kinds: Sequence[_Kind] = ()
    aside: Sequence[_Kind] = ()
    waiting: Sequence[_Kind] = ()


def _known(project: Project, chosen: QueueFilter, user: User) -> _Known:
    """Each as the suggestion that it is to the user."""
    rows = list(known_of(project, chosen, user).values_list("said", "tier"))
    if not rows:
        return _Known()
    found = _kinds(project, ((tier, STATUS_AFTER.get(said, EdgeStatus.SUGGESTED), False, "", 1) for said, tier in rows))
    said = {verb: [kind for kind, row in zip(found, rows, strict=True) if row[0] == verb] for verb in ("aside", "ask")}
    return _Known(found, said["aside"], said["ask"])


def _of_user(project: Project, chosen: QueueFilter, user: User, known: _Known) -> _OfUser:
    """Those that differ from user to user: no more than a few people put there."""
    own = SetAside.objects.filter(of("edge", UNDECIDED), project=project, user=user)
    aside = set(own.values_list("edge", flat=True))
    waiting, asked = opinions.open_of(project, user)
    ids = aside | waiting | asked
    if not ids:
        return _OfUser(known.aside, known.waiting)
    rows = list(
        chosen.scope(project).filter(pk__in=ids).order_by().values_list("pk", "tier", "status", "stale", "sensitive")
    )
    kinds = dict(zip((pk for pk, *_ in rows), _kinds(project, ((*row[1:], 1) for row in rows)), strict=True))
    mine = [[kinds[pk] for pk in some & kinds.keys()] for some in (aside, waiting - aside, asked - aside)]
    return _OfUser([*mine[0], *known.aside], [*mine[1], *known.waiting], mine[2])


def _today(project: Project, user: User) -> int:
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    decided = Decision.objects.filter(project=project, user=user, at__gte=midnight, undone_by__isnull=True)
    read = SecondReading.objects.filter(project=project, reader=user, at__gte=midnight, undone_by__isnull=True)
    today = decided.exclude(verb__in=[Verb.UNDO, *AFTER_RELEASE]).count() + read.exclude(verb=Verb.UNDO).count()
    if project.known_share:
        known = KnownReading.objects.filter(project=project, reader=user, at__gte=midnight, undone_by__isnull=True)
        today += known.filter(verb__in=DECIDES).count()
    return today


def _kept(project: Project, kept: QuerySet) -> list[_Kind]:
    rows = kept.order_by().values_list("tier", "status", "stale", "is_sensitive").annotate(Sum("number"))
    return _kinds(project, rows)


def _counted(project: Project, chosen: QueueFilter) -> tuple[list[_Kind], bool]:
    """Of the edges that no count is kept of, and whether all were counted."""
    search = search_of(project, chosen.text) if chosen.text else None
    edges = chosen.scope(project, search).order_by().values("tier_id", "status", "stale", "sensitive")
    if (chosen.probability is not None or chosen.since is not None) and chosen.tier is None:  # their indexes go by tier
        tiers = Tier.objects.filter(project=project).values_list("pk", flat=True)
        # In the order of the index: the planner would else gather all of a tier before it counts the first of them.
        column = "-probability" if chosen.since is None else "-created_at"
        parts = [edges.filter(tier=tier).order_by(column)[: MOST + 1] for tier in [*tiers, None]]
        edges = parts[0].union(*parts[1:], all=True)
    some = edges[: MOST + 1]
    try:
        sql, params = some.query.sql_with_params()
    except EmptyResultSet:  # what is asked for can meet nothing, such as a category that is gone
        return [], True
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
