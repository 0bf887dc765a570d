"""One fetch of a WordPress site, from its beginning or from where an earlier process was ended."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ingest.sources.connectors.wordpress.api import WordPressApi

if TYPE_CHECKING:
    from ingest.sources.connectors.base import Fetching
    from ingest.sources.settle_all import Work

BACKOFF = 10  # times the usual pause, before a question is asked for the second time


class Fetch:
    """What the steps of one fetch share: the store, the counts, and the API with its pauses."""

    def __init__(self, fetching: Fetching) -> None:
        self.fetching, self.store, self.site = fetching, fetching.store, fetching.site
        self.counts = fetching.counts
        self.counts.update(
            {name: self.store.noted(name, 0) for name in ("requests", "bytes", "broken", "page_builders", "protected")}
        )
        fetching.progress(0, 0, "Finding the site's API")
        self.api = WordPressApi(
            fetching.source.address,
            fetching.rules,
            fetching.user_agent,
            username=fetching.source.username,
            password=fetching.secret,
            pause=self._pause,
            interval=fetching.options.pause,
            backoff=BACKOFF * fetching.options.pause,
        )

    def _pause(self, seconds: float) -> None:
        """Waits, and looks every now and then whether somebody asked to stop."""
        until = time.monotonic() + seconds
        while True:
            self._show_progress()
            left = until - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, 0.5))

    def _show_progress(self) -> None:
        known, waiting = self.store.connection.execute(
            "SELECT count(*), coalesce(sum(state = 'waiting'), 0) FROM page WHERE origin <> 'archive'"
        ).fetchone()
        self.fetching.progress(known - waiting, max(1, known), "Reading posts and pages")

    def at_once(self, pages: int, saying: str, work: Work) -> None:
        """Does work on all pages in this process, see `settle_all`."""
        work(0, 1, lambda done: self.fetching.progress(done, pages, saying))

    def note_requests(self) -> None:
        """Adds what was asked since the last time to what the store says of this fetch."""
        self.store.note("requests", self.store.noted("requests", 0) + self.api.requests)
        self.store.note("bytes", self.store.noted("bytes", 0) + self.api.bytes)
        self.api.requests = self.api.bytes = 0
