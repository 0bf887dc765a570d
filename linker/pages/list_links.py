"""Links in the texts of home pages, lists of pages and utility pages: no editor's, but those of a list.

A home page, a hub or a utility page links to others because it is there to do so. A file that says “content” of such a
link says only that it is not in a menu. These links therefore count as links of a list, as those of a page that a crawl
of our own read as a list do, unless a rule for links says otherwise, the project lets pages of the role give links, or
the link is known to stand in a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection

from linker.engine.roles.policy import Gives, PageRole, role_links
from linker.models import Block, CountsBy
from linker.models.linked import TEXT_LINK, in_text_sql, read_block_sql, seen_sql
from linker.models.querysets import MISSING, PRESENT, sql
from linker.storage.copy import analyze, copy_rows_in
from linker.storage.cursors import batches, stream
from linker.storage.page_writes import KEEP_PLANS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from linker.models import Project

LISTING = (PageRole.HOME, PageRole.HUB, PageRole.UTILITY)
SENTENCE = 60  # letters beside the links of a line that is more than names of pages
AT_A_TIME = 200  # pages whose texts are looked at

BY_ROLE = f"counts_by = {CountsBy.ROLE.value}"
_OF_ROLES = """
SELECT id FROM linker_page
WHERE project_id = %(project)s AND role_in_force = ANY(%(roles)s) AND (%(page)s IS NULL OR id = %(page)s)
"""
# In two halves, since an index finds either: few pages are lists, and few are missing.
_PAGES = f"""
CREATE TEMP TABLE list_page ON COMMIT DROP AS
{_OF_ROLES} AND {sql(PRESENT)} UNION ALL {_OF_ROLES} AND {sql(MISSING)}
"""
# Read from the content, and not taken by a rule.
_MAY_BE = f"{read_block_sql('l')} = {Block.CONTENT.value} AND l.counts_by IS DISTINCT FROM {CountsBy.RULE.value}"
_PLACED = f"""
SELECT p.body, placed.links, placed.places, placed.anchors FROM (
    SELECT l.source_id, array_agg(l.id) AS links, array_agg(l.place) AS places, array_agg(l.anchor) AS anchors
    FROM linker_existinglink l JOIN list_page ON list_page.id = l.source_id
    WHERE l.project_id = %(project)s AND l.place IS NOT NULL AND {_MAY_BE} GROUP BY 1
) placed JOIN linker_page p ON p.id = placed.source_id
"""
_MOVED = f"""
INSERT INTO list_moved SELECT id, source_id, target_id, %(to_list)s FROM moved WHERE {sql(PRESENT)}
"""
_TO_LISTS = f"""
WITH moved AS (
    UPDATE linker_existinglink l SET block = {Block.LIST.value}, read_block = {Block.CONTENT.value}, {BY_ROLE}
    FROM list_page p WHERE l.project_id = %(project)s AND l.source_id = p.id AND {in_text_sql("l")}
        AND {_MAY_BE} AND l.id NOT IN (SELECT id FROM link_in_sentence)
    RETURNING l.*
) {_MOVED}
"""
_BACK = f"""
WITH moved AS (
    UPDATE linker_existinglink l SET block = {Block.CONTENT.value}, read_block = NULL, counts_by = NULL
    WHERE l.project_id = %(project)s AND l.{BY_ROLE} AND (%(page)s IS NULL OR l.source_id = %(page)s)
        AND (l.source_id NOT IN (SELECT id FROM list_page) OR l.id IN (SELECT id FROM link_in_sentence))
    RETURNING l.*
) {_MOVED}
"""
# By how much the counts of pages change. A pair that has another link in the text counts on.
_COUNTED = f"""
WITH pair AS (
    SELECT source, target, bool_or(to_list) AS had FROM list_moved WHERE source <> target GROUP BY 1, 2
), told AS (
    SELECT pair.*, EXISTS (
        SELECT FROM linker_existinglink l
        WHERE l.source_id = pair.source AND l.target_id = pair.target AND {sql(TEXT_LINK, "l")}
    ) AS has, had OR EXISTS (
        SELECT FROM linker_existinglink l
        WHERE l.source_id = pair.source AND l.target_id = pair.target AND {sql(TEXT_LINK, "l")}
            AND l.id NOT IN (SELECT id FROM list_moved)
    ) AS had_one FROM pair
), changed AS (
    SELECT source, target, has::int - had_one::int AS more FROM told WHERE has <> had_one
), counted AS (
    SELECT page, sum(gives) AS gives, sum(gets) AS gets FROM (
        SELECT source AS page, more AS gives, 0 AS gets FROM changed UNION ALL SELECT target, 0, more FROM changed
    ) each GROUP BY 1
)
UPDATE linker_page p SET outlinks = p.outlinks + c.gives, inlinks = p.inlinks + c.gets, {KEEP_PLANS}
FROM counted c WHERE p.id = c.page AND (c.gives, c.gets) <> (0, 0)
"""


@dataclass(frozen=True)
class ListLinks:
    """Links that count as those of a list from now on because of the role of their page, and those that count as read
    again; of links that are not missing, and with `in_part` of those that the import saw, see seen_sql()."""

    to_lists: int = 0
    back: int = 0

    @property
    def total(self) -> int:
        return self.to_lists + self.back


def listing_roles(changed: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The roles of pages whose links are those of a list, by what a project has changed of what roles give."""
    links = role_links(changed)
    return [role.value for role in LISTING if links[role].gives is not Gives.YES]


