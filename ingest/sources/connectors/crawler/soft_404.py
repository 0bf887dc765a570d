"""Pages that say that they do not exist, and answer 200 all the same: “soft 404” to search engines.

A crawl asks for one address that nobody can have made. Where the site answers it with a page, other pages that say the
same count as answered with 404; where it leads on for good, so do pages that were there before and lead to the same
address now. A site that has the same to say at most addresses, such as one that is written by scripts, is left alone.
"""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin, urlsplit

from ingest.addresses.normalise import AnotherSite, NotAnAddress
from ingest.sources.reading import SiteTemplate, decode, read_page
from ingest.sources.store import FetchStore

if TYPE_CHECKING:
    from ingest.sources.connectors.crawler.answers import Answer
    from ingest.sources.connectors.crawler.plan import Plan

PERMANENT = (301, 308)
ALIKE = 0.9  # of the words of both texts that are in both
MOST = 0.5  # of a site's pages that may say so; where more do, it is the site that says little
NO_PAGE = "no_page"
_WORD = re.compile(r"\w+")


class Said(NamedTuple):
    """What a page says, without the words of its own address."""

    title: str
    h1: str
    words: frozenset[str]

    @classmethod
    def of(cls, url: str, title: str, h1: str, text: str) -> Said:
        own = set(_WORD.findall(urlsplit(url).path.casefold()))
        said = [[word for word in _WORD.findall(part.casefold()) if word not in own] for part in (title, h1, text)]
        return cls(" ".join(said[0]), " ".join(said[1]), frozenset(said[2]))

    def is_like(self, other: Said) -> bool:
        if (self.title, self.h1) != (other.title, other.h1):
            return False
        both = len(self.words & other.words)
        return both >= ALIKE * (len(self.words) + len(other.words) - both)


def made_up(address: str) -> str:
    """An address of the site that no page has."""
    return urljoin(address, f"/{secrets.token_hex(10)}")


def note_answer(store: FetchStore, url: str, answer: Answer) -> None:
    """Notes how the site answered an address that no page has."""
    found = {"url": url, "html": "", "leads_to": ""}
    if answer.status == 200 and answer.is_html:
        found["html"] = decode(answer.body, answer.content_type)
    elif answer.status in PERMANENT and urlsplit(url).path not in answer.location:
        found["leads_to"] = urljoin(url, answer.location)
    with store.transaction():
        store.note(NO_PAGE, found)


def mark(plan: Plan, store: FetchStore) -> None:
    """Gives the pages of the store that are like the answer the status 404, without text and links. May be called
    again."""
    noted = store.noted(NO_PAGE, {})
    found: list[int] = []
    if noted.get("html"):
        found = _that_say(plan, store, noted["url"], noted["html"])
    elif noted.get("leads_to"):
        found = _that_lead(plan, store, noted["leads_to"])
    if not found:
        return
    with store.transaction() as rows:
        for number in found:
            rows.execute("UPDATE page SET status_code = 404, redirect_url = '' WHERE id = ?", [number])
            rows.execute("DELETE FROM link WHERE source = ?", [number])
            rows.execute("DELETE FROM reading WHERE page = ?", [number])
        counts = store.noted("counts", {})
        store.note("counts", counts | {"soft_404": int(counts.get("soft_404", 0)) + len(found)})


def _that_say(plan: Plan, store: FetchStore, url: str, html: str) -> list[int]:
    template = store.noted("template")
    page = read_page(html, url, SiteTemplate.from_json(template) if template is not None else None)
    if page.needs_browser:
        return []
    missing = Said.of(url, page.title, page.h1, page.text)
    if not any(missing):
        return []
    home = plan.site.canonical_url(plan.address)
    pages, found = 0, []
    rows = store.connection.execute(
        "SELECT p.id, p.key, p.url, r.title, r.h1, r.text FROM page p JOIN reading r ON r.page = p.id "
        "WHERE p.state = 'done' AND p.status_code = 200 AND NOT r.needs_browser"
    )
    for number, key, at, title, h1, text in rows:
        pages += 1
        if Said.of(at, title, h1, text).is_like(missing):
            if key == home:
                return []
            found.append(number)
    return found if len(found) <= MOST * pages else []


def _that_lead(plan: Plan, store: FetchStore, leads_to: str) -> list[int]:
    """Pages of the last fetch that lead where made-up addresses do."""
    if not plan.previous:
        return []
    with FetchStore(Path(plan.previous), read_only=True) as previous:
        answered = {key for (key,) in previous.connection.execute("SELECT key FROM page WHERE status_code = 200")}
    target = _key(plan, leads_to)
    rows = store.connection.execute(
        "SELECT id, key, redirect_url FROM page WHERE state = 'done' AND status_code IN (301, 308)"
    )
    return [number for number, key, to in rows if key in answered and _key(plan, to) == target]


def _key(plan: Plan, url: str) -> str:
    try:
        return plan.site.canonical_url(url)
    except (NotAnAddress, AnotherSite):
        return url
