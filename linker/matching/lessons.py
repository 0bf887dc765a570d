"""What the decisions of a project's editors teach a match run, by kind of link.

Here are the decisions with what kind each is of, and what a run has learned from them, as its report keeps it;
linker.engine.ranking.calibration does the learning."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linker.engine.ranking.calibration import (
    DIGIT,
    OF_WORDS,
    SOURCES,
    Acceptors,
    Calibration,
    Family,
    Kind,
    Lesson,
    PageShifts,
    as_moved,
    common_kinds,
    learn,
    log_odds,
)
from linker.engine.roles.policy import PageRole
from linker.matching.category_nodes import category_nodes
from linker.matching.eligibility import IneligibleReason, ineligible_pages
from linker.matching.kept_runs import standing_run
from linker.matching.report_types import KindLesson, MatchReport
from linker.matching.run_tiers import RunTiers
from linker.models import Basis, Project, Side
from linker.models.edge_counts import kept_counts, total
from linker.models.learning import left_aside
from linker.models.querysets import APPROVED, OPEN, sql
from linker.pages.roles import role_now_sql
from linker.storage.copy import copy_out

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from linker.matching.eligibility import Eligible
    from linker.matching.report_types import ApprovalReport
    from linker.models import Run

# In an edge's evidence: what the shipped model said, before the project's calibration, and the traits of the pair and
# its words, a digit each as linker.engine.ranking.calibration.DIGIT has them.
STATED = "stated"
TRAITS = "traits"
# A rejection that says the target is wrong. Other reasons speak of the words, the donor or the moment: such a pair is
# not proposed again, but nothing is learned from it about pairs.
OF_THE_PAIR = "rejected_for IN ('', 'irrelevant', 'wrong_target', 'other')"
OF_THE_WORDS = "rejected_for = 'bad_anchor'"
ROLES = tuple(PageRole)
KIND_COLUMNS: tuple[Family, ...] = tuple(family for family in Family if family != Family.ACCEPTOR)
OF_ACCEPTORS = (Family.ACCEPTOR.value, 0)  # stands for what is learned of each page that links lead to

_NO_LONGER = (IneligibleReason.EXCLUDED, IneligibleReason.ROLE, IneligibleReason.NOT_INDEXABLE)
_TEACHES = (
    f"e.project_id = %(project)s AND e.reviewed AND ({sql(APPROVED, 'e')} OR e.status = 'rejected') "
    f"AND e.evidence ? '{STATED}' AND (e.status <> 'rejected' OR e.{OF_THE_PAIR} OR e.{OF_THE_WORDS})"
)


def role_sql(page: str) -> str:
    """The place among ROLES of the role that a page has now, -1 without one; `roles` are its parameter."""
    return f"coalesce(array_position(%(roles)s::text[], ({role_now_sql(page)})::text), 0) - 1"


def words_sql(edge: str) -> str:
    """The place among SOURCES of where the words of a suggestion in the text come from, -1 beside it; `sources` are
    their parameter."""
    return (
        f"CASE WHEN {edge}.span_start IS NULL THEN -1 "
        f"ELSE coalesce(array_position(%(sources)s::text[], {edge}.anchor_source::text), 0) - 1 END"
    )


def trait_sql(edge: str, family: Family) -> str:
    """Of which kind of a family of traits a suggestion is, -1 for none: of traits of words, one that is not in the text
    or whose words an editor wrote."""
    kind = f"mod(coalesce(({edge}.evidence->>'{TRAITS}')::int8, 0) / {DIGIT[family]}, 10) - 1"
    if family not in OF_WORDS:
        return kind
    return f"CASE WHEN {edge}.span_start IS NULL OR {edge}.edited THEN -1 ELSE {kind} END"


def _traits_sql(edge: str) -> str:
    return ",\n    ".join(f"({trait_sql(edge, family)})::int8" for family in DIGIT)


# Words that an editor wrote are of no kind; where they stand is.
_DECISIONS = f"""
SELECT e.source_id, e.target_id, (e.evidence->>'{STATED}')::float8, e.probability,
    e.status <> 'rejected' AND NOT e.edited, NOT e.edited AND NOT (e.status = 'rejected' AND e.{OF_THE_WORDS}),
    ({role_sql("s")})::int8, ({role_sql("t")})::int8, coalesce(s.category_id, 0), coalesce(t.category_id, 0),
    (e.span_start IS NOT NULL)::int::int8,
    (CASE WHEN e.edited THEN -1 ELSE {words_sql("e")} END)::int8,
    {_traits_sql("e")}
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
    each family, -1 where of none. Decisions on a page that the project keeps from such links by now are left out, and
    those of a kind that a manager does not want learned from."""
    rows = _read(project)
    if not len(rows):
        return rows
    return rows[_still_counts(project, rows) & ~_is_left_aside(project, rows)]


def _read(project: Project) -> NDArray[Any]:
    asked = {"project": project.pk, "roles": [role.value for role in ROLES], "sources": list(SOURCES)}
    rows = copy_out(_DECISIONS, asked, _FIELDS).copy()
    tops = CategoryTops(project)
    for family in (Family.FROM, Family.TO):
        rows[family.value] = tops.of(rows[family.value].astype(np.int64))
    return rows


def pairs_left_aside(project: Project) -> NDArray[Any]:
    """The decisions that a manager does not want learned from, as `decisions` has them."""
    if not left_aside(project) - {OF_ACCEPTORS}:
        return np.empty(0, dtype=_FIELDS)
    rows = _read(project)
    found: NDArray[Any] = rows[_is_left_aside(project, rows)]
    return found


def _is_left_aside(project: Project, rows: NDArray[Any]) -> NDArray[np.bool_]:
    found = np.zeros(len(rows), dtype=np.bool_)
    for family, code in left_aside(project) - {OF_ACCEPTORS}:
        found |= (rows[family] == code) if family else True
    return found


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


class CategoryTops:
    """The categories at the top of a project's tree."""

    def __init__(self, project: Project) -> None:
        self._known: dict[int, int] = {}
        self.nodes = category_nodes(project)
        parent = self.nodes.tree.parent
        self.top = np.arange(len(parent))
        while (parent[self.top] > 0).any():
            self.top = np.where(parent[self.top] > 0, parent[self.top], self.top)

    def of(self, categories: NDArray[np.int64]) -> NDArray[np.int64]:
        """The id of the category at the top above each; -1 for pages without one."""
        found = self.nodes.ids[self.top[self.nodes.of(categories)]]
        return np.where(found > 0, found, -1)

    def one(self, category: int) -> int:
        """The same of one category, remembered."""
        if category not in self._known:
            self._known[category] = int(self.of(np.array([category]))[0])
        return self._known[category]


