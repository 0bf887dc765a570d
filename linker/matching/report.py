"""The report of a match run: what it counted, for the run's page.

It is begun when the run knows who takes part, and ended when its edges are stored.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db.models import Count

from linker.engine.allocation.allocate import Reason
from linker.engine.params import Mode
from linker.engine.ranking.calibration import NO_ACCEPTORS
from linker.matching.eligibility import Ineligibility, IneligibleReason
from linker.matching.report_types import (
    AllocationReport,
    ApprovalBand,
    ApprovalReport,
    KindLesson,
    LeftOut,
    LinkPlace,
    MatchReport,
    ReceivedReport,
    SearchScope,
    TierBound,
    TierCount,
)
from linker.models import EmbeddingModel, Page, PageEmbedding, Project, Run
from linker.models.querysets import EMBEDDABLE, HIDDEN, PROPOSED, SHOWN, sql
from linker.pages.languages import model_advice
from linker.storage.copy import copy_out
from linker.storage.site_figures import language_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from linker.engine.params import MatchParams
    from linker.engine.ranking.calibration import Acceptors
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
) -> MatchReport:
    """Who takes part, who does not and why, in which languages where there are several, with a warning where the model
    does not know them. `other_language`: pairs that were left out because their pages are in different ones."""
    without, languages = _without_vector(project, model), language_counts(project)
    has_several = len(languages) > 1
    left_out = {**eligible.left_out, Ineligibility(IneligibleReason.NO_VECTOR): without}
    return MatchReport(
        donors=int(eligible.chosen_donor.sum()),
        acceptors=acceptors,
        left_out=tuple(LeftOut(pages=pages, **why._asdict()) for why, pages in left_out.items()),
        pages_left_out=eligible.pages_left_out + without,
        languages=languages if has_several else None,
        link_languages=project.link_languages if has_several else None,
        other_language=other_language if has_several else None,
        advice=model_advice(project, languages.items()) or None,
    )


def _without_vector(project: Project, model: EmbeddingModel) -> int:
    """Live pages that have no vector in a run's set, and so take no part in it: embed them first."""
    return (
        Page.objects.filter(EMBEDDABLE, project=project)
        .exclude(pk__in=PageEmbedding.objects.filter(model=model).values("page"))
        .count()
    )


def approval_report(
    options: EngineOptions,
    decided: NDArray[Any],
    kinds: tuple[KindLesson, ...] = (),
    acceptors: Acceptors = NO_ACCEPTORS,
) -> ApprovalReport:
    """What the probabilities come from, and how what they stated so far compares with what editors found, in BANDS.

    `decided`: rows of `shown`, the probability that the editors saw, and `approved`.
    """
    approval, calibration = options.approval, options.calibration
    band = np.searchsorted(BANDS, decided["shown"].astype(np.float64), side="right") - 1
    found = [decided[band == number] for number in range(len(BANDS))]
    return ApprovalReport(
        bands=tuple(
            ApprovalBand(
                low=low,
                high=high,
                decisions=len(rows),
                stated=round(float(rows["shown"].mean()), 4),
                approved=round(float(rows["approved"].mean()), 4),
            )
            for low, high, rows in zip(BANDS, (*BANDS[1:], 1.0), found, strict=True)
            if len(rows)
        ),
        version=approval.version,
        judged=approval.judged,
        sites=approval.sites,
        decisions=calibration.decisions,
        slope=calibration.slope,
        shift=calibration.shift,
        lowest=calibration.lowest,
        sources=calibration.sources,
        kinds=kinds,
        of_pages=tuple(
            (page, *shifts) for page, shifts in zip(acceptors.pages.tolist(), acceptors.shifts.tolist(), strict=True)
        ),
    )


