"""Numbers and links of pages that lead to another are those of the other: what `page_state` says led there, goes there.

Clicks, impressions and hits are added up, positions weighted by impressions, and what a page had brought is kept with
the event. Imports do the same of addresses that lead elsewhere, so the next one changes nothing of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection

from linker.models.linked import TEXT_LINK, read_block_sql
from linker.models.querysets import PRESENT, sql
from linker.pages.traffic import set_page_traffic
from linker.storage.page_writes import KEEP_PLANS

if TYPE_CHECKING:
    from linker.models import Project

_MOST = 2147483647  # queries hold their numbers in four bytes


def _added(name: str) -> str:
    """SQL: the sum of a row's number and of what comes to it; null where neither has one."""
    return f"coalesce(t.{name} + excluded.{name}, t.{name}, excluded.{name})"


def _capped(name: str) -> str:
    both = f"t.{name}::bigint + excluded.{name}"
    return f"CASE WHEN {both} > {_MOST} THEN {_MOST} ELSE coalesce(({both})::int, t.{name}, excluded.{name}) END"


def _capped_sum(name: str) -> str:
    return f"CASE WHEN sum({name}) > {_MOST} THEN {_MOST} ELSE sum({name})::int END"


_POSITION = """CASE WHEN t.position IS NULL OR excluded.position IS NULL
    THEN coalesce(t.position, excluded.position)
    WHEN coalesce(t.impressions, 0) + coalesce(excluded.impressions, 0) > 0
    THEN (t.position * coalesce(t.impressions, 0) + excluded.position * coalesce(excluded.impressions, 0))
        / (coalesce(t.impressions, 0)::float8 + coalesce(excluded.impressions, 0))
    ELSE (t.position + excluded.position) / 2 END"""
# Of several that lead to one page.
_WEIGHTED = """coalesce(sum(position * impressions) / nullif(sum(impressions) FILTER (WHERE position IS NOT NULL), 0),
    avg(position))::float8"""
