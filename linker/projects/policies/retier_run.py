"""The run that makes a change of tiers or bounds in a large project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.projects.policies.cohorts import BoundsWanted
from linker.projects.policies.retier import make_by_run
from linker.projects.policies.tiers import TiersWanted
from linker.runs import lifecycle

if TYPE_CHECKING:
    from linker.matching.report_types import RetierReport
    from linker.models import Run
    from linker.runs.lifecycle import Progress


def run_retier(run: Run, progress: Progress = lifecycle.no_progress) -> RetierReport:
    """The work of the run: all of the change that its parameters hold, or nothing."""
    stored = run.params["wanted"]
    kind = TiersWanted if "tiers" in stored else BoundsWanted
    return make_by_run(run, kind.from_stored(run.project, stored), progress)
