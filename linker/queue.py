"""The only module that knows django_rq: which job runs where, and for how long at most.

Redis carries ids alone. What is to be done, and whether it was, stands in PostgreSQL (linker.runs).
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass

import django_rq
from django import db


@dataclass(frozen=True)
class JobType:
    """`path` is imported by the worker; `timeout` is in seconds."""

    path: str
    queue: str
    timeout: int


JOBS = {
    "import_pages": JobType("ingest.jobs.import_pages", "default", 6 * 3600),
    "import_links": JobType("ingest.jobs.import_links", "default", 6 * 3600),
    "import_queries": JobType("ingest.jobs.import_queries", "default", 6 * 3600),
    "embed": JobType("linker.jobs.embed", "default", 24 * 3600),
    "match": JobType("linker.jobs.match", "default", 3600),
    "match_batch": JobType("linker.jobs.match_batch", "match", 3600),
    "match_finish": JobType("linker.jobs.match_finish", "default", 6 * 3600),
}
QUEUES = ("match", "default")


@dataclass(frozen=True, order=True)
class JobKey:
    """A job: its name in JOBS, the ids it is called with, and which attempt at it this is."""

    name: str
    args: tuple[int, ...]
    attempt: int = 0

    @property
    def id(self) -> str:
        return "-".join(map(str, [self.name, *self.args, f"a{self.attempt}"]))


def enqueue(key: JobKey) -> None:
    """Puts a job in its queue once the surrounding transaction commits. A job that already waits is not doubled."""
    if is_waiting(key):
        return
    job = JOBS[key.name]
    django_rq.get_queue(job.queue).enqueue_call(
        job.path, args=key.args, timeout=job.timeout, job_id=key.id, result_ttl=600, failure_ttl=86400
    )


def waiting_ids() -> set[str]:
    """Ids of the jobs that stand in their queues, with no worker having taken them yet.

    The queues are read and not the jobs' own status: a worker killed between taking a job and starting it leaves the
    status at "queued" for ever.
    """
    return {job_id for name in QUEUES for job_id in django_rq.get_queue(name).get_job_ids()}


def is_waiting(key: JobKey) -> bool:
    """Whether the job stands in its queue. For many jobs, see waiting_ids."""
    return django_rq.get_queue(JOBS[key.name].queue).get_job_position(key.id) is not None


def ping() -> None:
    """Raises redis.exceptions.ConnectionError where Redis does not answer."""
    django_rq.get_connection("default").ping()


def work() -> None:
    """Works the queues off in this process until a signal comes. Each job runs in a fork.

    The jobs' modules are imported before the first fork, so that a job does not pay for them.
    """
    for job in JOBS.values():
        importlib.import_module(job.path.rpartition(".")[0])
    db.connections.close_all()
    django_rq.get_worker(*QUEUES).work(logging_level="WARNING")
