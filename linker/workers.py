"""Worker processes, and the watch over them: lost processes are replaced, lost work is given out again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import redis.exceptions
import structlog
from django.conf import settings
from django.db import close_old_connections

from linker import queue, runs

if TYPE_CHECKING:
    from types import TracebackType

    from linker.queue import JobKey

log = structlog.get_logger(__name__)

GRACE_SECONDS, KILLING_SECONDS = 8, 5
ORPHAN_GRACE_SECONDS = 3


class WorkerPool:
    """`count` worker processes of this program, each with its share of the cores: `threads` of them.

    Use as a context manager and call `watch()` every now and then: it replaces workers that ended and gives out again
    the jobs of runs that nobody works on. Leaving stops the workers; what they were doing is taken up later. They end
    by themselves where this process is killed: each holds the end of a pipe that only this process writes to.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.threads = max(1, (os.cpu_count() or 1) // count)
        self.command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "run_workers", "--single"]
        self.processes: list[subprocess.Popen[bytes]] = []
        self.suspects: set[JobKey] = set()
        self.swept_at = 0.0

    def __enter__(self) -> WorkerPool:
        self.processes = [self._start() for _ in range(self.count)]
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

    def _start(self) -> subprocess.Popen[bytes]:
        environment = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(self.threads))
        # A session of its own: Ctrl-C reaches the pool alone, which then stops its workers in order.
        return subprocess.Popen(
            [*self.command, "--until-stdin-ends"],
            stdin=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )

    def watch(self) -> None:
        for place, process in enumerate(self.processes):
            if process.poll() is not None:
                log.warning("a worker ended and is replaced", code=process.returncode)
                _forget(process)
                self.processes[place] = self._start()
        if time.monotonic() - self.swept_at < settings.SWEEP_SECONDS:
            return
        self.swept_at = time.monotonic()
        close_old_connections()
        try:
            lost = runs.find_lost()
            runs.recover(lost & self.suspects)
        except redis.exceptions.ConnectionError as error:
            log.warning("Redis does not answer; trying again", error=str(error))
            return
        self.suspects = lost


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
    queue.work()


def _watch_stdin() -> None:
    threading.Thread(target=_end_with_stdin, daemon=True, name="end with standard input").start()


def _end_with_stdin() -> None:
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(ORPHAN_GRACE_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)  # RQ leaves its job on the second