def ended_report(
    run: Run,
    params: MatchParams,
    result: MatchResult,
    needs: Needs,
    lacking: NDArray[np.int64],
    allocated: AllocatedLinks,
    saved: SavedEdges,
    stale: StaleEdges,
) -> MatchReport:
    """The whole report of a run whose edges are stored; `lacking`: the acceptors that lack links, by id."""
    edges = run.project.edges.filter(run=run)
    tiers = dict(edges.values_list("tier__name").annotate(Count("pk")).order_by())
    orphans = needs.orphans(lacking)
    copies = result.report.copies
    return replace(
        result.report,
        ranking=str(result.ranking),
        scope=SearchScope(levels_up=params.levels(result.ranking)),
        threshold=params.floor(result.ranking),
        candidates=len(allocated.eligible),
        donors_with_full_pool=_full_pools(allocated.eligible, params),
        edges=saved.new + saved.refreshed,
        new=saved.new,
        refreshed=saved.refreshed,
        stale=stale.undecided,
        other_vectors=stale.other_vectors or None,
        sensitive=edges.exclude(sensitive="").count(),
        placements={LinkPlace(place): links for place, links in saved.placements.items()},
        generators=dict(saved.generators),
        basis=saved.tiers.basis,
        bounds=tuple(TierBound(name=tier.name, bound=tier.lower_bound) for tier in saved.tiers.tiers),
        tiers=tuple(TierCount(name=name, links=links) for name, links in tiers.items() if name),
        below_tiers=tiers.get(None),
        held_back=edges.filter(HIDDEN).count(),
        histogram=tuple(saved.histogram.tolist()),
        allocation=_allocation_report(params, allocated, saved),
        copies=replace(copies, pairs_held_out=int((allocated.reason == Reason.SAME_GROUP).sum())) if copies else None,
        under_linked=_received(run, lacking, allocated, saved) if len(lacking) else None,
        orphans=_received(run, orphans, allocated, saved) if len(orphans) else None,
    )


def histogram_of(values: Sequence[float]) -> NDArray[np.int64]:
    """How many of the values that tiers read are in each part of [0, 1], int64 [BINS]."""
    bins = np.clip((np.array(values, dtype=np.float64) * BINS).astype(np.int64), 0, BINS - 1)
    return np.bincount(bins, minlength=BINS)


def _full_pools(rows: NDArray[Any], params: MatchParams) -> int:
    """Donors whose pool was full: only under a cap on targets could more candidates have changed their links."""
    if not params.target_cap(len(rows)) or not len(rows):
        return 0
    _, sizes = np.unique(rows["source"], return_counts=True)
    return int((sizes >= params.pool).sum())


def _allocation_report(params: MatchParams, allocated: AllocatedLinks, saved: SavedEdges) -> AllocationReport:
    """How the links were allocated, and what became of those that found no place."""
    allocation, rooms = allocated.allocation, allocated.rooms
    compares, unplaced = params.mode is not Mode.BEST, saved.unplaced
    donors = np.array(list(rooms), dtype=np.int64)
    limited = donors[np.isin(donors, allocated.eligible["source"])].tolist()
    return AllocationReport(
        mode=params.mode,
        target_cap=allocated.target_cap,
        total=round(allocation.total, 4),
        best_first=round(allocation.greedy_total, 4) if compares else None,
        against_best_first=round(allocation.planned - allocation.greedy_total, 6) if compares else None,
        for_need=len(allocation.for_need) or None,
        donors_with_less_room=len(limited) or None,
        donors_without_room=sum(not sum(rooms[donor]) for donor in limited) if limited else None,
        without_place=len(unplaced.pairs) or None,
        lost=round(unplaced.score, 4) if unplaced.pairs else None,
    )


def _received(run: Run, lacking: NDArray[np.int64], allocated: AllocatedLinks, saved: SavedEdges) -> ReceivedReport:
    """What pages that lack links got from a run, each counted once: in the order of the reasons below, where it has no
    suggestion that the queue shows. `not_found` are pages that no donor found, or only below the lowest score."""
    shown = sql(SHOWN, "e", tier="t")
    got = copy_out(
        f"SELECT e.target_id, bool_or(coalesce({shown}, false)), "
        f"bool_or(coalesce({shown}, false) AND e.placement = 'inline') "
        "FROM linker_candidateedge e LEFT JOIN linker_tier t ON t.id = e.tier_id "
        f"WHERE e.project_id = %s AND e.run_id = %s AND {sql(PROPOSED, 'e')} AND e.target_id = ANY(%s) "
        "GROUP BY e.target_id",
        [run.project_id, run.pk, lacking.tolist()],
        [("target", ">i8"), ("shown", "?"), ("in_text", "?")],
    )
    counts: Counter[str] = Counter()
    rest = np.setdiff1d(lacking, got["target"][got["shown"]])
    chosen = allocated.allocation.chosen
    wanted = allocated.wanted[allocated.reason == 0]
    missed = wanted & ~allocated.text_alone
    missed[chosen] = False
    links = allocated.eligible[chosen[wanted[chosen]]]
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
        counts[name] += int(there.sum())
        rest = rest[~there]
    return ReceivedReport(
        pages=len(lacking),
        shown=int(got["shown"].sum()),
        in_text=int(got["in_text"].sum()),
        not_found=len(rest),
        **counts,
    )
