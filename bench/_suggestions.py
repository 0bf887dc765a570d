"""A made-up project with any number of suggestions, as its queue meets them after a year of work; seeded.

Twenty-five suggestions a donor. Of a hundred, four are open and shown, 61 are held back or below every tier, 12 are no
longer proposed, and 23 are decided, each with its decision. Pages lie in 200 categories of very different sizes.
"guide" stands in three titles of ten, "copperhead" in one of 20,000, and each of 5,000 other words in a 1,000th.
Indexes that are no constraint are made after the rows, as PostgreSQL's manual advises.
"""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from linker.models import Membership, Placement, Project, Rel, Role, Run, RunKind, Tier
from linker.projects.create import create_project
from linker.storage.copy import analyze

if TYPE_CHECKING:
    from collections.abc import Iterator

A_DONOR = 25
CATEGORIES = 200
BOUNDS = {"Likely": 0.95, "Related": 0.938, "Reserve": 0.7}  # by which _EDGES reads its suggestions
EDITORS = 10
_PAGES = """
INSERT INTO linker_page (project_id, url, canonical_url, status, title, h1, headings, description, body, language,
    category_id, status_code, indexable, indexability_status, canonical_link, redirect_url, inlinks, outlinks,
    first_seen_at, last_seen_at)
SELECT %(project)s, 'https://bench.example/' || w || '/' || n, 'https://bench.example/' || w || '/' || n, 'live',
    title, title, '{}', 'What the page is about, in a sentence.', repeat('Some words about a thing, and more. ', 40) ||
    'the words of the link here. ' || repeat('Other words about another thing. ', 20), 'en',
    c.id, 200, true, '', '', '', 3, 3, now(), now()
FROM (SELECT n, 'w' || n * 7919 %% 5000 AS w,
    CASE WHEN n %% 10 < 3 THEN 'Guide to ' WHEN n %% 20000 = 7 THEN 'Copperhead ' ELSE '' END
    || 'w' || n * 7919 %% 5000 || ' w' || n * 104729 %% 5000 || ' ' || n AS title
    FROM generate_series(1::bigint, %(pages)s) n) p
JOIN (SELECT id, row_number() OVER (ORDER BY id) AS rank FROM linker_category WHERE project_id = %(project)s) c
    ON c.rank = least(%(categories)s, floor(exp(((p.n * 0.6180339887) %% 1)::float8 * ln(%(categories)s + 0.999))))
"""
_EDGES = """
INSERT INTO linker_candidateedge (project_id, source_id, target_id, status, reviewed, stale, run_id, generators,
    ranked_by, level, similarity, score, probability, quantile, why, evidence, donor_best, worth, donor_worth, need,
    created_at, updated_at, tier_id, placement, rel, sensitive, content_gap, anchor, anchor_source,
    anchor_alternatives, edited, span_start, span_end)
SELECT %(project)s, %(first)s + d, %(first)s + (d + 1 + k * 37) %% %(pages)s, status, status <> 'suggested',
    status = 'suggested' AND kind < 12, CASE WHEN kind < 12 THEN %(earlier)s ELSE %(run)s END,
    CASE WHEN e %% 1009 = 0 THEN '{mentions}' WHEN e %% 3 = 0 THEN '{nearest,words}' ELSE '{nearest}' END::text[],
    'learned', 0, 0.5, score, score, 0.5, 'Its text is alike and 3 pages link both.', '{"cosine": 0.6}',
    max(score) OVER (PARTITION BY d), score * 0.7, 0.7 * max(score) OVER (PARTITION BY d), 0.5, now(), now(),
    CASE WHEN score >= 0.95 THEN %(likely)s WHEN score >= 0.938 THEN %(related)s
        WHEN score >= 0.7 THEN %(reserve)s END,
    CASE WHEN score >= 0.95 AND e %% 5 > 0 THEN 'inline' ELSE 'related' END,
    CASE WHEN score >= 0.95 THEN 'follow' ELSE 'nofollow' END,
    CASE WHEN e %% 500 = 3 THEN 'Medicine: “dose” in the title' ELSE '' END,
    score >= 0.95 AND e %% 5 = 0, 'the words of the link w' || e %% 5000, 'mention', '[]', false,
    CASE WHEN score >= 0.95 AND e %% 5 > 0 THEN 10 END, CASE WHEN score >= 0.95 AND e %% 5 > 0 THEN 30 END
FROM (
    SELECT e, e / %(a_donor)s AS d, e %% %(a_donor)s AS k, (e * 48271 %% 2147483647) %% 100 AS kind,
        ((e * 16807 + e / 7 * 69621) %% 1000003) / 1000003.0 AS score,
        CASE WHEN (e * 48271 %% 2147483647) %% 100 = 99 THEN 'accepted'
            WHEN (e * 48271 %% 2147483647) %% 100 = 98 THEN 'withdrawn'
            WHEN (e * 48271 %% 2147483647) %% 100 >= 98 - %(exported)s THEN 'exported'
            WHEN (e * 48271 %% 2147483647) %% 100 > 76 THEN 'rejected' ELSE 'suggested' END AS status
    FROM generate_series(0::bigint, %(edges)s - 1) e
) e ORDER BY 2, 3
"""
_DECISIONS = """
INSERT INTO review_decision (edge_id, project_id, user_id, at, verb, reason, note, status_before, status_after,
    anchor_before, source_before, anchor_after, rel_before, rel_after, edited_before, seen_run_id, seen_score,
    seen_similarity, seen_tier, seen_placement, seen_ranked_by, seen_content_gap)
SELECT e.id, e.project_id, (%(users)s::int[])[1 + e.id %% %(editors)s],
    now() - CASE WHEN e.id %% 500 = 0 THEN interval '1 minute' WHEN %(spread)s THEN e.id %% 400 * interval '3 hours'
        ELSE interval '40 days' END,
    CASE e.status WHEN 'rejected' THEN 'reject' ELSE 'accept' END, '', '', 'suggested', e.status, e.anchor, 'mention',
    e.anchor, 'follow', 'follow', false, e.run_id, e.score, 0.5, '', e.placement, 'learned', false
FROM linker_candidateedge e WHERE e.project_id = %(project)s AND e.status <> 'suggested' ORDER BY e.id
"""


