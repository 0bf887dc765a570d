"""The search queries of a run's targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.engine.anchors.search_queries import Query
from linker.storage.cursors import stream

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_QUERIES = 10  # of a page, the heaviest: anchors need no more

# A source's queries share 1 between them on each page: by importance, or by impressions; alike where all are 0 or none
# is known. What two sources say counts half each.
HEAVIEST = """
WITH raw AS (
    SELECT page_id, source, query, impressions,
        coalesce(CASE source WHEN 'joil' THEN importance ELSE impressions END, 0)::float8 AS size
    FROM linker_searchquery WHERE page_id = ANY(%s)
), shared AS (
    SELECT page_id, query, impressions,
        coalesce(size / nullif(sum(size) OVER same, 0), 1.0 / count(*) OVER same) AS share
    FROM raw WINDOW same AS (PARTITION BY page_id, source)
), summed AS (
    SELECT page_id, query, max(impressions) AS impressions,
        sum(share) / sum(sum(share)) OVER (PARTITION BY page_id) AS weight,
        row_number() OVER (PARTITION BY page_id ORDER BY sum(share) DESC, query COLLATE "C") AS place
    FROM shared GROUP BY page_id, query
)
SELECT page_id, query, weight, impressions FROM summed WHERE place <= %s ORDER BY page_id, place
"""


def target_queries(ids: Sequence[int]) -> dict[int, list[Query]]:
    """The MAX_QUERIES heaviest queries of each page that has any, heaviest first; weights are shares of all of them."""
    found: dict[int, list[Query]] = {}
    for page, text, weight, impressions in stream("queries", HEAVIEST, [list(ids), MAX_QUERIES]):
        found.setdefault(page, []).append(Query(text, weight, impressions))
    return found
