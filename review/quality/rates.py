"""How good the links are that audits judged: rates with intervals, and how far two judges agree."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.db import connection
from django.db.models import Count
from django.utils.translation import gettext as _

from linker.engine.candidates.registry import label_of
from linker.wording import percent
from review.models import Drawn, Grade, SampleKind, SampleLink
from review.queue.agreement import Answers, Kappa, kappa
from review.queue.known_rates import wilson

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from django.db.models import QuerySet

    from linker.models import Project

MOST = 20_000  # links that two people judged and that are compared: some years of audits
MOST_ROWS = 50  # of a table


@dataclass
class Rate:
    """Links that were judged, by grade. A link that two people judged counts half for each: parts add up to links."""

    name: str
    links: int = 0
    good: float = 0.0
    borderline: float = 0.0
    bad: float = 0.0

    @property
    def share(self) -> float:
        """Bad ones of all."""
        return self.bad / self.links if self.links else 0.0

    @property
    def low(self) -> float:
        return wilson(self.bad, self.links)[0]

    @property
    def high(self) -> float:
        return wilson(self.bad, self.links)[1]


@dataclass(frozen=True)
class Rates:
    """`by_origin`: by what the links were drawn from; `tables`: what else they are counted by, with its name."""

    whole: Rate
    by_origin: dict[str, Rate]
    tables: list[tuple[str, list[Rate]]]
    kappa: Kappa


# A link that two people judged counts once, with the mean of their grades. Each is counted by all that the tables name.
_COUNTED = """
WITH link AS (
    SELECT avg((l.grade = 'good')::int)::float8 AS good, avg((l.grade = 'bad')::int)::float8 AS bad,
        min(l.drawn_from) AS drawn, min(l.tier) AS tier, min(l.probability) AS probability,
        min(l.generators) AS generators, coalesce(min(u.username), '') AS approved_by, min(l.section) AS section
    FROM review_samplelink l LEFT JOIN auth_user u ON u.id = l.decided_by_id
    WHERE l.project_id = %(project)s AND l.grade <> '' AND l.sample_id IN (
        SELECT id FROM review_sample WHERE project_id = %(project)s AND kind = %(audit)s AND until >= %(since)s)
    GROUP BY l.sample_id, l.edge_id
)
SELECT part.kind, part.name, count(*), sum(good), sum(bad) FROM link CROSS JOIN LATERAL (
    VALUES ('whole', ''), ('drawn', drawn), ('tier', tier), ('by', approved_by), ('section', section),
        ('band', coalesce(least(floor(probability * 10), 9)::text, ''))
    UNION ALL SELECT 'found', unnest(generators)
) part (kind, name) GROUP BY 1, 2
"""


def rates(project: Project, since: datetime) -> Rates:
    """What was judged in audits since a moment. Three queries."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNTED, {"project": project.pk, "audit": SampleKind.AUDIT.value, "since": since})
        counted: defaultdict[str, list[Rate]] = defaultdict(list)
        for kind, name, links, good, bad in cursor.fetchall():
            counted[kind].append(Rate(name, links, good, links - good - bad, bad))
    by_origin = {rate.name: rate for rate in counted["drawn"]}
    return Rates(
        whole=next(iter(counted["whole"]), Rate("")),
        by_origin=by_origin,
        tables=[
            (_("By how they were approved"), _named(counted["drawn"], lambda name: str(Drawn(name).label))),
            (_("By tier"), _named(counted["tier"], lambda name: name or _("No tier"))),
            (_("By stated probability"), _named(counted["band"], _band, key=lambda rate: rate.name)),
            (_("By what found the link"), _named(counted["found"], lambda name: _(label_of(name)))),
            (_("By who approved it"), _named(counted["by"], lambda name: name or _("Nobody: unreviewed"))),
            (_("By section"), _named(counted["section"], lambda name: name or _("No category"))),
        ],
        kappa=agreement_of(SampleLink.objects.filter(project=project, sample__in=_audits(project, since))),
    )


def _audits(project: Project, since: datetime) -> QuerySet[Any, Any]:
    return project.samples.filter(kind=SampleKind.AUDIT, until__gte=since).values("pk")


def _named(
    rates: list[Rate], name: Callable[[str], str], key: Callable[[Rate], Any] = lambda rate: (-rate.links, rate.name)
) -> list[Rate]:
    return sorted((replace(rate, name=name(rate.name)) for rate in rates), key=key)[:MOST_ROWS]


def _band(tenth: str) -> str:
    if not tenth:
        return "\N{EN DASH}"
    low = int(tenth) / 10
    return _("%(least)d to %(most)s") % {"least": round(low * 100), "most": percent(low + 0.1)}


def agreement_of(links: QuerySet[SampleLink]) -> Kappa:
    """How far two judges of the same link agree on whether it is bad."""
    two = links.exclude(grade="").order_by().values("sample", "edge").annotate(judges=Count("pk")).filter(judges=2)
    chosen = {(sample, edge) for sample, edge in two.values_list("sample", "edge")[:MOST]}
    if not chosen:
        return kappa({})
    graded: dict[tuple[int, int], list[bool]] = defaultdict(list)
    rows = links.exclude(grade="").filter(edge__in={edge for _sample, edge in chosen}).order_by("turn")
    for sample, edge, grade in rows.values_list("sample", "edge", "grade"):
        graded[sample, edge].append(grade != Grade.BAD)
    return kappa(Counter(Answers(*pair) for pair in graded.values() if len(pair) == 2))
