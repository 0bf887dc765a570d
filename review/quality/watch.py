"""What is looked for: each function gives the causes of one kind of alert with the numbers found."""

from __future__ import annotations

from datetime import timedelta
from math import erfc, sqrt
from typing import TYPE_CHECKING, Any

from django.db import connection
from django.db.models import Count, Q
from django.utils import timezone

from linker.matching.kept_runs import standing_run
from linker.matching.report_types import MatchReport
from linker.models import Basis, RunComparison
from linker.projects.tier_preview import Spread
from review.live.counts import counts
from review.live.funnel import number_stuck
from review.models import AlertKind, Decision, LiveState, Verb

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from linker.models import Project
    from review.quality.limits import Limits

Found = tuple[AlertKind, str, dict[str, Any]]
NEAR = 2  # hundredths on either side of a bound
LEAST_OPEN, LEAST_DECIDED, LEAST_LINKS = 100, 30, 5  # fewer say nothing
WEEK, BEFORE = timedelta(days=7), timedelta(days=28)
LIKELY = 0.01  # a fall that chance brings about less often than this
MOST_CAUSES = 20  # of a kind, the gravest first

_DONORS = """
    WITH added AS (
        SELECT DISTINCT l.edge_id FROM review_releaselink l JOIN review_release r ON r.id = l.release_id
        WHERE r.project_id = %(project)s AND r.created_at >= %(since)s AND l.operation = 'add'
    ), gained AS (
        SELECT e.source_id AS page, count(*) AS links FROM added a JOIN linker_candidateedge e ON e.id = a.edge_id
        JOIN review_publishedlink o ON o.edge_id = e.id AND o.is_out
        WHERE coalesce((
            SELECT l.operation FROM review_releaselink l JOIN review_release r ON r.id = l.release_id
            WHERE l.edge_id = e.id AND r.created_at < %(since)s ORDER BY l.release_id DESC LIMIT 1
        ), 'remove') = 'remove'
        GROUP BY 1 HAVING count(*) >= %(limit)s
    )
    SELECT p.id, p.url, g.links, (
        SELECT count(*) FROM linker_candidateedge e JOIN review_publishedlink o ON o.edge_id = e.id
        WHERE e.project_id = %(project)s AND e.source_id = g.page AND o.is_out
    ) FROM gained g JOIN linker_page p ON p.id = g.page ORDER BY g.links DESC, p.id LIMIT %(most)s
"""
_ANCHORS = """
    WITH touched AS (
        SELECT DISTINCT e.target_id AS page FROM review_releaselink l JOIN review_release r ON r.id = l.release_id
        JOIN linker_candidateedge e ON e.id = l.edge_id
        WHERE r.project_id = %(project)s AND r.created_at >= %(since)s
    ), said AS (
        SELECT e.target_id AS page, lower(o.anchor) AS words, count(*) AS links,
               sum(count(*)) OVER (PARTITION BY e.target_id) AS whole
        FROM touched t JOIN linker_candidateedge e ON e.target_id = t.page
        JOIN review_publishedlink o ON o.edge_id = e.id
        WHERE o.is_out GROUP BY 1, 2
    )
    SELECT p.id, p.url, s.words, s.links, s.whole FROM said s JOIN linker_page p ON p.id = s.page
    WHERE s.whole >= %(least)s AND 100 * s.links >= %(limit)s * s.whole AND s.links > 1
    ORDER BY s.links DESC, p.id LIMIT %(most)s
"""


def watch(project: Project, limits: Limits) -> Iterator[Found]:
    """Whatever is beyond its limit now."""
    yield from near_bounds(project, limits.near)
    yield from donors(project, limits.donor)
    yield from anchors(project, limits.anchors)
    yield from histogram(project, limits.histogram)
    yield from shrunk(project, limits.shrunk)
    yield from acceptance(project, limits.acceptance)
    yield from lost(project, limits.lost)
    yield from dead(project, limits.dead)
    yield from stuck(project, limits.stuck)


def near_bounds(project: Project, limit: int) -> Iterator[Found]:
    """From kept counts by hundredths, for the basis that the project reads tiers by."""
    spread = Spread(project, Basis(project.tier_basis))
    bars = spread.bars()
    whole = sum(bar.open for bar in bars)
    for bound in spread.bounds() if whole >= LEAST_OPEN else ():
        at = round(bound.lower * 100)
        near = sum(bar.open for bar in bars if at - NEAR <= bar.low < at + NEAR)
        if not bound.held and 100 * near > limit * whole:
            yield AlertKind.NEAR_BOUND, f"tier:{bound.tier}", {"tier": bound.name, "near": near, "open": whole}


