"""Work that is done at the same moment."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from django.db import connection

if TYPE_CHECKING:
    from collections.abc import Callable


def race(*works: Callable[[], Any]) -> list[Any]:
    """Runs the callables at the same moment, each on a connection of its own; their results in order."""
    barrier = threading.Barrier(len(works))
    results: list[Any] = [None] * len(works)
    errors: list[Exception] = []

    def run(index: int, work: Callable[[], Any]) -> None:
        try:
            barrier.wait(10)
            results[index] = work()
        except Exception as error:  # noqa: BLE001 - raised again below, in the thread of the test
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    if errors:
        raise errors[0]
    return results
