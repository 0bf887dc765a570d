"""Search queries into their table: staged by COPY, summed, merged. Nothing is deleted."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from ingest.kinds.queries.parse import QueryRow
from ingest.kinds.sql import execute, fetch, fetch_number
from linker.storage.copy import copy_rows_in

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

STAGE_QUERIES = """
CREATE TEMP TABLE stage_query (
    page bigint, query text, clicks int, impressions int, position float8, importance float8
)
"""
# Rows of the same page and query, as exports by day, country or device have them, become one. Null is not 0.
QUERY_NUMBERS = {
    "clicks": "nullif(least(coalesce(sum(clicks), -1), 2147483647), -1)::int",
    "impressions": "nullif(least(coalesce(sum(impressions), -1), 2147483647), -1)::int",
    "position": "sum(position * greatest(coalesce(impressions, 1), 1)) "
    "/ sum(greatest(coalesce(impressions, 1), 1)) FILTER (WHERE position IS NOT NULL)",
    "importance": "max(importance)",
}


def create_query_stage() -> None:
    execute(STAGE_QUERIES)


def drop_query_stage() -> None:
    execute("DROP TABLE stage_query")


def stage_queries(parts: Sequence[Sequence[QueryRow]]) -> None:
    copy_rows_in("stage_query", QueryRow._fields, chain.from_iterable(parts))


def count_staged_queries() -> int:
    """Rows in the stage."""
    return fetch_number("SELECT count(*) FROM stage_query")


def merge_queries(source: str, filled: Sequence[str], seen_at: datetime) -> dict[str, int]:
    """Inserts and updates the staged queries of a source. Returns counts of `queries`, `query_pages`, `new`,
    `seen_before`.

    Clicks and impressions of rows with the same page and query are added up, their positions averaged by impressions,
    and the highest importance counts. `filled` are the numbers that the file speaks about; the others stay.
    """
    sums = ", ".join(f"{expression} AS {name}" for name, expression in QUERY_NUMBERS.items())
    names = ", ".join(QUERY_NUMBERS)
    changes = ", ".join(f"{name} = excluded.{name}" for name in [*filled, "last_seen_at"])
    [row] = fetch(
        f"WITH merged AS (INSERT INTO linker_searchquery (page_id, query, source, last_seen_at, {names}) "
        f"SELECT page, query, %s, %s, {names} FROM (SELECT page, query, {sums} FROM stage_query GROUP BY 1, 2) summed "
        f"ON CONFLICT (page_id, source, md5(query)) DO UPDATE SET {changes} RETURNING page_id, xmax = 0 AS fresh) "
        "SELECT count(*), count(DISTINCT page_id), count(*) FILTER (WHERE fresh), count(*) FILTER (WHERE NOT fresh) "
        "FROM merged",
        [source, seen_at],
    )
    return dict(zip(("queries", "query_pages", "new", "seen_before"), row, strict=True))
