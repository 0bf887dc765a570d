"""Which of the pairs that a run found become links, over the whole run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from linker.engine.allocation.allocate import Allocation, Caps, allocate
from linker.matching.accepted_links import AcceptedLinks, accepted_links
from linker.matching.pair_lookup import PairLookup
from linker.matching.pair_rules import pair_rules
from linker.matching.replacing import plan
from linker.matching.room import Room, rooms_of
from linker.matching.run_tiers import RunTiers, expects_words
from linker.models import Basis
from linker.models.linked import TEXT_LINK
from linker.models.querysets import sql
from linker.storage.copy import copy_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.params import MatchParams
    from linker.matching.replacing import Planned
    from linker.matching.result import MatchResult, StayingLinks
    from linker.models import Project


@dataclass(frozen=True)
class AllocatedLinks:
    """How the links of a run were allocated, from all `rows` [n] of FOUND.

    `reason` int8 [n]: why a row could not become a link, 0 where it could; `wanted` bool [n]: it leads to a page that
    lacks links and would be shown. `eligible` [m]: the rows that could; `text_alone` bool [m]: in the text alone.
    `allocation`: which of the eligible become links. `rooms`: the donors with less room than others; `target_cap`: most
    links that a target could receive, 0 for no cap, and `taken_at_targets` what has used that up, a target a link;
    `staying`: see linker.matching.result.MatchResult. `replacing`: which of the links would each replace a released
    one, by source and target: see linker.matching.replacing.
    """

    rows: NDArray[Any]
    reason: NDArray[np.int8]
    wanted: NDArray[np.bool_]
    eligible: NDArray[Any]
    text_alone: NDArray[np.bool_]
    allocation: Allocation
    rooms: dict[int, Room]
    target_cap: int
    staying: StayingLinks | None = None
    taken_at_targets: tuple[NDArray[np.int64], ...] = ()
    replacing: dict[tuple[int, int], Planned] = field(default_factory=dict)


def allocate_links(
    project: Project, params: MatchParams, result: MatchResult, lacking: NDArray[np.int64]
) -> AllocatedLinks:
    """The rows that score enough and may become links, and which of them do. Pages that are `lacking` links choose
    first among the rows that would be shown.

    A donor that did not get all of its first candidates, where it may have more, is looked at again with all of them,
    until no such donor is left: then more candidates of the others would change nothing, since greedy allocation comes
    to those only when the donor has all its links. Accepted links are found among all candidates, too.
    """
    rows, accepted, rooms = result.rows, accepted_links(project), rooms_of(project, params)
    floor = params.floor(result.ranking)
    expanded = np.empty(0, dtype=np.int64)
    while True:
        above = rows["score"] >= floor
        rules = pair_rules(project, rows, result.ranking, above, accepted)
        possible = rules.reason == 0
        eligible = rows if possible.all() else rows[possible]
        wanted = _wanted(project, params, rows, above, lacking)
        # A pair that may be only in the text may find no words there: a page in need would waste its choice.
        needy = (wanted & ~rules.text_alone)[possible]
        allocation, target_cap = _allocate(project, params, eligible, accepted, rooms, needy, result.staying)
        short = np.empty(0, dtype=np.int64)
        if result.expand_candidates is not None:
            got = eligible["source"][allocation.chosen]
            short = _donors_cut_short(params, rows["source"][above], got, rooms, accepted, result.pool)
            short = np.setdiff1d(short, expanded, assume_unique=True)
        if result.expand_candidates is None or not len(short):
            allocated = AllocatedLinks(
                rows,
                rules.reason,
                wanted,
                eligible,
                rules.text_alone[possible],
                allocation,
                rooms,
                target_cap,
                result.staying,
                (accepted.waiting[1], *([result.staying.target] if result.staying is not None else [])),
            )
            return plan(project, params, allocated, result.standing, _may_be_mutual(project, params, allocated))
        expanded = np.concatenate([expanded, short])
        rows = np.concatenate([rows[~np.isin(rows["source"], short)], result.expand_candidates(short)])


def _donors_cut_short(
    params: MatchParams,
    found: NDArray[np.int64],
    got: NDArray[np.int64],
    rooms: dict[int, Room],
    accepted: AcceptedLinks,
    pool: int,
) -> NDArray[np.int64]:
    """Donors that more candidates could give other links, ascending: with a full pool they did not get as many links as
    they might, or have accepted links, which may be further down. `found`: the donor of each candidate; `got`: the
    donor of each link."""
    donors, candidates = np.unique(found, return_counts=True)
    links = np.bincount(np.searchsorted(donors, got), minlength=len(donors))
    room = [sum(rooms[donor]) if donor in rooms else params.per_donor for donor in donors.tolist()]
    short = (links < np.minimum(candidates, room)) | np.isin(donors, accepted.waiting[0])
    return donors[short & (candidates >= pool)]


def _wanted(
    project: Project,
    params: MatchParams,
    rows: NDArray[Any],
    above: NDArray[np.bool_],
    lacking: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """The rows that lead to pages `lacking` links and would be shown, bool [n]: whose tier is not held back, as far as
    that is known before the links are allocated.

    A quantile of the run is not: the scores of as many best rows as there may be links stand in for it.
    """
    wanted = above & np.isin(rows["target"], lacking)
    found = rows[wanted]
    if not len(found):
        return wanted
    tiers = RunTiers(project, found["probability"])
    quantile = found["score"].astype(np.float64)
    if tiers.basis == Basis.QUANTILE:
        links = min(len(rows), len(np.unique(rows["source"])) * params.per_donor)
        best = np.sort(np.partition(rows["score"], len(rows) - links)[len(rows) - links :])
        quantile = np.searchsorted(best, quantile, side="right") / links
    is_shown = np.array([False, *(not tier.held for tier in tiers.tiers)])
    cohorts = tiers.cohorts(found, expects_words(found))
    wanted[wanted] = is_shown[tiers.places(tiers.values(found, quantile), cohorts) + 1]
    return wanted


def _allocate(
    project: Project,
    params: MatchParams,
    rows: NDArray[Any],
    accepted: AcceptedLinks,
    rooms: dict[int, Room],
    needy: NDArray[np.bool_],
    staying: StayingLinks | None,
) -> tuple[Allocation, int]:
    """Which rows become links, and the cap on a target. `needy` bool [n]: the rows that may be chosen first."""
    donors, targets = rows["source"].astype(np.int64), rows["target"].astype(np.int64)
    links, existing = min(len(rows), len(np.unique(donors)) * params.per_donor), accepted.waiting
    if staying is not None:
        links += len(staying.source)
        existing = np.concatenate([existing[0], staying.source]), np.concatenate([existing[1], staying.target])
    target_cap = params.target_cap(links)
    links_back = None if params.reciprocal is None else _links_back(project, donors, targets)
    limited = np.array(sorted(rooms), dtype=np.int64)
    room = np.array([sum(rooms[page]) for page in sorted(rooms)], dtype=np.int64)
    caps = Caps(params.per_donor, target_cap, params.reciprocal, existing, links_back, (limited, room), needy)
    return allocate(donors, targets, rows["score"].astype(np.float64), caps, params.mode), target_cap


def _may_be_mutual(project: Project, params: MatchParams, allocated: AllocatedLinks) -> NDArray[np.bool_]:
    """The eligible pairs, bool [m], that a limit on reciprocal links may stand in the way of."""
    rows = allocated.eligible
    if params.reciprocal is None:
        return np.zeros(len(rows), dtype=np.bool_)
    source, target = rows["source"].astype(np.int64), rows["target"].astype(np.int64)
    chosen = allocated.allocation.chosen
    return _links_back(project, source, target) | PairLookup(rows).among((target[chosen], source[chosen]))


def _links_back(project: Project, donors: NDArray[np.int64], targets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each pair's target links to its donor in its body."""
    rows = copy_out(
        f"SELECT DISTINCT target_id, source_id FROM linker_existinglink WHERE project_id = %s "
        f"AND {sql(TEXT_LINK)} AND source_id = ANY(%s)",
        [project.pk, np.unique(targets).tolist()],
        [("donor", ">i8"), ("target", ">i8")],
    )
    known = np.empty(len(rows), dtype=[("donor", "i8"), ("target", "i8")])
    known["donor"], known["target"] = rows["donor"], rows["target"]
    wanted = np.empty(len(donors), dtype=known.dtype)
    wanted["donor"], wanted["target"] = donors, targets
    return np.isin(wanted, known)
