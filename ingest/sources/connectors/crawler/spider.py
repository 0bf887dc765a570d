"""Scrapy's side of a crawl: requests out, answers in."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import CannotResolveHostError, DownloadCancelledError, IgnoreRequest, StopDownload
from scrapy.extensions.throttle import AutoThrottle
from scrapy.utils.asyncio import create_looping_call

from ingest.sources.connectors.crawler import soft_404
from ingest.sources.connectors.crawler.answers import HTML, REDIRECTS, Answer
from ingest.sources.connectors.crawler.network import CheckedResolver
from ingest.sources.connectors.crawler.options import MAX_PAGE
from ingest.sources.connectors.crawler.robots import MAX_BYTES as MAX_ROBOTS
from ingest.sources.connectors.crawler.robots import origin
from ingest.sources.outgoing import MAX_REDIRECTS, OutgoingRefused, certificate_fault
from ingest.sources.sitemaps import MAX_BYTES, MAX_FILES, MAX_LEVELS, BadSitemap, Entry, entries

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ingest.sources.connectors.crawler.crawl import Crawl
    from ingest.sources.connectors.crawler.frontier import Waiting

TELL_SECONDS, WAKE_SECONDS = 0.5, 0.2
CHUNK = 1000  # entries of a sitemap in one transaction


class StoredScheduler(BaseScheduler):
    """Gives Scrapy what the store has waiting, few addresses at a time."""

    spider: SiteSpider

    def open(self, spider: Spider) -> None:
        assert isinstance(spider, SiteSpider)
        self.spider = spider

    def has_pending_requests(self) -> bool:
        return self.spider.crawl.has_more

    def enqueue_request(self, request: Request) -> bool:
        return False

    def next_request(self) -> Request | None:
        return self.spider.next_request()


class SiteSpider(Spider):
    """Asks for what a Crawl names, and hands it what came back. robots.txt comes first for each origin."""

    name = "site"

    def __init__(self, crawl: Crawl) -> None:
        super().__init__()
        self.crawl = crawl
        self._asking: set[str] = set()  # origins whose robots.txt is on its way
        self._tasks: set[asyncio.Task[None]] = set()
        self._refused: dict[str, str] = {}  # addresses of files that may not be asked, or that lead there, and why

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> SiteSpider:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.look_at_headers, signals.headers_received)
        crawler.signals.connect(spider.begin, signals.engine_started)
        crawler.signals.connect(spider.end, signals.spider_closed)
        return spider

    # ------------------------------------------------------------------------------------------------------- its life

    def begin(self) -> None:
        self._loops = [create_looping_call(self.crawl.tell), create_looping_call(self._wake)]
        for loop, seconds in zip(self._loops, (TELL_SECONDS, WAKE_SECONDS), strict=True):
            loop.start(seconds, now=False)

    def end(self) -> None:
        for loop in self._loops:
            loop.stop()

    def _wake(self) -> None:
        """Lets Scrapy ask for the next address after a pause: by itself it does so every five seconds."""
        slot = getattr(self.crawler.engine, "_slot", None)
        if slot is not None:
            slot.nextcall.schedule()

    async def start(self) -> AsyncIterator[Any]:
        crawl = self.crawl
        fault = await self._ask_robots(origin(crawl.plan.address))
        if fault:
            crawl.stop(fault)
        if not crawl.stopped_by and not crawl.options.texts_only:
            await self._ask_for_no_page()
        crawl.is_open = True
        if crawl.plan.sitemap_only and not crawl.stopped_by:
            await self._read_sitemaps([crawl.plan.address])
        elif crawl.options.follow_sitemaps and not crawl.options.texts_only and not crawl.stopped_by:
            named = crawl.robots.sitemaps()
            usual = f"{origin(crawl.plan.address)}/sitemap.xml"
            await self._read_sitemaps(named or [usual], guessed="" if named else usual)
        return
        yield  # an iterator that gives nothing: the scheduler gives the requests

    # ------------------------------------------------------------------------------------------------------- requests

    def next_request(self) -> Request | None:
        row = self.crawl.take()
        if row is None:
            return None
        if origin(row.url) not in self.crawl.robots.parsed:
            self.crawl.put_back(row)
            self._begin_robots(origin(row.url))
            return None
        return Request(
            row.url,
            callback=self.take,
            errback=self.miss,
            # What scripts write may have changed although the page that they stand in has not.
            headers=self.crawl.answers.conditions(row.key) if self.crawl.renderer is None else {},
            meta={"row": row, "handle_httpstatus_all": True},
            dont_filter=True,
        )

    def _begin_robots(self, where: str) -> None:
        if where in self._asking:
            return
        self._asking.add(where)
        task = asyncio.ensure_future(self._ask_robots_aside(where))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _ask_robots_aside(self, where: str) -> None:
        await self._ask_robots(where)

    # -------------------------------------------------------------------------------------------------------- answers

    def look_at_headers(self, headers: Any, body_length: int, request: Request, spider: Spider) -> None:
        """Leaves the body of what is no page where it is."""
        if "row" not in request.meta:
            return
        kind = (headers.get("Content-Type") or b"").partition(b";")[0].strip().lower().decode("latin-1")
        if kind and kind not in HTML:
            raise StopDownload(fail=False)

    async def take(self, response: Response) -> None:
        row: Waiting = response.meta["row"]
        answer = _answer(response)
        await self._render(row.url, answer)
        self.crawl.answered(row, answer, _header(response.headers, "Retry-After"))
        self._keep_pace()

    async def _render(self, url: str, answer: Answer) -> None:
        """Puts what a browser makes of a page in its place, where one is to be asked."""
        if self.crawl.renderer is not None and answer.status == 200 and answer.is_html:
            rendering = self.crawl.renderer.render(url, answer.body, answer.content_type)
            answer.body = await asyncio.wrap_future(rendering)

    def miss(self, failure: Any) -> None:
        row: Waiting = failure.request.meta["row"]
        host = urlsplit(row.url).hostname or ""
        refused = CheckedResolver.refused.get(host, "")
        if refused:
            self.crawl.failed(row, refused, for_good=True)
        elif failure.check(DownloadCancelledError, IgnoreRequest):
            self.crawl.failed(row, f"more than {MAX_PAGE // 2**20} MB", for_good=True)
        elif failure.check(CannotResolveHostError):
            self.crawl.failed(row, f"{host} is not known to the name servers")
        else:
            self.crawl.failed(row, _in_words(failure.value))

    # ------------------------------------------------------------------------------------------ robots.txt and sitemaps

    async def _ask_robots(self, where: str) -> str:
        """Asks an origin for its robots.txt. Returns a sentence where nothing may be read for it."""
        url = f"{where}/robots.txt"
        status, body = 0, b""
        for attempt in range(2):
            response = await self._fetch(url, MAX_ROBOTS)
            status, body = (response.status, response.body) if response is not None else (0, b"")
            if status and status != 429 and status < 500:
                break
            if not attempt:
                await asyncio.sleep(1)
        fault = self.crawl.robots.take(url, status, body)
        refused = "" if status else self._refused.get(url, "")
        self.crawl.pace.at_least(self.crawl.robots.delay())
        self._keep_pace()
        if not status and not refused:
            refused = await asyncio.to_thread(certificate_fault, url, self.crawl.rules)
        return refused or fault

    async def _ask_for_no_page(self) -> None:
        """Learns what the site says where there is no page."""
        crawl, engine = self.crawl, self.crawler.engine
        url = soft_404.made_up(crawl.plan.address)
        if engine is None or crawl.store.noted(soft_404.NO_PAGE) is not None or not crawl.robots.allows(url):
            return
        meta = {"download_maxsize": MAX_PAGE, "handle_httpstatus_all": True}
        try:
            crawl.rules.check_url(url)
            crawl.files_asked += 1
            response = await engine.download_async(Request(url, meta=meta, dont_filter=True))
        except Exception:  # noqa: BLE001  whatever it is, nothing is learned of it
            return
        answer = _answer(response)
        crawl.bytes += len(answer.body)
        await self._render(url, answer)
        soft_404.note_answer(crawl.store, url, answer)

    def _keep_pace(self) -> None:
        """Hands the crawl's pace to Scrapy's throttle, which never goes below it and comes down to it by itself."""
        throttle = self.crawler.get_extension(AutoThrottle)
        engine = self.crawler.engine
        if throttle is None or engine is None or self.crawl.pace.seconds == throttle.mindelay:
            return
        throttle.mindelay = self.crawl.pace.seconds
        for slot in engine.downloader.slots.values():
            slot.delay = max(slot.delay, throttle.mindelay)

    async def _read_sitemaps(self, named: list[str], guessed: str = "") -> None:
        """Reads sitemaps and those that they name; `guessed` is one that nobody named, and that need not be there."""
        crawl = self.crawl
        waiting = [(url, 0) for url in named]
        seen: set[str] = set()
        while waiting and len(seen) < MAX_FILES and not crawl.stopped_by:
            url, level = waiting.pop(0)
            if url in seen:
                continue
            seen.add(url)
            if not self._is_of_site(url):
                self._miss_sitemap(url, "it is of another site")
                continue
            if not crawl.robots.allows(url):
                self._miss_sitemap(url, "robots.txt bars it")
                continue
            response = await self._fetch(url, MAX_BYTES)
            if response is None or response.status != 200:
                if url == guessed and response is not None and response.status in (404, 410):
                    continue
                self._miss_sitemap(url, "it does not answer" if response is None else f"it answers {response.status}")
                continue
            more = await self._take_sitemap(response.body, url)
            if more and level >= MAX_LEVELS:
                self._miss_sitemap(more[0], f"it lies below {MAX_LEVELS + 1} others")
            else:
                waiting.extend((address, level + 1) for address in more)
        if not crawl.stopped_by and (left := next((url for url, _level in waiting if url not in seen), "")):
            self._miss_sitemap(left, f"a crawl reads {MAX_FILES:,} of them")

    def _miss_sitemap(self, url: str, why: str) -> None:
        """Pages that a sitemap may name are not known to be gone where the sitemap is all that is read."""
        self.crawl.note_unread_sitemap(f"{url} ({why.rstrip('.')})")
        if self.crawl.plan.sitemap_only:
            self.crawl.unread_sitemap = f"The sitemap {url} could not be read: {why}"

    def _is_of_site(self, url: str) -> bool:
        try:
            own, other = (urlsplit(address).hostname or "" for address in (self.crawl.plan.base_url, url))
        except ValueError:  # a host in brackets that is none
            return False
        return own.removeprefix("www.") == other.removeprefix("www.")

    async def _take_sitemap(self, body: bytes, url: str) -> list[str]:
        """Adds what a sitemap names to the crawl; returns the addresses of other sitemaps."""
        others: list[str] = []
        chunk: list[Entry] = []
        is_feed = False
        try:
            for entry in entries(body, url):
                if entry.is_sitemap:
                    others.append(entry.url)
                    continue
                is_feed |= entry.is_of_feed
                chunk.append(entry)
                if len(chunk) >= CHUNK:
                    self._add(chunk)
                    chunk = []
                    await asyncio.sleep(0)
        except BadSitemap as bad:
            self._miss_sitemap(url, str(bad))  # what could be read of it counts
        self._add(chunk)
        if is_feed and self.crawl.plan.sitemap_only:
            self.crawl.unread_sitemap = f"{url} is a feed, which names the newest pages alone."
        return others

    def _add(self, chunk: list[Entry]) -> None:
        scope, found = self.crawl.scope, []
        for entry in chunk:
            asked = scope.find(entry.url)
            if asked is not None:
                found.append((asked, entry.modified))
            else:
                self.crawl.offsite += scope.is_of_another_site(entry.url)
        self.crawl.frontier.add_of_sitemap(found)

    async def _fetch(self, url: str, most: int) -> Response | None:
        """An answer past its redirects, each of which is checked; None where there is none."""
        engine = self.crawler.engine
        assert engine is not None
        asked = url
        for _ in range(MAX_REDIRECTS + 1):
            try:
                self.crawl.rules.check_url(url)
                request = Request(url, meta={"download_maxsize": most, "handle_httpstatus_all": True}, dont_filter=True)
                self.crawl.files_asked += 1
                response = await engine.download_async(request)
            except OutgoingRefused as refused:
                self._refused[asked] = str(refused)
                return None
            except Exception:  # noqa: BLE001  whatever it is, there is no such file
                why = CheckedResolver.refused.get(urlsplit(url).hostname or "", "")
                if why:
                    self._refused[asked] = why
                return None
            self.crawl.bytes += len(response.body)
            location = _header(response.headers, "Location")
            if response.status not in REDIRECTS or not location:
                return response
            url = urljoin(url, location)
        return None


def _answer(response: Response) -> Answer:
    headers = response.headers
    return Answer(
        status=response.status,
        content_type=_header(headers, "Content-Type"),
        location=_header(headers, "Location"),
        etag=_header(headers, "ETag"),
        modified=_header(headers, "Last-Modified"),
        robots=[value.decode("latin-1") for value in headers.getlist("X-Robots-Tag")],
        body=response.body,
        milliseconds=round(1000 * float(response.meta.get("download_latency", 0))),
        is_challenge=_header(headers, "cf-mitigated") == "challenge",
    )


def _header(headers: Any, name: str) -> str:
    return (headers.get(name) or b"").decode("latin-1").strip()


def _in_words(error: BaseException) -> str:
    names = {
        "DownloadTimeoutError": "no answer in time",
        "DownloadConnectionRefusedError": "the connection was refused",
        "ResponseDataLossError": "the answer broke off",
        "DownloadFailedError": "the connection broke off",
        "NotSupported": "the answer cannot be read",
    }
    return names.get(type(error).__name__, "the connection failed")
