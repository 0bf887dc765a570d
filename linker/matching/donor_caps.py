"""The caps of some donors, what uses them up, and which of them is met.

What counts: the links that the site has in a place, and approved ones that it does not have there yet, whether they
have been released or not. So a released link counts once, however often the site has been crawled since. One that has
gone from the site and is back in the queue counts no more than any open suggestion.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import connection

from linker.matching import cap_sayings
from linker.matching.room import beside_sql, in_text_sql, links_beside_sql, of_edges_run, words_sql
from linker.matching.section_caps import caps_in_force, section_caps_sql
from linker.models import Placement
from linker.models.linked import linked_sql
from linker.models.querysets import APPROVED, sql

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from linker.engine.sayings import Saying
    from linker.models import CandidateEdge, Project

_TEXT, _BESIDE = in_text_sql("donor", of_edges_run), beside_sql(links_beside_sql("donor.id"), of_edges_run)
# Columns of PlaceCaps for the text and for the block beside it, of the rows `donor` (linker_page), `run` and `section`.
IN_TEXT = (
    f"{_TEXT.on_site}, {_TEXT.new}, {_TEXT.in_all}, section.inline_in_all_by, {_TEXT.by_length}, "
    f"CASE WHEN {_TEXT.by_length} IS NOT NULL THEN {words_sql('donor')} END"
)
BESIDE = f"{_BESIDE.on_site}, {_BESIDE.new}, {_BESIDE.in_all}, section.related_in_all_by, NULL, NULL"
ROOM_IN_TEXT, ROOM_BESIDE = _TEXT.room, _BESIDE.room  # PlaceCaps.room of the same
# Approved links that take room beside those of the site, of the row `e`.
TAKES_ROOM = f"{sql(APPROVED, 'e')} AND NOT {linked_sql('e')}"
_THEIRS = "c.id IN (SELECT coalesce(category_id, 0) FROM linker_page WHERE id = ANY(%(pages)s::bigint[]))"
_CAPS = f"""
SELECT asked.page, asked.run, {IN_TEXT}, {BESIDE}
FROM unnest(%(pages)s::bigint[], %(runs)s::bigint[]) asked (page, run)
JOIN linker_page donor ON donor.id = asked.page JOIN linker_run run ON run.id = asked.run
LEFT JOIN ({section_caps_sql(_THEIRS)}) section ON section.category = coalesce(donor.category_id, 0)
"""
_TAKEN = f"""
SELECT e.source_id, e.placement, count(*) FROM linker_candidateedge e
WHERE e.project_id = %(project)s AND e.source_id = ANY(%(pages)s::bigint[]) AND e.id <> ALL(%(without)s::bigint[])
    AND {TAKES_ROOM}
GROUP BY 1, 2
"""


class PlaceCaps(NamedTuple):
    """What holds for one place of a donor: see linker.matching.room.PlaceSql. `section`: the id of the section cap
    that says `in_all`; `words`: of the text, where a cap goes by its length."""

    on_site: int
    new: int
    in_all: int | None
    section: int | None
    by_length: int | None
    words: int | None

    @property
    def left(self) -> dict[str, int]:
        """By each cap, the new links that it leaves room for; below zero where the site has more than that."""
        in_all = {"in_all": self.in_all, "by_length": self.by_length}
        return {name: cap - self.on_site for name, cap in in_all.items() if cap is not None} | {"new": self.new}

    @property
    def room(self) -> int:
        """New links that there is room for, as PlaceSql.room says it."""
        return max(0, min(self.left.values()))

    @property
    def binding(self) -> str:
        """The cap that leaves the least room."""
        left = self.left
        return min(left, key=lambda name: left[name])

    def said(self, placement: str, ours: int, sections: SectionNames) -> tuple[Saying, dict[str, int | str]]:
        """Which cap is met, and its numbers, with so many approved links of ours."""
        is_text, binding = placement == Placement.INLINE, self.binding
        counts: dict[str, int | str] = {"site": self.on_site, "ours": ours}
        if binding == "new":
            said = cap_sayings.TEXT_NEW if is_text else cap_sayings.BESIDE_NEW
            return said, {"ours": ours, "limit": self.new}
        if binding == "by_length":
            return cap_sayings.TEXT_LENGTH, counts | {"words": self.words or 0, "limit": self.by_length or 0}
        counts["limit"] = self.in_all or 0
        name = sections.of(self.section)
        if name:
            said = cap_sayings.TEXT_SECTION if is_text else cap_sayings.BESIDE_SECTION
            return said, counts | {"section": name}
        return cap_sayings.TEXT_ALL if is_text else cap_sayings.BESIDE_ALL, counts


class SectionNames:
    """What the sections with caps are called; read once, when the first is asked for."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._names: dict[int, str] | None = None

    def of(self, cap: int | None) -> str:
        """Empty for none, and for the whole site."""
        if cap is None:
            return ""
        if self._names is None:
            self._names = {one.pk: str(one.category or "") for one in caps_in_force(self.project)}
        return self._names.get(cap, "")


def place_caps(project: Project, asked: Collection[tuple[int, int]]) -> dict[tuple[int, int], dict[str, PlaceCaps]]:
    """The caps of pages under those of runs, by page and run, and by placement. One query."""
    params: dict[str, Any] = {
        "project": project.pk,
        "pages": [page for page, _ in asked],
        "runs": [run for _, run in asked],
    }
    width, found = len(PlaceCaps._fields), {}
    with connection.cursor() as cursor:
        cursor.execute(_CAPS, params)
        for page, run, *values in cursor.fetchall():
            in_text, beside = PlaceCaps(*values[:width]), PlaceCaps(*values[width:])
            found[page, run] = {Placement.INLINE.value: in_text, Placement.RELATED.value: beside}
    return found


class DonorCaps:
    """The caps of the donors of some edges, read once, and the links that use them up. Two queries."""

    def __init__(self, project: Project, edges: Collection[CandidateEdge], *, without: Iterable[int] = ()) -> None:
        """`without`: ids of edges that take no room."""
        self.sections = SectionNames(project)
        self._caps: dict[tuple[int, int], dict[str, PlaceCaps]] = {}
        self._taken: Counter[tuple[int, str]] = Counter()
        if not edges:
            return
        asked = sorted({(edge.source_id, edge.run_id) for edge in edges})
        self._caps = place_caps(project, asked)
        params: dict[str, Any] = {"project": project.pk, "pages": [page for page, _ in asked], "without": list(without)}
        with connection.cursor() as cursor:
            cursor.execute(_TAKEN, params)
            self._taken.update({(page, placement): links for page, placement, links in cursor.fetchall()})

    def full(self, edge: CandidateEdge, placement: str) -> tuple[Saying, dict[str, int | str]] | None:
        """Which cap the donor has met where one more link would go, and its numbers; None where there is room."""
        caps, ours = self._caps[edge.source_id, edge.run_id][placement], self._taken[edge.source_id, placement]
        if edge.is_known and placement == Placement.INLINE:  # the link of the site itself is not another one
            caps = caps._replace(on_site=caps.on_site - 1)
        return None if ours < caps.room else caps.said(placement, ours, self.sections)

    def is_any_full(self, edge: CandidateEdge) -> bool:
        """Whether either place of the donor is full: elsewhere it does not matter where the link goes."""
        return any(self.full(edge, placement) is not None for placement in Placement.values)

    def add(self, edge: CandidateEdge) -> None:
        """One more link was approved."""
        self._taken[edge.source_id, edge.placement] += 1
