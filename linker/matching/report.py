"""The report of a match run: what it counted, for the run's page.

It is begun when the run knows who takes part, and ended when its edges are stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from django.db.models import Count, Q

from linker.engine.allocation.allocate import Reason
from linker.engine.params import Mode
from linker.models import EmbeddingModel, Page, PageEmbedding, Project, Run
from linker.pages.languages import language_counts, model_advice
from linker.storage.copy import copy_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.params import MatchParams
    from linker.engine.ranking.options import EngineOptions
    from linker.matching.allocation import AllocatedLinks
    from linker.matching.edges import SavedEdges
    from linker.matching.eligibility import Eligible
    from linker.matching.needs import Needs
    from linker.matching.result import MatchResult
    from linker.matching.stale import StaleEdges

BINS = 20  # of the histogram of what the tiers read
BANDS = (0.0, 0.3, 0.5, 0.7, 0.85)  # where the bands begin in which what was stated is compared with what was found


def begun_report(
    project: Project, model: EmbeddingModel, eligible: Eligible, *, acceptors: int, other_language: int
) -> dict[str, Any]:
    """Who takes part, who does not and why, in which languages. `other_language`: pairs that were left out because
    their pages are in different ones."""
    without = _without_vector(project, model)
    return {
        "donors": int(eligible.chosen_donor.sum()),
        "acceptors": acceptors,
        "left_out": {**eligible.left_out, "without a vector": without},
        "pages_left_out": eligible.pages_left_out + without,
        **_about_languages(project, other_language),
    }


def _without_vector(project: Project, model: EmbeddingModel) -> int:
    """Live pages that have no vector in a run's set, and so take no part in it: embed them first."""
    live = Page.objects.filter(project=project, status="live", missing_since=None)
    answering = live.filter(Q(status_code=None) | Q(status_code=200))
    return answering.exclude(pk__in=PageEmbedding.objects.filter(model=model).values("page")).count()


def _about_languages(project: Project, other_language: int) -> dict[str, Any]:
    """The languages of the pages where there are several, and whether they may be linked; a warning where the model
    does not know them."""
    counts, advice = language_counts(project), model_advice(project)
    report: dict[str, Any] = {"advice": advice} if advice else {}
    if len(counts) > 1:
        report |= {"languages": counts, "link_languages": project.link_languages, "other_language": other_language}
    return report


def approval_report(options: EngineOptions, decided: NDArray[Any]) -> dict[str, Any]:
    """What the probabilities come from, and how what they stated so far compares with what editors found, in BANDS.

    `decided`: rows of `shown`, the probability that the editors saw, and `approved`.
    """
    approval, calibration = options.approval, options.calibration
    band = np.searchsorted(BANDS, decided["shown"].astype(np.float64), side="right") - 1
    found = [decided[band == number] for number in range(len(BANDS))]
    return {
        "bands": [
            {
                "from": low,
                "to": high,
                "decisions": len(rows),
                "stated": round(float(rows["shown"].mean()), 4),
                "approved": round(float(rows["approved"].mean()), 4),
            }
            for low, high, rows in zip(BANDS, (*BANDS[1:], 1.0), found, strict=True)
            if len(rows)
        ],
        "version": approval.version,
        "judged": approval.judged,
        "sites": approval.sites,
        "decisions": calibration.decisions,
        "slope": calibration.slope,
        "shift": calibration.shift,
    }


def ended_report(
    run: Run,
    params: MatchParams,
    result: MatchResult,
    needs: Needs,
    lacking: NDArray[np.int64],
    allocated: AllocatedLinks,
    saved: SavedEdges,
    stale: StaleEdges,
) -> dict[str, Any]:
    """The whole report of a run whose edges are stored; `lacking`: the acceptors that lack links, by id."""
    edges = run.project.edges.filter(run=run)
    levels_up = params.levels(result.ranking)
    tiers = edges.values_list("tier__name").annotate(Count("pk")).order_by()
    report = {
        **Run.objects.values_list("report", flat=True).get(pk=run.pk),
        "ranking": str(result.ranking),
        "scope": "site" if levels_up is None else levels_up,
        "threshold": params.floor(result.ranking),
        "candidates": len(allocated.eligible),
        "donors_with_full_pool": _full_pools(allocated.eligible, params),
        **result.report,
        **_edges_report(saved),
        "stale": stale.undecided,
        "sensitive": edges.exclude(sensitive="").count(),
        "tiers": {name or "below every tier": count for name, count in tiers},
        "held_back": edges.filter(Q(tier=None) | Q(tier__held=True)).count(),
        "allocation": _allocation_report(params, allocated, saved),
    }
    if stale.other_vectors:
        report["other_vectors"] = stale.other_vectors
    if "copies" in report:
        report["copies"]["pairs_held_out"] = int((allocated.reason == Reason.SAME_GROUP).sum())
    if len(lacking):
        orphans = needs.orphans(lacking)
        report["under_linked"] = _got(run, lacking, allocated, saved)
        report["orphans"] = _got(run, orphans, allocated, saved) if len(orphans) else {}
    return report


