"""RQ's worker, made to outlive Redis."""

from __future__ import annotations

import contextlib
import time

import redis
import structlog
from redis.backoff import AbstractBackoff
from redis.retry import Retry
from rq import Worker

log = structlog.get_logger(__name__)

PAUSE_SECONDS, LOG_SECONDS = 2, 30


class _Patience(AbstractBackoff):
    """Waits for Redis for as long as it is away and says so now and then. Over once the worker is to stop."""

    stopping = False
    logged_at = float("-inf")

    def compute(self, failures: int) -> float:
        if _Patience.stopping:
            raise redis.ConnectionError("The worker stops, and Redis does not answer")
        if time.monotonic() - _Patience.logged_at >= LOG_SECONDS:
            _Patience.logged_at = time.monotonic()
            log.warning("Redis does not answer; waiting for it")
        return min(PAUSE_SECONDS, 0.1 * 2 ** min(failures, 6))


def wait_for_redis(connection: redis.Redis) -> None:
    """Has each command of the connection repeated until Redis answers."""
    connection.set_retry(Retry(_Patience(), -1))


class PatientWorker(Worker):
    """An RQ worker that outlives Redis: each command is repeated until it succeeds.

    RQ's own waits for Redis only while it has nothing to do, a minute at last between two looks, and ends where Redis
    goes away in the middle of a job, which then ends too.
    """

    def _set_connection(self, connection: redis.Redis) -> redis.Redis:
        wait_for_redis(connection)
        return super()._set_connection(connection)

    def teardown(self) -> None:
        _Patience.stopping = True
        with contextlib.suppress(redis.ConnectionError, redis.TimeoutError):
            super().teardown()