def lesson_of(project: Project, decided: NDArray[Any], waiting: OpenLinks) -> Lesson:
    """What decisions teach; see `decisions`. By the suggestions that are shown and `waiting`, and those decided on, it
    is told which kinds nearly all links of the site are of."""
    kinds = {family: decided[family.value].astype(np.int64) for family in KIND_COLUMNS}
    shown = waiting.rows[waiting.rows["is_shown"]]
    of_site = {family: np.concatenate([codes, shown[family.value]]) for family, codes in kinds.items()}
    targets = None if OF_ACCEPTORS in left_aside(project) else decided["target"].astype(np.int64)
    stated = decided["stated"].astype(np.float64)
    return learn(stated, decided["approved"], kinds, decided["of_pair"], common_kinds(of_site), targets)


def kept_lesson(report: ApprovalReport | None) -> Lesson:
    """What a run had learned, by its report."""
    if report is None:
        return Lesson(1.0, 0.0, 0, {})
    shifts: dict[Kind, float] = {(kind.family, kind.code): kind.shift for kind in report.kinds if kind.shift}
    of_pages = np.array(report.of_pages, dtype=np.float64).reshape(-1, 3)
    acceptors = Acceptors(of_pages[:, 0].astype(np.int64), of_pages[:, 1:])
    return Lesson(report.slope, report.shift, report.decisions, shifts, report.lowest, report.sources, acceptors)


