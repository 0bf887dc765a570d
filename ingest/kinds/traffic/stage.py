"""Numbers of pages on their way into the tables: staged by COPY, and added up by page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ingest.kinds.sql import execute, fetch_number
from linker.storage.background import BackgroundCopy
from linker.storage.copy import copy_rows_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.addresses.destinations import Moves
    from ingest.kinds.traffic.parse import Traffic
    from linker.models import Project

STAGE_TRAFFIC = """
CREATE TEMP TABLE stage_traffic (page bigint, clicks bigint, impressions bigint, position float8, hits bigint)
"""
# What several rows of a page come to. Positions are weighted by impressions, where there are any; numeric sums are the
# same in whatever order the rows stand.
TRAFFIC_SUMS = {
    "clicks": "sum(clicks)::bigint",
    "impressions": "sum(impressions)::bigint",
    "position": "coalesce(sum(position::numeric * impressions) / nullif(sum(impressions) FILTER "
    "(WHERE position IS NOT NULL), 0), avg(position::numeric))::float8",
    "hits": "sum(hits)::bigint",
}


def create_traffic_stage() -> None:
    execute(STAGE_TRAFFIC)


def drop_traffic_stage() -> None:
    execute("DROP TABLE IF EXISTS stage_traffic, stage_sum")


def stage_traffic(background: BackgroundCopy, some: Traffic) -> None:
    """Begins to write numbers of pages into the stage."""
    columns = {"page": some.page.tolist(), **some.numbers}
    cells = [number_cells(column) for column in columns.values()]
    lines = [f"{line}\n" for line in map("\t".join, zip(*cells, strict=True))]
    background.copy_lines("stage_traffic", list(columns), lines)


def number_cells(column: Sequence[Any]) -> Sequence[str]:
    """A column of numbers, times or flags in COPY's text form; None is null."""
    known = {value: "\\N" if value is None else str(value) for value in set(column)}
    return list(map(known.__getitem__, column))


def sum_traffic() -> int:
    """Adds the staged rows of each page up. Returns how many rows that say something there were."""
    some = " OR ".join(f"{name} IS NOT NULL" for name in TRAFFIC_SUMS)
    sums = ", ".join(f"{expression} AS {name}" for name, expression in TRAFFIC_SUMS.items())
    execute(
        f"CREATE TEMP TABLE stage_sum AS SELECT page, {sums}, count(*) AS rows FROM stage_traffic "
        f"WHERE {some} GROUP BY page"
    )
    return fetch_number("SELECT coalesce(sum(rows), 0)::bigint FROM stage_sum")


def sum_crawled_traffic(project: Project, moves: Moves) -> None:
    """The same of the staged pages, which must be in the table of pages; of those that move, where they lead."""
    rows = (
        "SELECT p.id AS page, s.clicks, s.impressions, s.position, NULL::bigint AS hits FROM stage_page s "
        "JOIN linker_page p ON p.project_id = %s AND md5(p.canonical_url) = md5(s.canonical_url) "
        "WHERE s.clicks IS NOT NULL OR s.impressions IS NOT NULL OR s.position IS NOT NULL"
    )
    if not len(moves):
        execute(f"CREATE TEMP TABLE stage_sum AS {rows}", [project.pk])
        return
    execute("CREATE TEMP TABLE stage_move (page bigint, destination bigint)")
    copy_rows_in("stage_move", ("page", "destination"), moves.pairs())
    execute("ANALYZE stage_move")
    sums = ", ".join(f"{expression} AS {name}" for name, expression in TRAFFIC_SUMS.items())
    execute(
        f"CREATE TEMP TABLE stage_sum AS SELECT coalesce(m.destination, r.page) AS page, {sums} FROM ({rows}) r "
        "LEFT JOIN stage_move m ON m.page = r.page GROUP BY 1",
        [project.pk],
    )
    execute("DROP TABLE stage_move")
