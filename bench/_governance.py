"""Releases, audits, calibrations, alerts, safety classes and gates of a made-up project of any size; seeded.

The suggestions are those of bench/_suggestions.py, five a donor; twenty of a hundred were released, in a release a
week. Of the links that are out the site shows nine of ten as they were released; a quarter of the others are closed.
Two match runs are kept, and every week had an audit.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from _suggestions import make_suggestions
from django.db import connection
from django.utils import timezone

from linker.matching.kept_runs import keep_links
from linker.matching.run_comparison import compare_with_last
from linker.models import BarredPair, Category, Gate, Membership, Role, Run, RunKind, SafetyClass
from linker.storage.copy import analyze
from linker.storage.edge_counts import fold
from review.models import ReleaseDraft, RolloutRule, Sample
from review.releases import drafts

if TYPE_CHECKING:
    from linker.models import Project

A_DONOR, EXPORTED = 5, 20
RELEASES, AUDITS, CALIBRATIONS = 52, 52, 10
_EXPORTED = "linker_candidateedge e WHERE e.project_id = %(project)s AND e.status = 'exported'"
_RELEASES = """
INSERT INTO review_release (project_id, number, format, filters, status, links, added, changed, removed, held,
    held_for, bytes, sha256, created_at, created_by_id)
SELECT %(project)s, n, 'full', '{}', 'accepted', 0, 0, 0, 0, 0, '{}', 0, '',
    now() - (%(releases)s - n) * interval '7 days', %(user)s FROM generate_series(1, %(releases)s) n
"""
_ROWS = f"""
INSERT INTO review_releaselink (release_id, edge_id, operation, anchor, rel)
SELECT r.id, e.id, 'add', e.anchor, e.rel FROM review_release r
JOIN (SELECT * FROM {_EXPORTED}) e ON r.number = 1 + e.id %% %(releases)s
WHERE r.project_id = %(project)s ORDER BY r.number, e.id
"""
_COUNTED = """
UPDATE review_release r SET links = n.links, added = n.links, held = %(held)s
FROM (SELECT release_id, count(*) AS links FROM review_releaselink GROUP BY 1) n WHERE n.release_id = r.id
"""
_HELD = """
INSERT INTO review_heldback (release_id, edge_id, operation, reason, detail)
SELECT r.id, e.id, 'add', (ARRAY['gone', 'linked', 'donor_full', 'same_anchor'])[1 + e.id %% 4], 'The page is gone.'
FROM review_release r CROSS JOIN LATERAL (
    SELECT id FROM linker_candidateedge WHERE project_id = %(project)s AND status = 'accepted' LIMIT %(held)s
) e WHERE r.project_id = %(project)s
"""
_HELD_FOR = """
UPDATE review_release r SET held_for = n.held_for FROM (
    SELECT release_id, jsonb_object_agg(reason, jsonb_build_array(links, 0, 0)) AS held_for FROM (
        SELECT release_id, reason, count(*) AS links FROM review_heldback GROUP BY 1, 2
    ) reasons GROUP BY 1
) n WHERE n.release_id = r.id
"""
_OUT = """
INSERT INTO review_publishedlink (edge_id, project_id, release_id, is_out, anchor, rel, released_at, state, since,
    looked_at, seen_anchor, first_live_at, closed_at, closed_note)
SELECT l.edge_id, r.project_id, r.id, true, l.anchor, l.rel, r.created_at, s.state, s.since, now(), '',
    r.created_at + interval '5 days', CASE WHEN s.state <> 'live' AND l.edge_id %% 4 = 0 THEN now() END, ''
FROM review_releaselink l JOIN review_release r ON r.id = l.release_id,
LATERAL (SELECT CASE WHEN l.edge_id %% 10 > 0 THEN 'live' ELSE
    (ARRAY['missing', 'lost', 'different', 'moved', 'target', 'donor', 'sent'])[1 + l.edge_id / 10 %% 7] END AS state,
    r.created_at + l.edge_id %% 400 * interval '1 minute' AS since) s
WHERE r.project_id = %(project)s ORDER BY l.edge_id
"""
_EVENTS = """
INSERT INTO review_linkevent (project_id, edge_id, at, before, after, release_id, seen_anchor, note)
SELECT project_id, edge_id, released_at, '', 'sent', release_id, '', '' FROM review_publishedlink
WHERE project_id = %(project)s
UNION ALL
SELECT project_id, edge_id, since, 'sent', state, NULL, anchor, '' FROM review_publishedlink
WHERE project_id = %(project)s
"""
_SITE = """
INSERT INTO linker_existinglink (project_id, source_id, target_id, block, anchor, follow, last_seen_at)
SELECT e.project_id, e.source_id, e.target_id, 1, p.anchor, p.rel = 'follow', now()
FROM review_publishedlink p JOIN linker_candidateedge e ON e.id = p.edge_id
WHERE p.project_id = %(project)s AND p.state = 'live'
"""
_JUDGED = """
INSERT INTO review_samplelink (sample_id, project_id, edge_id, place, turn, reader_id, drawn_from, decided_by_id, tier,
    probability, generators, section, grade)