_TRAFFIC = f"""
WITH gone AS (
    DELETE FROM linker_pagetraffic t USING page_state s WHERE t.page_id = s.page AND s.successor IS NOT NULL
    RETURNING s.event, s.successor, t.period_id, t.clicks, t.impressions, t.position, t.hits
), kept AS (
    INSERT INTO linker_movedtraffic (event_id, period_id, clicks, impressions, position, hits)
    SELECT event, period_id, clicks, impressions, position, hits FROM gone ON CONFLICT DO NOTHING
)
INSERT INTO linker_pagetraffic AS t (period_id, page_id, clicks, impressions, position, hits)
SELECT period_id, successor, sum(clicks)::bigint, sum(impressions)::bigint, {_WEIGHTED}, sum(hits)::bigint
FROM gone GROUP BY 1, 2 ORDER BY 1, 2
ON CONFLICT (period_id, page_id) DO UPDATE SET position = {_POSITION}, clicks = {_added("clicks")},
    impressions = {_added("impressions")}, hits = {_added("hits")}
"""
_QUERIES = f"""
WITH gone AS (
    DELETE FROM linker_searchquery t USING page_state s WHERE t.page_id = s.page AND s.successor IS NOT NULL
    RETURNING s.event, s.successor, t.query, t.source, t.clicks, t.impressions, t.position, t.importance, t.last_seen_at
), kept AS (
    INSERT INTO linker_movedquery (event_id, query, source, clicks, impressions, position, importance)
    SELECT event, query, source, clicks, impressions, position, importance FROM gone ON CONFLICT DO NOTHING
)
INSERT INTO linker_searchquery AS t (page_id, query, source, clicks, impressions, position, importance, last_seen_at)
SELECT successor, query, source, {_capped_sum("clicks")}, {_capped_sum("impressions")}, {_WEIGHTED},
    max(importance), max(last_seen_at)
FROM gone GROUP BY 1, 2, 3
ON CONFLICT (page_id, source, md5(query)) DO UPDATE SET position = {_POSITION}, clicks = {_capped("clicks")},
    impressions = {_capped("impressions")}, importance = greatest(t.importance, excluded.importance),
    last_seen_at = greatest(t.last_seen_at, excluded.last_seen_at)
"""
# Links of the site. Where the page that they lead to now has the same, they are one.
_TO = "FROM linker_existinglink l JOIN page_state s ON s.page = l.target_id AND s.successor IS NOT NULL"
_LINKS_TOUCHED = f"""
CREATE TEMP TABLE page_recounted ON COMMIT DROP AS
SELECT page AS id FROM page_state WHERE successor IS NOT NULL UNION SELECT successor FROM page_state
WHERE successor IS NOT NULL UNION SELECT l.source_id {_TO}
"""
_LINKS = f"""
UPDATE linker_existinglink l SET target_id = one.successor FROM (
    SELECT l.id, s.successor, row_number() OVER (
        PARTITION BY l.source_id, s.successor, {read_block_sql("l")}, hashtextextended(l.anchor, 0)
        ORDER BY {sql(PRESENT, "l")} DESC, l.id
    ) AS place, EXISTS (
        SELECT FROM linker_existinglink k WHERE k.source_id = l.source_id AND k.target_id = s.successor
            AND {read_block_sql("k")} = {read_block_sql("l")}
            AND hashtextextended(k.anchor, 0) = hashtextextended(l.anchor, 0)
    ) AS there
    {_TO} ORDER BY l.id
) one WHERE one.id = l.id AND one.place = 1 AND NOT one.there
"""
_LINKS_ALIKE = f"""
UPDATE linker_existinglink l SET missing_since = now() FROM page_state s
WHERE s.page = l.target_id AND s.successor IS NOT NULL AND {sql(PRESENT, "l")}
"""
_COUNTED = f"""
UPDATE linker_page p SET inlinks = c.inlinks, outlinks = c.outlinks, {KEEP_PLANS} FROM (
    SELECT r.id, (
        SELECT count(DISTINCT source_id) FROM linker_existinglink
        WHERE target_id = r.id AND source_id <> r.id AND {sql(TEXT_LINK)}
    ) AS inlinks, (
        SELECT count(DISTINCT target_id) FROM linker_existinglink
        WHERE source_id = r.id AND target_id <> r.id AND {sql(TEXT_LINK)}
    ) AS outlinks FROM page_recounted r
) c WHERE c.id = p.id AND (p.inlinks, p.outlinks) IS DISTINCT FROM (c.inlinks, c.outlinks)
"""
# What is ruled out for a page is so for the one that it became. (A list of words or a section may name it twice then.)
_SUPPRESSED = """
UPDATE linker_suppression x SET {side}_id = s.successor FROM page_state s
WHERE x.{side}_id = s.page AND s.successor IS NOT NULL
"""
_KNOWN = """
UPDATE linker_knownanswer k SET target_id = one.successor FROM (
    SELECT DISTINCT ON (k.source_id, s.successor) k.id, s.successor
    FROM linker_knownanswer k JOIN page_state s ON s.page = k.target_id AND s.successor IS NOT NULL
    WHERE k.source_id <> s.successor AND NOT EXISTS (
        SELECT FROM linker_knownanswer o WHERE o.source_id = k.source_id AND o.target_id = s.successor
    ) ORDER BY k.source_id, s.successor, k.id
) one WHERE one.id = k.id
"""


def follow(project: Project) -> None:
    """Lets numbers, links and what is ruled out follow the pages of `page_state` that lead elsewhere."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM page_state WHERE successor IS NOT NULL)")
        if not cursor.fetchone()[0]:
            return
        cursor.execute("DROP TABLE IF EXISTS page_recounted")
        for statement in (_TRAFFIC, _QUERIES, _LINKS_TOUCHED, _LINKS, _LINKS_ALIKE, _COUNTED):
            cursor.execute(statement)
        for side in ("source", "target"):
            cursor.execute(_SUPPRESSED.format(side=side))
        cursor.execute(_KNOWN)
    set_page_traffic(project, "SELECT id FROM page_recounted")
