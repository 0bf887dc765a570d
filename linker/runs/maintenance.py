"""What the sweep does every few seconds, each piece by itself: a bug in one leaves the others alone, and is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import redis.exceptions
import structlog

from linker import embedded
from linker.operations import outages
from linker.operations.logs import scrub
from linker.runs import job_queue

if TYPE_CHECKING:
    from collections.abc import Callable

log = structlog.get_logger(__name__)

OF_SERVERS = (*outages.OF_CONNECTIONS, redis.exceptions.RedisError, embedded.NotStarted)


class Maintenance:
    """Remembers which pieces failed last time, so that each fault is logged once, with its traceback, and noted for the
    pages of those who look after the server (linker.runs.job_queue.maintenance_faults)."""

    def __init__(self) -> None:
        self._faults: dict[str, str] = {}

    def run(self, name: str, work: Callable[[], object]) -> None:
        """Raises only what says that a server is away or refuses."""
        try:
            work()
        except OF_SERVERS:
            raise
        except Exception as error:
            fault = scrub(f"{type(error).__name__}: {error}")
            if self._faults.get(name) != fault:
                log.exception("maintenance failed; it is tried again with each sweep", piece=name)
            self._faults[name] = fault
            job_queue.note_maintenance_fault(name, fault)
        else:
            if self._faults.pop(name, None) is not None:
                log.warning("maintenance works again", piece=name)
                job_queue.forget_maintenance_fault(name)
