"""What a site's robots.txt allows, as RFC 9309 reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from protego import Protego

AGENT = "Anchorline"
MAX_BYTES = 512 * 1024  # RFC 9309 asks for 500 KiB at least
MAX_DELAY = 60.0  # seconds between two requests that a robots.txt may ask for
MAX_SITEMAPS = 50


def origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


@dataclass
class Robots:
    """The rules of each origin (scheme, host and port) that was asked. An origin that was not asked bars nothing."""

    parsed: dict[str, Protego | None] = field(default_factory=dict)  # None: nothing is allowed

    def take(self, url: str, status: int, body: bytes) -> str:
        """Takes an origin's answer. Where there is no such file, all is allowed; where the server fails, nothing is.

        Returns a sentence where nothing is allowed for that, else an empty text.
        """
        if status == 429 or status >= 500 or status == 0:
            self.parsed[origin(url)] = None
            answer = f"answers with the error {status}" if status else "does not answer"
            return f"{origin(url)}/robots.txt {answer}. Until it answers, nothing of the site may be read."
        text = body[:MAX_BYTES].decode("utf-8", "replace") if status == 200 else ""
        self.parsed[origin(url)] = Protego.parse(text.removeprefix("\ufeff"))
        return ""

    def allows(self, url: str) -> bool:
        found = self.parsed.get(origin(url), _ALL)
        return found is not None and found.can_fetch(url, AGENT)

    def delay(self) -> float:
        """Seconds between two requests that the files ask for, at most MAX_DELAY."""
        delays = [float(found.crawl_delay(AGENT) or 0) for found in self.parsed.values() if found is not None]
        return min(max(delays, default=0.0), MAX_DELAY)

    def sitemaps(self) -> list[str]:
        found = [url for parsed in self.parsed.values() if parsed is not None for url in parsed.sitemaps]
        return list(dict.fromkeys(found))[:MAX_SITEMAPS]


_ALL = Protego.parse("")
