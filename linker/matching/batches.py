"""The batches of a planned run: pages compared block by block, their candidates stored until the run is finished."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import connection, transaction
from django.utils import timezone

from linker.engine.candidates.block_search import Pairs
from linker.engine.params import MatchParams, Mode
from linker.matching.block_searcher import BlockSearcher, forbidden_pairs
from linker.models import ExistingLink, Project, Run, RunBatch, RunBlock, RunCandidate, RunStatus
from linker.models.linked import has_links_beside
from linker.models.querysets import PRESENT
from linker.runs.job_queue import JobKey, enqueue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

BATCH_DONORS = 20_000
# If a target may receive this many times what a donor gives, donors rarely compete for it. Candidates beyond a donor's
# links are then looked for only if they did.
LOOSE_CAP = 10
# Candidates looked for beyond that if the site has links beside its texts: the pages that a donor links to there are
# often the nearest to it, and rarely become links of the text.
SPARE = 10
# Donors up to which the whole pool is kept where pages in need choose first: of more it would fill the memory.
MANY_DONORS = 50_000

# What a batch stores of each pair; `block` is the number of its block.
CANDIDATE = np.dtype(
    [
        *(("source", "<i8"), ("target", "<i8"), ("block", "<i4"), ("level", "<i2")),
        *(("similarity", "<f8"), ("score", "<f8")),
    ]
)


def batches_left(run: Run) -> list[int]:
    """Numbers of the batches that are not done."""
    return list(RunBatch.objects.filter(run=run, done=False).order_by("number").values_list("number", flat=True))


def enqueue_batches(run: Run) -> None:
    """Gives every batch of a planned run to the workers; where there is none, the finish."""
    numbers = batches_left(run)
    if numbers:
        enqueue(*(JobKey("match_batch", (run.pk, number)) for number in numbers))
    else:
        enqueue(JobKey("match_finish", (run.pk,)))


def run_batch(run: Run, number: int) -> bool:
    """Computes one batch of a planned run and stores its candidates, in one transaction that holds the batch's lock.

    False where the batch was done already, another worker holds it, or the run is over.
    """
    with transaction.atomic():
        batch = RunBatch.objects.select_for_update(skip_locked=True).filter(run=run, number=number, done=False).first()
        if batch is None or not still_running(run):
            return False
        found = [_packed(block, pairs) for block, pairs in _batch_pairs(run, batch)]
        candidates = np.concatenate(found) if found else np.empty(0, dtype=CANDIDATE)
        RunCandidate.objects.create(run=run, batch=batch, pairs=candidates.tobytes())
        if not still_running(run):
            transaction.set_rollback(True)
            return False
        batch.done, batch.candidates, batch.finished_at = True, len(candidates), timezone.now()
        batch.save(update_fields=["done", "candidates", "finished_at"])
        with connection.cursor() as cursor:
            cursor.execute("UPDATE linker_run SET done = done + %s WHERE id = %s", [batch.cost, run.pk])
    return True


def still_running(run: Run) -> bool:
    return Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING, cancel_requested=False).exists()


def _batch_pairs(run: Run, batch: RunBatch) -> Iterator[tuple[int, Pairs]]:
    """The pairs of each slice of the batch, with the number of its block."""
    asked, params = MatchParams.from_dict(run.params), searched_by(run)
    if params.pool < asked.pool and has_links_beside(run.project):
        params = replace(params, pool=min(asked.pool, params.pool + SPARE))
    numbers = {number for number, _, _ in batch.slices}
    blocks = {
        block.number: (np.frombuffer(block.donor_ids, "<i8"), np.frombuffer(block.target_ids, "<i8"))
        for block in RunBlock.objects.filter(run=run, number__in=numbers)
    }
    searcher = BlockSearcher(run, params)
    for slices in _read_together(batch.slices, blocks, searcher.room):
        donors = np.concatenate([blocks[number][0][first:stop] for number, first, stop in slices])
        forbidden = forbidden_pairs(donors)
        cache = None
        if len(slices) > 1:
            cache = searcher.read(np.unique(np.concatenate([donors, *(blocks[number][1] for number, _, _ in slices)])))
        for number, first, stop in slices:
            yield number, searcher.find(blocks[number][0][first:stop], blocks[number][1], forbidden, cache)


def _read_together(
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


def _packed(block: int, pairs: Pairs) -> NDArray[Any]:
    rows = np.empty(len(pairs), dtype=CANDIDATE)
    rows["source"], rows["target"], rows["block"], rows["level"] = pairs.sources, pairs.targets, block, pairs.levels
    rows["similarity"], rows["score"] = pairs.similarity, pairs.score
    return rows


def searched_by(run: Run) -> MatchParams:
    """The parameters that a planned run's batches search by: with no more candidates a donor than its links can need,
    but with the whole pool where pages in need choose before the others, who may stand far down in it. On sites of more
    than MANY_DONORS donors they choose among what a donor's own links can need.
    """
    params = MatchParams.from_dict(run.params)
    donors = Run.objects.values_list("report__donors", flat=True).get(pk=run.pk)
    knows_links = ExistingLink.objects.filter(PRESENT, project=run.project_id).exists()
    return params if knows_links and donors and donors <= MANY_DONORS else _with_smallest_pool(params)


def _with_smallest_pool(params: MatchParams) -> MatchParams:
    """The parameters with no more candidates a donor than its links can need.

    Greedy allocation gives a donor its best targets that have room. Where targets are capped far above what donors
    give, or not at all, nearly all donors take their first `per_donor`; of the others the finish expands the
    candidates, up to the whole pool, so that the links are those of the whole pool.
    """
    if params.mode is Mode.BEST and params.reciprocal is None:
        cap = params.target_cap(2**62)
        if cap == 0 or cap >= LOOSE_CAP * params.per_donor:
            return replace(params, pool=params.per_donor)
    return params


def expand_candidates(run: Run, donors: NDArray[np.int64]) -> NDArray[Any]:
    """Candidates of some donors, as many as the run's parameters keep at most: see `searched_by`."""
    searcher, forbidden = BlockSearcher(run, MatchParams.from_dict(run.params)), forbidden_pairs(donors)
    found = [np.empty(0, dtype=CANDIDATE)]
    for block in RunBlock.objects.filter(run=run).order_by("number").iterator(chunk_size=100):
        among = np.frombuffer(block.donor_ids, "<i8")
        among = among[np.isin(among, donors)]
        for first in range(0, len(among), BATCH_DONORS):
            pairs = searcher.find(
                among[first : first + BATCH_DONORS], np.frombuffer(block.target_ids, "<i8"), forbidden
            )
            found.append(_packed(block.number, pairs))
    return np.concatenate(found)


def forget_candidates(project: Project, run: Run) -> None:
    """Deletes the candidates of this run and of runs that ended without finishing."""
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM linker_runcandidate WHERE run_id IN (SELECT id FROM linker_run WHERE project_id = %s "
            "AND kind = 'match' AND (id = %s OR status NOT IN ('queued', 'running')))",
            [project.pk, run.pk],
        )
