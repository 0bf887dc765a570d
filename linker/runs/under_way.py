"""What is under way in a project, what waits, and for whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.module_loading import import_string
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from linker.models import Run, RunKind, RunStatus
from linker.models.run import ACTIVE
from linker.runs import job_queue, run_lock
from linker.runs.job_queue import JobKey, QueueState
from linker.runs.kinds import WAITING
from linker.wording import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linker.models import Project


@dataclass(frozen=True)
class UnderWay:
    """A run that has not ended. `waits_for` is a sentence; empty where it is worked on."""

    run: Run
    waits_for: str


@dataclass(frozen=True)
class Waiting:
    """What waits without being a run: `what` it is, in a few words, `why` in a sentence, and the page to go to."""

    what: str
    why: str
    url: str


def under_way(project: Project) -> list[UnderWay]:
    """The project's runs that have not ended, those that are worked on first. However many there are, three queries,
    and one look into the queue."""
    rows = Run.objects.filter(project=project, status__in=ACTIVE).select_related("created_by", "follows")
    runs = sorted(rows.defer("params", "report"), key=lambda run: (run.status == RunStatus.QUEUED, run.pk))
    if not runs:
        return []
    state, locked, blockers = job_queue.state(), run_lock.locked_runs(), run_lock.blockers()
    names = {run.pk: f"{run.get_kind_display()} #{run.pk}" for run in runs}
    return [UnderWay(run, _waits_for(run, state, locked, blockers, names)) for run in runs]


def waiting(project: Project) -> list[Waiting]:
    """What else waits in the project."""
    return [one for path in WAITING for one in import_string(path)(project)]


def _waits_for(
    run: Run, state: QueueState, locked: set[int], blockers: dict[int, set[int]], names: dict[int, str]
) -> str:
    if run.pk in blockers:
        return _of_lock(blockers[run.pk], names)
    if run.pk in locked or any(job_queue.run_of(job) == run.pk for job in state.busy):
        return ""
    if run.kind == RunKind.FOLLOW_UP and run.follows_id in locked:
        return _("It waits for run %(run)d, which it follows.") % {"run": run.follows_id}
    if not state.answers:
        return _(
            "The run is saved. The work queue is not responding at the moment. The run will start by itself once it is."
        )
    if not state.workers:
        return _("No worker is running. Whoever runs the server has to start the workers (./manage.py run_workers).")
    before = _before(run, state.waiting)
    if before is not None:
        return _of_worker(before, state, names)
    if run.status == RunStatus.RUNNING:
        return _("Its worker was lost. Another one takes it up within seconds.")
    return _("The queue has lost it. It is put there again within seconds.")


def _of_lock(holders: set[int], names: dict[int, str]) -> str:
    known = ", ".join(names[run] for run in sorted(holders) if run in names)
    if not known:
        return _("It waits for somebody who is saving a change.")
    return _("It waits until %(runs)s has saved what it wrote.") % {"runs": known}


def _before(run: Run, waiting: Sequence[str]) -> int | None:
    """How many jobs come before the run's in the queue; None where it has none there."""
    wanted = JobKey(run.kind, (run.pk,), run.attempts).id
    places = [at for at, job in enumerate(waiting) if job == wanted or job_queue.run_of(job) == run.pk]
    return places[0] if places else None


def _of_worker(before: int, state: QueueState, names: dict[int, str]) -> str:
    if before == 0 and len(state.busy) < state.workers:
        return _("A worker takes it at once.")
    busy = [names[run] for job in state.busy if (run := job_queue.run_of(job)) in names]
    others = len(state.busy) - len(busy)
    if others:
        busy.append(ngettext("%(jobs)s other job", "%(jobs)s other jobs", others) % {"jobs": number(others)})
    if before == 0:
        return _("It waits for a worker. At work: %(busy)s.") % {"busy": ", ".join(busy)}
    said = ngettext(
        "It waits for a worker, and %(jobs)s job is before it. At work: %(busy)s.",
        "It waits for a worker, and %(jobs)s jobs are before it. At work: %(busy)s.",
        before,
    )
    return said % {"jobs": number(before), "busy": ", ".join(busy)}
