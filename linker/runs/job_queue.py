"""The only module that knows django_rq: which job runs where, and for how long at most.

Redis carries ids alone. What is to be done, and whether it was, is in PostgreSQL (linker.runs.lifecycle).
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import django_rq
import redis
import structlog
from django import db
from django.db import transaction
from redis.backoff import NoBackoff
from redis.retry import Retry
from rq import Worker
from rq.job import Job
from rq.timeouts import BaseTimeoutException

from linker.runs.kinds import all_jobs, job_type
from linker.runs.patient_worker import PatientWorker, wait_for_redis

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from rq import Queue

log = structlog.get_logger(__name__)


QUEUES = ("match", "default")
NOTE_SECONDS = 30 * 86400
MAINTENANCE_FAULTS, FAULT_SECONDS = "anchorline:maintenance-faults", 300
CONNECT_SECONDS, SECONDS = 2, 5


@dataclass(frozen=True, order=True)
class JobKey:
    """A job: its name, see linker.runs.kinds.job_type, the ids it is called with, and which attempt at it this is."""

    name: str
    args: tuple[int, ...]
    attempt: int = 0

    @property
    def id(self) -> str:
        return "-".join(map(str, [self.name, *self.args, f"a{self.attempt}"]))


def _hasten(connection: redis.Redis) -> redis.Redis:
    """Has commands fail at once where Redis is away, and soon where it says nothing: somebody waits for a page."""
    connection.set_retry(Retry(NoBackoff(), 0))
    connection.connection_pool.connection_kwargs.update(socket_connect_timeout=CONNECT_SECONDS, socket_timeout=SECONDS)
    return connection


def _queue(name: str) -> Queue:
    found = django_rq.get_queue(name)
    _hasten(found.connection)
    return found


def enqueue(*keys: JobKey) -> None:
    """Puts jobs in their queues once the surrounding transaction commits. A job that already waits is not doubled.

    Where Redis does not answer nothing is lost: the sweep queues what should be waiting and is not
    (linker.runs.lifecycle).
    """
    transaction.on_commit(lambda: _put(keys))


def _put(keys: Sequence[JobKey]) -> None:
    queues = {name: _queue(name) for name in {job_type(key.name).queue for key in keys}}
    try:
        waiting = waiting_ids() if len(keys) > 1 else {key.id for key in keys if is_waiting(key)}
        for key in keys:
            job = job_type(key.name)
            if key.id not in waiting:
                queues[job.queue].enqueue_call(
                    job.path, args=key.args, timeout=job.timeout, job_id=key.id, result_ttl=600, failure_ttl=86400
                )
    except redis.RedisError as error:
        log.warning("Redis takes no work; the work is queued when it does", job=keys[0].id, error=str(error))


def enqueue_at(key: JobKey, when: datetime) -> None:
    """Has RQ's scheduler put a job into its queue at a time, once the surrounding transaction commits. Where Redis
    does not answer, or forgets it, the sweep does what is due."""
    transaction.on_commit(lambda: _put_at(key, when))


def _put_at(key: JobKey, when: datetime) -> None:
    job = job_type(key.name)
    try:
        _queue(job.queue).enqueue_at(
            when, job.path, args=key.args, job_timeout=job.timeout, job_id=key.id, result_ttl=600, failure_ttl=86400
        )
    except redis.RedisError as error:
        log.warning("Redis takes no work; the sweep starts it when it is due", job=key.id, error=str(error))


def note_end(run_id: int, text: str) -> None:
    """Keeps why a run failed while the database takes no writes, for `noted_end`."""
    django_rq.get_connection("default").set(f"anchorline:end:{run_id}", text, ex=NOTE_SECONDS)


def noted_end(run_id: int) -> str:
    """What `note_end` noted of a run; empty where it noted nothing."""
    said: Any = django_rq.get_connection("default").get(f"anchorline:end:{run_id}")
    return said.decode() if said else ""


def note_maintenance_fault(name: str, text: str) -> None:
    """Keeps why a piece of the sweep fails (linker.runs.maintenance), until it works or no sweep says so."""
    connection = django_rq.get_connection("default")
    connection.hset(MAINTENANCE_FAULTS, name, text)
    connection.expire(MAINTENANCE_FAULTS, FAULT_SECONDS)


def forget_maintenance_fault(name: str) -> None:
    django_rq.get_connection("default").hdel(MAINTENANCE_FAULTS, name)


def maintenance_faults() -> dict[str, str]:
    """Which pieces of the sweep fail, by name, and why; empty where Redis does not answer."""
    try:
        found: Any = _hasten(django_rq.get_connection("default")).hgetall(MAINTENANCE_FAULTS)
    except redis.RedisError:
        return {}
    return {name.decode(): text.decode() for name, text in sorted(found.items())}


def waiting_ids() -> set[str]:
    """Ids of the jobs that are in their queues, with no worker having taken them yet.

    The queues are read and not the jobs' own status: a worker killed between taking a job and starting it leaves the
    status at "queued" for ever.
    """
    return {job_id for name in QUEUES for job_id in _queue(name).get_job_ids()}


def is_waiting(key: JobKey) -> bool:
    """Whether the job is in its queue. For many jobs, see waiting_ids."""
    return _queue(job_type(key.name).queue).get_job_position(key.id) is not None


def is_known(key: JobKey) -> bool:
    """Whether Redis has heard of the job. If not, it was never queued, or Redis has forgotten everything."""
    return Job.exists(key.id, connection=_queue(job_type(key.name).queue).connection)


def answers() -> bool:
    """Whether work that is queued now reaches the workers."""
    try:
        ping()
    except redis.RedisError:
        return False
    return True


def ping() -> None:
    """Raises redis.exceptions.ConnectionError or TimeoutError where Redis does not answer."""
    _hasten(django_rq.get_connection("default")).ping()


def took_too_long(error: BaseException) -> bool:
    """Whether a job was stopped because it took longer than its JobType allows."""
    return isinstance(error, BaseTimeoutException)


@dataclass(frozen=True)
class Server:
    """What keeps the queues: `name` and `version` as in “Redis 7.0.15”, `path` of the program, workers that listen."""

    name: str
    version: str
    path: str
    workers: int


def server() -> Server:
    """Raises redis.RedisError where it does not answer."""
    connection = _hasten(django_rq.get_connection("default"))
    info = connection.info("server")
    is_valkey = "valkey_version" in info
    return Server(
        name="Valkey" if is_valkey else "Redis",
        version=str(info["valkey_version" if is_valkey else "redis_version"]),
        path=str(info.get("executable", "")),
        workers=Worker.count(connection=connection),
    )


@dataclass(frozen=True)
class QueueState:
    """Jobs by their ids: `waiting` in the order in which workers take them, `busy` those that workers are at.
    `workers`: how many there are."""

    answers: bool = True
    workers: int = 0
    waiting: tuple[str, ...] = ()
    busy: tuple[str, ...] = ()


def state() -> QueueState:
    """What waits and what is worked on, of all projects."""
    try:
        waiting = tuple(job_id for name in QUEUES for job_id in _queue(name).get_job_ids())
        workers = Worker.all(connection=_hasten(django_rq.get_connection("default")))
        jobs = [worker.get_current_job_id() for worker in workers]
    except redis.RedisError:
        return QueueState(answers=False)
    return QueueState(True, len(workers), waiting, tuple(job for job in jobs if job))


def run_of(job_id: str) -> int:
    """The number of the run that a job is about; 0 where it is about none."""
    _name, number, *_more = job_id.split("-")
    return int(number) if number.isdigit() else 0


def work() -> None:
    """Works the queues off in this process until a signal comes. Each job runs in a fork.

    The jobs' modules are imported before the first fork, so that a job does not pay for them.
    """
    for job in all_jobs():
        importlib.import_module(job.path.rpartition(".")[0])
    db.connections.close_all()
    worker = django_rq.get_worker(*QUEUES, worker_class=PatientWorker)
    for one in worker.queues:
        wait_for_redis(one.connection)
    worker.work(logging_level="WARNING", with_scheduler=True)
