"""How good the links are that audits judged: rates with intervals, and how far two judges agree."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Avg, Case, Count, FloatField, Min, Value, When
from django.utils.translation import gettext as _

from linker.engine.candidates.registry import label_of
from linker.wording import percent
from review.models import Drawn, Grade, SampleKind, SampleLink
from review.queue.agreement import Answers, Kappa, kappa
from review.queue.known_rates import wilson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from django.db.models import QuerySet

    from linker.models import Project

MOST = 20_000  # links that are read: some years of audits
MOST_ROWS = 50  # of a table


@dataclass
class Rate:
    """Links that were judged, by grade. A link that two people judged counts half for each: parts add up to links."""

    name: str
    links: int = 0
    good: float = 0.0
    borderline: float = 0.0
    bad: float = 0.0

    def add(self, link: dict[str, Any]) -> None:
        self.links += 1
        self.good += link["good"]
        self.bad += link["bad"]
        self.borderline += 1.0 - link["good"] - link["bad"]

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


def rates(project: Project, since: datetime) -> Rates:
    """What was judged in audits since a moment. Two queries."""
    links = _links(project, since)
    whole, by_origin = Rate(""), dict[str, Rate]()
    for link in links:
        whole.add(link)
        by_origin.setdefault(link["drawn"], Rate(str(Drawn(link["drawn"]).label))).add(link)
    return Rates(
        whole=whole,
        by_origin=by_origin,
        tables=[
            (_("By how they were approved"), list(by_origin.values())),
            (_("By tier"), _by(links, lambda link: [link["in_tier"] or _("No tier")])),
            (_("By stated probability"), _by(links, _band, key=lambda rate: rate.name)),
            (_("By what found the link"), _by(links, lambda link: [_(label_of(one)) for one in link["found_by"]])),
            (_("By who approved it"), _by(links, lambda link: [link["by"] or _("Nobody: unreviewed")])),
            (_("By section"), _by(links, lambda link: [link["of_section"] or _("No category")])),
        ],
        kappa=agreement_of(SampleLink.objects.filter(project=project, sample__in=_audits(project, since))),
    )


def _audits(project: Project, since: datetime) -> QuerySet[Any, Any]:
    return project.samples.filter(kind=SampleKind.AUDIT, until__gte=since).values("pk")


def share_of(grade: Grade) -> Avg:
    """The share of the judges of a link that gave it this grade."""
    return Avg(Case(When(grade=grade, then=Value(1.0)), default=Value(0.0), output_field=FloatField()))


def _links(project: Project, since: datetime) -> list[dict[str, Any]]:
    judged = SampleLink.objects.filter(project=project, sample__in=_audits(project, since)).exclude(grade="")
    found = (
        judged.order_by()
        .values("sample", "edge")
        .annotate(
            good=share_of(Grade.GOOD),
            bad=share_of(Grade.BAD),
            drawn=Min("drawn_from"),
            in_tier=Min("tier"),
            stated=Min("probability"),
            found_by=Min("generators"),
            by=Min("decided_by__username"),
            of_section=Min("section"),
        )
    )
    return [dict(link) for link in found[:MOST]]


def _by(
    links: Iterable[dict[str, Any]],
    names: Callable[[dict[str, Any]], list[str]],
    key: Callable[[Rate], Any] = lambda rate: (-rate.links, rate.name),
) -> list[Rate]:
    found: dict[str, Rate] = {}
    for link in links:
        for name in names(link):
            found.setdefault(name, Rate(name)).add(link)
    return sorted(found.values(), key=key)[:MOST_ROWS]


def _band(link: dict[str, Any]) -> list[str]:
    if link["stated"] is None:
        return ["\N{EN DASH}"]
    low = min(int(link["stated"] * 10), 9) / 10
    return [_("%(least)d to %(most)s") % {"least": round(low * 100), "most": percent(low + 0.1)}]


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