def learned_by(run: Run | None) -> Lesson:
    """The same of a run, or of none."""
    return kept_lesson(MatchReport.from_json(run.report).approval if run is not None else None)


def calibration_of(project: Project, lesson: Lesson, eligible: Eligible) -> Calibration:
    """How the pages of a run, in their order, and words move links by what was learned. Two numbers a page."""
    pages = None
    if len(lesson.acceptors.pages) or any(family in _OF_PAGES for family, _ in lesson.shifts):
        role, top = _roles(project, eligible.ids), CategoryTops(project).of(eligible.categories)
        receiving = _shifts(lesson, Family.RECEIVER, role) + _shifts(lesson, Family.TO, top)
        pages = PageShifts(
            giving=_shifts(lesson, Family.GIVER, role) + _shifts(lesson, Family.FROM, top),
            receiving=receiving[:, None] + lesson.acceptors.of(eligible.ids),
        )
    return Calibration(
        slope=lesson.slope,
        shift=lesson.shift,
        decisions=lesson.decisions,
        pages=pages,
        words=lesson.words(),
        sources=lesson.sources,
        lowest=lesson.lowest,
        traits=lesson.traits(),
    )


_OF_PAGES = (Family.GIVER, Family.RECEIVER, Family.FROM, Family.TO)


