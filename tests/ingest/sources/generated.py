"""A site that tests make up and change, and the connector that fetches it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urljoin

from ingest.sources.connectors.base import Connector
from ingest.sources.store import Reading, StoredLink
from linker.errors import UserError

if TYPE_CHECKING:
    from ingest.models import SiteSource
    from ingest.sources.connectors.base import Fetching
    from ingest.sources.outgoing import Rules

SITE = "https://shop.example"


@dataclass
class MadePage:
    """A page at `path`: what it says, and to which paths, or addresses elsewhere, it links in its text."""

    text: str
    links: tuple[str, ...] = ()
    moved_to: str = ""
    status: int = 200


@dataclass
class MadeSite:
    """What stands at each path. `fault`, once it says something, is what every fetch ends with."""

    pages: dict[str, MadePage] = field(default_factory=dict)
    fault: str = ""

    def add(self, path: str, text: str, *links: str) -> None:
        self.pages[path] = MadePage(text, links)


@dataclass(frozen=True)
class Options:
    most_pages: int = 1000
    slowly: bool = False
    start_at: str = ""

    @classmethod
    def of(cls, values: dict[str, Any]) -> Self:
        if values.get("most_pages", 1) < 1:
            raise UserError("Fetch at least one page.")
        return cls(**values)


class Generated(Connector):
    """Fetches a made-up site: no network is asked."""

    kind = "crawl"
    may_have_secret = True
    Options = Options

    def __init__(self, site: MadeSite) -> None:
        self.site = site
        self.secrets: list[str] = []  # that checks were given

    def check(self, source: SiteSource, rules: Rules, secret: str = "") -> str:
        super().check(source, rules)
        self.secrets.append(secret)
        if self.site.fault:
            raise UserError(self.site.fault)
        return f"{source.address} answers with {len(self.site.pages)} pages."

    def fetch(self, fetching: Fetching) -> None:
        if self.site.fault:
            raise UserError(self.site.fault)
        known = {row[0] for row in fetching.store.connection.execute("SELECT key FROM page WHERE state <> 'waiting'")}
        todo = [path for path in self.site.pages if f"{SITE}{path}" not in known]
        for number, path in enumerate(todo):
            fetching.progress(number, len(todo), "Fetching")
            self.save(fetching, path, self.site.pages[path])
        fetching.counts["requests"] = len(todo)
        fetching.store.note("is_whole", True)

    def save(self, fetching: Fetching, path: str, made: MadePage) -> None:
        url = f"{SITE}{path}"
        status = 301 if made.moved_to else made.status
        with fetching.store.transaction() as rows:
            rows.execute(
                "INSERT INTO page (key, url, state, status_code, content_type, redirect_url, depth) "
                "VALUES (?, ?, 'done', ?, 'text/html', ?, 1)",
                [url, url, status, f"{SITE}{made.moved_to}" if made.moved_to else ""],
            )
            [page] = rows.execute("SELECT id FROM page WHERE key = ?", [url]).fetchone()
            if status != 200:
                return
            links = [
                StoredLink(urljoin(SITE, target), target.strip("/").replace("-", " ") or "home", place=0)
                for target in made.links
            ]
            name = path.strip("/").replace("-", " ").title() or "Home"
            fetching.store.save_reading(page, Reading(title=name, h1=name, text=made.text, language="en"), links)
