"""Withdrawing a whole release: what it added and is still out is taken off the site by the next release.

As review.releases.outgoing.withdraw, in statements over all of the links, some at a time; where there are many, in the
background.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from django.db import connection, transaction

from linker import audit
from linker.models import CandidateEdge, ChangeKind, EdgeStatus, RunKind
from linker.models.edge_columns import SEEN_COLUMNS
from linker.runs import lifecycle
from linker.storage.copy import analyze
from linker.storage.locks import lock_project
from linker.storage.slices import in_slices
from review.models import Operation, Release, Verb
from review.releases import outgoing
from review.releases.report import WithdrawReport

if TYPE_CHECKING:
    from uuid import UUID

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from linker.models import Run
    from linker.runs.lifecycle import Progress

_ADDED = """
FROM review_releaselink l JOIN linker_candidateedge e ON e.id = l.edge_id
WHERE l.release_id = %(release)s AND l.operation = 'add' AND e.status = 'exported'
"""
# The statement that locks asks again what has left: what leaves or comes back meanwhile is not touched.
_LOCKED = f"""
INSERT INTO withdrawn (edge)
SELECT e.id {_ADDED}
AND NOT EXISTS (SELECT FROM review_pending p WHERE p.edge_id = e.id) ORDER BY e.id FOR NO KEY UPDATE OF e
"""
_SLICE = """
FROM withdrawn w JOIN linker_candidateedge e ON e.id = w.edge JOIN review_publishedlink p ON p.edge_id = w.edge
WHERE w.edge > %(after)s AND w.edge <= %(last)s AND e.id > %(after)s AND e.id <= %(last)s
"""
# As decision_on and with_outcome make it; and the removal that waits for it.
_DECIDED = f"""
WITH decided AS (
    INSERT INTO review_decision (edge_id, project_id, user_id, at, verb, reason, note, batch, status_before,
        status_after, anchor_before, anchor_after, source_before, rel_before, rel_after, edited_before, seen_tier,
        {", ".join(f"seen_{name}" for name in SEEN_COLUMNS)})
    SELECT e.id, e.project_id, %(user)s, statement_timestamp(), '{Verb.WITHDRAW}', '', %(note)s, %(batch)s, e.status,
        e.status, e.anchor, e.anchor, e.anchor_source, e.rel, p.rel, e.edited,
        coalesce((SELECT t.name FROM linker_tier t WHERE t.id = e.tier_id), ''),
        {", ".join(f"e.{name}" for name in SEEN_COLUMNS)}
    {_SLICE} ORDER BY e.id RETURNING id, edge_id, project_id
)
INSERT INTO review_pending (edge_id, project_id, operation, decision_id)
SELECT edge_id, project_id, '{Operation.REMOVE}', id FROM decided
"""
_SEEN = f"""
UPDATE linker_candidateedge SET rel = seen.rel, reviewed = true, updated_at = now()
FROM (SELECT e.id, p.rel {_SLICE}) seen WHERE seen.id = linker_candidateedge.id
"""


@transaction.atomic
def withdraw_release(release: Release, user: User, note: str, progress: Progress = lifecycle.no_progress) -> int:
    """Withdraws the links that a release added and that have not been withdrawn since; returns how many. What it
    changed or removed stays as it is. A second time it changes nothing."""
    project = lock_project(release.project_id)
    progress(0, 0, "Taking back what waits")
    # What was asked for and has not left is taken back link by link: editors ask for a screen of them at most.
    batch = uuid4()
    done = outgoing.withdraw(project, to_withdraw(release).filter(pending__isnull=False), user, note, batch)
    done += _withdraw_plain(release, user, note, batch, progress)
    after = {"to_be_removed": done, "note": note}
    audit.record(project, ChangeKind.RELEASE, user=user, subject=f"{release} withdrawn", after=after)
    return done


def _withdraw_plain(release: Release, user: User, note: str, batch: UUID, progress: Progress) -> int:
    """Those that nothing was asked for."""
    values: dict[str, Any] = {"release": release.pk, "user": user.pk, "note": note, "batch": batch}
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS withdrawn")
        cursor.execute("CREATE TEMP TABLE withdrawn (edge bigint PRIMARY KEY) ON COMMIT DROP")
        cursor.execute(_LOCKED, values)
    analyze("withdrawn")
    done = in_slices(_DECIDED, values, "withdrawn", "edge", partial(progress, stage="Withdrawing the links"))
    in_slices(_SEEN, values, "withdrawn", "edge", partial(progress, stage="Marking the links"))
    return done


def to_withdraw(release: Release) -> QuerySet[CandidateEdge]:
    """The links that a release added, and that have left and neither been withdrawn since nor come back to the
    queue."""
    added = outgoing.named_by(release.project, release.number, Operation.ADD).values("edge")
    left = CandidateEdge.objects.filter(project=release.project, pk__in=added, status=EdgeStatus.EXPORTED)
    return left.exclude(pending__operation=Operation.REMOVE)


def start_withdrawing(release: Release, user: User, note: str) -> Run:
    """Raises RunIsActive where another release of the project is being withdrawn."""
    return lifecycle.start_run(release.project, RunKind.WITHDRAW, {"release": release.pk, "note": note}, user)


def run_withdraw(run: Run, progress: Progress = lifecycle.no_progress) -> WithdrawReport:
    """Withdraws the release of the run's parameters in the background, and ends with that or not at all."""
    release = Release.objects.select_related("project").get(pk=run.params["release"], project=run.project)
    with transaction.atomic():
        done = withdraw_release(release, cast("User", run.created_by), run.params["note"], progress)
        report = WithdrawReport(release=release.number, links=done)
        lifecycle.succeed(run.pk, report)
    return report
