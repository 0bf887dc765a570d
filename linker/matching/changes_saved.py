"""The end of a run over what changed: what it found becomes part of the standing run."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from django.db import connection

from linker.errors import UserError
from linker.matching import follow_up, replacing
from linker.matching.allocation import allocate_links
from linker.matching.edges import stage_edges
from linker.matching.follow_up import Piece
from linker.matching.kept_runs import keep_links_of, standing_run
from linker.matching.needs import needs_of
from linker.matching.prepared import prepared
from linker.matching.result import StayingLinks
from linker.matching.stale import lock_for_changes, mark_stale_of, stage_changes
from linker.matching.suppressions import settle
from linker.matching.tiers import keep_apart
from linker.matching.unallocated import save_unallocated
from linker.models import Project
from linker.models.edge_counts import kept_counts, total
from linker.models.querysets import OPEN, STALE, UNDECIDED, sql
from linker.pages.sensitive_marks import mark_sensitive
from linker.runs import lifecycle
from linker.storage.copy import copy_out

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray

    from linker.engine.params import MatchParams
    from linker.matching.changes_report import ChangesReport
    from linker.matching.eligibility import Eligible
    from linker.matching.result import MatchResult
    from linker.models import Run
    from linker.runs.lifecycle import Progress

STEPS = 4


def staying_links(project: Project, donors: NDArray[np.int64]) -> StayingLinks:
    """The open suggestions of all donors but these, ids int64 [k], ascending."""
    rows = copy_out(
        f"SELECT source_id, target_id, score::float8 FROM linker_candidateedge WHERE project_id = %s AND {sql(OPEN)}",
        [project.pk],
        [("source", ">i8"), ("target", ">i8"), ("score", ">f8")],
    )
    rows = rows[~np.isin(rows["source"].astype(np.int64), donors)]
    return StayingLinks(
        *(rows[name].astype(kind) for name, kind in (("source", "i8"), ("target", "i8"), ("score", "f8")))
    )


def save_changes(
    run: Run,
    standing: Run,
    params: MatchParams,
    result: MatchResult,
    eligible: Eligible,
    report: ChangesReport,
    started: float,
    progress: Progress,
) -> ChangesReport:
    """Allocates links to the donors that were looked at, `eligible.chosen_donor`, and stores them as edges of the
    standing run, all in one transaction. Raises UserError where another run stands by now."""
    project = standing.project = run.project  # one row, so that both have the settings that are read
    progress(0, STEPS, "Allocating links")
    needs = needs_of(project)
    allocated = allocate_links(project, params, result, needs.first(result.acceptors))

    def write(lock: Callable[[], None]) -> ChangesReport:
        was_open = back = 0

        def lock_written() -> None:
            nonlocal was_open, back
            lock_for_changes(project, stored)
            was_open, back = _count_open(project), _count_back(project, stored)

        progress(1, STEPS, "Choosing anchors and places")
        staged = stage_edges(
            standing, params, result, allocated, needs,
            lambda _done: progress(1, STEPS, "Choosing anchors and places"),
        )  # fmt: skip
        saved, donors = staged.saved, eligible.ids[eligible.chosen_donor]
        stored = saved.stored()
        save_unallocated(standing, allocated, saved.unplaced.pairs, donors)
        stage_changes(eligible, stored)
        progress(2, STEPS, "Writing suggestions")
        lock()
        _check_stands(project, standing)
        staged.write(lock_written)
        closed = mark_stale_of(standing)
        staged.even_out()
        replacing.save(standing, saved.replaced, donors)
        settle(project)
        keep_apart(project, np.unique(stored["target"]).tolist())
        mark_sensitive(project, project.edges.filter(source__in=donors.tolist()))
        progress(3, STEPS, "Cleaning up")
        keep_links_of(standing, np.union1d(donors, closed.donors))
        if result.marks is not None:
            result.marks.keep(standing, changes=report.changes or 0, changed=report.changed_in_all or 0)
        done = replace(
            report,
            links=len(stored),
            opened=saved.new,
            refreshed=saved.refreshed,
            back=back,
            closed=closed.undecided,
            before=max(0, was_open - saved.new),  # the new ones were written before the others were locked
            after=_count_open(project),
            seconds=round(time.monotonic() - started, 1),
        )
        follow_up.start(project, (Piece.RULED_OUT, Piece.MOVED, Piece.TURNED), follows=run)
        lifecycle.succeed(run.pk, done)
        return done

    return prepared(project, write)


def _count_open(project: Project) -> int:
    found: int = kept_counts(project).filter(OPEN).aggregate(links=total())["links"]
    return found


def _count_back(project: Project, stored: NDArray[Any]) -> int:
    """How many of these rows, with a `source` and a `target`, are undecided suggestions that were no longer
    proposed."""
    asked = [stored[side].tolist() for side in ("source", "target")]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM unnest(%s::bigint[], %s::bigint[]) found (source, target) "
            "JOIN linker_candidateedge e ON e.source_id = found.source AND e.target_id = found.target "
            f"WHERE e.project_id = %s AND {sql(UNDECIDED & STALE, 'e')}",
            [*asked, project.pk],
        )
        [links] = cursor.fetchone()
    return int(links)


def _check_stands(project: Project, standing: Run) -> None:
    """Raises UserError where another run stands by now."""
    now = standing_run(project)
    if now is None or now.pk != standing.pk:
        raise UserError(
            "Another match run has come to stand meanwhile. Nothing was changed: match what changed once more."
        )
