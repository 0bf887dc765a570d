"""What the decisions of a project's editors teach a match run, by kind of link.

Here are the decisions with what kind each is of, and what a run has learned from them, as its report keeps it; how it
is learned says linker.engine.ranking.calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linker.engine.ranking.calibration import SOURCES, Calibration, Family, Lesson, PageShifts, learn
from linker.engine.roles.policy import PageRole
from linker.matching.category_nodes import category_nodes
from linker.matching.eligibility import IneligibleReason, ineligible_pages
from linker.matching.report_types import KindLesson
from linker.models import Project, Side
from linker.models.querysets import APPROVED, sql
from linker.pages.roles import role_now_sql
from linker.storage.copy import copy_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.matching.eligibility import Eligible
    from linker.matching.report_types import ApprovalReport

STATED = "stated"  # in an edge's evidence: what the shipped model said, before the project's calibration
# A rejection that says the target is wrong. Other reasons speak of the words, the donor or the moment: such a pair is
# not proposed again, but nothing is learned from it about pairs.
OF_THE_PAIR = "rejected_for IN ('', 'irrelevant', 'wrong_target', 'other')"
OF_THE_WORDS = "rejected_for = 'bad_anchor'"
ROLES = tuple(PageRole)
KIND_COLUMNS = tuple(Family)

_NO_LONGER = (IneligibleReason.EXCLUDED, IneligibleReason.ROLE, IneligibleReason.NOT_INDEXABLE)
_TEACHES = (
    f"e.project_id = %(project)s AND e.reviewed AND ({sql(APPROVED, 'e')} OR e.status = 'rejected') "
    f"AND e.evidence ? '{STATED}' AND (e.status <> 'rejected' OR e.{OF_THE_PAIR} OR e.{OF_THE_WORDS})"
)


def _role(page: str) -> str:
    return f"coalesce(array_position(%(roles)s::text[], ({role_now_sql(page)})::text), 0) - 1"


# Words that an editor wrote are of no kind; where they stand is.
_DECISIONS = f"""
SELECT e.source_id, e.target_id, (e.evidence->>'{STATED}')::float8, e.probability,
    e.status <> 'rejected' AND NOT e.edited, NOT e.edited AND NOT (e.status = 'rejected' AND e.{OF_THE_WORDS}),
    ({_role("s")})::int8, ({_role("t")})::int8, coalesce(s.category_id, 0), coalesce(t.category_id, 0),
    (e.span_start IS NOT NULL)::int::int8,
    (CASE WHEN e.span_start IS NULL OR e.edited THEN -1
        ELSE coalesce(array_position(%(sources)s::text[], e.anchor_source::text), 0) - 1 END)::int8
FROM linker_candidateedge e JOIN linker_page s ON s.id = e.source_id JOIN linker_page t ON t.id = e.target_id
WHERE {_TEACHES}
"""
_FIELDS = [
    *(("source", ">i8"), ("target", ">i8"), ("stated", ">f8"), ("shown", ">f8"), ("approved", "?"), ("of_pair", "?")),
    *((family.value, ">i8") for family in KIND_COLUMNS),
]


def decisions(project: Project) -> NDArray[Any]:
    """What the model stated of each suggestion that a person decided on, what the project's editors were shown, whether
    they approved it as it stood, whether they spoke of the pair and not of its words alone, and of which kind it is of
    each family, -1 where of none. Decisions on a page that the project keeps from such links by now are left out."""
    asked = {"project": project.pk, "roles": [role.value for role in ROLES], "sources": list(SOURCES)}
    rows = copy_out(_DECISIONS, asked, _FIELDS).copy()
    tops = _Tops(project)
    for family in (Family.FROM, Family.TO):
        rows[family.value] = tops.of(rows[family.value].astype(np.int64))
    return rows[_still_counts(project, rows)] if len(rows) else rows


def _still_counts(project: Project, rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether the project's rules still let the pages of each decision have such a link."""
    barred: dict[Side, list[int]] = {Side.DONOR: [], Side.ACCEPTOR: []}
    chosen = (
        f"SELECT page FROM linker_candidateedge e, unnest(ARRAY[e.source_id, e.target_id]) page WHERE {_TEACHES}"
        % {"project": project.pk}
    )
    for page in ineligible_pages(project, chosen):
        if page.reason in _NO_LONGER:
            barred[page.side].append(page.page)
    kept: NDArray[np.bool_] = ~np.isin(rows["source"], barred[Side.DONOR]) & ~np.isin(
        rows["target"], barred[Side.ACCEPTOR]
    )
    return kept


