"""The run that brings the queue in line with safety classes and gates, after a change of theirs or an import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection, transaction

from linker.matching.safety import bar, bring_back
from linker.matching.suppressions import hide
from linker.matching.tiers import retier
from linker.models import BarredPair, CandidateEdge, ChangeKind, Gate, Project, Run, RunKind
from linker.models.querysets import ACCEPTED, WAITING, sql
from linker.pages.gates import IS_GATED, write_gated
from linker.runs import lifecycle
from linker.runs.due import new_since, start_unless_active
from linker.runs.reports import Report
from linker.storage.locks import lock_project

if TYPE_CHECKING:
    from linker.runs.lifecycle import Progress

IMPORTS = (RunKind.IMPORT_PAGES, RunKind.IMPORT_EVENTS, RunKind.IMPORT_TRAFFIC)


@dataclass(frozen=True, kw_only=True)
class SafetyReport(Report):
    """Suggestions that left the queue, those that came back, and accepted links that wait for a second person."""

    taken_out: int = 0
    back: int = 0
    waiting: int | None = None


def run_apply_safety(run: Run, progress: Progress = lifecycle.no_progress) -> SafetyReport:
    """The work of the run. May run twice. Ends the run while it holds the project: a class that is changed meanwhile
    waits for its end, and starts another."""
    progress(0, 2, "Bringing back what may be linked again")
    with transaction.atomic():
        project = lock_project(run.project_id)
        back = bring_back(project)
        if back:
            retier(project, back)
            hide(project, edges=back)
    progress(1, 2, "Taking out what may not be linked")
    taken_out = bar(project)
    with transaction.atomic():
        lock_project(project.pk)
        report = SafetyReport(taken_out=taken_out, back=len(back), waiting=mark_waiting(project))
        lifecycle.succeed(run.pk, report)
    return report


_OF_ACCEPTED = "SELECT unnest(ARRAY[l.source_id, l.target_id]) FROM linker_candidateedge l WHERE {accepted}"
_MARK = """
WITH changed AS (
    SELECT l.id, {waits} AS waits FROM linker_candidateedge l WHERE {accepted} AND l.waits <> ({waits})
    ORDER BY l.id FOR NO KEY UPDATE OF l
)
UPDATE linker_candidateedge e SET waits = changed.waits FROM changed WHERE e.id = changed.id
"""


def mark_waiting(project: Project) -> int:
    """Writes on accepted links whether they wait for a second person, as the gates are now. How many do."""
    accepted = f"l.project_id = %(project)s AND {sql(ACCEPTED, 'l')}"
    with transaction.atomic(), connection.cursor() as cursor:
        is_any = write_gated(project, _OF_ACCEPTED.format(accepted=accepted))
        waits = f"(l.second_by_id IS NULL AND {IS_GATED})" if is_any else "false"
        cursor.execute(_MARK.format(accepted=accepted, waits=waits), {"project": project.pk})
    return CandidateEdge.objects.filter(WAITING, project=project).count()


def start_if_due(run: Run) -> Run | None:
    """Starts another where classes were changed, or pages imported, after the newest of its kind began.

    Called as an import of pages or traffic ends, and as a run of this kind does.
    """
    project = run.project
    changed, imported = new_since(project, RunKind.SAFETY, (ChangeKind.SAFETY, ChangeKind.GATES), IMPORTS)
    if not changed and not (imported and _has_rules(project)):
        return None
    return start_unless_active(project, RunKind.SAFETY, run.created_by)


def _has_rules(project: Project) -> bool:
    return any(rules.filter(project=project).exists() for rules in (BarredPair.objects, Gate.objects))
