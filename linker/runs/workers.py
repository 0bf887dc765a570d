"""Worker processes, and the watch over them: lost processes are replaced, lost work is queued again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import redis.exceptions
import structlog
from django import db
from django.conf import settings
from django.utils.module_loading import import_string

from linker import embedded, notifications
from linker.operations import outages
from linker.runs import job_queue, recovery
from linker.runs.job_queue import JobKey
from linker.runs.kinds import STARTED_WHEN_DUE
from linker.runs.lost_work import find_lost
from linker.runs.maintenance import Maintenance
from linker.storage.edge_counts import fold_many

if TYPE_CHECKING:
    from types import TracebackType

log = structlog.get_logger(__name__)

GRACE_SECONDS, KILLING_SECONDS = 8, 5
ORPHAN_GRACE_SECONDS = 3
CLEAN_SECONDS = 3600
# A worker that ends sooner than this did not come to work at all; the next one in its place waits, twice as long each
# time, before it starts.
SOON_SECONDS, LONGEST_PAUSE_SECONDS = 10, 30


@dataclass
class _Place:
    """Where one worker of the pool runs, or is to be started again."""

    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    ended_at: float = 0.0
    pause: float = 0.0


class WorkerPool:
    """`count` worker processes of this program, each with its share of the cores: `threads` of them.

    Use as a context manager and call `watch()` every now and then: it replaces workers that ended and queues again
    the jobs of runs that no worker works on. While PostgreSQL or Redis is away it says so and goes on. Leaving stops
    the workers; what they were doing is taken up later. They end by themselves if this process is killed: each holds
    the end of a pipe that only this process writes to.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.threads = max(1, (os.cpu_count() or 1) // count)
        self.command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "run_workers", "--single"]
        self.places = [_Place() for _ in range(count)]
        self.suspects: set[JobKey] = set()
        self.swept_at = 0.0
        self.cleaned_at = float("-inf")
        self.away, self.refused = "", False
        self.maintenance = Maintenance()

    @property
    def processes(self) -> list[subprocess.Popen[bytes]]:
        return [place.process for place in self.places if place.process is not None]

    def __enter__(self) -> WorkerPool:
        for place in self.places:
            self._start(place)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # RQ finishes its job on the first signal and ends the job's process, which has a group of its own, on the
        # second. Killing the worker alone would leave that process at work.
        for seconds in (GRACE_SECONDS, KILLING_SECONDS):
            for process in self.processes:
                process.terminate()
            if self._ended_within(seconds):
                break
        for process in self.processes:
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            _forget(process)

    def _ended_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while any(process.poll() is None for process in self.processes):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def _start(self, place: _Place) -> None:
        environment = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(self.threads))
        # A session of its own: Ctrl-C reaches the pool alone, which then stops its workers in order.
        place.process = subprocess.Popen(
            [*self.command, "--until-stdin-ends"],
            stdin=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
        place.started_at = time.monotonic()

    def watch(self) -> None:
        for place in self.places:
            self._look_after(place)
        if time.monotonic() - self.swept_at < settings.SWEEP_SECONDS:
            return
        self.swept_at = time.monotonic()
        try:
            self._sweep()
        except outages.OF_CONNECTIONS as error:
            if outages.is_away(error):
                self._say_away("PostgreSQL", error)
            else:
                self._say_refused(error)
            db.connection.close()
        except redis.exceptions.RedisError as error:
            self._say_away("Redis", _start_redis() or error)
        except embedded.NotStarted as error:
            self._say_away(error.server, error)
        else:
            if self.away or self.refused:
                log.warning(f"{self.away} answers again" if self.away else "PostgreSQL does again what is asked of it")
            self.away, self.refused = "", False

    def _look_after(self, place: _Place) -> None:
        if place.process is not None and place.process.poll() is not None:
            lived = time.monotonic() - place.started_at
            place.pause = min(max(1.0, 2 * place.pause), LONGEST_PAUSE_SECONDS) if lived < SOON_SECONDS else 0.0
            place.ended_at = time.monotonic()
            log.warning("a worker ended and is replaced", code=place.process.returncode, after_seconds=place.pause)
            _forget(place.process)
            place.process = None
        if place.process is None and time.monotonic() - place.ended_at >= place.pause:
            self._start(place)

    def _sweep(self) -> None:
        db.close_old_connections()
        self.maintenance.run("recovery of lost work", self._recover)
        for start_due in STARTED_WHEN_DUE:
            self.maintenance.run(start_due, partial(_start_due, start_due))
        self.maintenance.run("counts of suggestions", fold_many)
        self.maintenance.run("mails", _send_mails)
        self.maintenance.run("cleaning of uploads", self._clean)

    def _recover(self) -> None:
        lost = find_lost()
        recovery.recover(lost & self.suspects)
        self.suspects = lost

    def _clean(self) -> None:
        if time.monotonic() - self.cleaned_at >= CLEAN_SECONDS:
            job_queue.enqueue(JobKey("clean_uploads", ()))
            self.cleaned_at = time.monotonic()

    def _say_away(self, name: str, error: Exception) -> None:
        """One line when a server goes away, however long it lasts. What looked lost before has to look so again."""
        if self.away != name:
            log.warning(f"{name} does not answer; trying again until it does", error=outages.first_line(error))
        self.away, self.refused, self.suspects = name, False, set()

    def _say_refused(self, error: Exception) -> None:
        """One line where PostgreSQL is there and refuses, as with a full disk. What looked lost still does."""
        if not self.refused:
            log.warning("PostgreSQL refuses to take note of lost work; trying again", error=outages.first_line(error))
        self.away, self.refused = "", True


def _start_due(path: str) -> None:
    for run in import_string(path)():
        log.info("a run was started: it was due", run=run.pk, kind=run.kind)


def _send_mails() -> None:
    """Mails that are due are sent by a job; one waits at a time, however long the workers are busy."""
    if notifications.are_due() and not any(job.startswith("send_mails-") for job in job_queue.waiting_ids()):
        job_queue.enqueue(JobKey("send_mails", (int(time.time()),)))


def _start_redis() -> embedded.NotStarted | None:
    """Starts the embedded Redis, where it is that one that is away. Returns why it does not start."""
    if settings.REDIS_IS_EMBEDDED:
        try:
            embedded.start_redis(settings.VAR)
        except embedded.NotStarted as error:
            return error
    return None


def _forget(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    process.wait()


def work_forever(*, until_stdin_ends: bool = False) -> None:
    """One worker, in this process, until SIGTERM or SIGINT; if asked to, also until standard input ends."""
    if until_stdin_ends:
        _watch_stdin()
        # Threads do not outlive a fork, and each job runs in one: it watches for itself.
        os.register_at_fork(after_in_child=_watch_stdin)
    job_queue.work()


def _watch_stdin() -> None:
    threading.Thread(target=_end_with_stdin, daemon=True, name="end with standard input").start()


def _end_with_stdin() -> None:
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(ORPHAN_GRACE_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)  # RQ leaves its job on the second
