"""What pages are for: found again in all pages of a project, by rules and by hand, and what they therefore give and
receive."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from django.db import connection, transaction

from linker.engine.patterns import compile_pattern
from linker.engine.roles.finder import IN_MENUS, PRODUCT_PARTS, PageFacts, SiteFacts, find_role, sections_with_prices
from linker.engine.roles.ordinary import ordinary_addresses
from linker.engine.roles.policy import LABELS, PageRole, RoleLinks, role_links
from linker.engine.roles.words import plain
from linker.models import Block, Category, Project, RoleRule
from linker.models.linked import LIST_LINK, TEXT_LINK
from linker.models.page import ENDLESS_CALENDAR
from linker.models.querysets import LEFT, LINKABLE, LIVE, PRESENT, sql
from linker.pages.below import Below
from linker.pages.list_links import BY_ROLE, settle_list_links
from linker.pages.report import RolesReport
from linker.runs import lifecycle
from linker.runs.lifecycle import no_progress
from linker.storage.copy import copy_in, copy_rows_in
from linker.storage.cursors import batches, stream
from linker.storage.locks import lock_pages, lock_project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import date

    from django.db.models import Q

    from linker.models import Run
    from linker.pages.list_links import ListLinks
    from linker.runs.lifecycle import Progress

AT_A_TIME = 2000  # pages
READ = 1500  # characters of a text that are looked at
SAMPLE = 2000  # pages below addresses of products in whose texts prices are looked for
BYTES_A_WORD = 6
THIN_BYTES = 90  # of a text of fewer words than a thin page has
# A text tells of its page where nearly all pages have one and few of these are so short.
WITH_TEXT, MOST_THIN = 0.8, 0.2

# Menus and footers that lead to more pages than these say nothing of them.
FEW_IN_MENUS, MOST_IN_MENUS = 20, 0.1

SELLS, SELLING_SHARE = 10, 0.2  # products of a shop, at least, and their share of its pages


# The role that a project's settings are read by: an event to come is an article like any other.
def role_now_sql(page: str) -> str:
    """SQL: that role; `page` is the alias of a row of linker_page."""
    role = f"{page}.role_in_force"
    return f"CASE WHEN {role} = 'event' AND {page}.event_day >= current_date THEN 'article' ELSE {role} END"


ROLE_NOW = role_now_sql("p")


class _Role(NamedTuple):
    """What is in a page's columns."""

    role: str
    why: str
    day: date | None
    by_rule: str


def run_find_roles(run: Run, progress: Progress) -> RolesReport:
    """The work of a run that finds the roles without an import. Ends the run with it: a rule that comes while it works
    waits for its end, and starts another."""
    with transaction.atomic():
        lock_pages(run.project_id)
        report = RolesReport.from_json(find_roles(run.project, progress))
        lifecycle.succeed(run.pk, report)
    return report


def find_roles(project: Project, progress: Progress = no_progress) -> dict[str, Any]:
    """Finds the role of every live page and applies the rules; what a manager chose by hand stays. The links of lists
    count as such from then on, see linker.pages.list_links.

    Returns `roles`, how many live pages that answer have which, and `roles_changed`. Belongs into a transaction that
    holds `lock_pages`; it holds the project against other changes of roles. In memory are some bytes for each page, and
    eight for each part of its address.
    """
    return find_roles_and_lists(project, progress)[0]


def find_roles_and_lists(
    project: Project, progress: Progress = no_progress, *, in_part: bool = False
) -> tuple[dict[str, Any], ListLinks]:
    """The same with what it changed of links, see settle_list_links."""
    project = lock_project(project.pk)
    progress(0, 0, "Finding page roles")
    counts = _count_pages(project)
    pages = counts.pages
    in_menus = _count_links(project, pages, has_texts=counts.with_text > 0)
    menus_tell = in_menus <= max(FEW_IN_MENUS, MOST_IN_MENUS * pages)
    site = _site(project, counts, menus_tell=menus_tell)
    in_categories, by_rule = _pages_of_categories(project, counts.by_category), _by_rule(project)
    is_ordinary = ordinary_addresses(site)

    def speaks_for_none(url: str, category: int) -> bool:
        return category not in in_categories and not by_rule(url) and is_ordinary(url)

    below, looked_at = _look_at_addresses(project, speaks_for_none, most_menus=_most_menus(pages))
    rows = stream("roles", _FACTS, {"read": READ, "calendar": ENDLESS_CALENDAR}, AT_A_TIME)

    def decide(some: list[tuple[Any, ...]]) -> Iterator[_Role]:
        for row, pages_below in zip(some, below.of([row[5] for row in some]), strict=True):
            found = find_role(_facts(row, pages_below, in_categories, pages), site)
            yield _Role(found.role.value, found.why[:300], found.day, by_rule(row[5]))

    changed = _write(rows, decide, lambda done: progress(done, looked_at, "Finding page roles"))
    settled = settle_list_links(project, in_part=in_part)
    roles = _by_role(project, LINKABLE)
    _note_shop(project, roles)
    return {"roles": _listed(roles), "roles_changed": changed}, settled


