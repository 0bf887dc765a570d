"""Work on the pages of a store in as many processes as there are cores."""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING

from ingest.sources.connectors.crawler.alone import end_with
from ingest.sources.connectors.crawler.crawl import tell

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized

    from ingest.sources.connectors.crawler.plan import Plan
    from ingest.sources.settle_all import Work

FEW = 400  # pages from which several processes are worth their start
TELL_SECONDS = 0.5
_done: Synchronized[int]


def in_parts(plan: Plan, pages: int, saying: str, work: Work) -> None:
    """Calls `work` with a part's number, how many parts there are, and a function that takes how many pages it has done
    so far."""
    if pages <= FEW or plan.cores < 2:
        work(0, 1, lambda done: tell(done, pages, saying))
        return
    context = get_context("spawn")
    counter = context.Value("l", 0)
    with ProcessPoolExecutor(plan.cores, context, _begin, (counter, plan.parent)) as pool:
        parts = [pool.submit(_counted, work, part, plan.cores) for part in range(plan.cores)]
        while not all(part.done() for part in parts):
            tell(counter.value, pages, saying)
            time.sleep(TELL_SECONDS)
        for part in parts:
            part.result()


def _begin(counter: Synchronized[int], parent: int) -> None:
    global _done
    _done = counter
    end_with(None)


def _counted(work: Work, part: int, parts: int) -> None:
    before = 0

    def note(done: int) -> None:
        nonlocal before
        with _done.get_lock():
            _done.value += done - before
        before = done

    work(part, parts, note)
