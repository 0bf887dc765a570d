"""Which pages a project's safety classes hold. The one home of that rule, for pages in the database and in memory."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from django.db import connection

from linker.engine.patterns import compile_pattern
from linker.models import BarredPair, PageList, SafetyClass
from linker.models.subtrees import categories_below_each
from linker.pages.page_lists import page_ids
from linker.storage.copy import analyze, copy_rows_in
from linker.storage.cursors import stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from linker.models import Page, Project

AT_A_TIME = 5000  # rows that are written
ALL_PAGES = "SELECT id FROM linker_page WHERE project_id = %(project)s"


@dataclass(frozen=True)
class Holds:
    """What one class holds: pages of some categories, of some addresses, of a list."""

    safety_class: int
    categories: frozenset[int]
    matches: Callable[[str], object] | None
    listed: frozenset[int]

    def has(self, page: int, category: int | None, url: str) -> bool:
        return (
            category in self.categories
            or page in self.listed
            or (self.matches is not None and self.matches(url) is not None)
        )


class SafetyClasses:
    """Some classes of a project, read once and asked about page after page."""

    def __init__(self, project: Project, classes: Iterable[SafetyClass]) -> None:
        self.project = project
        self.holds = holds_of(project, list(classes))

    def of(self, page: Page) -> list[int]:
        """The classes that the page is in."""
        return self._found(page.pk, page.category_id, page.url)

    def members(self, chosen: str = ALL_PAGES, ids: Sequence[int] = ()) -> Iterator[tuple[int, int]]:
        """Class and page, for those pages that `chosen`, SQL of ids, names; `ids` is its parameter."""
        if not self.holds:
            return
        query = f"SELECT p.id, p.category_id, p.url FROM linker_page p WHERE p.id IN ({chosen})"
        for page, category, url in stream("safety", query, {"project": self.project.pk, "ids": list(ids)}):
            yield from ((one, page) for one in self._found(page, category, url))

    def _found(self, page: int, category: int | None, url: str) -> list[int]:
        return [one.safety_class for one in self.holds if one.has(page, category, url)]


def holds_of(project: Project, classes: Sequence[SafetyClass]) -> list[Holds]:
    """What each of the classes holds. One query, and one for each list of pages."""
    below = categories_below_each(project, {one.category_id for one in classes if one.category_id})
    return [
        Holds(
            one.pk,
            below[one.category_id] if one.category_id else frozenset(),
            compile_pattern(one.url_pattern).search if one.url_pattern else None,
            _listed(one.page_list_id),
        )
        for one in classes
    ]


def _listed(number: int | None) -> frozenset[int]:
    found = PageList.objects.filter(pk=number).first() if number else None
    return frozenset(page_ids(found).tolist()) if found is not None else frozenset()


def has_classes(project: Project) -> bool:
    return SafetyClass.objects.filter(project=project, ended_at=None).exists()


def barred_pairs(project: Project) -> list[BarredPair]:
    """The pairs that hold, the oldest first, with their classes."""
    found = BarredPair.objects.filter(project=project, ended_at=None).select_related("source", "target")
    return list(found.order_by("pk"))


def directions(pair: BarredPair) -> list[tuple[int, int]]:
    """From which class to which no link may lead."""
    there, back = (pair.source_id, pair.target_id), (pair.target_id, pair.source_id)
    return [there, back] if pair.either and there != back else [there]


def classes_of(pairs: Iterable[BarredPair]) -> list[SafetyClass]:
    """The classes that the pairs name, each once."""
    return list({one.pk: one for pair in pairs for one in (pair.source, pair.target)}.values())


def barring(project: Project, links: Iterable[tuple[Page, Page]]) -> dict[tuple[int, int], BarredPair]:
    """By donor and acceptor, the pair of classes that keeps a link between them from being made: the oldest of several.
    Those that may be linked are left out."""
    pairs = barred_pairs(project)
    if not pairs:
        return {}
    classes = SafetyClasses(project, classes_of(pairs))
    known: dict[int, frozenset[int]] = {}
    found = {}
    for donor, acceptor in links:
        for page in (donor, acceptor):
            if page.pk not in known:
                known[page.pk] = frozenset(classes.of(page))
        for pair in pairs:
            if any(a in known[donor.pk] and b in known[acceptor.pk] for a, b in directions(pair)):
                found[donor.pk, acceptor.pk] = pair
                break
    return found


def disclaimers_of(project: Project, pages: Iterable[Page]) -> dict[int, list[SafetyClass]]:
    """By page, the classes with a disclaimer that it is in; pages without any are left out."""
    wanted = SafetyClass.objects.filter(project=project, ended_at=None).exclude(disclaimer="").order_by("name")
    by_id = {one.pk: one for one in wanted}
    if not by_id:
        return {}
    classes = SafetyClasses(project, by_id.values())
    found = {page.pk: [by_id[one] for one in classes.of(page)] for page in pages}
    return {page: those for page, those in found.items() if those}


def write_barred(project: Project, chosen: str = ALL_PAGES, ids: Sequence[int] = ()) -> bool:
    """Fills the temporary tables that BARRED reads with what holds of the pages that `chosen`, SQL of ids, names.
    False, and no tables, where the project has no pair."""
    pairs = barred_pairs(project)
    if not pairs:
        return False
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS safety_member, safety_pair")
        cursor.execute("CREATE TEMP TABLE safety_member (class bigint, page bigint) ON COMMIT DROP")
        cursor.execute("CREATE TEMP TABLE safety_pair (pair bigint, source bigint, target bigint) ON COMMIT DROP")
    rows = SafetyClasses(project, classes_of(pairs)).members(chosen, ids)
    while batch := list(islice(rows, AT_A_TIME)):
        copy_rows_in("safety_member", ["class", "page"], batch)
    copy_rows_in(
        "safety_pair",
        ["pair", "source", "target"],
        [(pair.pk, source, target) for pair in pairs for source, target in directions(pair)],
    )
    with connection.cursor() as cursor:
        cursor.execute("CREATE INDEX ON safety_member (page, class)")
    analyze("safety_member", "safety_pair")
    return True


# Rows `l` of a table that are barred, each with the oldest pair that says so. Wants the table, the column of its key,
# and what else is to hold.
BARRED = """
SELECT l.{key} AS id, min(b.pair) AS pair FROM safety_pair b
JOIN safety_member s ON s.class = b.source JOIN {table} l ON l.source_id = s.page
JOIN safety_member t ON t.class = b.target AND t.page = l.target_id
WHERE {where} GROUP BY 1
"""


def pages_by_class(project: Project, pairs: Sequence[BarredPair], pages: Sequence[int]) -> dict[int, list[int]]:
    """Of some pages, those that each class holds which the pairs name."""
    found: dict[int, list[int]] = defaultdict(list)
    chosen = "SELECT unnest(%(ids)s::bigint[])"
    for one, page in SafetyClasses(project, classes_of(pairs)).members(chosen, pages):
        found[one].append(page)
    return found