def settle_list_links(project: Project, *, page: int | None = None, in_part: bool = False) -> ListLinks:
    """Writes on the links of a project, or of one page, what they count as by the roles that pages have now, and what
    that changes in the pages' counts of links.

    Belongs into a transaction that holds `lock_pages`. Twice the same writes nothing.
    """
    params = {"project": project.pk, "page": page, "roles": listing_roles(project.role_links)}
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS list_page, link_in_sentence, list_moved")
        cursor.execute(_PAGES, params)
        cursor.execute("CREATE TEMP TABLE link_in_sentence (id bigint) ON COMMIT DROP")
        cursor.execute(
            "CREATE TEMP TABLE list_moved (id bigint, source bigint, target bigint, to_list boolean) ON COMMIT DROP"
        )
        analyze("list_page")
        for links in batches(_in_sentences(project), AT_A_TIME):
            copy_rows_in("link_in_sentence", ("id",), links)
        analyze("link_in_sentence")
        cursor.execute(_BACK, params | {"to_list": False})
        cursor.execute(_TO_LISTS, params | {"to_list": True})
        cursor.execute("SELECT EXISTS (SELECT FROM list_moved)")
        [is_changed] = cursor.fetchone()
        if is_changed:
            analyze("list_moved")
            cursor.execute(_COUNTED)
        cursor.execute(
            "SELECT count(*) FILTER (WHERE to_list), count(*) FILTER (WHERE NOT to_list) "
            "FROM (SELECT source AS source_id, to_list FROM list_moved) l "
            f"WHERE {seen_sql('l', in_part=in_part)}"
        )
        return ListLinks(*cursor.fetchone())


def _in_sentences(project: Project) -> Iterator[tuple[int]]:
    """The links of these pages that stand in a sentence, as far as the crawl said where they stand."""
    for body, links, places, anchors in stream("placed", _PLACED, {"project": project.pk}, AT_A_TIME):
        yield from ((link,) for link in in_sentences(body, links, places, anchors))


def in_sentences(body: str, links: Sequence[int], places: Sequence[int], anchors: Sequence[str]) -> list[int]:
    """Those of the links that stand in a line of a text with a sentence of its own beside its links; `places` count the
    characters before their words."""
    lines: dict[int, list[int]] = {}
    for at, (place, anchor) in enumerate(zip(places, anchors, strict=True)):
        if anchor and body[place : place + len(anchor)] == anchor:
            lines.setdefault(body.rfind("\n", 0, place) + 1, []).append(at)
    found = []
    for start, those in lines.items():
        end = body.find("\n", start)
        line = body[start : end if end >= 0 else len(body)]
        linked = sum(_letters(anchors[at]) for at in those)
        if _letters(line) - linked >= SENTENCE:
            found += [links[at] for at in those]
    return found


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))
