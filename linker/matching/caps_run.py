"""The run that brings the queue in line with the caps, after a change of theirs or an import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction

from linker.matching.full_pages import BACK, bring_back, in_both, take_out
from linker.matching.section_caps import caps_in_force
from linker.matching.suppressions import hide
from linker.matching.tiers import retier
from linker.models import ChangeKind, Run, RunKind
from linker.models.edge_counts import kept_counts, total
from linker.models.querysets import UNDECIDED, sql
from linker.runs import lifecycle
from linker.runs.due import new_since, start_unless_active
from linker.runs.reports import Report
from linker.storage.cursors import batches, stream
from linker.storage.locks import lock_edges, lock_project

if TYPE_CHECKING:
    from linker.runs.lifecycle import Progress

AT_A_TIME = 50_000  # suggestions that came back and are asked whether something else rules them out


@dataclass(frozen=True, kw_only=True)
class CapsReport(Report):
    """Suggestions that left the queue because their donor or acceptor is full, and those that came back."""

    taken_out: int = 0
    back: int = 0


def run_apply_caps(run: Run, progress: Progress = lifecycle.no_progress) -> CapsReport:
    """The work of the run. May run twice. Ends the run with it: a cap that is set while it works waits for its end, and
    starts another."""
    with transaction.atomic():
        project = lock_project(run.project_id)
        progress(0, 3, "Bringing back what there is room for")
        back = 0
        if project.edges.filter(UNDECIDED, capped_at__isnull=False).exists():
            # Three passes write then, each of what the one before it leaves. Where nothing comes back, the reading of
            # the tiers alone waits for locks, which it takes at once, and no editor waits for the rest.
            lock_edges(project.pk, sql(UNDECIDED, "e"))
            back = bring_back(project)
        retier(project, progress=progress)  # also what the site links by now, and words that too many links say
        if back:
            for some in batches(stream("back", f"SELECT edge FROM {BACK} ORDER BY edge", []), AT_A_TIME):
                hide(project, edges=[edge for (edge,) in some])
        progress(2, 3, "Taking out what there is no room for")
        out = take_out(project)
        both = in_both() if back else 0
        report = CapsReport(taken_out=out - both, back=back - both)
        lifecycle.succeed(run.pk, report)
    return report


def start_if_due(run: Run) -> Run | None:
    """Starts another where caps were changed, or links or pages imported, after the newest of its kind began.

    Called as an import of links or pages ends, and as a run of this kind does. What pages are imported for matters
    only to caps of sections, and by the length of texts.
    """
    project = run.project
    imports = [RunKind.IMPORT_LINKS, *([RunKind.IMPORT_PAGES, RunKind.IMPORT_EVENTS] if caps_in_force(project) else [])]
    if not any(new_since(project, RunKind.CAPS, (ChangeKind.CAPS,), imports)):
        return None
    if not kept_counts(project).aggregate(edges=total(UNDECIDED))["edges"]:
        return None
    return start_unless_active(project, RunKind.CAPS, run.created_by)
