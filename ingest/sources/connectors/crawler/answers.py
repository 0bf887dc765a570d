"""What a site answered, into the store: each answer in one transaction, with the addresses that it names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from ingest.sources.connectors.crawler.frontier import DONE, FAILED
from ingest.sources.connectors.crawler.scope import form_of
from ingest.sources.reading import read_head
from ingest.sources.store import packed, unpacked

if TYPE_CHECKING:
    from pathlib import Path

    from ingest.sources.connectors.crawler.frontier import Frontier, Waiting
    from ingest.sources.connectors.crawler.scope import Asked, Scope
    from ingest.sources.reading import PageHead
    from ingest.sources.store import FetchStore

REDIRECTS = frozenset({301, 302, 303, 307, 308})
HTML = ("text/html", "application/xhtml+xml")
PREVIOUS = (
    "SELECT id, url, content_type, etag, modified, html, fault FROM previous.page WHERE key = ? "
    "AND state = 'done' AND status_code = 200 AND html IS NOT NULL"
)
READING = "title, h1, headings, description, language, text, breadcrumb, hreflang, word_count, modified, needs_browser"
_AGENT = re.compile(r"\s*([A-Za-z0-9_-]+)\s*:")
_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
LINK = "number, target, anchor, block, follow, place"


@dataclass(slots=True)
class Answer:
    """An answer to one request. `content_type` is as it was sent, `robots` the values of X-Robots-Tag."""

    status: int
    content_type: str = ""
    location: str = ""
    etag: str = ""
    modified: str = ""
    robots: list[str] = field(default_factory=list)
    body: bytes = b""
    milliseconds: int = 0
    is_challenge: bool = False

    @property
    def is_html(self) -> bool:
        kind = self.content_type.partition(";")[0].strip().lower()
        return kind in HTML or (not kind and self.body.lstrip()[:1] == b"<")


@dataclass(slots=True)
class Before:
    """What the last fetch had at an address."""

    id: int
    url: str
    content_type: str
    etag: str
    modified: str
    html: bytes
    fault: str


class Answers:
    """Writes answers into a store. `previous` is the store of the last fetch; `follows`: links lead to further pages;
    `adds`: redirects do."""

    def __init__(
        self, store: FetchStore, frontier: Frontier, scope: Scope, previous: Path | None, *, follows: bool, adds: bool
    ) -> None:
        self.store, self.frontier, self.scope, self.follows, self.adds = store, frontier, scope, follows, adds
        self.has_previous = previous is not None
        if previous is not None:
            store.connection.execute("ATTACH ? AS previous", [f"{previous.resolve().as_uri()}?mode=ro"])

    def before(self, key: str) -> Before | None:
        if not self.has_previous:
            return None
        row = self.store.connection.execute(PREVIOUS, [key]).fetchone()
        return Before(*row) if row is not None else None

    def conditions(self, key: str) -> dict[str, str]:
        """Headers that spare an answer where the page is as it was."""
        before = self.before(key)
        if before is None or before.fault:
            return {}
        headers = {"If-None-Match": before.etag, "If-Modified-Since": before.modified}
        return {name: value for name, value in headers.items() if value}

    def take(self, row: Waiting, answer: Answer) -> None:
        """Notes an answer for good."""
        before = self.before(row.key) if answer.status in (200, 304) else None
        if answer.status == 304 and before is not None:
            self._take_page(row, answer, unpacked(before.html), before, unchanged=True)
        elif answer.status == 200 and answer.is_html:
            unchanged = before is not None and not before.fault and unpacked(before.html) == answer.body
            self._take_page(row, answer, answer.body, before, unchanged=unchanged)
        else:
            self._take_other(row, answer)
        self.frontier.done += 1

    def give_up(self, row: Waiting, fault: str, status: int | None) -> bool:
        """Notes that an address did not answer, several times over. Whether what the last fetch had there is kept.

        It is kept once, so that a bad hour takes no page away; with the next fetch a page that is silent still is gone.
        """
        before = self.before(row.key)
        self.frontier.done += 1
        if before is not None and not before.fault:
            answer = Answer(200, before.content_type, etag=before.etag, modified=before.modified)
            self._take_page(row, answer, unpacked(before.html), before, unchanged=True, fault=fault)
            return True
        with self.store.transaction() as rows:
            rows.execute(
                "UPDATE page SET state = ?, fault = ?, status_code = ?, fetched_at = ?, attempts = attempts + 1 "
                "WHERE id = ?",
                [FAILED, fault, status, _now(), row.id],
            )
        return False

    def _take_page(
        self, row: Waiting, answer: Answer, html: bytes, before: Before | None, *, unchanged: bool, fault: str = ""
    ) -> None:
        kind = answer.content_type if answer.status == 200 else before.content_type if before else ""
        head = read_head(html, row.url, kind)
        directives = head.robots | robots_of(answer.robots)
        if "none" in directives:
            directives |= {"noindex", "nofollow"}
        stored = before.html if unchanged and before is not None else packed(html)
        values = {
            "status_code": 200,
            "content_type": kind,
            "unchanged": int(unchanged),
            "fault": fault,
            "etag": answer.etag or (before.etag if unchanged and before else ""),
            "modified": answer.modified or (before.modified if unchanged and before else ""),
            "canonical": head.canonical,
            "robots": " ".join(sorted(directives)),
            "redirect_url": self._leads_to(row, head),
            "html": stored,
        }
        with self.store.transaction() as rows:
            self._save(row, answer, values)
            if self.follows:
                self._follow(row, head, may_follow="nofollow" not in directives)
            if unchanged and before is not None:
                rows.execute(
                    "UPDATE page SET sitemap_modified = (SELECT sitemap_modified FROM previous.page WHERE id = ?) "
                    "WHERE id = ? AND sitemap_modified = ''",  # the sitemap may not have answered this time
                    [before.id, row.id],
                )
                rows.execute(
                    f"INSERT OR REPLACE INTO reading SELECT ?, {READING} FROM previous.reading WHERE page = ?",
                    [row.id, before.id],
                )
                rows.execute("DELETE FROM link WHERE source = ?", [row.id])
                rows.execute(
                    f"INSERT INTO link SELECT ?, {LINK} FROM previous.link WHERE source = ?", [row.id, before.id]
                )

    def _leads_to(self, row: Waiting, head: PageHead) -> str:
        """Where a page sends its readers at once; empty for one that only reloads itself."""
        asked = self.scope.find(head.redirect) if head.redirect else None
        return "" if asked is not None and asked.key == row.key else head.redirect

    def _follow(self, row: Waiting, head: PageHead, *, may_follow: bool) -> None:
        """The addresses that a page names: those that a click leads to, and others."""
        depth = None if row.depth is None else row.depth + 1
        clicks = [link.target for link in head.links if link.follow] if may_follow else []
        clicks += [url for url in (head.next_page, head.previous_page, head.refresh) if url and may_follow]
        find = self.scope.find
        named = [asked for url in clicks if (asked := find(url)) is not None]
        self.frontier.keep_edges(row.id, self._add_named(row, named, depth))
        others = [url for url in (head.canonical, *head.hreflang.values()) if url]
        self.frontier.add((asked for url in others if (asked := find(url)) is not None), None, "head")

    def _add_named(self, row: Waiting, named: list[Asked], depth: int | None) -> list[int]:
        """Adds the addresses that a page leads to; those of its own form, and below it, as a series."""
        form = form_of(row.url)
        if form == row.url:
            return self.frontier.add(named, depth)
        own_form = form.rstrip("/")
        own = [asked for asked in named if form_of(asked.url).startswith(own_form)]
        known = self.frontier.known
        others = self.frontier.add((asked for asked in named if not form_of(asked.url).startswith(own_form)), depth)
        return others + self.frontier.add_series(row.id, own, depth, leads_on=self.frontier.known > known)

    def _take_other(self, row: Waiting, answer: Answer) -> None:
        """An answer that is no page: a redirect, an error, another type of content."""
        values: dict[str, Any] = {"status_code": answer.status, "content_type": answer.content_type}
        values |= {"etag": "", "modified": answer.modified, "robots": " ".join(sorted(robots_of(answer.robots)))}
        values |= {"fault": "", "redirect_url": ""}
        with self.store.transaction():
            if answer.status in REDIRECTS and answer.location:
                values["redirect_url"] = _joined(row.url, answer.location)
                asked = self.scope.find(values["redirect_url"])
                if self.adds and asked is not None and asked.key != row.key:
                    self.frontier.keep_edges(row.id, self.frontier.add([asked], row.depth, "redirect"))
            self._save(row, answer, values)

    def _save(self, row: Waiting, answer: Answer, values: dict[str, Any]) -> None:
        values = values | {
            "state": DONE,
            "fetched_at": _now(),
            "bytes": len(answer.body),
            "milliseconds": answer.milliseconds,
            "attempts": row.attempts + 1,
        }
        columns = ", ".join(f"{name} = ?" for name in values)
        self.store.connection.execute(f"UPDATE page SET {columns} WHERE id = ?", [*values.values(), row.id])


def robots_of(headers: list[str]) -> set[str]:
    """The directives of X-Robots-Tag that concern all search engines, or Google's; “none” in its two parts."""
    found: set[str] = set()
    for header in headers:
        named = _AGENT.match(header)
        if named is not None and named[1].lower() not in _WITH_VALUE:
            if named[1].lower() != "googlebot":
                continue
            header = header[named.end() :]
        found |= {part.strip().lower() for part in header.split(",") if part.strip()}
    return found | {"noindex", "nofollow"} if "none" in found else found


def _joined(base: str, location: str) -> str:
    try:
        return urljoin(base, location.strip())[:8000]
    except ValueError:
        return ""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