class _Tops:
    """The categories at the top of a project's tree."""

    def __init__(self, project: Project) -> None:
        self.nodes = category_nodes(project)
        parent = self.nodes.tree.parent
        self.top = np.arange(len(parent))
        while (parent[self.top] > 0).any():
            self.top = np.where(parent[self.top] > 0, parent[self.top], self.top)

    def of(self, categories: NDArray[np.int64]) -> NDArray[np.int64]:
        """The id of the category at the top above each; -1 for pages without one."""
        found = self.nodes.ids[self.top[self.nodes.of(categories)]]
        return np.where(found > 0, found, -1)


def lesson_of(decided: NDArray[Any]) -> Lesson:
    """What decisions teach; see `decisions`."""
    kinds = {family: decided[family.value].astype(np.int64) for family in KIND_COLUMNS}
    return learn(decided["stated"].astype(np.float64), decided["approved"], kinds, decided["of_pair"])


def kept_lesson(report: ApprovalReport | None) -> Lesson:
    """What a run had learned, by its report."""
    if report is None:
        return Lesson(1.0, 0.0, 0, {})
    shifts = {(kind.family, kind.code): kind.shift for kind in report.kinds}
    return Lesson(report.slope, report.shift, report.decisions, shifts)


def calibration_of(project: Project, lesson: Lesson, eligible: Eligible) -> Calibration:
    """How the pages of a run, in their order, and words move links by what was learned. Two numbers a page."""
    pages = None
    if any(family in _OF_PAGES for family, _ in lesson.shifts):
        role, top = _roles(project, eligible.ids), _Tops(project).of(eligible.categories)
        pages = PageShifts(
            giving=_shifts(lesson, Family.GIVER, role) + _shifts(lesson, Family.FROM, top),
            receiving=_shifts(lesson, Family.RECEIVER, role) + _shifts(lesson, Family.TO, top),
        )
    return Calibration(lesson.slope, lesson.shift, lesson.decisions, pages, lesson.words())


_OF_PAGES = (Family.GIVER, Family.RECEIVER, Family.FROM, Family.TO)


def _roles(project: Project, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place among ROLES of the role that each page has now; `ids` ascending."""
    found = copy_out(
        f"SELECT p.id, ({_role('p')})::int8 FROM linker_page p WHERE p.project_id = %(project)s ORDER BY p.id",
        {"project": project.pk, "roles": [role.value for role in ROLES]},
        [("id", ">i8"), ("role", ">i8")],
    )
    place = np.searchsorted(found["id"].astype(np.int64), ids)
    return np.asarray(found["role"].astype(np.int64)[place])


def _shifts(lesson: Lesson, family: Family, codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """How far each page is moved for its kind of a family."""
    known = sorted((code, shift) for (one, code), shift in lesson.shifts.items() if one is family)
    if not known:
        return np.zeros(len(codes))
    code, shift = np.array([code for code, _ in known]), np.array([shift for _, shift in known])
    place = np.minimum(np.searchsorted(code, codes), len(code) - 1)
    return np.where(code[place] == codes, shift[place], 0.0)


def kind_lessons(lesson: Lesson, decided: NDArray[Any]) -> tuple[KindLesson, ...]:
    """What was learned of each kind, with the decisions behind it."""
    found = []
    for (family, code), shift in lesson.shifts.items():
        mine = decided[decided[family.value] == code]
        found.append(
            KindLesson(family=family, code=code, shift=shift, decisions=len(mine), approved=int(mine["approved"].sum()))
        )
    return tuple(found)
