"""What a worker would do with runs that wait, and what becomes of them when it is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import psutil
from django.utils.module_loading import import_string

from linker.models import Run, RunStatus
from linker.runs import recovery
from linker.runs.kinds import job_type
from linker.runs.lost_work import find_lost
from tests.conftest import ROOT, process_environment

if TYPE_CHECKING:
    import threading

    from linker.models import Project


def work_off(project: Project) -> list[Run]:
    """Works on each run that waits, and on those that it starts, until none waits. Returns them in their order."""
    done: list[Run] = []
    while (run := Run.objects.filter(project=project, status=RunStatus.QUEUED).order_by("pk").first()) is not None:
        import_string(job_type(run.kind).path)(run.pk)
        run.refresh_from_db()
        assert run.status != RunStatus.QUEUED
        done.append(run)
    return done


def single_worker() -> subprocess.Popen[bytes]:
    """A worker with RQ's scheduler, and nobody who watches over it: it ends with its input, and its job with it."""
    return subprocess.Popen(
        [sys.executable, "manage.py", "run_workers", "--single", "--until-stdin-ends"],
        cwd=ROOT,
        env=process_environment(),
        stdin=subprocess.PIPE,
    )


def kill_a_worker_once(reached: threading.Event, *, whole_worker: bool) -> None:
    """Starts a worker, and kills it, or the process of its job alone, as soon as its job has come so far. Returns when
    nothing of it is left."""
    worker = single_worker()
    try:
        assert reached.wait(60)
        family = psutil.Process(worker.pid).children(recursive=True)
        [job] = [one for one in psutil.Process(worker.pid).children() if os.getpgid(one.pid) == one.pid]
        for pid in (worker.pid, job.pid) if whole_worker else (job.pid,):
            os.kill(pid, signal.SIGKILL)
    finally:
        worker.terminate()
        worker.communicate()
    _gone, alive = psutil.wait_procs(family, timeout=20)
    assert not alive


def sweep() -> None:
    """What the pool does every few seconds with work that two of its looks have found lost."""
    lost = find_lost()
    assert lost
    assert recovery.recover(lost & find_lost()) == 1
