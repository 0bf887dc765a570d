"""The end of a match run, from what it found to edges and a report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db.models import Sum

from linker.engine.candidates.registry import bit_of
from linker.engine.params import MatchParams, Ranking
from linker.engine.ranking.reasons import BY_COSINE, BY_COSINE_IN_CATEGORY
from linker.matching import follow_up, replacing
from linker.matching.allocation import allocate_links
from linker.matching.batches import CANDIDATE, batches_left, expand_candidates, forget_candidates, searched_by
from linker.matching.edges import stage_edges
from linker.matching.follow_up import Piece
from linker.matching.kept_runs import keep_links, standing_run
from linker.matching.known_answers import save_known
from linker.matching.lessons import kept_lesson, learned_by
from linker.matching.needs import needs_of
from linker.matching.prepared import prepared
from linker.matching.queue_change import note_open, queue_change
from linker.matching.report import ended_report
from linker.matching.report_types import MatchReport
from linker.matching.result import FOUND, MatchResult
from linker.matching.stale import mark_stale, taking_part_in
from linker.matching.suppressions import settle
from linker.matching.tiers import keep_apart
from linker.matching.unallocated import save_unallocated
from linker.models import Category, Ranker, Run, RunBatch, RunBlock
from linker.models.querysets import OPEN
from linker.pages.sensitive_marks import mark_sensitive
from linker.runs import lifecycle
from linker.storage.cursors import stream
from linker.storage.locks import lock_edges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.runs.lifecycle import Progress

ACCEPTORS_AT_A_TIME = 5_000_000
STEPS = 5


def finish_match(run: Run, progress: Progress = lifecycle.no_progress) -> MatchReport:
    """The end of a run in batches: what they found becomes edges. See save_match_result."""
    if batches_left(run):
        raise RuntimeError(f"run {run.pk} has batches left")
    compared = RunBatch.objects.filter(run=run).aggregate(pairs=Sum("cost"))["pairs"] or 0

    def after_comparing(done: int, total: int, stage: str = "") -> None:
        progress(compared + max(0, run.total - compared) * done // total, max(run.total, compared), stage)

    return save_match_result(run, _result_of_batches(run), after_comparing)


def save_match_result(run: Run, result: MatchResult, progress: Progress) -> MatchReport:
    """Allocates links over the whole run, picks anchors and places and stores the edges, all in one transaction.

    The project is locked once all that is new is written, which takes most of the time. Returns the run's report.
    """
    project, params = run.project, MatchParams.from_dict(run.params)
    progress(0, STEPS, "Allocating links")
    needs = needs_of(project)
    lacking = needs.under_linked(result.acceptors)
    allocated = allocate_links(project, params, result, needs.first(result.acceptors))

    def write(lock: Callable[[], None]) -> MatchReport:
        stage = "Choosing anchors and places"
        note_open(project)
        learned_before = learned_by(standing_run(project))
        progress(1, STEPS, stage)
        staged = stage_edges(
            run, params, result, allocated, needs, lambda done: progress(1, STEPS, f"{stage}, {done:,} done")
        )
        saved = staged.saved
        if result.ranking != Ranking.COSINE:
            save_unallocated(run, allocated, saved.unplaced.pairs)
        if result.ranker is not None:
            _save_ranker(run, result.ranker)
        taking_part = taking_part_in(run, params)
        progress(2, STEPS, "Writing suggestions")
        lock()
        # All of them: what the run does not propose is stale, and donors and acceptors are evened out.
        staged.write(lambda: lock_edges(project.pk, "e.run_id <> %(run)s", {"run": run.pk}))
        if result.known is not None:
            scores = allocated.eligible["score"][allocated.allocation.chosen]
            save_known(run, result.known, result.ranked_by, scores, saved.tiers, needs)
        progress(3, STEPS, "Marking what is no longer proposed")
        stale = mark_stale(run, taking_part)
        staged.even_out()
        replacing.save(run, saved.replaced)
        settle(project)
        if project.edges.filter(OPEN).exclude(run=run).exists():
            keep_apart(project)  # this run did not know the words of suggestions that it left as they are
        mark_sensitive(project)
        progress(4, STEPS, "Cleaning up")
        forget_candidates(project, run)
        RunBlock.objects.filter(run=run).delete()
        keep_links(run)
        if result.marks is not None:
            result.marks.keep(run)
        report = ended_report(run, params, result, needs, lacking, allocated, saved, stale)
        change = queue_change(project, learned_before, kept_lesson(report.approval))
        report = replace(report, queue=change)
        # With the edges or not at all: a finish that came twice would find no candidates and take all edges for stale.
        # It takes long and need not be waited for: suggestions of the run can be decided on meanwhile. Pages may have
        # been merged, or gone missing, while the run was under way.
        pieces = (Piece.COUNTS, Piece.RULED_OUT, Piece.MOVED, Piece.TURNED, Piece.PARAGRAPHS, Piece.COMPARISON)
        follow_up.start(project, pieces, follows=run)
        lifecycle.succeed(run.pk, report)
        return report

    return prepared(project, write)


def _save_ranker(run: Run, ranker: Ranker) -> None:
    Ranker.objects.filter(run=run).delete()
    ranker.run = run
    ranker.save()


def _result_of_batches(run: Run) -> MatchResult:
    params, pool = MatchParams.from_dict(run.params), searched_by(run).pool
    return MatchResult(
        rows=_candidates(run),
        ranking=Ranking.COSINE,
        why=_why_by_cosine(run),
        phrases=None,
        ranker=None,
        report=MatchReport.from_json(Run.objects.values_list("report", flat=True).get(pk=run.pk)),
        acceptors=_acceptors(run),
        pool=pool,
        expand_candidates=(lambda donors: _as_found(expand_candidates(run, donors))) if pool < params.pool else None,
    )


def _candidates(run: Run) -> NDArray[Any]:
    """What all batches found, rows of FOUND."""
    rows = np.empty(sum(RunBatch.objects.filter(run=run).values_list("candidates", flat=True)), dtype=FOUND)
    first = 0
    for (pairs,) in stream(
        "candidates", "SELECT pairs FROM linker_runcandidate WHERE run_id = %s ORDER BY batch_id", [run.pk], size=1
    ):
        part = np.frombuffer(pairs, dtype=CANDIDATE)
        _fill(rows[first : first + len(part)], part)
        first += len(part)
    return rows


def _as_found(pairs: NDArray[Any]) -> NDArray[Any]:
    rows = np.empty(len(pairs), dtype=FOUND)
    _fill(rows, pairs)
    return rows


def _fill(rows: NDArray[Any], pairs: NDArray[Any]) -> None:
    for name in CANDIDATE.names or ():
        rows[name] = pairs[name]
    rows["probability"], rows["beside"], rows["found"], rows["place"] = np.nan, np.nan, bit_of("category"), -1


def _acceptors(run: Run) -> NDArray[np.int64]:
    """The pages that may receive a link in a planned run, by id."""
    parts, waiting = [np.empty(0, dtype=np.int64)], 0
    for (targets,) in RunBlock.objects.filter(run=run).order_by("number").values_list("target_ids").iterator(100):
        parts.append(np.frombuffer(targets, "<i8"))
        waiting += len(parts[-1])
        if waiting > ACCEPTORS_AT_A_TIME:  # blocks overlap: a page is in as many as it is looked for from
            parts, waiting = [np.unique(np.concatenate(parts))], 0
    return np.unique(np.concatenate(parts))


def _why_by_cosine(run: Run) -> Callable[[dict[str, Any]], tuple[str, dict[str, float]]]:
    tops = dict(RunBlock.objects.filter(run=run).values_list("number", "category_id"))
    categories = Category.objects.filter(pk__in=[pk for pk in tops.values() if pk]).values_list("pk", "path")
    shown = {pk: " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} ".join(path) for pk, path in categories}

    def why(row: dict[str, Any]) -> tuple[str, dict[str, float]]:
        category = shown.get(tops.get(row["block"]) or 0)
        sentence = BY_COSINE_IN_CATEGORY.said(category=category) if category else BY_COSINE.text
        return sentence, {"cosine": row["similarity"], "level": row["level"]}

    return why
