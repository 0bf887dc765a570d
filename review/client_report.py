"""A report that a client can be given: what the links have done for the site, as one page.

It is counted by a run of its own and kept with it, so that it says next month what it said when it was handed over.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from linker.matching.kept_runs import standing_run
from linker.models import EdgeStatus
from linker.models.edge_counts import kept_counts, total
from linker.models.linked import TEXT_LINK, linked_sql
from linker.models.querysets import ACCEPTED, FOUND_BY_TEXT, HELD, INDEXABLE, LINKABLE, LIVE, ORPHAN, TO_REVIEW, sql
from linker.projects import overview
from linker.reports.table import Table
from linker.runs import lifecycle
from linker.runs.reports import Report, ReportKind
from linker.storage.site_figures import keep_figures
from linker.wording import in_english
from review.live.counts import ON_THE_SITE, ReleasedLinks, released_links
from review.live.funnel import count_accepted
from review.models import Drawn, Held, LiveState, Operation, Release
from review.quality.rates import rates
from review.queue.known_rates import wilson
from review.releases import checks, held_back

if TYPE_CHECKING:
    from linker.models import Project, Run
    from linker.runs.lifecycle import Progress

STEPS = 4
AUDITED = timedelta(days=91)
DEEP = 3  # clicks from the home page; what lies deeper is seldom crawled
ARRIVING = ", ".join(f"'{state}'" for state in ON_THE_SITE)


@dataclass(frozen=True, kw_only=True)
class SiteFigures:
    """The site's pages and the links in their texts, before the links that were released and with them.

    `ours_in_text` and `ours_beside`: released links that are out, by where they were asked for; None in reports that
    did not ask, which have `beside_after`, those beside a text that were not on the site yet. `nearer`: pages to which
    a released link is a shorter way from the home page; depths are None where no import told one, and known of
    `depth_pages`, None in reports that did not ask.
    """

    pages: int = 0
    indexable: int = 0
    orphans: int = 0
    orphans_after: int = 0
    text_links: int = 0
    text_links_after: int = 0
    beside_after: int = 0
    ours_in_text: int | None = None
    ours_beside: int | None = None
    depth_pages: int | None = None
    deep: int | None = None
    deep_after: int | None = None
    depth: float | None = None
    depth_after: float | None = None
    nearer: int | None = None


@dataclass(frozen=True, kw_only=True)
class WorkFigures:
    """Suggestions, and what became of them. `released`: those that any release has added, None in reports that did not
    ask; `taken_off` of them were removed by one, and `out` are the others; `live` of these are on the site, None where
    no import of links has looked for them yet. `accepted`: approved, and never released. `awaiting`: accepted, and
    waiting for a release, as the overview counts them: with those that were released once and are accepted again; None
    in reports that did not ask. `ready`: those that a release would take now, None in reports that did not ask;
    `changing` of them are out already, and are to be changed or removed; `waiting`: those that it would hold back until
    a second person has approved them. `to_go`: links that are still on the site after their removal was released."""

    to_review: int = 0
    held: int = 0
    accepted: int = 0
    awaiting: int | None = None
    released: int | None = None
    taken_off: int = 0
    ready: int | None = None
    changing: int = 0
    waiting: int = 0
    to_go: int = 0
    exported: int = 0
    rejected: int = 0
    withdrawn: int = 0
    out: int = 0
    live: int | None = None

    @property
    def to_release(self) -> int:
        """Links that the next release would add."""
        return self.ready - self.changing if self.ready is not None else max(0, self.accepted - self.waiting)

    @property
    def decided(self) -> int:
        """A link that was released was approved, whatever became of it. One that came back to the queue and is rejected
        there counts as both until it is off the site."""
        if self.released is not None:
            return self.accepted + self.released + self.rejected
        return self.accepted + max(self.exported, self.out) + self.rejected + self.withdrawn

    @property
    def share(self) -> float | None:
        """Of the decided ones, those that were approved."""
        return (self.decided - self.rejected) / self.decided if self.decided else None


@dataclass(frozen=True, kw_only=True)
class Rate:
    """A rate of an audit: so many `good` of `looked_at`, with the bounds of its interval of 95%."""

    label: str
    good: int
    looked_at: int
    low: float
    high: float

    @property
    def share(self) -> float:
        return self.good / self.looked_at if self.looked_at else 0.0


@dataclass(frozen=True, kw_only=True)
class HeldLinks:
    """Links that the newest release held back for a reason."""

    reason: Held
    links: int


@dataclass(frozen=True, kw_only=True)
class Risks:
    """What may go wrong: of the links that are out and that nobody has closed, `targets_gone` lead to a page that is
    gone, `donors_gone` stood on one, `missing` were looked for and not found, and `lost` were live and have
    disappeared."""

    sensitive_open: int = 0
    sensitive_out: int = 0
    targets_gone: int = 0
    donors_gone: int = 0
    missing: int = 0
    lost: int = 0
    held: tuple[HeldLinks, ...] = ()

    @property
    def are_known(self) -> bool:
        return bool(
            self.held
            or self.sensitive_open
            or self.sensitive_out
            or self.targets_gone
            or self.donors_gone
            or self.missing
            or self.lost
        )


class NextStep(StrEnum):
    """What to do next, the most pressing first."""

    RELEASE = "release"
    CHANGE = "change"
    SECOND = "second"
    REPAIR = "repair"
    HELD = "held"
    REVIEW = "review"
    ORPHANS = "orphans"
    CHECK = "check"


@dataclass(frozen=True, kw_only=True)
class ReleaseFacts:
    """The newest release."""

    number: int
    day: str
    links: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class ClientReport(Report):
    """All of a report. `match` is the match run that stands, `ended` its last day; `audits` are empty, and left out of
    the page, where nobody has audited."""

    match: int | None = None
    ended: str | None = None
    release: ReleaseFacts | None = None
    site: SiteFigures | None = None
    work: WorkFigures | None = None
    audits: tuple[Rate, ...] = ()
    risks: Risks | None = None
    steps: tuple[NextStep, ...] = ()


def audit_rates(project: Project) -> tuple[Rate, ...]:
    """What the audits of the last three months found, by how the links were approved."""
    found = rates(project, timezone.now() - AUDITED).by_origin
    return tuple(
        Rate(
            label=in_english(Drawn(drawn).label),
            good=round(rate.good),
            looked_at=rate.links,
            low=wilson(rate.good, rate.links)[0],
            high=wilson(rate.good, rate.links)[1],
        )
        for drawn, rate in found.items()
    )


def write_report(run: Run, progress: Progress = lifecycle.no_progress) -> ClientReport:
    """The work of a run that writes a report. It only reads."""
    project = run.project
    standing, release = standing_run(project), Release.objects.filter(project=project).first()
    progress(0, STEPS, "Counting pages and links")
    out, links = _links_out(project), released_links(project)
    site = _site(project, out)
    progress(1, STEPS, "Counting suggestions")
    work = _work(project, out, links)
    progress(2, STEPS, "Looking for risks")
    risks = _risks(project, release, out, links)
    progress(3, STEPS, "Writing")
    return ClientReport(
        match=standing.pk if standing else None,
        ended=f"{standing.finished_at:%Y-%m-%d}" if standing and standing.finished_at else None,
        release=_facts(release) if release else None,
        site=site,
        work=work,
        audits=audit_rates(project),
        risks=risks,
        steps=tuple(_steps(site, work, risks, unseen=links.states.get(LiveState.SENT, 0))),
    )


def _facts(release: Release) -> ReleaseFacts:
    return ReleaseFacts(
        number=release.number,
        day=f"{release.created_at:%Y-%m-%d}",
        links=release.links,
        sha256=release.sha256,
    )


class _LinksOut(NamedTuple):
    """The links that are out, beside what is kept of them by state: how many in a text, how many beside one, and how
    many are sensitive; and whether an import has looked for any since it was released."""

    looked_for: int
    in_text: int
    beside: int
    sensitive: int


def _links_out(project: Project) -> _LinksOut:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT count(l.looked_at), count(*) FILTER (WHERE e.placement = 'inline'),
                count(*) FILTER (WHERE e.placement <> 'inline'), count(*) FILTER (WHERE e.sensitive <> '')
            FROM review_publishedlink l JOIN linker_candidateedge e ON e.id = l.edge_id
            WHERE l.project_id = %s AND l.is_out
            """,
            [project.pk],
        )
        return _LinksOut(*cursor.fetchone())


