"""Why pages are sensitive, by the rules and by what was found, and written on their suggestions."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from django.db import connection, transaction

from linker.engine.sensitivity.matcher import Place
from linker.models import CandidateEdge, Project, SensitiveRule, SensitiveState
from linker.models.edge_counts import kept_counts, total
from linker.models.querysets import LIVE, sql
from linker.models.subtrees import tree_sql
from linker.pages.sensitive_sayings import (
    ADDRESS_HAS,
    IN_CATEGORY,
    MAX_REASON,
    OF_ACCEPTOR,
    OF_DONOR,
    SAYS,
    WHOLE_SITE,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import QuerySet

PLACES = tuple(Place)
_SAID = f"coalesce({OF_ACCEPTOR.said_in_sql(reason='t.reason')}, {OF_DONOR.said_in_sql(reason='s.reason')}, '')"

# Every reason for every page of the common table `page`: (page, rule, place, turn), of which the lowest turn is shown.
# Rules of `counted` give reasons even where they were dismissed.
_REASONS = f"""
rule AS (
    SELECT id, category_id, whole_site FROM linker_sensitiverule
    WHERE project_id = %(project)s AND (state <> 'dismissed' OR id = ANY(%(counted)s::bigint[]))
), {tree_sql("tree", "SELECT id, category_id FROM rule WHERE category_id IS NOT NULL", key="rule")}, found AS (
    SELECT p.id AS page, tree.rule, '' AS place, 1 AS turn
    FROM page JOIN linker_page p ON p.id = page.id JOIN tree ON tree.category = p.category_id
    UNION ALL SELECT s.page_id, s.rule_id, s.place, CASE s.place WHEN 'title' THEN 2 WHEN 'h1' THEN 3 ELSE 4 END
    FROM linker_sensitivepage s JOIN rule ON rule.id = s.rule_id JOIN page ON page.id = s.page_id
    UNION ALL SELECT page.id, rule.id, '', 5 FROM page, rule WHERE rule.whole_site
)
"""


def mark_sensitive(project: Project, among: QuerySet[CandidateEdge] | None = None) -> int:
    """Writes on every edge why a person must look, where its donor or acceptor is sensitive.

    `among` keeps to these of the project's edges. Returns how many of the project's need a person. Locks as retier
    does.
    """
    edges = CandidateEdge.objects.filter(project=project) if among is None else among
    chosen, params = edges.order_by().values("id").query.sql_with_params()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS sensitive_edges")
        cursor.execute(
            "CREATE TEMP TABLE sensitive_edges ON COMMIT DROP AS "
            f"SELECT id, source_id, target_id FROM linker_candidateedge WHERE id IN ({chosen})",
            params,
        )
        _write_reasons(cursor, project)
    return _marked(project)


# The pages that the rules of `counted` take, dismissed or not.
_COUNTED = (
    "SELECT category_id FROM linker_sensitiverule WHERE id = ANY(%(counted)s::bigint[]) AND category_id IS NOT NULL"
)
_TAKEN = f"""
{tree_sql("taken", _COUNTED)}, page AS MATERIALIZED (
    SELECT p.id FROM taken JOIN linker_page p ON p.category_id = taken.category
    UNION SELECT page_id FROM linker_sensitivepage WHERE rule_id = ANY(%(counted)s::bigint[])
    UNION SELECT p.id FROM linker_sensitiverule r JOIN linker_page p ON p.project_id = r.project_id
    WHERE r.id = ANY(%(counted)s::bigint[]) AND r.whole_site
)
"""


def mark_pages_of(project: Project, rule_ids: Sequence[int]) -> int:
    """The same after rules began to count, or no longer do, for the edges of the pages that this changes.

    The rules stand as they do now, whichever way each changed. Of a page whose reason is another rule's, before
    and after, no edge is touched. A site has millions of edges, and somebody waits for the answer.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        if rule_ids:
            cursor.execute("DROP TABLE IF EXISTS sensitive_edges, turned")
            # With all that counts before or after, the first reason is one of these rules' where they make a change.
            cursor.execute(
                f"""
                CREATE TEMP TABLE turned ON COMMIT DROP AS
                WITH RECURSIVE {_TAKEN}, {_REASONS}, first AS (
                    SELECT DISTINCT ON (page) page, rule FROM found ORDER BY page, turn, rule
                )
                SELECT page FROM first WHERE rule = ANY(%(counted)s::bigint[])
                """,
                {"project": project.pk, "counted": list(rule_ids)},
            )
            cursor.execute("ANALYZE turned")
            cursor.execute(
                """
                CREATE TEMP TABLE sensitive_edges ON COMMIT DROP AS
                SELECT e.id, e.source_id, e.target_id
                FROM linker_candidateedge e JOIN turned ON turned.page = e.source_id
                UNION
                SELECT e.id, e.source_id, e.target_id
                FROM linker_candidateedge e JOIN turned ON turned.page = e.target_id
                """
            )
            _write_reasons(cursor, project)
    return _marked(project)


