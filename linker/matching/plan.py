"""The plan of a match run by cosine: who takes part, in which blocks, and the work cut into batches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import transaction

from linker.embedding.service import embedding_model
from linker.engine import blocks as blocking
from linker.engine.params import MatchParams
from linker.errors import UserError
from linker.matching.batches import BATCH_DONORS, forget_candidates
from linker.matching.category_nodes import CategoryNodes, category_nodes, levels_looked_up
from linker.matching.copies import find_copies, load_twins
from linker.matching.eligibility import eligible_pages, no_eligible_pages_message
from linker.matching.pilots import limited_to_pilot
from linker.matching.report import begun_report
from linker.models import Project, Run, RunBatch, RunBlock
from linker.pages.languages import language_ids, trusts_crawl
from linker.runs import lifecycle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from linker.matching.report_types import MatchReport
    from linker.models import EmbeddingModel
    from linker.runs.lifecycle import Progress

# About ten seconds of work on one core.
BATCH_PAIRS = 1_000_000_000


def plan_match(run: Run, progress: Progress = lifecycle.no_progress, reason: str = "") -> None:
    """Freezes who takes part and cuts the work into batches. Planning again, before any batch is done, is harmless.

    `reason` says why the run is ranked by cosine. Raises UserError where no page may give or receive a link.
    """
    project, params = run.project, MatchParams.from_dict(run.params)
    progress(0, 0, "Planning")
    model = embedding_model(project)
    eligible = limited_to_pilot(run, params, eligible_pages(project, model, params))
    if message := no_eligible_pages_message(eligible):
        raise UserError(message)
    copies = find_copies(run, eligible, progress)
    twins = load_twins(project, eligible.ids)
    donors, targets = eligible.chosen_donor & twins.gives, eligible.chosen_target & twins.receives
    nodes = category_nodes(project)
    place = nodes.of(eligible.categories)
    blocks = blocking.plan_blocks(
        nodes.tree,
        eligible.ids[donors],
        place[donors],
        eligible.ids[targets],
        place[targets],
        levels_looked_up(params, nodes),
    )
    batches = blocking.plan_batches(
        [(len(block.sources), len(block.targets)) for block in blocks], BATCH_PAIRS, BATCH_DONORS
    )
    trusted = trusts_crawl(project)
    other_language = 0 if project.link_languages else _pairs_across_languages(project, eligible.ids, blocks, trusted)
    costs = _costs(blocks, batches)
    report = replace(
        begun_report(project, model, eligible, acceptors=int(targets.sum()), other_language=other_language),
        ranked_why=reason,
        crawl_trusted=trusted,
        copies=copies,
        blocks=len(blocks),
        batches=len(batches),
        pairs=sum(costs),
    )
    _store_plan(run, model, nodes, blocks, batches, costs, report)


def _costs(blocks: Sequence[blocking.Block], batches: Sequence[Any]) -> list[int]:
    """The pairs that each batch compares."""
    sizes = [len(block.targets) for block in blocks]
    return [sum((stop - first) * sizes[number] for number, first, stop in batch) for batch in batches]


def _store_plan(
    run: Run,
    model: EmbeddingModel,
    nodes: CategoryNodes,
    blocks: Sequence[blocking.Block],
    batches: Sequence[Any],
    costs: Sequence[int],
    report: MatchReport,
) -> None:
    """Stores blocks and batches in place of those of an earlier plan, unless a batch of that is done already."""
    with transaction.atomic():
        if RunBatch.objects.select_for_update().filter(run=run, done=True).exists():
            return
        forget_candidates(run.project, run)
        RunBlock.objects.filter(run=run).delete()
        RunBatch.objects.filter(run=run).delete()
        RunBlock.objects.bulk_create(
            [
                RunBlock(
                    run=run,
                    number=number,
                    category_id=int(nodes.ids[block.top]) or None,
                    donor_ids=block.sources.astype("<i8").tobytes(),
                    target_ids=block.targets.astype("<i8").tobytes(),
                )
                for number, block in enumerate(blocks)
            ],
            batch_size=1000,
        )
        RunBatch.objects.bulk_create(
            [
                RunBatch(run=run, number=number, slices=batch, cost=cost)
                for number, (batch, cost) in enumerate(zip(batches, costs, strict=True))
            ],
            batch_size=1000,
        )
        Run.objects.filter(pk=run.pk).update(
            model=model, stage="Comparing pages", done=0, total=work_in_all(sum(costs)), report=report.to_json()
        )


def work_in_all(pairs: int) -> int:
    """What the progress of a run counts up to that compares so many pairs: what follows it takes about a fifth of the
    time."""
    return pairs + max(1, pairs // 4)


def _pairs_across_languages(
    project: Project, ids: NDArray[np.int64], blocks: Sequence[blocking.Block], trusted: bool
) -> int:
    """Pairs of the blocks whose pages are in different languages."""
    numbers, language = np.unique(language_ids(project, ids, trusted=trusted), return_inverse=True)
    known = numbers != 0
    total = 0
    for block in blocks:
        donors, targets = (
            np.bincount(language[np.searchsorted(ids, side)], minlength=len(numbers)) * known
            for side in (block.sources, block.targets)
        )
        total += int(donors.sum() * targets.sum() - donors @ targets)
    return total