def _full_pools(rows: NDArray[Any], params: MatchParams) -> int:
    """Donors whose pool was full: only under a cap on targets could more candidates have changed their links."""
    if not params.target_cap(len(rows)) or not len(rows):
        return 0
    _, sizes = np.unique(rows["source"], return_counts=True)
    return int((sizes >= params.pool).sum())


def _edges_report(saved: SavedEdges) -> dict[str, Any]:
    bins = np.clip((saved.value * BINS).astype(np.int64), 0, BINS - 1)
    return {
        "edges": len(saved.value),
        "new": saved.new,
        "refreshed": saved.refreshed,
        "placements": dict(saved.placements),
        "generators": dict(saved.generators),
        "basis": saved.tiers.basis.value,
        "bounds": {tier.name: tier.lower_bound for tier in saved.tiers.tiers},
        "histogram": np.bincount(bins, minlength=BINS).tolist(),
    }


def _allocation_report(params: MatchParams, allocated: AllocatedLinks, saved: SavedEdges) -> dict[str, Any]:
    """How the links were allocated, and what became of those that found no place."""
    allocation, rooms = allocated.allocation, allocated.rooms
    report: dict[str, Any] = {
        "mode": params.mode.value,
        "target_cap": allocated.target_cap,
        "total": round(allocation.total, 4),
    }
    if params.mode is not Mode.BEST:
        report["best_first"] = round(allocation.greedy_total, 4)
        report["against_best_first"] = round(allocation.planned - allocation.greedy_total, 6)
    if len(allocation.for_need):
        report["for_need"] = len(allocation.for_need)
    donors = np.array(list(rooms), dtype=np.int64)
    limited = donors[np.isin(donors, allocated.eligible["source"])].tolist()
    if limited:
        report["donors_with_less_room"] = len(limited)
        report["donors_without_room"] = sum(not sum(rooms[donor]) for donor in limited)
    if saved.unplaced.pairs:
        report["without_place"] = len(saved.unplaced.pairs)
        report["lost"] = round(saved.unplaced.score, 4)
    return report


def _got(run: Run, lacking: NDArray[np.int64], allocated: AllocatedLinks, saved: SavedEdges) -> dict[str, int]:
    """What pages got from a run: how many `pages` there are; of them, with a link that the queue shows (`shown`), with
    one `in_text`; and of the rest, each page once: with a pair that would be shown and got `no_room`; with such pairs
    alone that their donors link beside their text already (`linked`); given none but links that are `held_back`; found,
    but `too_unlikely` to be given any; and `not_found`, by anybody or only below the lowest score."""
    got = copy_out(
        "SELECT e.target_id, bool_or(coalesce(NOT t.held, false)), "
        "bool_or(coalesce(NOT t.held, false) AND e.placement = 'inline') "
        "FROM linker_candidateedge e LEFT JOIN linker_tier t ON t.id = e.tier_id "
        "WHERE e.project_id = %s AND e.run_id = %s AND NOT e.stale AND e.target_id = ANY(%s) GROUP BY e.target_id",
        [run.project_id, run.pk, lacking.tolist()],
        [("target", ">i8"), ("shown", "?"), ("in_text", "?")],
    )
    counts = {"pages": len(lacking), "shown": int(got["shown"].sum()), "in_text": int(got["in_text"].sum())}
    rest = np.setdiff1d(lacking, got["target"][got["shown"]])
    chosen = allocated.allocation.chosen
    wanted = allocated.wanted[allocated.reason == 0]
    missed = wanted & ~allocated.text_alone
    missed[chosen] = False
    links = allocated.eligible[chosen][wanted[chosen]]
    pairs = zip(links["source"].tolist(), links["target"].tolist(), strict=True)
    lost = [pair[1] for pair in pairs if saved.unplaced.pairs.get(pair) is Reason.RELATED_FULL]
    for name, targets in (
        ("no_room", np.concatenate([allocated.eligible["target"][missed], np.array(lost, dtype=np.int64)])),
        ("linked", allocated.rows["target"][allocated.wanted & (allocated.reason == Reason.LINKED_BESIDE)]),
        ("linked", allocated.eligible["target"][wanted & allocated.text_alone]),
        ("held_back", got["target"]),
        ("too_unlikely", allocated.eligible["target"]),
    ):
        there = np.isin(rest, targets)
        counts[name], rest = counts.get(name, 0) + int(there.sum()), rest[~there]
    return counts | {"not_found": len(rest)}