# Links in texts and orphans, without the released links and with them. A link that was asked for beside a text may
# stand in it: many sites have their lists there. So the links of the site that a released one accounts for, `ours`, are
# found as linker.models.linked reads them, one for each, the one with its words first. `coming` are those that the site
# does not have and could; a change of a link that it has is none of them. Orphans that the site has now are counted by
# Page.inlinks; to find the others, few pages need be looked at.
_IN_TEXTS = f"""
WITH ours AS MATERIALIZED (
    SELECT there.id, there.source_id, there.target_id, r.is_out
    FROM review_publishedlink r JOIN linker_candidateedge e ON e.id = r.edge_id
        JOIN linker_page s ON s.id = e.source_id JOIN linker_page t ON t.id = e.target_id
        JOIN LATERAL (
            SELECT l.id, l.source_id, l.target_id FROM linker_existinglink l
            WHERE l.source_id IN (e.source_id, s.leads_to_id) AND l.target_id IN (e.target_id, t.leads_to_id)
                AND {sql(TEXT_LINK, "l")}
            ORDER BY l.anchor = r.seen_anchor DESC, l.id LIMIT 1
        ) there ON true
    WHERE r.project_id = %(project)s AND (r.state <> 'sent' OR r.first_live_at IS NOT NULL OR NOT r.is_out)
), coming AS MATERIALIZED (
    SELECT e.target_id FROM review_publishedlink r JOIN linker_candidateedge e ON e.id = r.edge_id
        JOIN linker_page s ON s.id = e.source_id JOIN linker_page t ON t.id = e.target_id
    WHERE r.project_id = %(project)s AND r.is_out AND r.state NOT IN ({ARRIVING}) AND e.placement = 'inline'
        AND NOT {linked_sql("e")} AND {sql(LINKABLE, "s")} AND {sql(LINKABLE, "t")}
), left_alone AS MATERIALIZED (
    SELECT p.id, NOT EXISTS ({{without_ours}}) AS before, NOT EXISTS ({{without_removed}}) AS after
    FROM linker_page p WHERE p.id IN (SELECT target_id FROM ours WHERE source_id <> target_id)
        AND {sql(INDEXABLE & FOUND_BY_TEXT, "p")}
), orphans AS (
    SELECT p.id, true AS before, true AS after FROM linker_page p
    WHERE p.project_id = %(project)s AND {sql(ORPHAN, "p")}
    UNION ALL SELECT id, before, after FROM left_alone
)
SELECT (SELECT count(*) FROM ours), (SELECT count(*) FROM ours WHERE NOT is_out), (SELECT count(*) FROM coming),
    count(*) FILTER (WHERE before), count(*) FILTER (WHERE after AND id NOT IN (SELECT target_id FROM coming))
FROM orphans
""".format(
    **{
        name: f"SELECT FROM linker_existinglink l WHERE l.target_id = p.id AND l.source_id <> p.id "
        f"AND {sql(TEXT_LINK, 'l')} AND l.id NOT IN (SELECT id FROM ours{where})"
        for name, where in (("without_ours", ""), ("without_removed", " WHERE NOT is_out"))
    }
)

