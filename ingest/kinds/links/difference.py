"""Staged links beside those that the project has: what differs is written, and nothing else.

A crawl that is imported again holds nearly the same links. To write each of them anew, only to note that it was seen,
took as long as all the rest of such an import, and left as many dead rows behind.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ingest.kinds.links.merge import ANCHOR_KEY, SOURCE_PAGES, has_links
from ingest.kinds.sql import execute, fetch
from linker.models import Block
from linker.models.linked import SEEN_PAGE, read_block_sql, seen_sql
from linker.models.querysets import PRESENT, sql
from linker.pages.list_links import BY_ROLE
from linker.storage.copy import analyze
from linker.storage.references import CHECKS_OFF, CHECKS_ON, may_skip_checks

if TYPE_CHECKING:
    from datetime import datetime

    from ingest.kinds.base import Counts
    from linker.models import Project

_ONCE = f"""
CREATE TEMP TABLE link_once ON COMMIT DROP AS
SELECT source, target, block, {ANCHOR_KEY} AS words, min(anchor) AS anchor, bool_or(follow) AS follow
FROM stage_link GROUP BY 1, 2, 3, 4
"""
# Links whose block was unknown, as all around the text were before blocks were kept, and which the file names:
# they stay the same links, instead of being missing while new ones are added. Their words were not kept then.
_NAME_BLOCKS = f"""
UPDATE linker_existinglink e SET block = named.block, anchor = named.anchor FROM (
    SELECT o.id, min(s.block) AS block, (array_agg(s.anchor ORDER BY s.block, s.anchor))[1] AS anchor
    FROM linker_existinglink o
    JOIN link_once s ON s.source = o.source_id AND s.target = o.target_id
        AND o.anchor IN ('', s.anchor) AND s.block <> {Block.CONTENT.value}
    WHERE o.project_id = %s AND o.block = {Block.UNKNOWN.value}
    GROUP BY o.id HAVING min(s.block) <> {Block.UNKNOWN.value}
) named
WHERE e.id = named.id AND NOT EXISTS (
    SELECT FROM linker_existinglink k WHERE k.source_id = e.source_id AND k.target_id = e.target_id
        AND {read_block_sql("k")} = named.block AND hashtextextended(k.anchor, 0) = hashtextextended(named.anchor, 0)
)
"""
# New links without an id, changed ones, and those that are gone without a source. What a link counts as by a rule stays
# as it is.
_DIFFERENCE = f"""
CREATE TEMP TABLE link_difference ON COMMIT DROP AS
SELECT e.id, s.source, s.target, s.block, s.anchor, s.follow FROM link_once s FULL JOIN (
    SELECT l.id, l.source_id, l.target_id, {read_block_sql("l")} AS block,
        {ANCHOR_KEY.replace("anchor", "l.anchor")} AS words, l.follow, {sql(PRESENT, "l")} AS present
    FROM linker_existinglink l WHERE l.project_id = %(project)s AND {{seen}}
) e ON (e.source_id, e.target_id, e.block, e.words) = (s.source, s.target, s.block, s.words)
WHERE e.id IS NULL OR CASE WHEN s.source IS NULL THEN e.present ELSE e.follow <> s.follow OR NOT e.present END
"""
_INSERT = """
INSERT INTO linker_existinglink (project_id, source_id, target_id, block, anchor, follow, last_seen_at)
SELECT %(project)s, source, target, block, anchor, follow, %(at)s FROM link_difference
WHERE id IS NULL ORDER BY source, target, block
"""
_CHANGE = """
UPDATE linker_existinglink e SET follow = d.follow, last_seen_at = %(at)s, missing_since = NULL
FROM link_difference d WHERE e.id = d.id AND d.source IS NOT NULL
"""
_GONE = """
UPDATE linker_existinglink e SET missing_since = %(at)s FROM link_difference d WHERE e.id = d.id AND d.source IS NULL
"""


def keep_once() -> int:
    """Makes the table `link_once` of the staged links, each once. Returns how many there are."""
    links = execute(_ONCE)
    analyze("link_once", texts=False)
    return links


def note_seen_pages(project: Project, source: int | None) -> None:
    """Makes the table of seen_sql(), for an import that saw a part of the site: the pages of which it saw a link and,
    with the number of a SiteSource that was fetched as a whole, those of SOURCE_PAGES."""
    of_source = f"UNION {SOURCE_PAGES}" if source is not None else ""
    execute(f"CREATE TEMP TABLE {SEEN_PAGE} (id bigint PRIMARY KEY) ON COMMIT DROP")
    execute(
        f"INSERT INTO {SEEN_PAGE} SELECT DISTINCT source FROM link_once {of_source}",
        {"project": project.pk, "source": source},
    )
    execute(f"ANALYZE {SEEN_PAGE}")


def merge_difference(project: Project, seen_at: datetime, *, in_part: bool) -> Counts:
    """Writes what differs between `link_once` and the project's links; `in_part`: those of the pages that the import
    saw alone. Belongs into a transaction that holds `lock_pages` and the pages.

    Returns `new` and `seen_before`, those of each block in `links_by_block`, those that count as links of a list
    `by_roles` since an earlier import, and how many are `missing` from now on.
    """
    if has_links(project, Block.UNKNOWN):
        execute(_NAME_BLOCKS, [project.pk])
    params = {"project": project.pk, "at": seen_at}
    seen = seen_sql("l", in_part=in_part)
    execute(_DIFFERENCE.format(seen=seen), params)
    execute("ANALYZE link_difference (id)")
    missing = execute(_GONE, params)
    execute(_CHANGE, params)
    new = _insert(params)
    rows = fetch(
        f"SELECT block, count(*), count(*) FILTER (WHERE {BY_ROLE}) FROM linker_existinglink l "
        f"WHERE project_id = %(project)s AND {sql(PRESENT)} AND {seen} GROUP BY 1",
        params,
    )
    execute("DROP TABLE link_difference")
    blocks = Counter({block: links for block, links, _ in rows})
    return {
        "new": new,
        "seen_before": blocks.total() - new,
        "links_by_block": blocks,
        "by_roles": sum(by_roles for *_, by_roles in rows),
        "missing": missing,
    }


def _insert(params: dict[str, object]) -> int:
    skips = may_skip_checks()
    if skips:
        execute(*CHECKS_OFF)
    new = execute(_INSERT, params)
    if skips:
        execute(*CHECKS_ON)
    return new