def make_suggestions(
    edges: int, slug: str, *, a_donor: int = A_DONOR, exported: int = 2, spread: bool = False
) -> Project:
    """The project, with EDITORS members, made if it is not there. `exported`: of a hundred suggestions; `spread`: the
    decisions lie on fifty days, and not on one."""
    known = Project.objects.filter(slug=slug).first()
    if known is not None:
        return known
    project = create_project(slug=slug, name=slug, base_url="https://bench.example")
    users = [_editor(project, number) for number in range(EDITORS)]
    earlier, run = (
        Run.objects.create(
            project=project, kind=RunKind.MATCH, status="succeeded", finished_at=timezone.now() - timedelta(days=days)
        )
        for days in (7, 0)
    )
    for name, bound in BOUNDS.items():  # not every basis has the tier between the others from the start
        placement, rel = {"Likely": (Placement.INLINE, Rel.FOLLOW)}.get(name, (Placement.RELATED, Rel.NOFOLLOW))
        given = {"placement": placement, "rel": rel, "held": name == "Reserve"}
        Tier.objects.update_or_create(
            project=project,
            basis=project.tier_basis,
            name=name,
            defaults={"lower_bound": bound},
            create_defaults={"lower_bound": bound, **given},
        )
    tiers = {tier.name.lower(): tier.pk for tier in project.tiers.filter(basis=project.tier_basis)}
    values = {
        "project": project.pk, "run": run.pk, "earlier": earlier.pk,
        "edges": edges, "pages": max(edges // a_donor, 1000),
        "categories": CATEGORIES, "a_donor": a_donor, "users": users, "editors": EDITORS, "exported": exported,
        "spread": spread, **tiers,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO linker_category (project_id, name, path, path_key, depth) "
            "SELECT %(project)s, name, ARRAY[name], md5(name), 1 FROM generate_series(1, %(categories)s) n, "
            "concat('Category ', n) name",
            values,
        )
        with _indexes_later(cursor, "linker_page", "linker_candidateedge", "review_decision"):
            cursor.execute("SET session_replication_role = replica")
            cursor.execute(_PAGES, values)
            cursor.execute("SELECT min(id) FROM linker_page WHERE project_id = %s", [project.pk])
            cursor.execute(_EDGES, values | {"first": cursor.fetchone()[0]})
            cursor.execute(_DECISIONS, values)
            cursor.execute("SET session_replication_role = DEFAULT")
    analyze("linker_page", "linker_candidateedge", "review_decision", "linker_edgecount", "linker_edgeband")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM linker_page, linker_candidateedge, review_decision, linker_edgecount, linker_edgeband")
    return project


def _editor(project: Project, number: int) -> int:
    user, _ = User.objects.get_or_create(username=f"editor-{number}")
    Membership.objects.create(project=project, user=user, role=Role.EDITOR)
    return user.pk


@contextmanager
def _indexes_later(cursor, *tables: str) -> Iterator[None]:
    cursor.execute(
        "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = ANY(%s) AND indexname NOT IN "
        "(SELECT conname FROM pg_constraint)",
        [list(tables)],
    )
    known = cursor.fetchall()
    for name, _ in known:
        cursor.execute(f'DROP INDEX "{name}"')
    yield
    for _, definition in known:
        cursor.execute(definition)
