"""Which pages have a gate: links from or to them need a second person. The one home of that rule."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from django.db import connection

from linker.models import Gate, SafetyClass
from linker.pages.safety import AT_A_TIME, Holds, holds_of
from linker.storage.copy import analyze, copy_rows_in
from linker.storage.cursors import stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from linker.models import CandidateEdge, Page, Project


# What gates name without a pattern: those pages are found however many the project has.
_NAMED = """
SELECT n.id FROM linker_page n WHERE n.project_id = %(project)s AND (
    n.clicks >= %(clicks)s OR n.category_id = ANY(%(categories)s::bigint[]) OR n.id = ANY(%(listed)s::bigint[])
)
"""


def gates_in_force(project: Project) -> list[Gate]:
    found = Gate.objects.filter(project=project, ended_at=None).defer("page_list__pages")
    return list(found.select_related("category", "page_list", "safety_class").order_by("pk"))


class Gates:
    """A project's gates, or those that are given, read once and asked about page after page."""

    def __init__(self, project: Project, gates: Sequence[Gate] | None = None) -> None:
        self.project = project
        gates = gates_in_force(project) if gates is None else gates
        self.clicks = min((gate.min_clicks for gate in gates if gate.min_clicks is not None), default=None)
        named = [
            gate.safety_class or SafetyClass(category_id=gate.category_id, page_list_id=gate.page_list_id)
            for gate in gates
            if gate.min_clicks is None
        ]
        self.holds: list[Holds] = holds_of(project, named)

    def __bool__(self) -> bool:
        return self.clicks is not None or bool(self.holds)

    def has(self, page: Page) -> bool:
        """Whether the page has a gate."""
        return self._has(page.pk, page.category_id, page.url, page.clicks)

    def stops(self, edge: CandidateEdge) -> bool:
        """Whether a link needs a second person. The edge comes with its pages."""
        return self.has(edge.source) or self.has(edge.target)

    def pages(self, chosen: str) -> Iterator[tuple[int]]:
        """The pages with a gate among those that `chosen`, SQL of ids, names; %(project)s is the project's id."""
        query = f"SELECT p.id, p.category_id, p.url, p.clicks FROM linker_page p WHERE p.id IN ({chosen})"
        for row in stream("gates", query, {"project": self.project.pk}):
            if self._has(*row):
                yield (row[0],)

    def first_pages(self, most: int, sample: int) -> list[int]:
        """Pages with a gate, at most so many. Those of a pattern are looked for among the first `sample` pages."""
        query = f"SELECT p.id, p.category_id, p.url, p.clicks FROM linker_page p WHERE p.id IN ({_NAMED})"
        if any(one.matches is not None for one in self.holds):
            first = f"SELECT f.id FROM linker_page f WHERE f.project_id = %(project)s ORDER BY f.id LIMIT {int(sample)}"
            query += f" OR p.id IN ({first})"
        named = {
            "project": self.project.pk,
            "clicks": self.clicks,
            "categories": sorted(one for holds in self.holds for one in holds.categories),
            "listed": sorted(one for holds in self.holds for one in holds.listed),
        }
        return [row[0] for row in islice((row for row in stream("gates", query, named) if self._has(*row)), most)]

    def _has(self, page: int, category: int | None, url: str, clicks: int | None) -> bool:
        if self.clicks is not None and (clicks or 0) >= self.clicks:
            return True
        return any(one.has(page, category, url) for one in self.holds)


def write_gated(project: Project, chosen: str) -> bool:
    """Fills the temporary table `gated` (page) with the pages among `chosen`, SQL of ids, that have a gate. False, and
    no table, where the project has no gate."""
    gates = Gates(project)
    if not gates:
        return False
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS gated")
        cursor.execute("CREATE TEMP TABLE gated (page bigint PRIMARY KEY) ON COMMIT DROP")
    rows = gates.pages(chosen)
    while batch := list(islice(rows, AT_A_TIME)):
        copy_rows_in("gated", ["page"], batch)
    analyze("gated")
    return True


# Of the row `l`, whether either of its pages has a gate. By the table of `write_gated`.
IS_GATED = "EXISTS (SELECT FROM gated g WHERE g.page IN (l.source_id, l.target_id))"
