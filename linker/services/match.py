"""Comparing pages: the plan of a match run, and its batches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from linker import runs, store
from linker.errors import UserError
from linker.matching import blocks as blocking
from linker.matching.params import MatchParams, Mode, Ranking
from linker.matching.search import Pairs, Side, search, tile_columns
from linker.models import (
    Category,
    EmbeddingModel,
    Page,
    PageEmbedding,
    Project,
    Run,
    RunBatch,
    RunBlock,
    RunStatus,
)
from linker.queue import JobKey, enqueue
from linker.services.eligibility import Eligible, eligible_pages
from linker.services.embed import embedding_model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from linker.runs import Progress

# A few seconds of work on one core.
BATCH_PAIRS = 300_000_000
SLICE_DONORS = 20_000


@dataclass(frozen=True)
class CategoryNodes:
    """The category tree with its nodes' database ids: `ids[0]` is 0, the root."""

    tree: blocking.CategoryTree
    ids: NDArray[np.int64]

    def of(self, categories: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.searchsorted(self.ids, categories)


def category_nodes(project: Project) -> CategoryNodes:
    rows = list(Category.objects.filter(project=project).order_by("pk").values_list("pk", "parent_id"))
    ids = np.array([0, *(pk for pk, _ in rows)], dtype=np.int64)
    parent = np.searchsorted(ids, np.array([0, *(parent or 0 for _, parent in rows)], dtype=np.int64))
    return CategoryNodes(blocking.CategoryTree(parent), ids)


def plan_match(run: Run, progress: Progress = runs.no_progress, reason: str = "") -> None:
    """Freezes who takes part and cuts the work into batches. Planning again, before any batch is done, is harmless.

    `reason` says why the run is ranked by cosine.
    """
    project, params = run.project, MatchParams.from_dict(run.params)
    progress(0, 0, "Planning")
    model = embedding_model(project)
    eligible = eligible_pages(project, model, params)
    donors, targets = eligible.chosen_donor, eligible.chosen_target
    if not donors.any() or not targets.any():
        raise UserError(nobody(eligible, "donor" if not donors.any() else "acceptor"))
    nodes = category_nodes(project)
    place = nodes.of(eligible.categories)
    blocks = blocking.plan_blocks(
        nodes.tree, eligible.ids[donors], place[donors], eligible.ids[targets], place[targets], params.levels_up
    )
    batches = blocking.plan_batches(
        [(len(block.donors), len(block.targets)) for block in blocks], BATCH_PAIRS, SLICE_DONORS
    )
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
                "donors": int(donors.sum()),
                "acceptors": int(targets.sum()),
                "left_out": {**eligible.left_out, "without a vector": _without_vector(project, model)},
                "blocks": len(blocks),
                "batches": len(batches),
                "pairs": sum(costs),
            },
        )


def _without_vector(project: Project, model: EmbeddingModel) -> int:
    """Live pages that a match cannot see: embed them first."""
    live = Page.objects.filter(project=project, status="live", missing_since=None)
    answering = live.filter(Q(status_code=None) | Q(status_code=200))
    return answering.exclude(pk__in=PageEmbedding.objects.filter(model=model).values("page")).count()


def nobody(eligible: Eligible, side: str) -> str:
    reasons = ", ".join(f"{count} {reason}" for reason, count in eligible.left_out.items())
    return (
        f"No page can be {'a donor' if side == 'donor' else 'an acceptor'}: {len(eligible.ids)} pages have a "
        f"vector and are live{', left out: ' + reasons if reasons else ''}. "
        f"Widen the {side} filter, or check the exclusion rules."
    )


def forget_candidates(project: Project, run: Run) -> None:
    """Candidates of this run and of runs that ended without finishing."""
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM linker_runcandidate WHERE run_id IN (SELECT id FROM linker_run WHERE project_id = %s "
            "AND kind = 'match' AND (id = %s OR status NOT IN ('queued', 'running')))",
            [project.pk, run.pk],
        )


def run_batch(run: Run, number: int) -> bool:
    """Computes one batch of a planned run and stores its candidates, in one transaction that holds the batch's lock.

    False where the batch was done already, another worker holds it, or the run is over.
    """
    with transaction.atomic():
        batch = RunBatch.objects.select_for_update(skip_locked=True).filter(run=run, number=number, done=False).first()
        if batch is None or not still_running(run):
            return False
        found = 0
        for block, pairs in _batch_pairs(run, batch):
            found += _save_candidates(run, batch, block, pairs)
        if not still_running(run):
            transaction.set_rollback(True)
            return False
        batch.done, batch.candidates, batch.finished_at = True, found, timezone.now()
        batch.save(update_fields=["done", "candidates", "finished_at"])
        with connection.cursor() as cursor:
            cursor.execute("UPDATE linker_run SET done = done + %s WHERE id = %s", [batch.cost, run.pk])
    return True


