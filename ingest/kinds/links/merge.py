"""What the table of links says once they are in it: which are gone, and how many each page has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.kinds.sql import execute, fetch, fetch_number
from linker.models import Block
from linker.models.linked import ASIDE_LINK, TEXT_LINK
from linker.models.querysets import MISSING, PRESENT, sql
from linker.pages.list_links import BY_ROLE
from linker.storage.copy import copy_in
from linker.storage.page_writes import KEEP_PLANS

if TYPE_CHECKING:
    from datetime import datetime

    from ingest.addresses.destinations import Moves
    from linker.models import Project

ANCHOR_KEY = "hashtextextended(anchor, 0)"  # as in the unique index of links
# Counts that are the same already are not written: each write is a new version of the whole page.
SET_COUNTS = (
    f"UPDATE linker_page p SET inlinks = c.inlinks, outlinks = c.outlinks, {KEEP_PLANS} FROM {{}} c "
    "WHERE p.id = c.id AND (p.inlinks, p.outlinks) IS DISTINCT FROM (c.inlinks, c.outlinks)"
)


def has_links(project: Project, *blocks: Block) -> bool:
    """Whether the project has links, in these blocks or in any."""
    return bool(
        fetch(
            "SELECT 1 FROM linker_existinglink WHERE project_id = %s AND block = ANY(%s) LIMIT 1",
            [project.pk, list(blocks or Block)],
        )
    )


# Of a fetch: the links of pages that its source holds, and those of pages that are missing by now.
_OF_SOURCE = (
    " AND (source_id IN (SELECT page_id FROM ingest_sourcepage WHERE source_id = %(source)s) OR source_id IN "
    f"(SELECT id FROM linker_page WHERE project_id = %(project)s AND {sql(MISSING)}))"
)
_OF_STAGED = " AND source_id IN (SELECT source FROM stage_link)"


def count_live_links(project: Project, source: int | None = None) -> int:
    """Links of the project that are not missing; with a source, those that its fetch may mark as missing."""
    return fetch_number(
        "SELECT count(*) FROM linker_existinglink WHERE project_id = %(project)s "
        f"AND {sql(PRESENT)}{_OF_SOURCE if source is not None else ''}",
        {"project": project.pk, "source": source},
    )


def count_links_by_role(project: Project, seen_at: datetime) -> int:
    """Links that an import saw then and that count as those of a list because of the role of their page."""
    return fetch_number(
        f"SELECT count(*) FROM linker_existinglink WHERE project_id = %s AND {BY_ROLE} AND last_seen_at >= %s",
        [project.pk, seen_at],
    )


def mark_missing_links(
    project: Project, seen_at: datetime, *, of_staged: bool = False, source: int | None = None
) -> int:
    """Marks the links that the import did not see. Returns how many were live until now.

    `of_staged`: only links of pages of which the import saw a link, since it saw a part of the site. `source`: the
    number of the SiteSource that was fetched, which knows the links of the pages that it holds.
    """
    part = _OF_STAGED if of_staged else _OF_SOURCE if source is not None else ""
    return execute(
        "UPDATE linker_existinglink SET missing_since = %(at)s "
        f"WHERE project_id = %(project)s AND {sql(PRESENT)} AND last_seen_at < %(at)s{part}",
        {"project": project.pk, "at": seen_at, "source": source},
    )


def keep_destinations(project: Project, moves: Moves) -> None:
    """Notes on each page where a link to it ends, as the links of the import were followed."""
    execute("CREATE TEMP TABLE stage_move (page bigint PRIMARY KEY, leads_to bigint) ON COMMIT DROP")
    copy_in("stage_move", [("page", ">i8", moves.page), ("leads_to", ">i8", moves.end)])
    execute(
        f"UPDATE linker_page p SET leads_to_id = m.leads_to, {KEEP_PLANS} FROM stage_move m "
        "WHERE p.id = m.page AND p.leads_to_id IS DISTINCT FROM m.leads_to"
    )
    execute(
        f"UPDATE linker_page p SET leads_to_id = NULL, {KEEP_PLANS} WHERE p.project_id = %s "
        "AND p.leads_to_id IS NOT NULL AND NOT EXISTS (SELECT FROM stage_move m WHERE m.page = p.id)",
        [project.pk],
    )
    execute("DROP TABLE stage_move")


def count_page_links(project: Project) -> None:
    """Sets every page's `inlinks` and `outlinks`: distinct other pages, body links only, missing links left out."""
    execute(
        "WITH pair AS (SELECT DISTINCT source_id, target_id FROM linker_existinglink "
        f"WHERE project_id = %s AND {sql(TEXT_LINK)} AND source_id <> target_id), "
        "gives AS (SELECT source_id AS id, count(*) AS n FROM pair GROUP BY 1), "
        "gets AS (SELECT target_id AS id, count(*) AS n FROM pair GROUP BY 1), "
        "counted AS (SELECT p.id, coalesce(gets.n, 0) AS inlinks, coalesce(gives.n, 0) AS outlinks FROM linker_page p "
        "LEFT JOIN gets ON gets.id = p.id LEFT JOIN gives ON gives.id = p.id WHERE p.project_id = %s) "
        + SET_COUNTS.format("counted"),
        [project.pk, project.pk],
    )


SIDEBAR_PAGES, SIDEBAR_SHARE = 20, 0.5  # of the pages with links beside their text, all or as a share, see note_sidebar
# Counted roughly first: few pages are linked beside so many texts.
_IN_SIDEBAR = f"""
WITH often AS MATERIALIZED (
    SELECT target_id FROM linker_existinglink WHERE project_id = %(project)s AND {sql(ASIDE_LINK)}
    GROUP BY 1 HAVING count(*) >= %(pages)s
), beside AS MATERIALIZED (
    SELECT DISTINCT l.source_id, l.target_id, coalesce(p.category_id, 0) AS category
    FROM linker_existinglink l JOIN linker_page p ON p.id = l.source_id
    WHERE l.project_id = %(project)s AND {sql(ASIDE_LINK, "l")} AND EXISTS (SELECT FROM often)
), pages AS MATERIALIZED (
    SELECT category, count(DISTINCT source_id) AS pages FROM beside GROUP BY GROUPING SETS ((), (category))
), targets AS MATERIALIZED (
    SELECT target_id, category, count(*) AS pages FROM beside JOIN often USING (target_id)
    GROUP BY GROUPING SETS ((target_id), (target_id, category)) HAVING count(*) >= %(pages)s
), found AS MATERIALIZED (
    SELECT DISTINCT t.target_id FROM targets t JOIN pages ON pages.category IS NOT DISTINCT FROM t.category
    WHERE t.pages >= %(share)s * pages.pages
), before AS MATERIALIZED (SELECT id FROM linker_page WHERE project_id = %(project)s AND in_sidebar)
UPDATE linker_page p SET in_sidebar = NOT p.in_sidebar, {KEEP_PLANS} WHERE p.id IN (
    (SELECT target_id FROM found EXCEPT SELECT id FROM before) UNION (SELECT id FROM before EXCEPT SELECT * FROM found)
)
"""


def note_sidebar(project: Project) -> None:
    """Notes on each page whether a link to it beside a text is the template's: whether it stands beside at least half
    of the texts that have links there, and SIDEBAR_PAGES or more, in the project or in a category."""
    execute(_IN_SIDEBAR, {"project": project.pk, "pages": SIDEBAR_PAGES, "share": SIDEBAR_SHARE})
