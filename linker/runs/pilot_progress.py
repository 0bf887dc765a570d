"""Reads: what became of a pilot run so far, and which pilot is open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count, Q

from linker.models import CandidateEdge, EdgeStatus, Pilot, Run, RunKind, RunStatus
from linker.models.querysets import ONCE_APPROVED, TO_REVIEW

if TYPE_CHECKING:
    from linker.models import Project


@dataclass(frozen=True)
class PilotFigures:
    """A pilot's donors, `size` drawn of `out_of`, and what editors said of its suggestions."""

    size: int
    out_of: int
    accepted: int
    rejected: int
    waiting: int
    is_open: bool

    @property
    def decided(self) -> int:
        return self.accepted + self.rejected

    @property
    def share(self) -> str:
        """Accepted, of what was decided on; empty where nothing was."""
        return f"{self.accepted / self.decided:.0%}" if self.decided else ""


def open_pilot(project: Project) -> Run | None:
    """The pilot whose suggestions come first: the newest match run to have finished, where that is one."""
    runs = Run.objects.filter(project=project, kind=RunKind.MATCH, status=RunStatus.SUCCEEDED)
    newest = runs.select_related("pilot").defer("params", "report", "pilot__pages").order_by("-pk").first()
    return newest if newest is not None and hasattr(newest, "pilot") else None


def pilot_figures(run: Run) -> PilotFigures | None:
    """None for a run that is no pilot, or has not drawn its donors yet."""
    pilot = Pilot.objects.filter(run=run).defer("pages").first()
    if pilot is None:
        return None
    counts = CandidateEdge.objects.filter(run=run).aggregate(
        accepted=Count("pk", filter=ONCE_APPROVED & Q(reviewed=True)),
        rejected=Count("pk", filter=Q(status=EdgeStatus.REJECTED)),
        waiting=Count("pk", filter=TO_REVIEW),
    )
    newest = open_pilot(run.project)
    return PilotFigures(pilot.size, pilot.out_of, **counts, is_open=newest is not None and newest.pk == run.pk)
