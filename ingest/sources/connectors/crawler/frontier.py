"""What is still to be fetched, in the store: few of the addresses are in memory at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ingest.sources.store import BARRED, DONE, FAILED, WAITING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ingest.sources.connectors.crawler.scope import Asked, Scope
    from ingest.sources.store import FetchStore

MEMO = 200_000  # keys whose number is remembered
LONGEST_SERIES = 24  # pages in a row that lead to nothing but more of their kind
KNOWN = "crawl_known"
UNSEEN = (
    f"SELECT key, url FROM {KNOWN} k WHERE key > ? AND NOT EXISTS (SELECT 1 FROM main.page p WHERE p.key = k.key) "
    "ORDER BY key LIMIT 10000"
)
TABLES = (
    # Pages that the source held before this fetch; see Frontier.add_known.
    f"CREATE TABLE IF NOT EXISTS {KNOWN} (key TEXT PRIMARY KEY, url TEXT NOT NULL) WITHOUT ROWID",
    # Which pages a page leads to, by clicks: their numbers, as int32.
    "CREATE TABLE IF NOT EXISTS crawl_edge (page INTEGER PRIMARY KEY, targets BLOB NOT NULL)",
    # Pages that only others of their own form have led to, one after the other: how many those are.
    "CREATE TABLE IF NOT EXISTS crawl_series (page INTEGER PRIMARY KEY, steps INTEGER NOT NULL)",
    # Addresses that differ in the values of their parameters alone.
    "CREATE TABLE IF NOT EXISTS crawl_pattern (pattern TEXT PRIMARY KEY, pages INTEGER NOT NULL) WITHOUT ROWID",
)


def prepare(store: FetchStore) -> None:
    """Makes the tables of a crawl in a store, where they are not there yet."""
    with store.transaction() as rows:
        for table in TABLES:
            rows.execute(table)


@dataclass(slots=True)
class Waiting:
    """An address that is to be asked for."""

    id: int
    key: str
    url: str
    depth: int | None
    attempts: int


class Frontier:
    """The addresses of a crawl. `known` counts them, `done` those that were asked for to the end."""

    def __init__(self, store: FetchStore, scope: Scope) -> None:
        self.store, self.scope = store, scope
        self._ids: dict[str, int] = {}
        prepare(store)
        counts = store.counts()
        self.known = sum(counts.values())
        self.done = self.known - counts.get(WAITING, 0)

    def add(self, found: Iterable[Asked], depth: int | None, origin: str = "link") -> list[int]:
        """Adds addresses, as far as they are new, and returns the numbers of all. Within a transaction of the
        caller's. One that waits is asked for by the least depth it was found at."""
        numbers = []
        for asked in found:
            number = self._ids.get(asked.key)
            if number is None:
                number = self._find_or_add(asked, depth, origin)
                if number is None:
                    continue
                if len(self._ids) >= MEMO:
                    self._ids.clear()
                self._ids[asked.key] = number
            numbers.append(number)
        return numbers

    def add_series(self, page: int, own: list[Asked], depth: int | None, *, leads_on: bool) -> list[int]:
        """Adds addresses that differ from a page's own in numbers alone, as the months of a calendar do. Returns the
        numbers of those that are known then. `leads_on`: the page leads to anything else that is new. Where
        LONGEST_SERIES pages in a row did not, the series has no end that is worth looking for. Within a transaction of
        the caller's."""
        rows = self.store.connection
        row = rows.execute("SELECT steps FROM crawl_series WHERE page = ?", [page]).fetchone()
        steps = 0 if leads_on or row is None else row[0]
        if steps >= LONGEST_SERIES:
            found = [asked for asked in own if self._is_known(asked.key)]
            for asked in own:
                if asked not in found:
                    self.scope.leave_out_series(asked)
            return self.add(found, depth)
        newest = rows.execute("SELECT coalesce(max(id), 0) FROM page").fetchone()[0]
        numbers = self.add(own, depth)
        rows.executemany(
            "INSERT OR IGNORE INTO crawl_series VALUES (?, ?)",
            [(number, steps + 1) for number in numbers if number > newest],
        )
        return numbers

    def _is_known(self, key: str) -> bool:
        return key in self._ids or bool(
            self.store.connection.execute("SELECT 1 FROM page WHERE key = ?", [key]).fetchone()
        )

    def _find_or_add(self, asked: Asked, depth: int | None, origin: str) -> int | None:
        rows = self.store.connection
        there = rows.execute("SELECT id, depth, state FROM page WHERE key = ?", [asked.key]).fetchone()
        if there is not None:
            number, at, state = there
            if state == WAITING and depth is not None and (at is None or at > depth):
                rows.execute("UPDATE page SET depth = ? WHERE id = ?", [depth, number])
            return int(number)
        if asked.pattern and not self._has_room(asked):
            return None
        self.known += 1
        added = rows.execute(
            "INSERT INTO page (key, url, depth, origin) VALUES (?, ?, ?, ?)", [asked.key, asked.url, depth, origin]
        )
        return added.lastrowid

    def _has_room(self, asked: Asked) -> bool:
        rows = self.store.connection
        there = rows.execute("SELECT pages FROM crawl_pattern WHERE pattern = ?", [asked.pattern]).fetchone()
        if there is not None and there[0] >= asked.most:
            if len(self.scope.trapped) < MEMO:
                self.scope.trapped.add(asked.key)
            return False
        rows.execute(
            "INSERT INTO crawl_pattern VALUES (?, 1) ON CONFLICT (pattern) DO UPDATE SET pages = pages + 1",
            [asked.pattern],
        )
        return True

    def add_of_sitemap(self, found: Iterable[tuple[Asked, str]]) -> None:
        """Adds (address, lastmod) of a sitemap. In a transaction of its own."""
        with self.store.transaction() as rows:
            for asked, modified in found:
                for number in self.add([asked], None, "sitemap"):
                    rows.execute(
                        "UPDATE page SET in_sitemap = 1, sitemap_modified = ? WHERE id = ?", [modified, number]
                    )

    def add_known(self) -> int:
        """Adds the pages that the source held and that nothing has led to this time: they may have moved, be gone, or
        be there without a link. In a transaction of its own; returns how many there are."""
        before, last = self.known, ""
        with self.store.transaction() as rows:
            while unseen := rows.execute(UNSEEN, [last]).fetchall():
                last = unseen[-1][0]
                found = (asked for _key, url in unseen if (asked := self.scope.find(url)) is not None)
                self.add(found, None, "known")
            rows.execute(f"DELETE FROM {KNOWN}")
        return self.known - before

    def batch(self, size: int, without: Collection[int]) -> list[Waiting]:
        """The next addresses, nearest to the home page first, those that only a sitemap names last."""
        found: list[Waiting] = []
        for condition in ("depth IS NOT NULL", "depth IS NULL"):
            rows = self.store.connection.execute(
                f"SELECT id, key, url, depth, attempts FROM page WHERE state = 'waiting' AND {condition} "
                "ORDER BY depth, id LIMIT ?",
                [size + len(without)],
            )
            found.extend(row for row in map(_waiting, rows) if row.id not in without)
            if len(found) >= size:
                break
        return found[:size]

    def bar(self, number: int) -> None:
        """Notes that robots.txt bars an address."""
        with self.store.transaction() as rows:
            rows.execute("UPDATE page SET state = ?, fault = ? WHERE id = ?", [FAILED, BARRED, number])
        self.done += 1

    def try_later(self, row: Waiting, fault: str) -> None:
        """Notes that an address did not answer as it should. It stays where it is."""
        row.attempts += 1
        with self.store.transaction() as rows:
            rows.execute("UPDATE page SET attempts = ?, fault = ? WHERE id = ?", [row.attempts, fault, row.id])

    def keep_edges(self, page: int, targets: Collection[int]) -> None:
        """Notes which pages a page leads to. Within a transaction of the caller's."""
        numbers = np.unique(np.fromiter(targets, dtype=np.int32, count=len(targets)))
        self.store.connection.execute("INSERT OR REPLACE INTO crawl_edge VALUES (?, ?)", [page, numbers.tobytes()])

    def leads_to(self, page: int) -> frozenset[int]:
        """The numbers of the pages that a page leads to."""
        query = "SELECT targets FROM crawl_edge WHERE page = ?"
        row = self.store.connection.execute(query, [page]).fetchone()
        return frozenset(np.frombuffer(row[0], dtype=np.int32).tolist() if row is not None else ())


def _waiting(row: tuple[int, str, str, int | None, int]) -> Waiting:
    return Waiting(*row)


__all__ = ["BARRED", "DONE", "FAILED", "Frontier", "Waiting"]
