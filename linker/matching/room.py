"""How many new links a page has room for, with those that it has already: the one home of that rule.

A match run asks it for all pages (`rooms_of`), a reading of the tiers for the texts, a decision and a release for the
donors of some links (`DONOR_CAPS`), and *Why not?* for one page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from linker.engine.params import MatchParams
from linker.engine.roles.policy import Gives, PageRole
from linker.matching.section_caps import cap_sql, caps_in_force, section_caps_sql
from linker.models.linked import own_beside_sql
from linker.pages.roles import ROLE_NOW, links_by_role, role_now_sql
from linker.storage.cursors import stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
    return [role.value for role, links in links_by_role(project).items() if links.gives is Gives.BESIDE]


class Room(NamedTuple):
    """New links that a page may give in its text and beside it."""

    inline: int
    related: int


class PlaceSql(NamedTuple):
    """SQL about the links of a page in one place. `on_site`: those that the site has; `new`: most new ones; `in_all`
    and `by_length`: most with those on the site, NULL for no such cap."""

    on_site: str
    new: str
    in_all: str
    by_length: str = "NULL::int"

    @property
    def room(self) -> str:
        """New links that there is room for."""
        left = ", ".join(f"{cap} - {self.on_site}" for cap in (self.in_all, self.by_length))
        return f"greatest(0, least({self.new}, {left}))"


def words_sql(page: str) -> str:
    """SQL: the words of a page's text. Where the crawl did not count them, six characters are taken for one."""
    return f"coalesce({page}.word_count, length({page}.body) / 6)"


def in_text_sql(page: str, of_run: Callable[[str], str]) -> PlaceSql:
    """About the text of the page with the alias `page`, beside the row `section` of section_caps_sql. `of_run` gives
    the expression of a field of MatchParams. The links that a text has are the distinct pages it links to."""
    density = cap_sql("per_1000_words", of_run)
    by_length = f"CASE WHEN {density} IS NOT NULL THEN ceil({words_sql(page)} * {density} / 1000.0)::int END"
    return PlaceSql(f"{page}.outlinks", of_run("inline_per_donor"), cap_sql("inline_in_all", of_run), by_length)


def beside_sql(on_site: str, of_run: Callable[[str], str]) -> PlaceSql:
    """The same about the block beside the text; `on_site`: an expression of the links that stand there."""
    return PlaceSql(on_site, of_run("related_per_donor"), cap_sql("related_in_all", of_run))


def links_beside_sql(page: str) -> str:
    """SQL: the distinct pages that a page itself links to beside its text."""
    return (
        f"(SELECT count(DISTINCT beside.target_id)::int FROM linker_existinglink beside "
        f"WHERE beside.source_id = {page} AND {own_beside_sql('beside')})"
    )


def of_edges_run(name: str) -> str:
    """SQL: a parameter of the run that an edge is of, which has the alias `run`."""
    return f"coalesce((run.params ->> '{name}')::int, {getattr(MatchParams, name)})"


def rooms_of(project: Project, params: MatchParams, pages: Sequence[int] | None = None) -> dict[int, Room]:
    """The pages, of all or of these, that have room for fewer new links than a page of the run may give.

    Pages of a role that gives beside its text alone have none in it.
    """
    known = ("inline_per_donor", "related_per_donor", "inline_in_all", "related_in_all", "per_1000_words")
    text = in_text_sql("p", _parameter)
    beside = beside_sql("coalesce(beside.links, 0)", _parameter)
    caps = [cap.related_in_all for cap in caps_in_force(project) if cap.related_in_all is not None]
    caps += [params.related_in_all] if params.related_in_all else []
    rows = stream(
        "rooms",
        f"""
        WITH beside AS (
            SELECT source_id, count(DISTINCT target_id)::int AS links FROM linker_existinglink l
            WHERE project_id = %(project)s AND {own_beside_sql("l")} AND %(beside_from)s::int IS NOT NULL
                AND (%(pages)s::bigint[] IS NULL OR source_id = ANY(%(pages)s::bigint[]))
            GROUP BY source_id HAVING count(DISTINCT target_id) > %(beside_from)s::int
        ), section AS MATERIALIZED ({section_caps_sql()}), room AS (
            SELECT p.id, CASE WHEN {ROLE_NOW} = ANY(%(beside)s) THEN 0 ELSE {text.room} END AS inline,
                {beside.room} AS related
            FROM linker_page p LEFT JOIN beside ON beside.source_id = p.id
                LEFT JOIN section ON section.category = coalesce(p.category_id, 0)
            WHERE p.project_id = %(project)s
                AND (%(pages)s::bigint[] IS NULL OR p.id = ANY(%(pages)s::bigint[]))
        )
        SELECT * FROM room WHERE inline < %(inline_per_donor)s OR related < %(related_per_donor)s ORDER BY id
        """,
        {
            "project": project.pk,
            "pages": None if pages is None else list(pages),
            # Blocks with fewer links than this have all the room there can be.
            "beside_from": min(caps) - params.related_per_donor if caps else None,
            "beside": _beside_alone(project),
            **{name: getattr(params, name) for name in known},
        },
    )
    return {page: Room(inline, related) for page, inline, related in rows}


def _parameter(name: str) -> str:
    return f"%({name})s::int"
