"""After a match: the bounds that the project's chosen share asks for, by the suggestions as they are then.

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
    the bounds are right as they are, or where none bring the share about: then they stay. While somebody changes the
    tiers, their change counts."""
    project = Project.objects.get(pk=run.project_id)
    if project.expected_share is None:
        return None
    shares = ShownShares(project, anew=True)
    shown = shares.for_share(project.expected_share) if shares.rows else None
    if shares.tier is None or shown is None or shown.bound is None:
        return None
    if (shown.bound, shown.wordless_bound) == (shares.tier.lower_bound, shares.wordless_bound):
        return None
    shares.tier.lower_bound = shown.bound
    bases = frozenset({Basis.PROBABILITY.value})
    wordless = shares.wordless_bounds(shown)
    wanted = TiersWanted(project, [shares.tier], [], bases, None, project.expected_share, wordless)
    params = wanted.in_words() | {"wanted": wanted.wanted()}
    with suppress(lifecycle.RunIsActive):
        return lifecycle.start_run(project, RunKind.RETIER, params, run.created_by, follows=run, by_itself=True)
    return None
