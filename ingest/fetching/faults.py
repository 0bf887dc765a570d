"""Links that lead nowhere, to another address than they name, or where robots.txt bars the way: the report of a fetch.

Which links these are is worked out once, as a fetch ends, and kept in its store: a link names its target as it is
written, and the pages are known by their keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ingest.addresses.normalise import AnotherSite, NotAnAddress
from ingest.sources.store import BARRED, FetchStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ingest.addresses.normalise import Site

SHOWN = 50
BROKEN, REDIRECTED, BY_ROBOTS = "broken", "redirected", "barred"
NOT_MODIFIED = 304  # answers a question of ours, not a reader's
CACHED = 200_000
FIRST = (0, 0, -1)  # before every place in the list
FAULTY = (
    "SELECT id, key FROM page WHERE (state = 'failed' OR status_code >= 300) "
    f"AND coalesce(status_code, 0) <> {NOT_MODIFIED}"
)
REDIRECTS = "(p.state <> 'failed' AND p.status_code < 400)"
IS_BARRED = f"(p.fault = '{BARRED}')"
ROWS = (
    "SELECT f.page, f.source, f.number, s.url, l.anchor, l.block, l.target, p.status_code, p.redirect_url, p.fault "
    "FROM faulty_link f JOIN page p ON p.id = f.page JOIN page s ON s.id = f.source "
    "JOIN link l ON l.source = f.source AND l.number = f.number "
    "WHERE (f.page, f.source, f.number) > (?, ?, ?) {only} ORDER BY f.page, f.source, f.number LIMIT ?"
)
ONLY = {
    "": "",
    BROKEN: f"AND NOT {REDIRECTS} AND NOT {IS_BARRED}",
    REDIRECTED: f"AND {REDIRECTS}",
    BY_ROBOTS: f"AND {IS_BARRED}",
}


@dataclass(frozen=True)
class FaultyLink:
    """A link of the page at `source` to `target`. `status` is None where nothing answered, which `fault` then says;
    `redirect` is where it leads to instead. `at` is its place in the list."""

    at: tuple[int, int, int]
    source: str
    anchor: str
    block: str
    target: str
    status: int | None
    redirect: str
    fault: str

    @property
    def is_redirected(self) -> bool:
        return self.status is not None and self.status < 400 and not self.fault

    @property
    def is_barred(self) -> bool:
        return self.fault == BARRED


def find_faulty(store: FetchStore, site: Site) -> None:
    """Writes down which links lead to pages that are broken, barred or redirect, instead of what was written before."""
    faulty = {key: page for page, key in store.connection.execute(FAULTY)}
    page_of = _page_of(site, faulty)
    with store.transaction() as rows:
        rows.execute("DROP TABLE IF EXISTS faulty_link")
        rows.execute(
            "CREATE TABLE faulty_link (page INTEGER, source INTEGER, number INTEGER, "
            "PRIMARY KEY (page, source, number)) WITHOUT ROWID"
        )
        if faulty:
            links = rows.execute("SELECT source, number, target FROM link")
            found = ((page, source, number) for source, number, target in links if (page := page_of(target)))
            rows.executemany("INSERT INTO faulty_link VALUES (?, ?, ?)", found)


def _page_of(site: Site, faulty: dict[str, int]) -> Callable[[str], int | None]:
    @lru_cache(CACHED)  # most links of a site are those of its navigation
    def page_of(target: str) -> int | None:
        try:
            return faulty.get(site.canonical_url(target))
        except (NotAnAddress, AnotherSite):
            return None

    return page_of


def counts(path: Path) -> dict[str, int] | None:
    """How many links of a store are broken, redirected and barred; None where that was not worked out."""
    with FetchStore(path, read_only=True) as store:
        if not _is_known(store):
            return None
        redirected, barred, every = store.connection.execute(
            f"SELECT coalesce(sum({REDIRECTS}), 0), coalesce(sum({IS_BARRED}), 0), count(*) FROM faulty_link f "
            "JOIN page p ON p.id = f.page"
        ).fetchone()
    return {BROKEN: every - redirected - barred, REDIRECTED: redirected, BY_ROBOTS: barred}


def faulty_links(
    path: Path, only: str = "", after: tuple[int, int, int] = FIRST, most: int = SHOWN
) -> list[FaultyLink]:
    """Links of a store from a place in the list on, those to one address together; `only` those of a kind in ONLY."""
    with FetchStore(path, read_only=True) as store:
        if not _is_known(store):
            return []
        found = store.connection.execute(ROWS.format(only=ONLY[only]), [*after, most]).fetchall()
    return [FaultyLink((page, source, number), *rest) for page, source, number, *rest in found]


def every_faulty_link(path: Path, only: str = "") -> Iterator[FaultyLink]:
    """All of them, a screen at a time."""
    after = FIRST
    while found := faulty_links(path, only, after, 20 * SHOWN):
        yield from found
        after = found[-1].at


def _is_known(store: FetchStore) -> bool:
    known = store.connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'faulty_link'").fetchone()
    return known is not None
