"""Readings of what a run found: tiers and sensitivity, without matching again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import connection, transaction

from linker import store
from linker.models import CandidateEdge, Project, SensitiveCategory, Tier
from linker.patterns import compile_pattern
from linker.services.eligibility import subtrees
from linker.store import stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from django.db.models import QuerySet


def retier(project: Project, edge_ids: Sequence[int] | None = None) -> dict[str, int]:
    """Reads the tiers of undecided edges again, without matching: of all, or of those among `edge_ids`.

    Returns the undecided edges of each tier, among the same. Locks the edges in the order of their ids before any is
    written, as every writer of many edges does.
    """
    ids = None if edge_ids is None else list(edge_ids)
    tiers = list(Tier.objects.filter(project=project))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            """
            WITH r AS (
                SELECT o.id, t.id AS tier, coalesce(t.placement, 'related') AS placement,
                    coalesce(t.rel, 'nofollow') AS rel
                FROM linker_candidateedge o LEFT JOIN LATERAL (
                    SELECT * FROM linker_tier WHERE project_id = o.project_id AND lower_bound <= o.score
                    ORDER BY lower_bound DESC LIMIT 1
                ) t ON true
                WHERE o.project_id = %(project)s AND o.status = 'suggested'
                    AND (%(ids)s::bigint[] IS NULL OR o.id = ANY(%(ids)s::bigint[]))
                    AND (o.tier_id, o.placement, o.rel) IS DISTINCT FROM
                        (t.id, coalesce(t.placement, 'related'), coalesce(t.rel, 'nofollow'))
                ORDER BY o.id FOR NO KEY UPDATE OF o
            )
            UPDATE linker_candidateedge e SET tier_id = r.tier, placement = r.placement, rel = r.rel
            FROM r WHERE e.id = r.id
            """,
            {"project": project.pk, "ids": ids},
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
    return {**{tier.name: counts.get(tier.pk, 0) for tier in tiers}, "below every tier": counts.get(None, 0)}


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