def still_running(run: Run) -> bool:
    return Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING, cancel_requested=False).exists()


def _batch_pairs(run: Run, batch: RunBatch) -> Iterator[tuple[int, Pairs]]:
    """The pairs of each slice of the batch, with the number of its block."""
    params = effective(MatchParams.from_dict(run.params))
    model = run.model
    if model is None:
        raise RuntimeError(f"run {run.pk} was not planned")
    nodes = category_nodes(run.project)
    room = tile_columns(settings.MATCH_MEMORY_MB * 2**20, model.dimensions)
    blocks = {
        block.number: (np.frombuffer(block.donor_ids, "<i8"), np.frombuffer(block.target_ids, "<i8"))
        for block in RunBlock.objects.filter(run=run, number__in={number for number, _, _ in batch.slices})
    }

    def side(ids: NDArray[np.int64], loaded: store.PageVectors, places: dict[int, int]) -> Side:
        known = ids[np.isin(ids, loaded.ids)]
        return Side(known, loaded.take(known), np.array([places[page] for page in known.tolist()], dtype=np.int64))

    def find(donor_ids: NDArray[np.int64], target_ids: NDArray[np.int64], cache: store.PageVectors | None) -> Pairs:
        def load(ids: NDArray[np.int64]) -> Side:
            vectors = cache or store.load_vectors(model.pk, model.dimensions, ids)
            return side(ids, vectors, _page_nodes(nodes, ids))

        return search(
            load(donor_ids),
            (load(target_ids[first : first + room]) for first in range(0, len(target_ids), room)),
            lambda left, right: nodes.tree.levels(left, right, params.levels_up),
            store.load_forbidden(donor_ids),
            threshold=params.floor(Ranking.COSINE),
            level_penalty=params.level_penalty,
            pool=params.pool,
        )

    for slices in _groups(batch.slices, blocks, room):
        cache = None
        if len(slices) > 1:
            ids = np.unique(np.concatenate([part for n, a, z in slices for part in (blocks[n][0][a:z], blocks[n][1])]))
            cache = store.load_vectors(model.pk, model.dimensions, ids)
        for number, first, stop in slices:
            yield number, find(blocks[number][0][first:stop], blocks[number][1], cache)


def effective(params: MatchParams) -> MatchParams:
    """Without a cap on targets a donor needs no more candidates than links."""
    if params.target_cap(1) == 0 and params.reciprocal is None and params.mode is Mode.BEST:
        return replace(params, pool=params.per_donor)
    return params


def _groups(
    slices: list[list[int]], blocks: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]], room: int
) -> Iterator[list[list[int]]]:
    """Slices whose pages fit in memory together share one read of the vectors."""
    group: list[list[int]] = []
    load = 0
    for part in slices:
        number, first, stop = part
        size = (stop - first) + len(blocks[number][1])
        if group and load + size > room:
            yield group
            group, load = [], 0
        group.append(part)
        load += size
    if group:
        yield group


def _page_nodes(nodes: CategoryNodes, ids: NDArray[np.int64]) -> dict[int, int]:
    rows = store.copy_out(
        "SELECT id, coalesce(category_id, 0) FROM linker_page WHERE id = ANY(%s)",
        [ids.tolist()],
        [("id", ">i8"), ("category", ">i8")],
    )
    places = nodes.of(rows["category"].astype(np.int64))
    return dict(zip(rows["id"].tolist(), places.tolist(), strict=True))


def _save_candidates(run: Run, batch: RunBatch, block: int, pairs: Pairs) -> int:
    count = len(pairs)
    return store.copy_in(
        "linker_runcandidate",
        [
            ("run_id", ">i8", np.full(count, run.pk)),
            ("batch_id", ">i8", np.full(count, batch.pk)),
            ("source", ">i8", pairs.donors),
            ("target", ">i8", pairs.targets),
            ("block", ">i4", np.full(count, block)),
            ("level", ">i2", pairs.levels),
            ("similarity", ">f8", pairs.similarity),
            ("score", ">f8", pairs.score),
        ],
    )


def batches_left(run: Run) -> list[int]:
    """Numbers of the batches that are not done."""
    return list(RunBatch.objects.filter(run=run, done=False).order_by("number").values_list("number", flat=True))


def enqueue_batches(run: Run) -> None:
    """Gives every batch of a planned run to the workers; where there is none, the finish."""
    numbers = batches_left(run)
    for number in numbers:
        enqueue(JobKey("match_batch", (run.pk, number)))
    if not numbers:
        enqueue(JobKey("match_finish", (run.pk,)))
