"""What was fetched of a site, in one SQLite file: pages, what was read in them, their links, and what is still to be
fetched.

A connector fills it, page by page and each in one transaction, so that a process that is killed goes on where it was.
The imports read it afterwards (ingest.sources.stored_rows). It needs neither Django nor PostgreSQL.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

VERSION = 1
WAITING, DONE, FAILED = "waiting", "done", "failed"  # states of an address
CALENDAR = "calendar"  # among the directives of a page: it is one of a calendar without end
BARRED = "robots.txt"  # the fault of an address that robots.txt bars
PROTECTED = "password"  # the fault of a post that asks its readers for one: its address answers
# More states, which no import reads: where a page stood that is not known to be anywhere now, and what links lead to
# though a source that lists all pages does not.
FORMER, UNLISTED = "former", "unlisted"

SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE page (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting',
    origin TEXT NOT NULL DEFAULT 'link',
    depth INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    sitemap_modified TEXT NOT NULL DEFAULT '',
    in_sitemap INTEGER NOT NULL DEFAULT 0,
    status_code INTEGER,
    content_type TEXT NOT NULL DEFAULT '',
    redirect_url TEXT NOT NULL DEFAULT '',
    etag TEXT NOT NULL DEFAULT '',
    modified TEXT NOT NULL DEFAULT '',
    unchanged INTEGER NOT NULL DEFAULT 0,
    fetched_at TEXT NOT NULL DEFAULT '',
    bytes INTEGER NOT NULL DEFAULT 0,
    milliseconds INTEGER NOT NULL DEFAULT 0,
    fault TEXT NOT NULL DEFAULT '',
    canonical TEXT NOT NULL DEFAULT '',
    robots TEXT NOT NULL DEFAULT '',
    html BLOB
);
CREATE INDEX page_waiting ON page (depth, id) WHERE state = 'waiting';
CREATE TABLE reading (
    page INTEGER PRIMARY KEY REFERENCES page (id),
    title TEXT NOT NULL DEFAULT '',
    h1 TEXT NOT NULL DEFAULT '',
    headings TEXT NOT NULL DEFAULT '[]',
    description TEXT NOT NULL DEFAULT '',
    language TEXT NOT NULL DEFAULT '',
    text TEXT NOT NULL DEFAULT '',
    breadcrumb TEXT NOT NULL DEFAULT '[]',
    hreflang TEXT NOT NULL DEFAULT '{}',
    word_count INTEGER,
    modified TEXT NOT NULL DEFAULT '',
    needs_browser INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE link (
    source INTEGER NOT NULL REFERENCES page (id),
    number INTEGER NOT NULL,
    target TEXT NOT NULL,
    anchor TEXT NOT NULL DEFAULT '',
    block TEXT NOT NULL DEFAULT 'content',
    follow INTEGER NOT NULL DEFAULT 1,
    place INTEGER,
    PRIMARY KEY (source, number)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read in a page. `breadcrumb` from the root; `modified` as the page says it."""

    title: str = ""
    h1: str = ""
    headings: tuple[str, ...] = ()
    description: str = ""
    language: str = ""
    text: str = ""
    breadcrumb: tuple[str, ...] = ()
    hreflang: dict[str, str] = field(default_factory=dict)
    word_count: int | None = None
    modified: str = ""
    needs_browser: bool = False


@dataclass(frozen=True, slots=True)
class StoredLink:
    """A link in a page: `target` is absolute; `block` as linker.models.Block names it, in small letters; `place` is the
    number of characters before the anchor in the page's text, None outside it."""

    target: str
    anchor: str = ""
    block: str = "content"
    follow: bool = True
    place: int | None = None


class FetchStore:
    """One fetched site. Use as a context manager, or close it.

    `key` is what tells pages apart (ingest.addresses.normalise.Site.canonical_url), `url` what is asked for.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        if not read_only:
            path.parent.mkdir(parents=True, exist_ok=True)
        mode = "ro" if read_only else "rwc"
        self.connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True, isolation_level=None)
        self.connection.execute("PRAGMA busy_timeout = 30000")
        if read_only:
            return
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = NORMAL")
        with self.transaction():
            if not self.connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
                for statement in SCHEMA.split(";"):
                    self.connection.execute(statement)
                self.note("version", VERSION)

    def __enter__(self) -> FetchStore:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing. Not to be nested."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield self.connection
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    # ------------------------------------------------------------------------------------------------ what is noted

    def note(self, name: str, value: Any) -> None:
        """Keeps a value of JSON under a name."""
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [name, json.dumps(value)])

    def noted(self, name: str, default: Any = None) -> Any:
        row = self.connection.execute("SELECT value FROM meta WHERE name = ?", [name]).fetchone()
        return json.loads(row[0]) if row else default

    # ------------------------------------------------------------------------------------------------------- filling

    def save_reading(self, page: int, reading: Reading, links: Iterable[StoredLink]) -> None:
        """What was read in a page, instead of what was read before. Within a transaction of the caller's."""
        self.connection.execute(
            "INSERT OR REPLACE INTO reading VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                *(page, reading.title, reading.h1, json.dumps(reading.headings), reading.description),
                *(reading.language, reading.text, json.dumps(reading.breadcrumb), json.dumps(reading.hreflang)),
                *(reading.word_count, reading.modified, reading.needs_browser),
            ],
        )
        self.save_links(page, links)

    def save_links(self, page: int, links: Iterable[StoredLink]) -> None:
        """The links of a page, instead of those it had. Within a transaction of the caller's."""
        self.connection.execute("DELETE FROM link WHERE source = ?", [page])
        self.connection.executemany(
            "INSERT INTO link VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                (page, number, link.target, link.anchor, link.block, link.follow, link.place)
                for number, link in enumerate(links)
            ),
        )

    # ------------------------------------------------------------------------------------------------------- reading

    def counts(self) -> dict[str, int]:
        """Addresses by state."""
        return dict(self.connection.execute("SELECT state, count(*) FROM page GROUP BY state"))

    @property
    def is_whole(self) -> bool:
        """Whether the site was fetched to its end: what it does not hold is gone."""
        return bool(self.noted("is_whole", False))


def packed(html: bytes) -> bytes:
    """HTML as it is stored."""
    return zlib.compress(html, 3)


def unpacked(stored: bytes) -> bytes:
    return zlib.decompress(stored)
