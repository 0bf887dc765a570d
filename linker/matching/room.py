"""How many new links a page has room for, with those that it has already."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from linker.engine.roles.policy import Gives, PageRole, role_links
from linker.models.linked import ASIDE_LINK
from linker.models.querysets import sql
from linker.pages.roles import ROLE_NOW, role_now_sql
from linker.storage.cursors import stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linker.engine.params import MatchParams
    from linker.models import Project


# Bytes of a body that holds sentences: below, a link can only go beside it, and no editor would add a sentence for one.
PROSE = 400


def has_prose_sql(page: str, silent: str) -> str:
    """SQL: whether an editor could add a sentence to the text of a page for a link, which makes it a content gap.
    `page` is the alias of a row of linker_page, `silent` an expression of what silent_roles gives."""
    return f"(octet_length({page}.body) >= {PROSE} AND NOT ({role_now_sql(page)}) = ANY({silent}::text[]))"


def silent_roles(project: Project) -> list[str]:
    """Roles of pages in whose texts no editor writes for a link: products, and those that give only beside it."""
    return sorted({PageRole.PRODUCT.value, *_beside_alone(project)})


def _beside_alone(project: Project) -> list[str]:
    return [role.value for role, links in role_links(project.role_links).items() if links.gives is Gives.BESIDE]


class Room(NamedTuple):
    """New links that a page may give in its text and beside it."""

    inline: int
    related: int


def text_room_sql(page: str, inline: str, in_all: str, per_1000_words: str) -> str:
    """SQL: new links that the text of a page has room for. `page` is the alias of a row of linker_page, the others are
    expressions of MatchParams' fields `inline_per_donor`, `inline_in_all` and `per_1000_words`.

    The links that a text has are the distinct pages it links to. Where the crawl did not count its words, six
    characters are taken for one.
    """
    words = f"coalesce({page}.word_count, length({page}.body) / 6)"
    return (
        f"greatest(0, least({inline}, CASE WHEN {in_all} > 0 THEN {in_all} - {page}.outlinks ELSE {inline} END, "
        f"CASE WHEN {per_1000_words} > 0 THEN ceil({words} * {per_1000_words} / 1000.0)::int - {page}.outlinks "
        f"ELSE {inline} END))"
    )


def rooms_of(project: Project, params: MatchParams, pages: Sequence[int] | None = None) -> dict[int, Room]:
    """The pages, of all or of these, that have room for fewer new links than a page of the run may give.

    Pages of a role that gives beside its text alone have none in it.
    """
    text = text_room_sql("p", "%(inline)s::int", "%(inline_in_all)s::int", "%(per_1000_words)s::int")
    rows = stream(
        "rooms",
        f"""
        WITH beside AS (
            SELECT source_id, count(DISTINCT target_id) AS links FROM linker_existinglink
            WHERE project_id = %(project)s AND {sql(ASIDE_LINK)}
                AND (%(pages)s::bigint[] IS NULL OR source_id = ANY(%(pages)s::bigint[]))
            GROUP BY source_id HAVING %(related_in_all)s > 0
                AND count(DISTINCT target_id) > %(related_in_all)s - %(related)s
        ), room AS (
            SELECT p.id, CASE WHEN {ROLE_NOW} = ANY(%(beside)s) THEN 0 ELSE {text} END AS inline,
                greatest(0, %(related)s - coalesce(beside.links - (%(related_in_all)s - %(related)s), 0)) AS related
            FROM linker_page p LEFT JOIN beside ON beside.source_id = p.id
            WHERE p.project_id = %(project)s
                AND (%(pages)s::bigint[] IS NULL OR p.id = ANY(%(pages)s::bigint[]))
        )
        SELECT * FROM room WHERE inline < %(inline)s OR related < %(related)s ORDER BY id
        """,
        {
            "project": project.pk,
            "pages": None if pages is None else list(pages),
            "inline": params.inline_per_donor,
            "related": params.related_per_donor,
            "inline_in_all": params.inline_in_all,
            "related_in_all": params.related_in_all,
            "per_1000_words": params.per_1000_words,
            "beside": _beside_alone(project),
        },
    )
    return {page: Room(inline, related) for page, inline, related in rows}
