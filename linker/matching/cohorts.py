"""Which bounds read a suggestion: those of a cohort that it is in, or the project's.

The one home of that rule. Of the categories around the source's that have bounds of their own, the nearest counts;
where none has, the role in force of the target; where that has none, whether the link has words in the text. A
source's category and not a target's, since a link stands on its
donor's page, by whose section the queue and the roll-out go as well; a target's role and not a source's, since it is
the acceptor that a hub or a product is to its visitors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import connection

from linker.models import Basis, Cohort, CohortBound
from linker.models.querysets import UNDECIDED, holds
from linker.models.subtrees import inside_sql
from linker.storage.copy import copy_out, copy_rows_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from linker.models import CandidateEdge, Project

OF_PROJECT = 0  # what stands for the project's own bounds among the ids of cohorts
ASKED = -1  # the id of a cohort that is not saved yet


@dataclass(frozen=True)
class OwnBounds:
    """A cohort as it is, or as a form would have it. `bounds`: where its tiers begin, by their ids."""

    id: int
    basis: str
    category: int | None
    role: str
    bounds: Mapping[int, float] = field(default_factory=dict)
    wordless: bool = False


def cohorts_of(project: Project, basis: str | None = None) -> list[OwnBounds]:
    """The cohorts of a project as they are, of all bases or of one. Two queries, or one where there is none."""
    found = Cohort.objects.filter(project=project, **({} if basis is None else {"basis": basis})).order_by("pk")
    rows = list(found.values_list("pk", "basis", "category", "role", "wordless"))
    bounds: dict[int, dict[int, float]] = {pk: {} for pk, *_ in rows}
    if rows:
        of_cohorts = CohortBound.objects.filter(cohort__in=list(bounds))
        for cohort, tier, bound in of_cohorts.values_list("cohort", "tier", "lower_bound"):
            bounds[cohort][tier] = bound
    return [OwnBounds(pk, of, category, role, bounds[pk], wordless) for pk, of, category, role, wordless in rows]


def saved_cohort(project: Project, pk: int) -> OwnBounds | None:
    """A cohort of the project by its id, as it is."""
    return next((one for one in cohorts_of(project) if one.id == pk), None)


_SECTIONS = f"""
SELECT DISTINCT ON (c.id, asked.basis) c.id, asked.basis, asked.cohort
FROM unnest(%s::bigint[], %s::bigint[], %s::text[]) asked (cohort, category, basis)
    JOIN linker_category root ON root.id = asked.category AND root.project_id = %s
    JOIN linker_category c ON {inside_sql("c", "root")}
ORDER BY c.id, asked.basis, root.depth DESC
"""


def sections_read(project: Project, cohorts: Sequence[OwnBounds]) -> list[tuple[int, str, int]]:
    """Each category that a cohort reads: its id, the basis, and the nearest cohort's id."""
    of_category = [cohort for cohort in cohorts if cohort.category is not None]
    if not of_category:
        return []
    ids, categories, bases = zip(*((one.id, one.category, one.basis) for one in of_category), strict=True)
    with connection.cursor() as cursor:
        cursor.execute(_SECTIONS, [list(ids), list(categories), list(bases), project.pk])
        return cursor.fetchall()


# ------------------------------------------------------------------------------------------------------------ in SQL


@dataclass(frozen=True)
class StagedCohorts:
    """Temporary tables that say for each category and role which cohort reads it, and SQL that asks them.

    `joins`: to be written after what has the alias `source` of a page, the column `target` with a page's id, and the
    SQL `basis` and `has_words`; `cohort`: the id of the cohort, OF_PROJECT where the project's bounds count.
    """

    name: str
    has_roles: bool

    def joins(self, source: str, target: str, basis: str, has_words: str) -> str:
        name = self.name
        joins = (
            f"LEFT JOIN {name}_sections {name}_s ON {name}_s.section = {source}.category_id "
            f"AND {name}_s.basis = {basis} "
            f"LEFT JOIN {name}_wordless {name}_w ON NOT ({has_words}) AND {name}_w.basis = {basis} "
        )
        if not self.has_roles:
            return joins
        return joins + (
            f"JOIN linker_page {name}_t ON {name}_t.id = {target} "
            f"LEFT JOIN {name}_roles {name}_r ON {name}_r.role = {name}_t.role_in_force "
            f"AND {name}_r.basis = {basis} "
        )

    @property
    def cohort(self) -> str:
        by_role = f"{self.name}_r.cohort, " if self.has_roles else ""
        return f"coalesce({self.name}_s.cohort, {by_role}{self.name}_w.cohort, {OF_PROJECT})"

    def reads(self, cohort: OwnBounds) -> str:
        """SQL: whether the cohort reads it, in a form that lets the planner begin with the cohort's pages."""
        if cohort.category is not None:
            return f"{self.name}_s.cohort = {int(cohort.id)}"
        if cohort.wordless:
            no_role = f" AND {self.name}_r.cohort IS NULL" if self.has_roles else ""
            return f"{self.name}_w.cohort = {int(cohort.id)} AND {self.name}_s.cohort IS NULL{no_role}"
        return f"{self.name}_r.cohort = {int(cohort.id)} AND {self.name}_s.cohort IS NULL"