def _note_shop(project: Project, roles: Counter[str]) -> None:
    products = roles[PageRole.PRODUCT.value]
    project.is_shop = products >= max(SELLS, SELLING_SHARE * roles.total())
    project.save(update_fields=["is_shop"])


def links_by_role(project: Project) -> dict[PageRole, RoleLinks]:
    """What pages of each role give and receive in a project."""
    return role_links(project.role_links, in_shop=project.is_shop)


def apply_role_rules(project: Project) -> int:
    """Writes on the pages what the rules say, and leaves what was found. Returns how many pages changed. Belongs into a
    transaction that holds `lock_pages`."""
    by_rule = _by_rule(project)
    rows = stream(
        "roles",
        "SELECT id, role, role_why, event_day, role_by_rule, url FROM linker_page WHERE project_id = %s",
        [project.pk],
        AT_A_TIME,
    )

    def decide(some: list[tuple[Any, ...]]) -> Iterator[_Role]:
        return (_Role(row[1], row[2], row[3], by_rule(row[5])) for row in some)

    return _write(rows, decide, lambda done: None)


def role_counts(project: Project) -> dict[str, int]:
    """Live pages by the role in force, in the order in which roles are listed."""
    return _listed(_by_role(project, PRESENT) - _by_role(project, LEFT))  # the index holds those that are present


def _by_role(project: Project, rule: Q) -> Counter[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT role_in_force, count(*) FROM linker_page WHERE project_id = %s AND {sql(rule)} GROUP BY 1",
            [project.pk],
        )
        return Counter(dict(cursor.fetchall()))


def _listed(counts: Counter[str]) -> dict[str, int]:
    return {role.value: counts[role.value] for role in LABELS if role.value in counts}


def role_choices(project: Project) -> list[tuple[str, str, int]]:
    """Every role with its name and how many pages have it."""
    counts = role_counts(project)
    return [(role.value, label, counts.get(role.value, 0)) for role, label in LABELS.items()]


def pages_that(project: Project, roles: Sequence[PageRole]) -> set[int]:
    """Ids of the pages of these roles, as settings are read."""
    if not roles:
        return set()
    names = [role.value for role in roles]
    # By the index on roles; which events are past is asked of events alone.
    query = (
        f"SELECT p.id FROM linker_page p WHERE p.project_id = %s AND p.role_in_force = ANY(%s) AND {ROLE_NOW} = ANY(%s)"
    )
    return {page for (page,) in stream("of_role", query, [project.pk, names, names])}


# ---------------------------------------------------------------------------------------------------------- reading

_FACTS = """
SELECT p.id, p.role, p.role_why, p.event_day, p.role_by_rule, p.url, p.title, p.h1, p.own_language,
    left(p.body, %(read)s),
    octet_length(p.body), p.word_count, p.outlinks + coalesce(l.named + l.gives, 0), p.inlinks + coalesce(l.gets, 0),
    coalesce(l.said, 0), coalesce(l.menus, 0), coalesce(l.named, 0),
    coalesce(p.category_id, 0), NOT p.indexable AND p.indexability_status = %(calendar)s
FROM role_look JOIN linker_page p ON p.id = role_look.page LEFT JOIN role_links l ON l.page = p.id
"""
# `is_bare`: an article until now that its address alone could make anything else, and pages below it.
_ADDRESSES = f"""
SELECT p.id, p.url, coalesce(p.category_id, 0), p.body = '' AND p.indexability_status <> %(calendar)s
    AND coalesce(l.named, 0) = 0 AND coalesce(l.menus, 0) < %(most_menus)s
    AND (p.role, p.role_why, p.role_by_rule) = ('article', '', '') AND p.event_day IS NULL AS is_bare
FROM linker_page p LEFT JOIN role_links l ON l.page = p.id
WHERE p.project_id = %(project)s AND {sql(PRESENT, "p")}
"""  # in no order: by ids, PostgreSQL would read the pages of all other projects on the way
_MENUS = (Block.HEADER, Block.FOOTER, Block.NAVIGATION)


def _most_menus(pages: int) -> int:
    """The menus that may lead to a page and tell nothing of it are fewer than these; of so many `pages`."""
    return int(IN_MENUS * pages)


