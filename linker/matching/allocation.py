"""Which of the pairs that a run found become links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linker.engine.allocation.allocate import Allocation, Caps, Reason, allocate
from linker.engine.params import MatchParams, Mode, Ranking
from linker.engine.tiers import read_tiers
from linker.matching.room import Room, rooms_of
from linker.models import Basis, Project, Tier
from linker.models.linked import IN_TEXT
from linker.storage import store

if TYPE_CHECKING:
    from numpy.typing import NDArray


from linker.matching.accepted_links import standing_links
from linker.matching.pair_rules import barred_pairs, too_many_products
from linker.matching.result import Findings


@dataclass(frozen=True)
class Given:
    """How the links were given out: all `rows`; `reason` int8 [n]: why a row had no part in it, 0 where it had; the
    `eligible` rows, those that had; which of all rows lead to pages that lack links and would be shown (`wanted`);
    which of the eligible become links; whether each of them may stand in the text alone; the donors with less room; and
    what the report says of it."""

    rows: NDArray[Any]
    reason: NDArray[np.int8]
    eligible: NDArray[Any]
    wanted: NDArray[np.bool_]
    allocation: Allocation
    text_alone: NDArray[np.bool_]
    rooms: dict[int, Room]
    report: dict[str, Any]


def give_out(project: Project, params: MatchParams, findings: Findings, lacking: NDArray[np.int64]) -> Given:
    """The rows that score enough and may become links, and which of them do. Pages that are `lacking` links choose
    first among the rows that would be shown.

    A donor that did not get all of its first candidates, where it may have more, is looked at again with all of them,
    until nobody is left: then more candidates of the others would change nothing, since best first comes to those
    only when the donor has all its links. Links that stand are found among all candidates, too.
    """
    rows, standing, rooms = findings.rows, standing_links(project), rooms_of(project, params)
    least = params.floor(findings.ranking)
    known = np.empty(0, dtype=np.int64)
    while True:
        above = rows["score"] >= least
        reason, text_alone = barred_pairs(project, rows, above, standing)
        if findings.ranking != Ranking.COSINE:  # which looks for alternatives alone, in a product's own category
            reason[too_many_products(project, rows, reason == 0, standing)] = Reason.PRODUCTS_FULL
            text_alone &= reason == 0
        taken = reason == 0
        eligible = rows if taken.all() else rows[taken]
        wanted = _wanted(project, params, rows, above, lacking)
        # For a place in the text alone there may be no words: a page in need would choose it in vain.
        first = (wanted & ~text_alone)[taken]
        allocation, report = _allocate(project, params, eligible, standing.waiting, rooms, first)
        if findings.deeper is None:
            break
        donors, count = np.unique(rows["source"][above], return_counts=True)
        got = np.bincount(np.searchsorted(donors, eligible["source"][allocation.chosen]), minlength=len(donors))
        most = [sum(rooms[donor]) if donor in rooms else params.per_donor for donor in donors.tolist()]
        short = (count >= findings.pool) & ((got < np.minimum(count, most)) | np.isin(donors, standing.waiting[0]))
        short &= ~np.isin(donors, known)
        if not short.any():
            break
        again = donors[short]
        known = np.concatenate([known, again])
        rows = np.concatenate([rows[~np.isin(rows["source"], again)], findings.deeper(again)])
    return Given(rows, reason, eligible, wanted, allocation, text_alone[taken], rooms, report)


def _wanted(
    project: Project,
    params: MatchParams,
    rows: NDArray[Any],
    above: NDArray[np.bool_],
    lacking: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """The rows that lead to pages `lacking` links and would be shown, bool [n]: whose tier is not held back, as far as
    that is known before the links are given out.

    A quantile of the run is not: the scores of as many best rows as there may be links stand in for it.
    """
    wanted = above & np.isin(rows["target"], lacking)
    found = rows[wanted]
    if not len(found):
        return wanted
    basis, value = project.tier_basis, found["score"].astype(np.float64)
    if basis == Basis.QUANTILE:
        links = min(len(rows), len(np.unique(rows["source"])) * params.per_donor)
        best = np.sort(np.partition(rows["score"], len(rows) - links)[len(rows) - links :])
        value = np.searchsorted(best, value, side="right") / links
    elif basis == Basis.PROBABILITY and not np.isnan(found["probability"]).all():
        value = found["probability"].astype(np.float64)
    else:
        basis, value = Basis.COSINE, found["similarity"].astype(np.float64)
    tiers = list(Tier.objects.filter(project=project, basis=basis))
    reading = read_tiers(value, np.array([tier.lower_bound for tier in tiers]))
    wanted[wanted] = np.array([False, *(not tier.held for tier in tiers)])[reading + 1]
    return wanted


def _allocate(
    project: Project,
    params: MatchParams,
    rows: NDArray[Any],
    standing: tuple[NDArray[np.int64], NDArray[np.int64]],
    rooms: dict[int, Room],
    needy: NDArray[np.bool_],
) -> tuple[Allocation, dict[str, Any]]:
    """Which rows become links, and what the report says of it. `needy`: the rows that may be chosen first."""
    donors, targets = rows["source"].astype(np.int64), rows["target"].astype(np.int64)
    links = min(len(rows), len(np.unique(donors)) * params.per_donor)
    back = None
    if params.reciprocal is not None:
        back = _links_back(project, donors, targets)
    less = np.array(sorted(rooms), dtype=np.int64), np.array([sum(rooms[page]) for page in sorted(rooms)], np.int64)
    caps = Caps(params.per_donor, params.target_cap(links), params.reciprocal, standing, back, less, needy)
    allocation = allocate(donors, targets, rows["score"].astype(np.float64), caps, params.mode)
    report = {"mode": params.mode.value, "target_cap": caps.per_target, "total": round(allocation.total, 4)}
    if params.mode is not Mode.BEST:
        against = round(allocation.planned - allocation.best_first, 6)
        report |= {"best_first": round(allocation.best_first, 4), "against_best_first": against}
    if len(allocation.for_need):
        report["for_need"] = len(allocation.for_need)
    limited = np.isin(less[0], donors)
    if limited.any():
        report |= {
            "donors_with_less_room": int(limited.sum()),
            "donors_without_room": int((less[1][limited] == 0).sum()),
        }
    return allocation, report


def _links_back(project: Project, donors: NDArray[np.int64], targets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each pair's target links to its donor in its body."""
    rows = store.copy_out(
        f"SELECT DISTINCT target_id, source_id FROM linker_existinglink WHERE project_id = %s AND {IN_TEXT} "
        "AND missing_since IS NULL AND source_id = ANY(%s)",
        [project.pk, np.unique(targets).tolist()],
        [("donor", ">i8"), ("target", ">i8")],
    )
    known = np.empty(len(rows), dtype=[("donor", "i8"), ("target", "i8")])
    known["donor"], known["target"] = rows["donor"], rows["target"]
    wanted = np.empty(len(donors), dtype=known.dtype)
    wanted["donor"], wanted["target"] = donors, targets
    return np.isin(wanted, known)