SELECT s.id, s.project_id, e.id, row_number() OVER (PARTITION BY s.id ORDER BY e.id), t.turn,
    (%(users)s::int[])[1 + (e.id + t.turn) %% 10], CASE s.kind WHEN 'audit' THEN 'approved' ELSE 'band' END,
    (%(users)s::int[])[1 + (e.id + 5) %% 10], 'Likely', e.probability, e.generators, 'Category ' || e.id %% 200,
    CASE WHEN s.id = %(last)s THEN '' ELSE (ARRAY['good', 'good', 'good', 'borderline', 'bad'])[1 + e.id %% 5] END
FROM review_sample s CROSS JOIN LATERAL (
    SELECT * FROM linker_candidateedge WHERE project_id = s.project_id AND status = 'exported'
        AND id > (SELECT min(id) FROM linker_candidateedge WHERE project_id = s.project_id) + s.id * 2000 ORDER BY id
    LIMIT CASE s.kind WHEN 'audit' THEN 80 ELSE 1000 END
) e JOIN (VALUES (0), (1)) t (turn) ON t.turn = 0 OR e.id %% 5 = 0
WHERE s.project_id = %(project)s
"""
_JUDGEMENTS = """
INSERT INTO review_judgement (link_id, judge_id, at, grade, reason, note)
SELECT id, reader_id, now(), grade, '', '' FROM review_samplelink WHERE project_id = %(project)s AND grade <> ''
"""
_ALERTS = """
INSERT INTO review_alert (project_id, kind, cause, found, raised_at, closed_at)
SELECT %(project)s, 'donor', 'page:' || n, jsonb_build_object('url', 'https://bench.example/' || n, 'gained', 12,
    'out', 20), now() - n * interval '1 hour', CASE WHEN n > 150 THEN now() - n * interval '1 minute' END
FROM generate_series(1, 5000) n
"""
_CLOSINGS = """
INSERT INTO review_alertclosing (alert_id, user_id, at, note)
SELECT id, %(user)s, closed_at, 'Known' FROM review_alert WHERE closed_at IS NOT NULL
"""


def make_governance(edges: int, slug: str) -> Project:
    """The project, made if it is not there."""
    project = make_suggestions(edges, slug, a_donor=A_DONOR, exported=EXPORTED, spread=True)
    if project.releases.exists():
        return project
    users = list(Membership.objects.filter(project=project).order_by("user").values_list("user", flat=True))
    Membership.objects.filter(project=project, user=users[0]).update(role=Role.MANAGER)
    held = max(edges // 200, 10)
    values = {"project": project.pk, "releases": RELEASES, "user": users[0], "users": users, "held": held}
    _fill(values, _RELEASES, _ROWS, _COUNTED, _HELD, _HELD_FOR, _OUT, _EVENTS, _SITE)
    _samples(project)
    values["last"] = project.samples.order_by("pk").values_list("pk", flat=True).last()
    _fill(values, _JUDGED, _JUDGEMENTS, _ALERTS, _CLOSINGS)
    analyze(
        "review_release", "review_releaselink", "review_heldback", "review_publishedlink", "review_linkevent",
        "linker_existinglink", "review_sample", "review_samplelink", "review_judgement", "review_alert",
    )  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("VACUUM review_publishedlink, review_releaselink, review_heldback")
    _rules(project)
    fold(project.pk)
    for _ in range(2):
        run = Run.objects.create(project=project, kind=RunKind.MATCH, status="succeeded", finished_at=timezone.now())
        keep_links(run)
    compare_with_last(run)
    drafts.fill(ReleaseDraft.objects.create(project=project))
    return project


def _fill(values: dict[str, object], *statements: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")  # the keys hold as the rows are made
        for statement in statements:
            cursor.execute(statement, values)
        cursor.execute("SET session_replication_role = DEFAULT")


def _samples(project: Project) -> None:
    """An audit a week, the newest still to be judged, and some calibrations before them."""
    for number, kind in enumerate(["calibration"] * CALIBRATIONS + ["audit"] * AUDITS):
        of = RunKind.CALIBRATE if kind == "calibration" else RunKind.AUDIT
        run = Run.objects.create(project=project, kind=of, status="succeeded", finished_at=timezone.now())
        bands = [{"low": n / 10, "high": (n + 1) / 10, "links": 1000, "drawn": 100} for n in range(10)]
        until = timezone.now() - timedelta(days=7 * (CALIBRATIONS + AUDITS - number))
        strata = bands if kind == "calibration" else []
        Sample.objects.create(project=project, kind=kind, run=run, seed=number, until=until, strata=strata)


def _rules(project: Project) -> None:
    categories = list(Category.objects.filter(project=project).order_by("pk")[:12])
    classes = [SafetyClass.objects.create(project=project, name=str(one), category=one) for one in categories]
    for source, target in zip(classes[:5], classes[5:10], strict=True):
        BarredPair.objects.create(project=project, source=source, target=target, reason="The law", either=True)
    Gate.objects.create(project=project, safety_class=classes[0])
    Gate.objects.create(project=project, min_clicks=100)
    for one in categories[10:]:
        RolloutRule.objects.create(project=project, category=one, stage="pilot", share=50)