def _look_at_addresses(
    project: Project, speaks_for_none: Callable[[str, int], bool], *, most_menus: int
) -> tuple[Below, int]:
    """Counts the pages below each address, and makes the table `role_look` of the pages that more has to be known of:
    all but bare ones whose address and category speak for no role, which stay articles. Returns how many it has."""
    below, look, bare, addresses = Below(), array("q"), array("q"), array("q")
    params = {"project": project.pk, "calendar": ENDLESS_CALENDAR, "most_menus": most_menus}
    for some in batches(stream("addresses", _ADDRESSES, params, AT_A_TIME), AT_A_TIME):
        for (page, url, category, is_bare), address in zip(some, below.add(row[1] for row in some), strict=True):
            if is_bare and speaks_for_none(url, category):
                bare.append(page)
                addresses.append(address)
            else:
                look.append(page)
    below.count()
    has_pages_below = below.of_hashes(np.array(addresses, dtype=np.int64)) > 0
    pages = np.concatenate([np.array(look, dtype=np.int64), np.array(bare, dtype=np.int64)[has_pages_below]])
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS role_look; CREATE TEMP TABLE role_look (page bigint) ON COMMIT DROP")
        copy_in("role_look", [("page", ">i8", pages)])
        cursor.execute("ANALYZE role_look")
    return below, len(pages)


class _Counts(NamedTuple):
    """How many pages there are, have a text, and have one that is hardly any; how many are in each category."""

    pages: int
    with_text: int
    thin: int
    by_category: Counter[int]

    @property
    def texts_tell(self) -> bool:
        """Whether nearly all pages have a text that is worth reading."""
        return self.with_text >= WITH_TEXT * self.pages and self.thin <= MOST_THIN * self.with_text


def _count_pages(project: Project) -> _Counts:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT category_id, count(*), count(*) FILTER (WHERE body <> ''), "
            "count(*) FILTER (WHERE body <> '' AND octet_length(body) < %s) "
            f"FROM linker_page WHERE project_id = %s AND {sql(PRESENT)} GROUP BY 1",
            [THIN_BYTES, project.pk],
        )
        rows = cursor.fetchall()
    pages, with_text, thin = (sum(row[place] for row in rows) for place in (1, 2, 3))
    by_category = Counter({category: pages for category, pages, *_ in rows if category is not None})
    return _Counts(pages, with_text, thin, by_category)


def _site(project: Project, counts: _Counts, *, menus_tell: bool) -> SiteFacts:
    with connection.cursor() as cursor:
        texts: list[tuple[str, str]] = []
        if counts.with_text:
            cursor.execute(
                f"SELECT url, left(body, %s) FROM linker_page WHERE project_id = %s AND {sql(PRESENT)} "
                "AND body <> '' AND url LIKE ANY(%s) LIMIT %s",
                [READ, project.pk, [f"%/{part}/%" for part in PRODUCT_PARTS], SAMPLE],
            )
            texts = cursor.fetchall()
        sells_in = sections_with_prices(texts)
        root = project.base_url.rstrip("/")
        cursor.execute(  # by the index of page_canonical_url_once
            "SELECT EXISTS (SELECT FROM linker_page WHERE project_id = %s AND md5(canonical_url) IN (md5(%s), md5(%s)) "
            f"AND {sql(LIVE)})",
            [project.pk, root, f"{root}/"],
        )
        [has_root] = cursor.fetchone()
    return SiteFacts(
        project.base_url,
        texts_tell=counts.texts_tell,
        sells_in=sells_in,
        menus_tell=menus_tell,
        has_root=has_root,
    )