# How far pages are from the home page: of those to which a released link leads from a text, with it. A source that
# tells no depths has one for the home page alone.
_DEPTHS = f"""
WITH reached AS (
    SELECT e.target_id AS page, min(s.crawl_depth) + 1 AS depth
    FROM review_publishedlink l JOIN linker_candidateedge e ON e.id = l.edge_id JOIN linker_page s ON s.id = e.source_id
    WHERE l.project_id = %(project)s AND l.is_out AND e.placement = 'inline' AND {sql(LIVE, "s")}
    GROUP BY 1
)
SELECT count(*) FILTER (WHERE p.crawl_depth > 0), count(*), avg(p.crawl_depth)::float8,
    avg(least(p.crawl_depth, r.depth))::float8, count(*) FILTER (WHERE p.crawl_depth > {DEEP}),
    count(*) FILTER (WHERE least(p.crawl_depth, r.depth) > {DEEP}), count(*) FILTER (WHERE r.depth < p.crawl_depth)
FROM linker_page p LEFT JOIN reached r ON r.page = p.id
WHERE p.project_id = %(project)s AND {sql(LIVE, "p")} AND p.crawl_depth IS NOT NULL
"""


def _site(project: Project, out: _LinksOut) -> SiteFigures:
    figures = overview.site_figures(project, keep_figures(project))
    with connection.cursor() as cursor:
        cursor.execute(_IN_TEXTS, {"project": project.pk})
        ours, to_go, coming, orphans_before, orphans_after = cursor.fetchone()
        cursor.execute(_DEPTHS, {"project": project.pk})
        told, known, depth, depth_after, deep, deep_after, nearer = cursor.fetchone()
    depths: dict[str, Any] = (
        {
            "depth": round(depth, 4),
            "depth_after": round(depth_after, 4),
            "deep": deep,
            "deep_after": deep_after,
            "nearer": nearer,
        }
        if told
        else {}
    )
    return SiteFigures(
        pages=figures.pages,
        indexable=figures.indexable,
        orphans=orphans_before,
        orphans_after=orphans_after,
        text_links=figures.body_links - ours,
        text_links_after=figures.body_links - to_go + coming,
        ours_in_text=out.in_text,
        ours_beside=out.beside,
        depth_pages=known if told else 0,
        **depths,
    )


