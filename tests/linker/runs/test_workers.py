"""Workers end with the pool that started them, however it ends, and their jobs end with them."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

import psutil
import pytest
from django.db import connection, transaction

from linker.models import Run, RunKind, RunStatus
from linker.runs import lifecycle

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow


def _soon(holds: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _family(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


def _is_worker(process: psutil.Process) -> bool:
    """A worker, and not what the pool runs while it waits for the database."""
    try:
        return "--until-stdin-ends" in process.cmdline()
    except psutil.NoSuchProcess:
        return False


def _all_ended(processes: list[psutil.Process]) -> bool:
    return all(not one.is_running() or one.status() == psutil.STATUS_ZOMBIE for one in processes)


@pytest.mark.nightly
def test_a_killed_pool_leaves_neither_workers_nor_their_jobs(project, worker_processes):
    run = lifecycle.start_run(project, RunKind.EMBED, {})
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE linker_page")  # the job waits here for as long as the test wants
        pool = worker_processes(2)
        assert _soon(lambda: Run.objects.get().status == RunStatus.RUNNING, 40)
        assert _soon(lambda: len(_family(pool.pid)) == 4, 40), "two workers, RQ's scheduler and a job"
        family = _family(pool.pid)
        pool.send_signal(signal.SIGKILL)
        pool.wait()
        assert _soon(lambda: _all_ended(family), 10)
    run.refresh_from_db()
    assert run.status == RunStatus.RUNNING, "the next pool takes it up"


@pytest.mark.nightly
def test_a_hangup_stops_the_pool_in_order(worker_processes):
    pool = worker_processes(1)
    assert _soon(lambda: any(_is_worker(one) for one in _family(pool.pid)), 40)
    family = _family(pool.pid)
    pool.send_signal(signal.SIGHUP)
    assert pool.wait(20) == 0
    assert _all_ended(family)
