"""What the table of links says once they are in it: how many each page has, and where links end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.kinds.sql import execute, fetch, fetch_number
from linker.models import Block
from linker.models.linked import ASIDE_LINK, TEXT_LINK, seen_sql
from linker.models.querysets import MISSING, PRESENT, sql
from linker.pages.list_links import BY_ROLE
from linker.storage.copy import copy_in
from linker.storage.page_writes import KEEP_PLANS

if TYPE_CHECKING:
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


# The pages whose links a fetch may mark as missing: those that its source holds, and those that are missing by now.
SOURCE_PAGES = (
    "SELECT page_id FROM ingest_sourcepage WHERE source_id = %(source)s "
    f"UNION SELECT id FROM linker_page WHERE project_id = %(project)s AND {sql(MISSING)}"
)


def count_live_links(project: Project, source: int | None = None) -> int:
    """Links of the project that are not missing; with a source, those that its fetch may mark as missing."""
    return fetch_number(
        "SELECT count(*) FROM linker_existinglink WHERE project_id = %(project)s "
        f"AND {sql(PRESENT)}{f' AND source_id IN ({SOURCE_PAGES})' if source is not None else ''}",
        {"project": project.pk, "source": source},
    )


def count_links_by_role(project: Project, *, in_part: bool) -> int:
    """Links that count as those of a list because of the role of their page; `in_part`: that the import saw."""
    return fetch_number(
        f"SELECT count(*) FROM linker_existinglink l WHERE project_id = %s AND {BY_ROLE} AND {sql(PRESENT)} "
        f"AND {seen_sql('l', in_part=in_part)}",
        [project.pk],
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
