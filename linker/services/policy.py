"""Readings of what a run found: tiers and sensitivity, without matching again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import connection, transaction

from linker import store
from linker.matching.params import MatchParams
from linker.models import CandidateEdge, Project, SensitiveCategory, Tier
from linker.patterns import compile_pattern
from linker.services.eligibility import subtrees
from linker.store import stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from django.db.models import QuerySet


def retier(project: Project, edge_ids: Sequence[int] | None = None) -> dict[str, int]:
    """Reads the tiers of undecided edges again, without matching: of all, or of those among `edge_ids`.

    An edge goes into the text where its tier wants it there, the text has words for it, and the donor has room for one
    more: decided links first, then by score. Returns the undecided edges of each tier, among the same.
    Locks the edges in the order of their ids before any is written, as every writer of many edges does.
    """
    ids = None if edge_ids is None else list(edge_ids)
    names = dict(Tier.objects.filter(project=project).values_list("pk", "name"))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            """
            WITH value AS (
                SELECT o.id, o.source_id, o.target_id, o.score, o.stale, o.status <> 'suggested' AS decided,
                    o.placement, o.span_start IS NOT NULL AS has_place,
                    coalesce((run.params ->> 'inline_per_donor')::int, %(inline)s) AS room,
                    CASE WHEN %(basis)s = 'probability' AND o.probability IS NULL THEN 'cosine'
                        ELSE %(basis)s END AS basis,
                    CASE %(basis)s WHEN 'quantile' THEN o.quantile WHEN 'cosine' THEN o.similarity
                        ELSE coalesce(o.probability, o.similarity) END AS value
                FROM linker_candidateedge o JOIN linker_run run ON run.id = o.run_id
                WHERE o.project_id = %(project)s AND o.status IN ('suggested', 'accepted', 'exported')
                    AND (%(ids)s::bigint[] IS NULL OR o.source_id IN (
                        SELECT source_id FROM linker_candidateedge WHERE id = ANY(%(ids)s::bigint[])))
            ), reading AS (
                SELECT value.*, t.id AS tier, coalesce(t.rel, 'nofollow') AS rel,
                    coalesce(t.placement, 'related') = 'inline' AS wanted
                FROM value LEFT JOIN LATERAL (
                    SELECT * FROM linker_tier WHERE project_id = %(project)s AND basis = value.basis
                        AND lower_bound <= value.value ORDER BY lower_bound DESC LIMIT 1
                ) t ON true
            ), placed AS (
                SELECT reading.*, row_number() OVER (
                    PARTITION BY source_id, CASE WHEN decided THEN placement = 'inline' ELSE wanted AND has_place END
                    ORDER BY decided DESC, stale, score DESC, target_id
                ) AS turn FROM reading
            ), r AS (
                SELECT o.id, p.tier, p.rel, p.wanted AND NOT p.has_place AS gap,
                    CASE WHEN p.wanted AND p.has_place AND p.turn <= p.room THEN 'inline'
                        ELSE 'related' END AS placement
                FROM placed p JOIN linker_candidateedge o ON o.id = p.id
                WHERE o.status = 'suggested' AND (%(ids)s::bigint[] IS NULL OR o.id = ANY(%(ids)s::bigint[]))
                    AND (o.tier_id, o.rel, o.content_gap, o.placement) IS DISTINCT FROM (p.tier, p.rel,
                        p.wanted AND NOT p.has_place,
                        CASE WHEN p.wanted AND p.has_place AND p.turn <= p.room THEN 'inline' ELSE 'related' END)
                ORDER BY o.id FOR NO KEY UPDATE OF o
            )
            UPDATE linker_candidateedge e SET tier_id = r.tier, placement = r.placement, rel = r.rel,
                content_gap = r.gap
            FROM r WHERE e.id = r.id
            """,
            {"project": project.pk, "ids": ids, "basis": project.tier_basis, "inline": MatchParams.inline_per_donor},
        )
        cursor.execute(
            """
            SELECT tier_id, count(*) FROM linker_candidateedge
            WHERE project_id = %(project)s AND status = 'suggested' AND NOT stale
                AND (%(ids)s::bigint[] IS NULL OR id = ANY(%(ids)s::bigint[]))
            GROUP BY tier_id
            """,
            {"project": project.pk, "ids": ids},
        )
        counts = dict(cursor.fetchall())
    found = dict.fromkeys(project.tiers.filter(basis=project.tier_basis).values_list("name", flat=True), 0)
    for tier, count in counts.items():
        name = names.get(tier, "below every tier")
        found[name] = found.get(name, 0) + count
    return {**found, "below every tier": found.get("below every tier", 0)}


def mark_sensitive(project: Project, among: QuerySet[CandidateEdge] | None = None) -> int:
    """Writes on every edge why a person must look, where its donor or acceptor is sensitive.

    `among` keeps to these of the project's edges. Returns how many of the project's need a person. Locks as retier
    does.
    """
    edges = CandidateEdge.objects.filter(project=project) if among is None else among
    chosen, params = edges.order_by().values("id").query.sql_with_params()
    reasons = _sensitive_pages(project)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS sensitive_pages")
        cursor.execute("CREATE TEMP TABLE sensitive_pages (page bigint PRIMARY KEY, reason text) ON COMMIT DROP")
        store.copy_rows_in("sensitive_pages", ["page", "reason"], reasons.items())
        cursor.execute("ANALYZE sensitive_pages")
        cursor.execute(
            f"""
            WITH r AS (
                SELECT o.id, coalesce('The acceptor is ' || t.reason, 'The donor is ' || s.reason, '') AS reason
                FROM linker_candidateedge o LEFT JOIN sensitive_pages s ON s.page = o.source_id
                LEFT JOIN sensitive_pages t ON t.page = o.target_id
                WHERE o.id IN ({chosen})
                    AND o.sensitive <> coalesce('The acceptor is ' || t.reason, 'The donor is ' || s.reason, '')
                ORDER BY o.id FOR NO KEY UPDATE OF o
            )
            UPDATE linker_candidateedge e SET sensitive = r.reason FROM r WHERE e.id = r.id
            """,
            params,
        )
        cursor.execute(
            "SELECT count(*) FROM linker_candidateedge WHERE project_id = %s AND sensitive <> ''", [project.pk]
        )
        row = cursor.fetchone()
    return int(row[0]) if row else 0


def _sensitive_pages(project: Project) -> dict[int, str]:
    """Why each sensitive page is: "medical (Magazine › Health)"."""
    found: dict[int, str] = {}
    rules = list(SensitiveCategory.objects.filter(project=project).select_related("category").order_by("pk"))
    for rule in rules:
        if rule.category is not None:
            reason = f"{rule.get_kind_display().lower()} ({rule.category})"[:280]
            subtree = subtrees(project, [rule.category.pk])
            pages = stream("sensitive", "SELECT id FROM linker_page WHERE category_id = ANY(%s)", [list(subtree)])
            for (page,) in pages:
                found.setdefault(page, reason)
    patterns: list[tuple[Callable[[str], Any], str]] = [
        (
            compile_pattern(rule.url_pattern).search,
            f"{rule.get_kind_display().lower()} (address has {rule.url_pattern})",
        )
        for rule in rules
        if rule.url_pattern
    ]
    if patterns:
        for page, url in stream("addresses", "SELECT id, url FROM linker_page WHERE project_id = %s", [project.pk]):
            for matches, reason in patterns:
                if matches(url):
                    found.setdefault(page, reason[:280])
                    break
    return found