def _work(project: Project, out: _LinksOut, links: ReleasedLinks) -> WorkFigures:
    ready, changing, waiting = _next_release(project)
    return WorkFigures(
        **kept_counts(project).aggregate(
            to_review=total(TO_REVIEW),
            held=total(HELD),
            awaiting=total(ACCEPTED),
            exported=total(Q(status=EdgeStatus.EXPORTED)),
            rejected=total(Q(status=EdgeStatus.REJECTED)),
            withdrawn=total(Q(status=EdgeStatus.WITHDRAWN)),
        ),
        ready=ready,
        changing=changing,
        accepted=count_accepted(project),
        to_go=links.states.get(LiveState.STILL_THERE, 0),
        waiting=waiting,
        released=links.released,
        taken_off=links.taken_off,
        out=links.released - links.taken_off,
        live=links.live if out.looked_for else None,
    )


def _next_release(project: Project) -> tuple[int, int, int]:
    """What a release of everything would take now, of it changes and removals, and what it would hold back for a second
    person, in links: the figures of the page that makes one."""
    with transaction.atomic():
        checks.gather(project, project.edges.all(), Operation, lock=False)
        checks.hold_back(project, read_sensitive=False)
        found, changing = Counter[str](), 0
        for (operation, reason), links in checks.counts().items():
            found[reason] += links
            changing += links if not reason and operation != Operation.ADD else 0
    return found[""], changing, found[Held.SECOND]


def _risks(project: Project, release: Release | None, out: _LinksOut, links: ReleasedLinks) -> Risks:
    sensitive = kept_counts(project).filter(is_sensitive=True).aggregate(opened=total(TO_REVIEW))
    groups = held_back.groups_of(release) if release else []
    return Risks(
        sensitive_open=sensitive["opened"],
        sensitive_out=out.sensitive,
        targets_gone=links.to_see_to(LiveState.TARGET_GONE),
        donors_gone=links.to_see_to(LiveState.DONOR_GONE),
        missing=links.to_see_to(LiveState.MISSING),
        lost=links.to_see_to(LiveState.LOST),
        held=tuple(HeldLinks(reason=Held(group.reason), links=group.links) for group in groups),
    )


def _steps(site: SiteFigures, work: WorkFigures, risks: Risks, *, unseen: int) -> list[NextStep]:
    """`unseen`: released links that no import has looked for since."""
    wanted = {
        NextStep.RELEASE: work.to_release > 0,
        NextStep.CHANGE: work.changing > 0,
        NextStep.SECOND: work.waiting > 0,
        NextStep.REPAIR: risks.targets_gone + risks.donors_gone + risks.missing + risks.lost > 0,
        NextStep.HELD: bool(risks.held),
        NextStep.REVIEW: work.to_review > 0,
        NextStep.ORPHANS: site.orphans_after > 0,
        NextStep.CHECK: unseen > 0,
    }
    return [step for step, is_due in wanted.items() if is_due]


def sentences(report: ClientReport) -> list[str]:
    return [_("The report has been written.")] if report.site else []


# The page of the report says the rest.
CLIENT_REPORT = ReportKind(
    ClientReport,
    sentences,
    Table({"match": gettext_lazy("Match"), "ended": gettext_lazy("Ended")}, only=("match", "ended")).rows,
)
