"""The report of a match run: what it counted, for the run's page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from django.db.models import Q

from linker.engine import blocks as blocking
from linker.engine.allocation.allocate import Reason
from linker.engine.params import MatchParams
from linker.matching.eligibility import Eligible
from linker.models import (
    EmbeddingModel,
    Page,
    PageEmbedding,
    Project,
    Run,
)
from linker.pages.languages import language_counts, model_advice, tongues
from linker.storage import store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from linker.engine.params import MatchParams
    from linker.matching.allocation import Given
    from linker.models import Run


def apart_pairs(project: Project, ids: NDArray[np.int64], blocks: Sequence[blocking.Block], trusted: bool) -> int:
    """Pairs of the blocks whose pages are in different languages."""
    numbers, tongue = np.unique(tongues(project, ids, trusted=trusted), return_inverse=True)
    known = numbers != 0
    total = 0
    for block in blocks:
        donors, targets = (
            np.bincount(tongue[np.searchsorted(ids, side)], minlength=len(numbers)) * known
            for side in (block.donors, block.targets)
        )
        total += int(donors.sum() * targets.sum() - donors @ targets)
    return total


def about_languages(project: Project, pairs: int) -> dict[str, Any]:
    """For the report: the languages of the pages where there are several, how many pairs were left out because their
    pages are in different ones, and whether they might have been linked; and a warning where the model does not know
    them."""
    counts, advice = language_counts(project), model_advice(project)
    told: dict[str, Any] = {"advice": advice} if advice else {}
    if len(counts) > 1:
        told |= {"languages": counts, "link_languages": project.link_languages, "other_language": pairs}
    return told


def without_vector(project: Project, model: EmbeddingModel) -> int:
    """Live pages that have no vector in a run's set, and so take no part in it: embed them first."""
    live = Page.objects.filter(project=project, status="live", missing_since=None)
    answering = live.filter(Q(status_code=None) | Q(status_code=200))
    return answering.exclude(pk__in=PageEmbedding.objects.filter(model=model).values("page")).count()


def left_out(project: Project, model: EmbeddingModel, eligible: Eligible) -> dict[str, Any]:
    """For a run's report: how many pages take no part, on one side or both, and why."""
    without = without_vector(project, model)
    return {
        "left_out": {**eligible.left_out, "without a vector": without},
        "pages_left_out": eligible.pages_left_out + without,
    }


def got(
    project: Project,
    run: Run,
    lacking: NDArray[np.int64],
    given: Given,
    without_place: dict[tuple[int, int], Reason],
) -> dict[str, int]:
    """What pages got from a run: how many `pages` there are; of them, with a link that the queue shows (`shown`), with
    one `in_text`; and of the rest, each page once: with a pair that would be shown and got `no_room`; with such pairs
    alone that their donors link beside their text already (`linked`); given none but links that are `held_back`; found,
    but `too_unlikely` to be given any; and `not_found`, by anybody or only below the lowest score."""
    got = store.copy_out(
        "SELECT e.target_id, bool_or(coalesce(NOT t.held, false)), "
        "bool_or(coalesce(NOT t.held, false) AND e.placement = 'inline') "
        "FROM linker_candidateedge e LEFT JOIN linker_tier t ON t.id = e.tier_id "
        "WHERE e.project_id = %s AND e.run_id = %s AND NOT e.stale AND e.target_id = ANY(%s) GROUP BY e.target_id",
        [project.pk, run.pk, lacking.tolist()],
        [("target", ">i8"), ("shown", "?"), ("in_text", "?")],
    )
    counts = {"pages": len(lacking), "shown": int(got["shown"].sum()), "in_text": int(got["in_text"].sum())}
    rest = np.setdiff1d(lacking, got["target"][got["shown"]])
    wanted = given.wanted[given.reason == 0]
    missed = wanted & ~given.text_alone
    missed[given.allocation.chosen] = False
    chosen = given.eligible[given.allocation.chosen][wanted[given.allocation.chosen]]
    pairs = zip(chosen["source"].tolist(), chosen["target"].tolist(), strict=True)
    lost = [target for source, target in pairs if without_place.get((source, target)) is Reason.RELATED_FULL]
    for name, targets in (
        ("no_room", np.concatenate([given.eligible["target"][missed], np.array(lost, dtype=np.int64)])),
        ("linked", given.rows["target"][given.wanted & (given.reason == Reason.LINKED_BESIDE)]),
        ("linked", given.eligible["target"][wanted & given.text_alone]),
        ("held_back", got["target"]),
        ("too_unlikely", given.eligible["target"]),
    ):
        there = np.isin(rest, targets)
        counts[name], rest = counts.get(name, 0) + int(there.sum()), rest[~there]
    return counts | {"not_found": len(rest)}


def full_pools(rows: NDArray[Any], params: MatchParams) -> int:
    """Donors whose pool was full: only under a cap on targets could more candidates have changed their links."""
    if not params.target_cap(len(rows)) or not len(rows):
        return 0
    _, sizes = np.unique(rows["source"], return_counts=True)
    return int((sizes >= params.pool).sum())
