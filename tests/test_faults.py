"""Servers fail and come back, and the work is done once, by nobody's hand. The long run is `make faults`."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
import redis
from rq import Worker

from tests import migrated
from tests.servers import ROOT, Servers, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow


@pytest.mark.nightly
def test_a_match_outlasts_postgresql_redis_and_its_workers():
    """In processes of their own, against servers of their own: the three commonest faults of one piece of work."""
    words = ["--repeat", "1", "--work", "match", "--fault"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults", *words, "PostgreSQL restarts", "Redis restarts", "a worker is killed"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(done.stdout[done.stdout.index("{") :])
    assert figures["faults"] == 3
    assert figures["tracebacks in the logs"] == 0


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    with tempfile.TemporaryDirectory(prefix="al-") as folder:
        migrated.copy_to(Path(folder))
        with Servers(Path(folder)) as running:
            yield running


class Pool:
    """`run_workers` with one worker, and what it has written."""

    def __init__(self, servers: Servers) -> None:
        self.log = servers.var / f"pool{time.monotonic_ns()}.log"
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "run_workers", "--workers", "1"],
            cwd=ROOT,
            env=servers.environment(),
            stdin=subprocess.DEVNULL,
            stdout=self.log.open("w"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def lines(self) -> list[str]:
        return self.log.read_text().splitlines()

    def says(self, text: str, seconds: float = 60) -> None:
        wait_for(lambda: text in self.log.read_text(), seconds, f"“{text}”, after {self.lines()},")

    def workers(self) -> list[int]:
        return [child.pid for child in psutil.Process(self.process.pid).children()]

    def stop(self) -> None:
        self.process.terminate()
        assert self.process.wait(40) == 0


@pytest.fixture
def pool(servers: Servers) -> Iterator[Pool]:
    running = _started(servers)
    yield running
    running.stop()


def _started(servers: Servers) -> Pool:
    """A pool whose worker listens, and has done what is done at the start: uploads that had their time are removed."""
    with redis.Redis.from_url(servers.redis_url) as client:
        client.flushall()
        running = Pool(servers)
        workers = partial(Worker.all, connection=client)
        wait_for(lambda: any(worker.successful_job_count for worker in workers()), 90, "the work of the start")
    return running


@pytest.mark.nightly
def test_the_pool_outlasts_a_long_absence_of_postgresql_in_two_lines(servers, pool):
    workers = pool.workers()
    servers.stop_postgres()
    pool.says("PostgreSQL does not answer")
    time.sleep(8)
    servers.start_postgres()
    pool.says("PostgreSQL answers again")
    assert pool.workers() == workers, "nobody had to be replaced"
    assert len(pool.lines()) == 2, pool.lines()


@pytest.mark.nightly
def test_the_pool_and_its_worker_outlast_a_long_absence_of_redis_in_a_few_lines(servers, pool):
    workers = pool.workers()
    servers.stop_redis()
    pool.says("Redis does not answer")
    time.sleep(8)
    servers.start_redis()
    pool.says("Redis answers again")
    assert pool.workers() == workers
    assert "Traceback" not in pool.log.read_text()
    assert len(pool.lines()) <= 6, pool.lines()


@pytest.mark.nightly
def test_workers_that_are_started_before_postgresql_wait_for_it(servers):
    servers.stop_postgres()
    early = Pool(servers)
    early.says("waiting for it")
    assert early.process.poll() is None
    servers.start_postgres()
    wait_for(early.workers, 60, "a worker")
    early.stop()


@pytest.mark.nightly
def test_a_pool_without_redis_stops_when_it_is_told_to(servers):
    running = _started(servers)
    servers.stop_redis()
    running.says("Redis does not answer")
    began = time.monotonic()
    running.stop()
    servers.start_redis()
    assert time.monotonic() - began < 20
