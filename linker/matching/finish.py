"""The end of a match run: links given out over the whole run, anchors and places chosen, edges stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import transaction
from django.db.models import Count, Q

from linker.engine.allocation.allocate import Reason
from linker.engine.candidates.registry import bit_of
from linker.engine.params import MatchParams, Ranking
from linker.matching.allocation import give_out
from linker.matching.batches import CANDIDATE, batches_left, deeper, forget_candidates, searched
from linker.matching.content_gaps import find_paragraphs
from linker.matching.edges import Edges, in_order
from linker.matching.needs import needs_of
from linker.matching.report import full_pools, got
from linker.matching.result import FOUND, Findings
from linker.matching.stale import mark_stale
from linker.matching.tiers import keep_apart
from linker.matching.unallocated import save_left_out
from linker.models import Category, Project, Ranker, Run, RunBatch, RunBlock
from linker.pages.sensitivity import mark_sensitive
from linker.runs import lifecycle
from linker.storage import store

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.runs.lifecycle import Progress

ACCEPTORS_AT_A_TIME = 5_000_000


def finish_match(run: Run, progress: Progress = lifecycle.no_progress) -> dict[str, Any]:
    """The end of a run in batches: what they found is given out and stored. See store_found."""
    if batches_left(run):
        raise RuntimeError(f"run {run.pk} has batches left")
    params = MatchParams.from_dict(run.params)
    rows = np.empty(sum(RunBatch.objects.filter(run=run).values_list("candidates", flat=True)), dtype=FOUND)
    first = 0
    for (pairs,) in store.stream(
        "candidates", "SELECT pairs FROM linker_runcandidate WHERE run_id = %s ORDER BY batch_id", [run.pk], size=1
    ):
        part = np.frombuffer(pairs, dtype=CANDIDATE)
        _fill(rows[first : first + len(part)], part)
        first += len(part)
    pool = searched(run).pool

    def look_deeper(donors: NDArray[np.int64]) -> NDArray[Any]:
        part = deeper(run, donors)
        found = np.empty(len(part), dtype=FOUND)
        _fill(found, part)
        return found

    found = Findings(
        rows=rows,
        ranking=Ranking.COSINE,
        why=_why_by_cosine(run),
        phrases=None,
        ranker=None,
        extra={},
        acceptors=_acceptors(run),
        pool=pool,
        deeper=look_deeper if pool < params.pool else None,
    )
    return store_found(run, found, progress)


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
        if waiting > ACCEPTORS_AT_A_TIME:  # blocks overlap: a page stands in as many as it is looked for from
            parts, waiting = [np.unique(np.concatenate(parts))], 0
    return np.unique(np.concatenate(parts))


def _why_by_cosine(run: Run) -> Callable[[dict[str, Any]], tuple[str, dict[str, float]]]:
    tops = dict(RunBlock.objects.filter(run=run).values_list("number", "category_id"))
    shown = {pk: " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} ".join(path) for pk, path in
             Category.objects.filter(pk__in=[pk for pk in tops.values() if pk]).values_list("pk", "path")}  # fmt: skip

    def why(row: dict[str, Any]) -> tuple[str, dict[str, float]]:
        category = shown.get(tops.get(row["block"]) or 0)
        where = f", both in {category}" if category else ""
        return f"The two pages are alike in meaning{where}.", {"cosine": row["similarity"], "level": row["level"]}

    return why


def store_found(run: Run, findings: Findings, progress: Progress = lifecycle.no_progress) -> dict[str, Any]:
    """Allocates over the whole run, picks anchors and places and stores the edges, all in one transaction."""
    project, params = run.project, MatchParams.from_dict(run.params)
    steps = 5
    progress(0, steps, "Giving out the links")
    needs = needs_of(project)
    lacking = needs.under_linked(findings.acceptors)
    given = give_out(project, params, findings, lacking)
    rows, eligible, allocation = given.rows, given.eligible, given.allocation
    chosen, best = in_order(eligible, allocation.chosen)
    progress(1, steps, "Choosing anchors and places")
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        edges = Edges(run, params, findings, given, needs, chosen, best)
        counts = edges.save(lambda done: progress(1, steps, f"Choosing anchors and places, {done:,} done"))
        progress(3, steps, "Marking what is no longer proposed")
        counts |= mark_stale(run, params)
        if project.edges.filter(status="suggested", stale=False).exclude(run=run).exists():
            keep_apart(project)  # this run knew nothing of the words of what it left standing
        mark_sensitive(project)
        progress(4, steps, "Cleaning up")
        forget_candidates(project, run)
        if findings.ranking != Ranking.COSINE:
            reason = given.reason.copy()
            reason[reason == 0] = allocation.reason
            save_left_out(run, rows, reason, edges.without_place)
        if findings.ranker is not None:
            Ranker.objects.filter(run=run).delete()
            findings.ranker.run = run
            findings.ranker.save()
        RunBlock.objects.filter(run=run).delete()
        tiers = dict(project.edges.filter(run=run).values_list("tier__name").annotate(Count("pk")).order_by())
        report = {
            **Run.objects.values_list("report", flat=True).get(pk=run.pk),
            "ranking": str(findings.ranking),
            "scope": levels_up if (levels_up := params.levels(findings.ranking)) is not None else "site",
            "threshold": params.floor(findings.ranking),
            "candidates": len(eligible),
            "donors_with_full_pool": full_pools(eligible, params),
            **findings.extra,
            **counts,
            "sensitive": project.edges.filter(run=run).exclude(sensitive="").count(),
            "tiers": {name or "below every tier": count for name, count in tiers.items()},
            "held_back": project.edges.filter(run=run).filter(Q(tier=None) | Q(tier__held=True)).count(),
            "allocation": given.report | edges.placed(),
        }
        if "copies" in report:
            report["copies"]["pairs_held_out"] = int((given.reason == Reason.SAME_GROUP).sum())
        if len(lacking):
            report["under_linked"] = got(project, run, lacking, given, edges.without_place)
            orphans = needs.orphans(lacking)
            report["orphans"] = got(project, run, orphans, given, edges.without_place) if len(orphans) else {}
        # With the edges or not at all: a finish that came twice would find no candidates and take all edges for stale.
        lifecycle.succeed(run.pk, report)
    # They take long and nobody has to wait for them: suggestions of the run can be decided on meanwhile.
    report["gaps_with_paragraph"] = find_paragraphs(run)
    Run.objects.filter(pk=run.pk).update(report=report)
    return report
