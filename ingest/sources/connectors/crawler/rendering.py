"""Pages that show their text only after their scripts have run: a browser runs them.

The browser itself reaches nothing. Each of its requests is answered from here, by a session that asks only for what an
installation may ask for (ingest.sources.outgoing), and its way around that leads to a proxy that is not there.
"""

from __future__ import annotations

import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag

import requests

from ingest.sources.connectors.crawler.robots import origin
from ingest.sources.outgoing import OutgoingSession, read_bytes
from ingest.sources.reading.page import read_page
from linker.errors import UserError

if TYPE_CHECKING:
    from concurrent.futures import Future

    from playwright.sync_api import Browser, Route

    from ingest.sources.connectors.crawler.robots import Robots
    from ingest.sources.outgoing import Rules

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
NOWHERE = "http://127.0.0.1:9"  # the discard port, where nothing answers
FLAGS = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
ASKED_FOR = frozenset({"document", "script", "xhr", "fetch"})  # what a text may come from
PAGE_SECONDS, QUIET_SECONDS = 15.0, 5.0
MOST_REQUESTS = 100  # of a page
MOST_KEPT = 64 * 2**20  # bytes of scripts that the next pages need too
HEADERS = ("content-type", "access-control-allow-origin", "access-control-allow-credentials")


def chromium() -> str | None:
    """The browser: what CHROMIUM names, else one that is installed."""
    named = os.environ.get("CHROMIUM", "")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


def why_not() -> str:
    """Why pages cannot be rendered by a browser here, in a sentence; empty where they can."""
    if find_spec("playwright") is None:
        missing = "the package “playwright” is not installed"
    elif chromium() is None:
        missing = "no Chromium is installed"
    else:
        return ""
    return (
        f"Pages cannot be read in a browser here: {missing}. Let an operator install it, import the pages from "
        "Screaming Frog with JavaScript rendering, or let the site's developers send their texts as HTML."
    )


class Renderer:
    """A browser in a thread of its own, for one crawl. `rendered` counts the pages that it has read."""

    def __init__(self, rules: Rules, user_agent: str, robots: Robots) -> None:
        self.robots, self.user_agent = robots, user_agent
        self.session = OutgoingSession(rules, user_agent)
        self.rendered = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="browser")
        self._kept: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self._playwright: Any = None
        self._browser: Browser | None = None

    def start(self) -> None:
        """Raises UserError where the browser does not start."""
        self._thread.submit(self._start).result()

    def render(self, url: str, html: bytes, content_type: str) -> Future[bytes]:
        """The page as its scripts have written it, UTF-8; as it was sent where it needs no browser, or where its
        scripts lead elsewhere or end in nothing."""
        return self._thread.submit(self._render, url, html, content_type)

    def close(self) -> None:
        self._thread.submit(self._end).result()
        self._thread.shutdown()

    def _start(self) -> None:
        from playwright.sync_api import Error, sync_playwright

        self._playwright = sync_playwright().start()
        try:
            self._browser = self._playwright.chromium.launch(
                executable_path=chromium(),
                args=list(FLAGS),
                proxy={"server": NOWHERE},
                chromium_sandbox=os.geteuid() != 0,  # which Chromium refuses to root
            )
        except Error as error:
            self._playwright.stop()
            raise UserError(f"The browser {chromium()} cannot be started: {error.message.splitlines()[0]}") from None

    def _end(self) -> None:
        if self._browser is not None:
            self._browser.close()
        self._playwright.stop()

    def _render(self, url: str, html: bytes, content_type: str) -> bytes:
        from playwright.sync_api import Error

        if not read_page(html, url, content_type=content_type).needs_browser:
            return html
        try:
            written = self._run(url, html, content_type)
        except Error:  # a page that crashes its browser, or takes too long
            return html
        if written is None or read_page(written, url).needs_browser:
            return html
        self.rendered += 1
        return written.encode()

    def _run(self, url: str, html: bytes, content_type: str) -> str | None:
        """What stands in the page after its scripts; None where they have led to another."""
        assert self._browser is not None
        until, asked = time.monotonic() + PAGE_SECONDS, 0

        def answer(route: Route) -> None:
            nonlocal asked
            asked += 1
            request = route.request
            if request.is_navigation_request() and urldefrag(request.url)[0] == url:
                route.fulfill(status=200, headers={"content-type": content_type}, body=html)
                return
            may_ask = asked <= MOST_REQUESTS and time.monotonic() < until and self._may_ask(request)
            found = self._ask(request.url, request.headers.get("accept", "*/*")) if may_ask else None
            if found is None:
                route.abort()
            else:
                status, headers, body = found
                route.fulfill(status=status, headers=headers, body=body)

        context = self._browser.new_context(
            user_agent=self.user_agent, service_workers="block", accept_downloads=False, locale="en"
        )
        try:
            context.set_default_timeout(1000 * PAGE_SECONDS)
            context.route("**/*", answer)
            context.route_web_socket("**/*", lambda socket: socket.close())
            page = context.new_page()
            page.goto(url, wait_until="domcontentloaded")
            with suppress(Exception):
                page.wait_for_load_state("networkidle", timeout=1000 * QUIET_SECONDS)
            return page.content() if urldefrag(page.url)[0] == url else None
        finally:
            context.close()

    def _may_ask(self, request: Any) -> bool:
        """Frames and navigations to other pages are none of the page's text; robots.txt counts where it is known."""
        if request.method != "GET" or request.resource_type not in ASKED_FOR or request.is_navigation_request():
            return False
        return origin(request.url) not in self.robots.parsed or self.robots.allows(request.url)

    def _ask(self, url: str, accept: str) -> tuple[int, dict[str, str], bytes] | None:
        """Status, headers and body. Scripts are asked for once, and answers of the site's own services each time."""
        if url in self._kept:
            return self._kept[url]
        try:
            with self.session.get(url, headers={"Accept": accept}, stream=True) as response:
                body = read_bytes(response)
        except (UserError, requests.RequestException, OSError):
            return None
        headers = {name: response.headers[name] for name in HEADERS if name in response.headers}
        found = response.status_code, headers, body
        if "javascript" in headers.get("content-type", "") and self._size() + len(body) <= MOST_KEPT:
            self._kept[url] = found
        return found

    def _size(self) -> int:
        return sum(len(body) for _, _, body in self._kept.values())
