"""Some links of each kind that an import found, for its report: drawn from a few pages all over the site."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ingest.kinds.sql import execute, fetch
from linker.models import Block, CountsBy
from linker.models.linked import seen_sql
from linker.models.querysets import PRESENT, sql
from linker.pages.list_links import listing_roles
from linker.pages.report import LinkGroup
from linker.storage.copy import analyze

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ingest.kinds.base import Counts
    from linker.models import Project

EXAMPLES = 10  # of a kind
PAGES, LISTS, OF_PAGE = 300, 50, 200  # pages that are looked at, lists among them, and links of each
LOOKED_AT = 500_000  # links, for a kind that these pages do not have
LONGEST = 300  # characters of an address, or of words

OF_BLOCKS = {
    Block.CONTENT: LinkGroup.TEXT,
    Block.LIST: LinkGroup.LISTED,
    Block.ASIDE: LinkGroup.ASIDE,
    Block.HEADER: LinkGroup.HEADER,
    Block.FOOTER: LinkGroup.FOOTER,
    Block.NAVIGATION: LinkGroup.NAVIGATION,
    Block.UNKNOWN: LinkGroup.UNKNOWN,
}
_GROUP = (
    f"CASE WHEN l.counts_by = {CountsBy.ROLE.value} THEN '{LinkGroup.BY_ROLE.value}' "
    f"WHEN l.read_block IS NOT NULL THEN '{LinkGroup.BY_RULE.value}' ELSE CASE l.block "
    + " ".join(f"WHEN {block.value} THEN '{group.value}'" for block, group in OF_BLOCKS.items())
    + " END END"
)
# The first of each page before the second of any.
_DRAW = f"""
INSERT INTO link_example
SELECT id, kind FROM (
    SELECT id, kind, row_number() OVER (PARTITION BY kind ORDER BY nth, id) AS place FROM (
        SELECT l.id, l.kind, row_number() OVER (PARTITION BY p.id, l.kind ORDER BY l.id) AS nth
        FROM (
            SELECT unnest(%(pages)s::bigint[]) AS id UNION (
                SELECT id FROM linker_page
                WHERE project_id = %(project)s AND role_in_force = ANY(%(roles)s) AND {sql(PRESENT)} LIMIT {LISTS}
            )
        ) p
        CROSS JOIN LATERAL (
            SELECT l.id, {_GROUP} AS kind FROM linker_existinglink l
            WHERE l.source_id = p.id AND {sql(PRESENT, "l")} AND {{seen}} LIMIT {OF_PAGE}
        ) l
    ) of_pages
) ranked WHERE place <= {EXAMPLES}
"""
_DRAW_ONE = f"""
INSERT INTO link_example SELECT id, kind FROM (
    SELECT l.id, {_GROUP} AS kind FROM linker_existinglink l
    WHERE l.project_id = %(project)s AND {sql(PRESENT, "l")} AND {{seen}} LIMIT {LOOKED_AT}
) l WHERE kind = %(kind)s AND id NOT IN (SELECT id FROM link_example) LIMIT %(most)s
"""


def links_by_kind(project: Project, report: Counts, pages: NDArray[np.int64], *, in_part: bool) -> list[dict[str, Any]]:
    """How many links of each kind an import saw, and some of them, as linker.pages.report.LinkKind stores it.

    `pages`: the ids of all pages; `in_part`: it saw links of some alone, see seen_sql(). Reads at most OF_PAGE
    links of some hundred pages, and LOOKED_AT links for each kind that is rare.
    """
    counts = _counts(report)
    seen = seen_sql("l", in_part=in_part)
    params = {"project": project.pk, "roles": listing_roles(project.role_links)}
    some = pages[np.unique(np.linspace(0, len(pages) - 1, PAGES).astype(np.int64))] if len(pages) else pages
    execute("CREATE TEMP TABLE link_example (id bigint, kind text) ON COMMIT DROP")
    execute(_DRAW.format(seen=seen), params | {"pages": some.tolist()})
    drawn = Counter(dict(fetch("SELECT kind, count(*) FROM link_example GROUP BY 1")))
    for group, links in counts.items():
        if drawn[group] < min(links, EXAMPLES):
            execute(
                _DRAW_ONE.format(seen=seen), params | {"kind": group.value, "most": min(links, EXAMPLES) - drawn[group]}
            )
    analyze("link_example")  # a few dozen: without knowing, PostgreSQL reads all links there are to find them
    examples = _examples()
    execute("DROP TABLE link_example")
    return [
        {"group": group.value, "links": links, "examples": examples.get(group.value, [])}
        for group, links in counts.items()
    ]


def _counts(report: Mapping[str, Any]) -> dict[LinkGroup, int]:
    """Links by kind, in the order of LinkGroup. Those that rules took are among the others too."""
    counts = {group: report["links_by_block"].get(block, 0) for block, group in OF_BLOCKS.items()}
    counts[LinkGroup.BY_ROLE] = report["by_roles"]
    counts[LinkGroup.LISTED] -= report["by_roles"]
    counts[LinkGroup.BY_RULE] = report.get("by_rules", 0)
    return {group: counts[group] for group in LinkGroup if counts[group] > 0}


def _examples() -> dict[str, list[dict[str, str]]]:
    rows = fetch(
        "SELECT e.kind, left(s.url, %(most)s), left(l.anchor, %(most)s), left(t.url, %(most)s) FROM link_example e "
        "JOIN linker_existinglink l ON l.id = e.id JOIN linker_page s ON s.id = l.source_id "
        "JOIN linker_page t ON t.id = l.target_id ORDER BY e.kind, l.id",
        {"most": LONGEST},
    )
    found: dict[str, list[dict[str, str]]] = {}
    for kind, source, words, target in rows:
        found.setdefault(kind, []).append({"source": source, "words": words, "target": target})
    return found