def donors(project: Project, limit: int) -> Iterator[Found]:
    """Donors that have as many links more than a week ago as the limit, and no fewer than they had then."""
    for page, url, gained, out in _rows(_DONORS, project, limit=limit):
        if gained >= out - gained:
            yield AlertKind.DONOR, f"page:{page}", {"url": url, "gained": gained, "out": out}


def anchors(project: Project, limit: int) -> Iterator[Found]:
    """Targets of which a week of releases touched a link, and whose links say the same too often."""
    for page, url, words, links, whole in _rows(_ANCHORS, project, limit=limit, least=LEAST_LINKS):
        found = {"url": url, "words": words, "links": links, "whole": int(whole)}
        yield AlertKind.ANCHORS, f"page:{page}", found


def _rows(query: str, project: Project, **fields: Any) -> list[Any]:
    said = {"project": project.pk, "since": timezone.now() - WEEK, "most": MOST_CAUSES, **fields}
    with connection.cursor() as cursor:
        cursor.execute(query, said)
        return list(cursor.fetchall())


def histogram(project: Project, limit: int) -> Iterator[Found]:
    """The newest match run that was compared, and the one before it: how far apart their histograms lie. Those of a few
    links differ by chance alone, and say nothing."""
    compared = RunComparison.objects.filter(run__run__project=project).order_by("-run", "-before")
    report = compared.values_list("report", flat=True).first() or {}
    parts = [part for name in ("within", "across") if (part := report.get(name))]
    apart = [part["divergence"] for part in parts if (part.get("links") or LEAST_OPEN) >= LEAST_OPEN]
    if apart and 100 * max(apart) > limit:
        found = {"run": report.get("run"), "before": report.get("before"), "apart": round(max(apart), 2)}
        yield AlertKind.HISTOGRAM, f"run:{report.get('run')}", found


def shrunk(project: Project, limit: int) -> Iterator[Found]:
    """What the queue shows by the standing run, against what it showed just before that, whichever run that was."""
    run = standing_run(project)
    change = MatchReport.from_json(run.report).queue if run is not None else None
    if run is None or change is None or change.before < LEAST_OPEN:
        return
    if 100 * (change.before - change.now) > limit * change.before:
        yield AlertKind.SHRUNK, f"run:{run.pk}", {"run": run.pk, "whole": change.before, "open": change.now}


def acceptance(project: Project, limit: int) -> Iterator[Found]:
    """The share accepted of a week's decisions, against the four weeks before."""
    now = timezone.now()
    new = _decided(project, now - WEEK, now)
    old = _decided(project, now - WEEK - BEFORE, now - WEEK)
    if min(new[1], old[1]) < LEAST_DECIDED:
        return
    share, before = new[0] / new[1], old[0] / old[1]
    if 100 * (before - share) >= limit and chance_of_fall(*old, *new) < LIKELY:
        yield AlertKind.ACCEPTANCE, "", {"share": share, "before": before, "decided": new[1]}


def _decided(project: Project, since: datetime, until: datetime) -> tuple[int, int]:
    """Accepted, and decided in all, without what was taken back."""
    verbs = (Verb.ACCEPT, Verb.EDIT, Verb.REJECT)
    made = Decision.objects.filter(project=project, at__gte=since, at__lt=until, verb__in=verbs, undone_by=None)
    found = made.aggregate(accepted=Count("pk", filter=~Q(verb=Verb.REJECT)), decided=Count("pk"))
    return found["accepted"], found["decided"]


def chance_of_fall(right: int, number: int, right_now: int, number_now: int) -> float:
    """How likely a share falls as far as from `right` of `number` to `right_now` of `number_now` by chance: the
    one-sided test of two independent proportions with the pooled variance.

    J. L. Fleiss, B. Levin, M. C. Paik (2003), Statistical Methods for Rates and Proportions, 3rd edition, section 3.1.
    """
    pooled = (right + right_now) / (number + number_now)
    spread = sqrt(pooled * (1 - pooled) * (1 / number + 1 / number_now))
    fall = right / number - right_now / number_now
    return 0.5 * erfc(fall / spread / sqrt(2)) if spread else 1.0


def lost(project: Project, limit: int) -> Iterator[Found]:
    links = counts(project)[1].get(LiveState.LOST, 0)
    if links > limit:
        yield AlertKind.LOST, "", {"links": links}


def dead(project: Project, limit: int) -> Iterator[Found]:
    links = counts(project)[1].get(LiveState.DEAD, 0)
    if links > limit:
        yield AlertKind.DEAD, "", {"links": links}


def stuck(project: Project, limit: int) -> Iterator[Found]:
    links = number_stuck(project, limit)
    if links:
        yield AlertKind.STUCK, "", {"links": links, "days": limit}
