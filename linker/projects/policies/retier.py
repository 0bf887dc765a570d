"""What a change of tiers or of bounds makes of the suggestions: all are read again, within the request or, in a large
project, by a run.

Either way it is one transaction: until it has ended, the former tiers and bounds hold, and so they do after a run that
was cancelled or has failed. The run's parameters hold the whole change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from django.db import transaction

from linker import audit
from linker.matching import follow_up
from linker.matching.follow_up import Piece
from linker.matching.report_types import RetierReport, TierCount
from linker.matching.suppressions import hide
from linker.matching.tiers import retier
from linker.models import ChangeKind, Project, Run, RunKind
from linker.models.edge_counts import kept_counts, total
from linker.models.querysets import UNDECIDED
from linker.models.run import ACTIVE
from linker.projects.overview import tier_counts
from linker.projects.policies.shared import wait_for_others
from linker.runs import lifecycle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from linker.projects.policies.shared import Actor
    from linker.runs.lifecycle import Progress

AT_ONCE = 5_000  # undecided suggestions that are read again while somebody waits; of more, by a run


@dataclass(frozen=True)
class TierChange:
    """Open suggestions by tier's name, before and after."""

    before: dict[str, int]
    after: dict[str, int]


class Reading(Protocol):
    """A change of what suggestions are read by."""

    @property
    def project(self) -> Project: ...

    def check(self) -> None:
        """Raises UserError where it cannot be made."""
        ...

    def in_words(self) -> dict[str, Any]:
        """The parameters of its run that people read: `before` and `after`, and what else there is. None are stored
        where nothing would change."""
        ...

    def wanted(self) -> dict[str, Any]:
        """The change itself, as JSON; see policies.run_retier."""
        ...

    def save(self) -> tuple[str, Mapping[str, Any], Mapping[str, Any]]:
        """Makes the change; returns what the log says: the subject, and the values before and after."""
        ...


def make_or_start(reading: Reading, user: Actor) -> TierChange | Run:
    """Makes the change and reads every suggestion again; in a project with more than AT_ONCE of them, starts the run
    that does. For use in a transaction that holds the project's row. Raises UserError where the change cannot be made,
    and RunIsActive while a run makes another."""
    project = reading.project
    if active := change_under_way(project):
        raise lifecycle.RunIsActive(active)
    reading.check()
    params = reading.in_words()
    if kept_counts(project).aggregate(edges=total(UNDECIDED))["edges"] > AT_ONCE:
        return lifecycle.start_run(project, RunKind.RETIER, params | {"wanted": reading.wanted()}, user)
    change = _make(reading, user, lifecycle.no_progress)
    hide(project)  # the words of a suggestion may be others now, which somebody has ruled out
    # What somebody rules out meanwhile leaves to us what is held here.
    follow_up.start(project, [Piece.RULED_OUT], user=user)
    # Tiers that are saved as they are have been looked at all the same: linker.reports.tier_notice.
    if params["before"] != params["after"] or "basis" in params:
        lifecycle.record_run(project, RunKind.RETIER, params=params, report=_report(change), user=user)
    return change


def make_by_run(run: Run, reading: Reading, progress: Progress) -> RetierReport:
    """Makes the change of a run, and ends the run with it."""
    with transaction.atomic():
        wait_for_others(reading.project)
        reading.check()
        report = _report(_make(reading, run.created_by, progress))
        follow_up.start(run.project, [Piece.RULED_OUT], follows=run)
        lifecycle.succeed(run.pk, report)
    return report


def _make(reading: Reading, user: Actor, progress: Progress) -> TierChange:
    project = reading.project
    counts = tier_counts(project)
    subject, before, after = reading.save()
    retier(project, progress=progress)
    audit.record(project, ChangeKind.TIERS, user=user, subject=subject, before=before, after=after)
    return TierChange(counts, tier_counts(project))


def _report(change: TierChange) -> RetierReport:
    return RetierReport(
        before=_counts(change.before),
        below_before=change.before.get(""),
        after=_counts(change.after),
        below_after=change.after.get(""),
    )


def _counts(counts: dict[str, int]) -> tuple[TierCount, ...]:
    return tuple(TierCount(name=name, links=links) for name, links in counts.items() if name)


def change_under_way(project: Project) -> Run | None:
    """The run that makes a change of tiers or bounds now."""
    found = Run.objects.filter(project=project, kind=RunKind.RETIER, status__in=ACTIVE)
    return found.select_related("created_by").first()
