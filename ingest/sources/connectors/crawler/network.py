"""How Scrapy reaches the network: to checked addresses alone, with limits, and without what a crawl has no use for."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.resolver import HostResolution
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IHostnameResolver
from twisted.internet.ssl import Certificate, trustRootFromCertificates
from twisted.internet.threads import deferToThread
from twisted.web.client import BrowserLikePolicyForHTTPS
from zope.interface import implementer

from ingest.sources.connectors.crawler.options import MAX_PAGE, Options
from ingest.sources.outgoing import OutgoingRefused, Rules

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.crawler import Crawler

CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
NAMES_KEPT = 60.0  # seconds
LARGEST_DELAY = 60.0
PACKAGE = "ingest.sources.connectors.crawler"


@implementer(IHostnameResolver)
class CheckedResolver:
    """Finds the addresses of a host and lets none through that may not be asked. What was refused is in `refused`, by
    host, for the report."""

    rules: Rules = Rules()
    refused: dict[str, str] = {}

    def __init__(self, reactor: Any) -> None:
        self.reactor = reactor
        self._known: dict[str, tuple[float, list[tuple[int, str]]]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: Any) -> CheckedResolver:
        return cls(reactor)

    def install_on_reactor(self) -> None:
        self.reactor.installNameResolver(self)

    def resolveHostName(
        self,
        resolutionReceiver: Any,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Any = None,
        transportSemantics: str = "TCP",
    ) -> HostResolution:
        resolution = HostResolution(hostName)
        resolutionReceiver.resolutionBegan(resolution)

        def found(addresses: list[tuple[int, str]]) -> None:
            self._known[hostName] = (time.monotonic(), addresses)
            for _, text in addresses:
                kind = IPv6Address if ":" in text else IPv4Address
                resolutionReceiver.addressResolved(kind("TCP", text, portNumber))
            resolutionReceiver.resolutionComplete()

        def failed(failure: Any) -> None:
            if failure.check(OutgoingRefused):
                self.refused[hostName] = str(failure.value)
            resolutionReceiver.resolutionComplete()

        at, known = self._known.get(hostName, (0.0, []))
        if known and time.monotonic() - at < NAMES_KEPT:
            found(known)
            self._known[hostName] = (at, known)
            return resolution
        deferToThread(self.rules.resolve, hostName, portNumber).addCallback(found).addErrback(failed)
        return resolution


class VerifyingHandler(HTTP11DownloadHandler):
    """Asks by https and verifies certificates by the authorities that the rules trust. Scrapy by itself does not."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        policy: Any = BrowserLikePolicyForHTTPS(_trust(CheckedResolver.rules.ca_files))
        self._contextFactory = policy


def _trust(files: Iterable[str]) -> Any:
    texts = (Path(file).read_text() for file in files)
    return trustRootFromCertificates(
        [Certificate.loadPEM(found) for text in texts for found in CERTIFICATE.findall(text)]
    )


def settings_of(options: Options, user_agent: str, timeout: float) -> dict[str, Any]:
    """Scrapy's settings for a crawl: nothing follows redirects, tries again or keeps cookies but the crawl itself."""
    return {
        "USER_AGENT": user_agent,
        # No Accept-Language: each address answers in its own, or in the site's.
        "DEFAULT_REQUEST_HEADERS": {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
        "SCHEDULER": f"{PACKAGE}.spider.StoredScheduler",
        "TWISTED_DNS_RESOLVER": f"{PACKAGE}.network.CheckedResolver",
        "DOWNLOAD_HANDLERS": {
            "https": f"{PACKAGE}.network.VerifyingHandler",
            **dict.fromkeys(("data", "file", "s3", "ftp")),
        },
        "DOWNLOADER_MIDDLEWARES_BASE": {
            "scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware": 350,
            "scrapy.downloadermiddlewares.defaultheaders.DefaultHeadersMiddleware": 400,
            "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": 500,
            "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": 590,
        },
        "SPIDER_MIDDLEWARES_BASE": {},
        "EXTENSIONS_BASE": {"scrapy.extensions.throttle.AutoThrottle": 0},
        "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
        "AUTOTHROTTLE_ENABLED": True,
        "AUTOTHROTTLE_START_DELAY": 1 / options.pages_a_second,
        "AUTOTHROTTLE_MAX_DELAY": LARGEST_DELAY,
        "AUTOTHROTTLE_TARGET_CONCURRENCY": float(options.concurrent),
        "DOWNLOAD_DELAY": 1 / options.pages_a_second,
        "DOWNLOAD_DELAY_JITTER": 0.0,
        "CONCURRENT_REQUESTS": options.concurrent,
        "CONCURRENT_REQUESTS_PER_DOMAIN": options.concurrent,
        "DOWNLOAD_TIMEOUT": timeout,
        "DOWNLOAD_MAXSIZE": MAX_PAGE,
        "DOWNLOAD_WARNSIZE": 0,
        "DOWNLOAD_FAIL_ON_DATALOSS": True,
        "COOKIES_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "REACTOR_THREADPOOL_MAXSIZE": 4,
        "LOG_ENABLED": False,
        "LOG_INSTALL_ROOT_HANDLER": False,
        "STATS_DUMP": False,
    }
