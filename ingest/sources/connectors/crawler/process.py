"""The process that crawls: python -m ingest.sources.connectors.crawler.process, with a plan on its input

It fills the store, and tells by lines of JSON on its output how far it has come; the last of them may be an error in a
sentence. It needs neither Django's settings nor a database, and ends with the process that started it.
"""

from __future__ import annotations

import json
import logging
import sys
from functools import partial
from pathlib import Path

from scrapy.crawler import AsyncCrawlerProcess

from ingest.sources.connectors.crawler import soft_404
from ingest.sources.connectors.crawler.alone import alone, end_with
from ingest.sources.connectors.crawler.crawl import Crawl, tell
from ingest.sources.connectors.crawler.depths import find_depths
from ingest.sources.connectors.crawler.network import CheckedResolver, settings_of
from ingest.sources.connectors.crawler.parts import in_parts
from ingest.sources.connectors.crawler.plan import Plan
from ingest.sources.connectors.crawler.read_all import read_all
from ingest.sources.connectors.crawler.spider import SiteSpider
from ingest.sources.settle_all import settle_all
from ingest.sources.store import FetchStore
from linker.errors import UserError


def main() -> int:
    plan = Plan.of_json(sys.stdin.read())
    end_with(plan.parent)
    errors = logging.StreamHandler(sys.stderr)
    errors.setLevel(logging.ERROR)
    logging.getLogger().addHandler(errors)
    try:
        with alone(Path(plan.store)), FetchStore(Path(plan.store)) as store:
            work(plan, store)
    except UserError as error:
        sys.stdout.write(json.dumps({"error": str(error)}) + "\n")
        return 1
    return 0


def work(plan: Plan, store: FetchStore) -> None:
    """Fetches what is left to fetch, and reads what is left to read."""
    if store.noted("crawl_is_whole") is None:
        fetch(plan, store)
    read_all(plan, store)
    soft_404.mark(plan, store)
    settle_all(store, Path(plan.previous) if plan.previous else None, partial(in_parts, plan))
    if not store.noted("has_depths", False):
        tell(0, 0, "Counting clicks from the home page")
        if plan.follows:
            find_depths(store)
        with store.transaction():
            store.note("has_depths", True)
    with store.transaction():
        store.note("is_whole", store.noted("crawl_is_whole"))


def fetch(plan: Plan, store: FetchStore) -> None:
    crawl = Crawl(plan, store)
    with store.transaction():
        asked = crawl.scope.find(plan.address)
        if asked is None:
            raise UserError(f"{plan.address} does not belong to the project’s site, {plan.base_url}, or is left out.")
        if plan.follows:
            crawl.frontier.add([asked], 0, "start")
    CheckedResolver.rules = crawl.rules
    if crawl.renderer is not None:
        crawl.renderer.start()
    runner = AsyncCrawlerProcess(settings_of(plan.choices, plan.user_agent, plan.timeout))
    logging.getLogger("scrapy").setLevel(logging.ERROR)  # Scrapy says all it does, which costs as much as doing it
    runner.crawl(SiteSpider, crawl=crawl)
    runner.start(install_signal_handlers=False)
    if crawl.renderer is not None:
        crawl.renderer.close()
    if not crawl.is_open:
        raise UserError("The crawler could not be started.")
    crawl.close()


if __name__ == "__main__":
    sys.exit(main())