def stage_cohorts(cursor: Any, name: str, project: Project, cohorts: Sequence[OwnBounds]) -> StagedCohorts:
    """Makes the tables, until the transaction ends."""
    roles = [(one.role, one.basis, one.id) for one in cohorts if one.role]
    wordless = [(True, one.basis, one.id) for one in cohorts if one.wordless]
    for part, key, rows in (
        ("sections", "section bigint", sections_read(project, cohorts)),
        ("roles", "role text", roles),
        ("wordless", "wordless boolean", wordless),
    ):
        table = f"{name}_{part}"
        cursor.execute(f"DROP TABLE IF EXISTS {table}")
        cursor.execute(f"CREATE TEMP TABLE {table} ({key}, basis text, cohort bigint) ON COMMIT DROP")
        copy_rows_in(table, (key.split()[0], "basis", "cohort"), rows)
        cursor.execute(f"ANALYZE {table}")
    return StagedCohorts(name, bool(roles))


def stage_bounds(cursor: Any, project: Project, tiers: str, cohorts: Sequence[OwnBounds]) -> None:
    """Makes the table `bounds` of where tiers begin: those of the project, in the table `tiers`, and of cohorts."""
    cursor.execute("DROP TABLE IF EXISTS bounds")
    cursor.execute(
        f"CREATE TEMP TABLE bounds ON COMMIT DROP AS SELECT {OF_PROJECT}::bigint AS cohort, basis::text, "
        f"lower_bound, id AS tier FROM {tiers} WHERE project_id = %s",
        [project.pk],
    )
    rows = [(one.id, one.basis, bound, tier) for one in cohorts for tier, bound in one.bounds.items()]
    copy_rows_in("bounds", ("cohort", "basis", "lower_bound", "tier"), rows)
    cursor.execute("ALTER TABLE bounds ADD PRIMARY KEY (cohort, basis, lower_bound)")
    cursor.execute("ANALYZE bounds")


# -------------------------------------------------------------------------------------------------------- in a match


class CohortsOfPairs:
    """Which cohort of a basis reads a pair of pages, by arrays; the same rule as in SQL."""

    def __init__(self, project: Project, cohorts: Sequence[OwnBounds]) -> None:
        """`cohorts`: all of one basis."""
        self.project, self.ids = project, [one.id for one in cohorts]
        self._places = {OF_PROJECT: 0} | {one.id: place for place, one in enumerate(cohorts, 1)}
        self._sections = {section: self._places[cohort] for section, _, cohort in sections_read(project, cohorts)}
        self._roles = {one.role: self._places[one.id] for one in cohorts if one.role}
        self.wordless = next((self._places[one.id] for one in cohorts if one.wordless), 0)

    def places(
        self, source: NDArray[np.int64], target: NDArray[np.int64], has_words: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """Of pairs [n] of pages: 0 where the project's bounds read it, else 1 and more, in the order of the cohorts."""
        found = by_words = np.where(has_words, 0, self.wordless)
        if self._roles:
            names = list(self._roles)
            known = _pages("coalesce(array_position(%s::text[], role_in_force), 0)::bigint", [names], target)
            found = np.where(known > 0, np.array([0, *self._roles.values()], dtype=np.int64)[known], by_words)
        if self._sections:
            ids = np.array(sorted(self._sections), dtype=np.int64)
            of_section = np.array([self._sections[section] for section in ids.tolist()], dtype=np.int64)
            section = _pages("coalesce(category_id, 0)", [], source)
            place = np.minimum(np.searchsorted(ids, section), len(ids) - 1)
            found = np.where(ids[place] == section, of_section[place], found)
        return found


def _pages(column: str, params: Sequence[Any], pages: NDArray[np.int64]) -> NDArray[np.int64]:
    """What a column holds of pages [n]."""
    ids = np.unique(pages)
    rows = copy_out(
        f"SELECT id, {column} FROM linker_page WHERE id = ANY(%s) ORDER BY id",
        [*params, ids.tolist()],
        [("id", ">i8"), ("value", ">i8")],
    )
    value = np.zeros(len(ids), dtype=np.int64)
    value[np.searchsorted(ids, rows["id"].astype(np.int64))] = rows["value"]
    return value[np.searchsorted(ids, pages)]


# ----------------------------------------------------------------------------------------------------- of a few links


@dataclass(frozen=True)
class ReadBy:
    """The cohort whose bounds read a link, and where its tiers begin, by their ids."""

    cohort: Cohort
    bounds: Mapping[int, float]


def read_by(
    project: Project, basis: str, pairs: Sequence[tuple[int, int]], has_words: Sequence[bool]
) -> list[ReadBy | None]:
    """The cohort of that basis that reads each pair of pages, with words in the text or without; None where the
    project's bounds do. Five queries at most, and one where no cohort is."""
    cohorts = cohorts_of(project, basis)
    if not (cohorts and pairs):
        return [None] * len(pairs)
    source, target = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    places = CohortsOfPairs(project, cohorts).places(source, target, np.array(has_words)).tolist()
    names = Cohort.objects.filter(pk__in=[cohorts[place - 1].id for place in set(places) if place])
    known = {one.pk: one for one in names.select_related("category")}
    return [ReadBy(known[cohorts[place - 1].id], cohorts[place - 1].bounds) if place else None for place in places]


def readers(project: Project, edges: Sequence[CandidateEdge]) -> dict[int, ReadBy]:
    """By edge, the cohort that reads it, of those that one reads and nobody has decided on."""
    found: dict[int, ReadBy] = {}
    is_by_probability = project.tier_basis == Basis.PROBABILITY
    for has_probability in (True, False) if is_by_probability else (None,):
        basis = Basis.COSINE if has_probability is False else Basis(project.tier_basis)
        some = [
            edge
            for edge in edges
            if holds(UNDECIDED, edge) and (has_probability is None or (edge.probability is not None) == has_probability)
        ]
        if some:
            pairs = [(edge.source_id, edge.target_id) for edge in some]
            by = read_by(project, basis, pairs, [edge.span_start is not None for edge in some])
            found |= {edge.pk: one for edge, one in zip(some, by, strict=True) if one is not None}
    return found