def touches_more_than(rule_ids: Sequence[int], most: int) -> bool:
    """Whether the pages that these rules take have more suggestions than `most`, marked or not. No more are looked
    at."""
    suggestions = " UNION ALL ".join(
        f"SELECT 1 FROM page, LATERAL (SELECT FROM linker_candidateedge e WHERE e.{end} = page.id LIMIT %(most)s) {end}"
        for end in ("source_id", "target_id")
    )
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH RECURSIVE {_TAKEN} SELECT count(*) FROM ({suggestions} LIMIT %(most)s) few",
            {"counted": list(rule_ids), "most": most + 1},
        )
        return bool(cursor.fetchone()[0] > most)


def _write_reasons(cursor: Any, project: Project) -> None:
    """Writes on the edges of the table `sensitive_edges` why a person must look, where that changed."""
    cursor.execute("ANALYZE sensitive_edges")
    cursor.execute("DROP TABLE IF EXISTS sensitive_pages")
    cursor.execute(
        f"""
        CREATE TEMP TABLE sensitive_pages ON COMMIT DROP AS
        WITH RECURSIVE page AS MATERIALIZED (
            SELECT source_id AS id FROM sensitive_edges UNION SELECT target_id FROM sensitive_edges
        ), {_REASONS}, first AS (
            SELECT DISTINCT ON (page) page, rule, place FROM found ORDER BY page, turn, rule
        )
        SELECT first.page, r.reason FROM first
        JOIN unnest(%(rules)s::bigint[], %(places)s::text[], %(reasons)s::text[]) AS r(rule, place, reason)
        ON r.rule = first.rule AND r.place = first.place
        """,
        {"project": project.pk, "counted": [], **_reason_columns(project)},
    )
    cursor.execute("ALTER TABLE sensitive_pages ADD PRIMARY KEY (page)")
    cursor.execute("ANALYZE sensitive_pages")
    cursor.execute(
        f"""
        WITH r AS (
            SELECT o.id, {_SAID} AS reason
            FROM sensitive_edges e JOIN linker_candidateedge o ON o.id = e.id
            LEFT JOIN sensitive_pages s ON s.page = o.source_id
            LEFT JOIN sensitive_pages t ON t.page = o.target_id
            WHERE o.sensitive <> {_SAID}
            ORDER BY o.id FOR NO KEY UPDATE OF o
        )
        UPDATE linker_candidateedge e SET sensitive = r.reason FROM r WHERE e.id = r.id
        """
    )


def _marked(project: Project) -> int:
    """How many of the project's suggestions need a person, as kept."""
    return kept_counts(project).filter(is_sensitive=True).aggregate(edges=total())["edges"]


def why_sensitive(project: Project, page_ids: Sequence[int]) -> dict[int, list[str]]:
    """Every reason why pages are sensitive: "is medical (Magazine › Health)", "is legal (title says “lawyer”)"."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH RECURSIVE page(id) AS (SELECT unnest(%(ids)s::bigint[])), {_REASONS} "
            "SELECT page, rule, place FROM found ORDER BY page, turn, rule",
            {"project": project.pk, "ids": list(page_ids), "counted": []},
        )
        rows = cursor.fetchall()
    if not rows:
        return {}
    reasons = _reasons(project)
    found = defaultdict(list)
    for page, rule, place in rows:
        found[page].append(reasons[rule, place])
    return found


def _reasons(project: Project) -> dict[tuple[int, str], str]:
    """What is said of a page by the rule and the place where it was found; no place for a category or the site."""
    reasons: dict[tuple[int, str], str] = {}
    rules = SensitiveRule.objects.filter(project=project).exclude(state=SensitiveState.DISMISSED)
    for rule in rules.select_related("category"):
        kind = f"is {rule.adjective}"
        if rule.word:
            shown = rule.word.split(",")[0]
            reasons |= {(rule.pk, str(place)): SAYS[place].said(kind=kind, word=shown) for place in PLACES}
        elif rule.url_pattern:
            said = ADDRESS_HAS.said(kind=kind, pattern=rule.url_pattern)
            reasons[rule.pk, str(Place.ADDRESS)] = said[:MAX_REASON]
        elif rule.category:
            reasons[rule.pk, ""] = IN_CATEGORY.said(kind=kind, category=rule.category)[:MAX_REASON]
        else:
            reasons[rule.pk, ""] = WHOLE_SITE.said(kind=kind)
    return reasons


def _reason_columns(project: Project) -> dict[str, list[Any]]:
    reasons = _reasons(project)
    return {
        "rules": [rule for rule, _ in reasons],
        "places": [place for _, place in reasons],
        "reasons": list(reasons.values()),
    }


def sensitive_counts(project: Project) -> dict[str, int]:
    """Live pages that count as sensitive, by kind, and all of them under an empty name."""
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH RECURSIVE page AS (SELECT id FROM linker_page WHERE project_id = %(project)s "
            f"AND {sql(LIVE)}), {_REASONS} SELECT coalesce(r.kind, ''), count(DISTINCT page) FROM found "
            "JOIN linker_sensitiverule r ON r.id = found.rule GROUP BY GROUPING SETS ((r.kind), ())",
            {"project": project.pk, "counted": []},
        )
        return {"": 0, **dict(cursor.fetchall())}