def _roles(project: Project, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place among ROLES of the role that each page has now; `ids` ascending."""
    found = copy_out(
        f"SELECT p.id, ({role_sql('p')})::int8 FROM linker_page p WHERE p.project_id = %(project)s ORDER BY p.id",
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
    mine = decided[np.isin(decided["target"], lesson.acceptors.pages)]
    if len(mine):
        approved = int(mine["approved"].sum())
        found.append(KindLesson(family=Family.ACCEPTOR, code=0, shift=0.0, decisions=len(mine), approved=approved))
    return tuple(found)


ALL: tuple[str, int] = ("", 0)  # stands for links of all kinds
LEAST_MOVED = 0.1  # log-odds: a kind that is moved less is not the reason why a suggestion left or came


def moved_kinds(before: Lesson, now: Lesson) -> dict[tuple[str, int], float]:
    """How far each kind was moved from one lesson to the other, in log-odds, where that can be a reason."""
    kinds = {*before.shifts, *now.shifts}
    found = {(kind[0].value, kind[1]): now.shifts.get(kind, 0.0) - before.shifts.get(kind, 0.0) for kind in kinds}
    return {kind: moved for kind, moved in found.items() if abs(moved) >= LEAST_MOVED}


def moved_pages(before: Lesson, now: Lesson) -> Acceptors:
    """How far links to each page were moved from one lesson to the other for what was decided on links to it."""
    pages = np.union1d(before.acceptors.pages, now.acceptors.pages)
    return Acceptors(pages, now.acceptors.of(pages) - before.acceptors.of(pages))


MOST_LOOKED_AT = 100_000  # open suggestions by which the next match is foretold; of more, so many are drawn
# What the next match would read open suggestions as, as far as decisions move it.
_OPEN = f"""
SELECT e.id, e.source_id, e.target_id, e.probability, (e.tier_id IS NOT NULL AND NOT coalesce(tier.held, true)),
    ({role_sql("s")})::int8, ({role_sql("t")})::int8, coalesce(s.category_id, 0), coalesce(t.category_id, 0),
    (e.span_start IS NOT NULL)::int::int8,
    ({words_sql("e")})::int8,
    {_traits_sql("e")}
FROM linker_candidateedge e {{drawn}} LEFT JOIN linker_tier tier ON tier.id = e.tier_id
    JOIN linker_page s ON s.id = e.source_id JOIN linker_page t ON t.id = e.target_id
WHERE e.project_id = %(project)s AND {sql(OPEN, "e")} AND e.probability IS NOT NULL
"""
_OPEN_FIELDS = [
    *(("id", ">i8"), ("source", ">i8"), ("target", ">i8"), ("probability", ">f8"), ("is_shown", "?")),
    *((family.value, ">i8") for family in KIND_COLUMNS),
]


class OpenLinks(NamedTuple):
    """Open suggestions as _OPEN_FIELDS; of very many, those in some blocks of the table, drawn by chance: `share`."""

    rows: NDArray[Any]
    share: float


def open_links(project: Project) -> OpenLinks:
    """The open suggestions of a project. Reads the table once."""
    number = kept_counts(project).filter(OPEN).aggregate(links=total())["links"] or 0
    share = min(1.0, MOST_LOOKED_AT / max(number, 1))
    drawn = f"TABLESAMPLE SYSTEM ({100 * share:.4f}) REPEATABLE (1)" if share < 1 else ""
    asked = {"project": project.pk, "roles": [role.value for role in ROLES], "sources": list(SOURCES)}
    rows = copy_out(_OPEN.format(drawn=drawn), asked, _OPEN_FIELDS).copy()
    tops = CategoryTops(project)
    for family in (Family.FROM, Family.TO):
        rows[family.value] = tops.of(rows[family.value].astype(np.int64))
    return OpenLinks(rows, share)


EXAMPLES = 3  # of a kind


class Upcoming(NamedTuple):
    """How many suggestions the queue shows unasked, by kind and under ALL, and how many it would after the next match;
    of those that would leave (-) or come (+), how many each kind moved most; and some suggestions of each kind by
    their ids, at most EXAMPLES, of a kind that moves any out or in of those."""

    before: Counter[tuple[str, int]]
    now: Counter[tuple[str, int]]
    moved: Counter[tuple[str, int]]
    examples: dict[tuple[str, int], list[int]]


def upcoming(project: Project, lesson: Lesson, waiting: OpenLinks) -> Upcoming | None:
    """What the queue shows of the suggestions that are `waiting`, and what it would if a match read decisions as
    `lesson` does. None where no probabilities are read."""
    run = standing_run(project)
    kept = MatchReport.from_json(run.report).approval if run is not None else None
    if kept is None or project.tier_basis != Basis.PROBABILITY:
        return None
    rows, share = waiting
    before = kept_lesson(kept)
    probability = rows["probability"].astype(np.float64)
    expected = _read_by(lesson, _stated(before, probability, rows), rows)
    tiers = RunTiers(project, probability)
    places = tiers.places(expected, tiers.cohorts(rows, rows[Family.PLACE.value] == 1))
    is_held = np.array([*(tier.held for tier in tiers.tiers), True])
    shown, then = rows["is_shown"], ~is_held[places]
    reasons = _reasons(rows, shown, then, moved_kinds(before, lesson), moved_pages(before, lesson))
    moved: Counter[tuple[str, int]] = Counter()
    for kind, of_kind in reasons.items():
        moved[kind] = round(int(then[of_kind].sum() - shown[of_kind].sum()) / share)
    return Upcoming(
        _by_kind(rows[shown], share, lesson.acceptors),
        _by_kind(rows[then], share, lesson.acceptors),
        moved,
        _examples(rows, shown, then, reasons, lesson.acceptors),
    )


def _reasons(
    rows: NDArray[Any],
    shown: NDArray[np.bool_],
    then: NDArray[np.bool_],
    moved: Mapping[tuple[str, int], float],
    pages: Acceptors,
) -> dict[tuple[str, int], NDArray[np.int64]]:
    """By kind, the places of the rows that leave or come because of it: it moved them most in that direction. Those
    that no kind moved, but what all links are moved by, are left out."""
    changed = np.flatnonzero(shown != then)
    mine = rows[changed]
    directions = np.where(then[changed], 1.0, -1.0)
    shifts = np.zeros((len(KIND_COLUMNS) + 1, len(changed)))
    for place, family in enumerate(KIND_COLUMNS):
        codes = mine[family.value].astype(np.int64)
        for one, code in moved:
            if one == family:
                shifts[place, codes == code] = moved[one, code]
    of_pages = np.round(pages.of(mine["target"].astype(np.int64)), 1)
    shifts[-1] = np.where(mine[Family.PLACE.value] == 1, of_pages[:, 1], of_pages[:, 0])
    shifts *= directions
    best = shifts.argmax(0)
    found: dict[tuple[str, int], NDArray[np.int64]] = {}
    for place in np.unique(best):
        those = (best == place) & (shifts[place] > 0)
        if place == len(KIND_COLUMNS):
            kinds = {OF_ACCEPTORS: those}
        else:
            codes = mine[KIND_COLUMNS[place].value].astype(np.int64)
            kinds = {
                (KIND_COLUMNS[place].value, int(code)): those & (codes == code) for code in np.unique(codes[those])
            }
        found |= {kind: changed[which] for kind, which in kinds.items() if which.any()}
    return found


def _examples(
    rows: NDArray[Any],
    shown: NDArray[np.bool_],
    then: NDArray[np.bool_],
    reasons: Mapping[tuple[str, int], NDArray[np.int64]],
    acceptors: Acceptors,
) -> dict[tuple[str, int], list[int]]:
    """By kind, the ids of the likeliest that leave or come because of it; of other kinds, of those that are shown,
    first those that leave."""
    found = {kind: _likeliest(rows[which]) for kind, which in reasons.items()}
    visible, leaves = rows[shown], ~then[shown]
    of_kind = {OF_ACCEPTORS: np.isin(visible["target"], acceptors.pages)}
    for family in KIND_COLUMNS:
        codes = visible[family.value].astype(np.int64)
        of_kind |= {(family.value, int(code)): codes == code for code in np.unique(codes)}
    for kind in of_kind.keys() - found.keys():
        mine = of_kind[kind]
        some = _likeliest(visible[mine & leaves])
        found[kind] = (some + _likeliest(visible[mine & ~leaves]))[:EXAMPLES]
    return found


def _likeliest(rows: NDArray[Any]) -> list[int]:
    """The ids of the likeliest, each to another page where there are enough."""
    order = np.lexsort((rows["id"], -rows["probability"].astype(np.float64)))
    firsts = np.sort(np.unique(rows["target"][order], return_index=True)[1])[:EXAMPLES]
    others = np.setdiff1d(np.arange(len(order)), firsts)[: EXAMPLES - len(firsts)]
    return [int(one) for one in rows["id"][order[[*firsts, *others]]]] if len(order) else []


def _read_by(lesson: Lesson, stated: NDArray[np.float64], rows: NDArray[Any]) -> NDArray[np.float64]:
    """What is to be expected of links by a lesson where the model `stated` so much, float64 [m]."""
    return as_moved(stated, log_odds(stated) * lesson.slope + lesson.shift + _moves(lesson, rows), lesson.lowest)


def _stated(lesson: Lesson, expected: NDArray[np.float64], rows: NDArray[Any]) -> NDArray[np.float64]:
    """What the model stated of links of which so much is `expected` by a lesson, float64 [m]."""
    stated = 1 / (1 + np.exp(-(log_odds(expected) - _moves(lesson, rows) - lesson.shift) / lesson.slope))
    not_raised = (expected < lesson.lowest) & (_read_by(lesson, expected, rows) == expected)
    return np.where(not_raised, expected, stated)


def _moves(lesson: Lesson, rows: NDArray[Any]) -> NDArray[np.float64]:
    """How far a lesson moves each row for its kinds."""
    found = np.zeros(len(rows))
    for family in KIND_COLUMNS:
        found += _shifts(lesson, family, rows[family.value].astype(np.int64))
    of_pages = lesson.acceptors.of(rows["target"].astype(np.int64))
    found += np.where(rows[Family.PLACE.value] == 1, of_pages[:, 1], of_pages[:, 0])
    return found


def _by_kind(rows: NDArray[Any], share: float, acceptors: Acceptors) -> Counter[tuple[str, int]]:
    found = Counter({ALL: round(len(rows) / share)})
    found[OF_ACCEPTORS] = round(int(np.isin(rows["target"], acceptors.pages).sum()) / share)
    for family in KIND_COLUMNS:
        codes, links = np.unique(rows[family.value], return_counts=True)
        found.update(
            {(family.value, int(code)): round(int(one) / share) for code, one in zip(codes, links, strict=True)}
        )
    return found
