"""The plan of a match run by cosine: who takes part, and the work cut into batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from linker.embedding.service import embedding_model
from linker.engine import blocks as blocking
from linker.engine.params import MatchParams
from linker.errors import UserError
from linker.matching.batches import BATCH_DONORS, forget_candidates
from linker.matching.category_nodes import category_nodes, levels_looked_up
from linker.matching.copies import find_copies, load_twins
from linker.matching.eligibility import Eligible, eligible_pages
from linker.matching.pilots import limited_to_pilot
from linker.matching.report import about_languages, apart_pairs, left_out
from linker.models import (
    Run,
    RunBatch,
    RunBlock,
)
from linker.pages.languages import trusts_crawl
from linker.runs import lifecycle

if TYPE_CHECKING:
    from linker.runs.lifecycle import Progress

# About ten seconds of work on one core.
BATCH_PAIRS = 1_000_000_000


def plan_match(run: Run, progress: Progress = lifecycle.no_progress, reason: str = "") -> None:
    """Freezes who takes part and cuts the work into batches. Planning again, before any batch is done, is harmless.

    `reason` says why the run is ranked by cosine.
    """
    project, params = run.project, MatchParams.from_dict(run.params)
    progress(0, 0, "Planning")
    model = embedding_model(project)
    eligible = limited_to_pilot(run, params, eligible_pages(project, model, params))
    donors, targets = eligible.chosen_donor, eligible.chosen_target
    if not donors.any() or not targets.any():
        raise UserError(nobody(eligible, "donor" if not donors.any() else "acceptor"))
    copies = find_copies(run, eligible, progress)
    targets = targets & load_twins(project, eligible.ids).receives
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
        [(len(block.donors), len(block.targets)) for block in blocks], BATCH_PAIRS, BATCH_DONORS
    )
    trusted = trusts_crawl(project)
    other_language = 0 if project.link_languages else apart_pairs(project, eligible.ids, blocks, trusted)
    sizes = [len(block.targets) for block in blocks]
    costs = [sum((stop - first) * sizes[number] for number, first, stop in batch) for batch in batches]
    with transaction.atomic():
        if RunBatch.objects.select_for_update().filter(run=run, done=True).exists():
            return
        forget_candidates(project, run)
        RunBlock.objects.filter(run=run).delete()
        RunBatch.objects.filter(run=run).delete()
        RunBlock.objects.bulk_create(
            [
                RunBlock(
                    run=run,
                    number=number,
                    category_id=int(nodes.ids[block.top]) or None,
                    donor_ids=block.donors.astype("<i8").tobytes(),
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
            model=model,
            stage="Comparing pages",
            done=0,
            total=sum(costs),
            report={
                "ranked_why": reason,
                **about_languages(project, other_language),
                "crawl_trusted": trusted,
                "donors": int(donors.sum()),
                "acceptors": int(targets.sum()),
                **left_out(project, model, eligible),
                "copies": copies,
                "blocks": len(blocks),
                "batches": len(batches),
                "pairs": sum(costs),
            },
        )


def nobody(eligible: Eligible, side: str) -> str:
    """That no page is left to be "donor" or "acceptor", and why."""
    other = "acceptor" if side == "donor" else "donor"
    reasons = ", ".join(
        f"{count:,} {reason}" for reason, count in eligible.left_out.items() if f"as {other}" not in reason
    )
    return (
        f"No page can be {'a donor' if side == 'donor' else 'an acceptor'}: {len(eligible.ids):,} pages have a "
        f"vector and are live{', left out of the whole site: ' + reasons if reasons else ''}. "
        f"Widen the {side} filter or list, or check the exclusion rules and what the roles of pages give and receive."
    )
