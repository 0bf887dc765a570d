"""Two kept match runs side by side, donor by donor: what a page shows of a comparison."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection

from linker.matching.report_types import CompareReport
from linker.models import CandidateEdge, ChangedDonors, EdgeStatus, KeptRun, LinkChange, Page, RunComparison
from linker.models.querysets import DECIDED
from linker.reports.compare import tier_name

if TYPE_CHECKING:
    from linker.models import Project

DONORS_SHOWN = 20
_LINKS = """
SELECT k.kept_id, k.source, l.target, l.place, round(coalesce(l.probability, l.score)::numeric, 6)::float8,
    l.tier, l.anchor
FROM linker_keptlinks k CROSS JOIN LATERAL unnest(k.targets, k.scores, k.probabilities, k.tiers, k.anchors)
    WITH ORDINALITY l (target, score, probability, tier, anchor, place)
WHERE k.kept_id = ANY(%s) AND k.source = ANY(%s)
"""


@dataclass(frozen=True)
class KeptLink:
    """A link as a run left it: its place among the links of its donor, its probability or score, its tier, its
    words."""

    place: int
    value: float
    tier: str
    anchor: str


@dataclass(frozen=True)
class ChangedLink:
    """A link to `target` before and after, None where the run did not have it; `status` where it was decided on."""

    target: Page
    before: KeptLink | None
    after: KeptLink | None
    status: str


@dataclass(frozen=True)
class ChangedDonor:
    """A donor with the links that changed in the way that was asked for."""

    source: Page
    links: list[ChangedLink]


@dataclass(frozen=True)
class ChangesPage:
    """Some donors of a comparison, and the id after which the next ones come; None on the last page."""

    donors: list[ChangedDonor]
    after: int | None


def comparison_of(project: Project, run: KeptRun, before: KeptRun) -> RunComparison | None:
    return RunComparison.objects.filter(run__run__project=project, run=run, before=before).first()


def counts(report: CompareReport) -> list[tuple[LinkChange, int]]:
    return [(change, getattr(report, change.value)) for change in LinkChange]


def changes_page(comparison: RunComparison, change: LinkChange, after: int = 0) -> ChangesPage:
    """The donors after an id whose links changed in a way, in the order of their ids. Five queries."""
    rows = ChangedDonors.objects.filter(comparison=comparison, change=change, last__gt=after).order_by("last")
    ids = [source for row in rows[:2] for source in row.sources if source > after][: DONORS_SHOWN + 1]
    shown = ids[:DONORS_SHOWN]
    found = _changed(comparison, change, shown)
    pages = Page.objects.only("url", "title", "project").in_bulk(
        {*shown, *(target for links in found.values() for target, *_ in links)}
    )
    status = _statuses(shown)
    donors = [
        ChangedDonor(
            pages[source],
            [
                ChangedLink(pages[target], old, new, status.get((source, target), ""))
                for target, old, new in found[source]
                if target in pages
            ],
        )
        for source in shown
        if source in pages
    ]
    return ChangesPage(donors, shown[-1] if len(ids) > DONORS_SHOWN else None)


Link = tuple[int, KeptLink | None, KeptLink | None]


def _changed(comparison: RunComparison, change: LinkChange, sources: list[int]) -> dict[int, list[Link]]:
    """By donor, the links that changed so, in the order of the later run, then of the earlier one."""
    runs = KeptRun.objects.in_bulk([comparison.before_id, comparison.run_id])
    before, after = runs[comparison.before_id], runs[comparison.run_id]
    sides: dict[int, dict[int, dict[int, KeptLink]]] = {before.pk: defaultdict(dict), after.pk: defaultdict(dict)}
    tiers = {kept.pk: [None, *kept.tiers] for kept in (before, after)}
    with connection.cursor() as cursor:
        cursor.execute(_LINKS, [[before.pk, after.pk], sources])
        for kept, source, target, place, value, tier, anchor in cursor.fetchall():
            name = tier_name(tiers[kept][tier or 0])
            sides[kept][source][target] = KeptLink(place, value, name, anchor)
    found = {}
    for source in sources:
        old, new = sides[before.pk][source], sides[after.pk][source]
        links: list[Link] = [(target, old.get(target), new.get(target)) for target in {**old, **new}]
        moved = _moved(old, new)
        links = [link for link in links if _is(change, link, moved)]
        found[source] = sorted(links, key=lambda link: _order(*link))
    return found


def _order(target: int, old: KeptLink | None, new: KeptLink | None) -> tuple[int, int]:
    return (0, new.place) if new else (1, old.place if old else 0)


def _moved(old: dict[int, KeptLink], new: dict[int, KeptLink]) -> set[int]:
    """The links of both runs that have another place among the links of both."""
    both = old.keys() & new.keys()
    first, second = (sorted(both, key=lambda target: side[target].place) for side in (old, new))
    return {target for target, other in zip(first, second, strict=True) if target != other}


def _is(change: LinkChange, link: Link, moved: set[int]) -> bool:
    target, old, new = link
    if old is None or new is None:
        return change == LinkChange.NEW if old is None else change in (LinkChange.GONE, LinkChange.DECIDED)
    return {
        LinkChange.MOVED: target in moved,
        LinkChange.TIER: old.tier != new.tier,
        LinkChange.WORDS: old.anchor != new.anchor,
    }.get(change, False)


def _statuses(sources: list[int]) -> dict[tuple[int, int], str]:
    """What was decided on the pairs of these donors, in words."""
    rows = CandidateEdge.objects.filter(DECIDED, source__in=sources).values_list("source_id", "target_id", "status")
    return {(source, target): str(EdgeStatus(status).label) for source, target, status in rows}
