"""After a match: the bound that the project's chosen share asks for, by the suggestions as they are then.

The work is a run, as any change of tiers in a large project is: whoever ends a match holds its row.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from linker.models import Basis, Project, RunKind
from linker.projects.policies.tiers import TiersWanted
from linker.projects.shown_share import ShownShares
from linker.runs import lifecycle

if TYPE_CHECKING:
    from linker.models import Run


def after_match(run: Run) -> Run | None:
    """Called as a match ends well, and as one of what changed does. None where the project has chosen no share, where
    the bound is right as it is, or where no bound brings the share about: then it stays. While somebody changes the
    tiers, their change counts."""
    project = Project.objects.get(pk=run.project_id)
    if project.expected_share is None:
        return None
    shares = ShownShares(project, anew=True)
    shown = shares.for_share(project.expected_share) if shares.rows else None
    if shares.tier is None or shown is None or shown.bound in (None, shares.tier.lower_bound):
        return None
    shares.tier.lower_bound = shown.bound or 0.0
    wanted = TiersWanted(project, [shares.tier], [], frozenset({Basis.PROBABILITY.value}), None, project.expected_share)
    params = wanted.in_words() | {"wanted": wanted.wanted()}
    with suppress(lifecycle.RunIsActive):
        return lifecycle.start_run(project, RunKind.RETIER, params, run.created_by, follows=run, by_itself=True)
    return None