def _count_links(project: Project, pages: int, *, has_texts: bool) -> int:
    """Makes the table `role_links` of how many characters of a page are links in its text or list (of texts only where
    `has_texts`), how many pages the list names, as the crawl read it, and how many pages' menus lead to it, where that
    tells anything; `gives` and `gets` are pages that it links to, or that link to it, from texts that count as lists by
    role: a role is found from links as they were read, so that it does not change what it rests on. Returns to how many
    of the `pages` the menus of many lead."""
    menus = ", ".join(str(block.value) for block in _MENUS)
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS role_links")
        cursor.execute(
            f"""
            CREATE TEMP TABLE role_links ON COMMIT DROP AS
            WITH listed AS MATERIALIZED (
                SELECT source_id, target_id, length(anchor) AS said, counts_by FROM linker_existinglink
                WHERE project_id = %(project)s AND {sql(LIST_LINK)}
            ), by_role AS MATERIALIZED (
                SELECT source_id, target_id, sum(said) AS said, source_id <> target_id AND NOT EXISTS (
                    SELECT FROM linker_existinglink t WHERE t.source_id = l.source_id AND t.target_id = l.target_id
                        AND {sql(TEXT_LINK, "t")}
                ) AS counts FROM listed l WHERE {BY_ROLE} GROUP BY 1, 2
            )
            SELECT page, sum(said)::bigint AS said, max(named) AS named, sum(gives)::bigint AS gives,
                sum(gets)::bigint AS gets, max(pages)::bigint AS menus
            FROM (
                SELECT source_id AS page, sum(length(anchor)) AS said, 0 AS named, 0 AS gives, 0 AS gets, 0 AS pages
                FROM linker_existinglink
                WHERE %(has_texts)s AND project_id = %(project)s AND {sql(TEXT_LINK)} GROUP BY 1
                UNION ALL
                SELECT source_id, sum(said), count(DISTINCT target_id), 0, 0, 0 FROM listed
                WHERE counts_by IS NULL GROUP BY 1
                UNION ALL
                SELECT source_id, sum(said), 0, count(*) FILTER (WHERE counts), 0, 0 FROM by_role GROUP BY 1
                UNION ALL
                SELECT target_id, 0, 0, 0, count(*), 0 FROM by_role WHERE counts GROUP BY 1
                UNION ALL
                SELECT target_id, 0, 0, 0, 0, count(*) FROM linker_existinglink
                WHERE project_id = %(project)s AND block IN ({menus}) AND {sql(PRESENT)}
                    AND source_id <> target_id
                GROUP BY target_id, block HAVING count(*) >= %(in_menus)s
            ) counted GROUP BY page
            """,
            {"project": project.pk, "has_texts": has_texts, "in_menus": _most_menus(pages)},
        )
        cursor.execute("ANALYZE role_links")
        cursor.execute("SELECT count(*) FROM role_links WHERE menus >= %s", [max(1, IN_MENUS * pages)])
        return int(cursor.fetchone()[0])


def _facts(row: tuple[Any, ...], below: int, in_categories: _PagesIn, pages: int) -> PageFacts:
    url, title, h1, language, text, size, counted, out, links_in, said, menus, *rest = row[5:]
    listed, category, is_of_calendar = rest
    if text and len(text) < READ:
        words: int | None = len(text.split())
    else:
        words = counted if counted else (size // BYTES_A_WORD or None)
    return PageFacts(
        url=url,
        title=title,
        h1=h1,
        language=language,
        text=text,
        words=words,
        links_out=out,
        link_share=min(1.0, said / size) if size else 0.0,
        links_in=links_in,
        menu_share=menus / pages if pages else 0.0,
        listed=listed,
        is_of_calendar=is_of_calendar,
        below=max(below, in_categories[category].get(plain(h1 or title), 0) if category in in_categories else below),
    )


_PagesIn = dict[int, dict[str, int]]


def _pages_of_categories(project: Project, by_category: Counter[int]) -> _PagesIn:
    """Live pages in each category and all below it, by the category above it (0: none), then by its plain name.

    A page in the one and called like the other is the page of that category. `by_category`: the pages in each.
    """
    counts = Counter(by_category)
    found: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for category, parent, name in (
        Category.objects.filter(project=project).order_by("-depth").values_list("pk", "parent_id", "name")
    ):
        found[parent or 0][plain(name)] += counts[category]
        if parent is not None:
            counts[parent] += counts[category]
    return {parent: dict(names) for parent, names in found.items()}


def _by_rule(project: Project) -> Callable[[str], str]:
    """The role that the rules give to an address, empty where none matches."""
    rules = [
        (compile_pattern(rule.pattern), rule.role) for rule in RoleRule.objects.filter(project=project).order_by("pk")
    ]
    if not rules:
        return lambda url: ""
    return lambda url: next((role for pattern, role in rules if pattern.search(url)), "")


# ---------------------------------------------------------------------------------------------------------- writing


def _write(
    rows: Iterator[tuple[Any, ...]],
    decide: Callable[[list[tuple[Any, ...]]], Iterable[_Role]],
    progress: Callable[[int], None],
) -> int:
    """Writes on the pages of `rows`, which begin with their ids and what they were, what `decide` says of some of them
    that they are now, where that is another thing. Returns how many."""
    done = changed = 0
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS stage_role")
        cursor.execute(
            "CREATE TEMP TABLE stage_role (id bigint, role text, why text, day date, by_rule text) ON COMMIT DROP"
        )
        while some := list(islice(rows, AT_A_TIME)):
            new = [(row[0], *now) for row, now in zip(some, decide(some), strict=True) if now != row[1:5]]
            if new:
                copy_rows_in("stage_role", ("id", "role", "why", "day", "by_rule"), new)
            done += len(some)
            changed += len(new)
            progress(done)
        cursor.execute("ANALYZE stage_role")
        cursor.execute(
            "UPDATE linker_page p SET role = s.role, role_why = s.why, event_day = s.day, role_by_rule = s.by_rule "
            "FROM stage_role s WHERE s.id = p.id"
        )
        cursor.execute("DROP TABLE stage_role")
    return changed
