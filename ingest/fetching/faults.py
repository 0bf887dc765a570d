"""Links that lead nowhere, to another address than they name, where robots.txt bars the way, or to what a source that
lists all pages does not list: the report of a fetch.

Which links these are, and where redirects end, is worked out once, as a fetch ends, and kept in its store: a link names
its target as it is written, and the pages are known by their keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ingest.addresses.normalise import AnotherSite, NotAnAddress, is_file
from ingest.sources.store import BARRED, FORMER, PROTECTED, UNLISTED, FetchStore

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
    "SELECT id, key FROM page WHERE (state = 'failed' OR status_code >= 300 OR fault <> '' "
    f"OR state = '{UNLISTED}') AND fault <> '{PROTECTED}' AND coalesce(status_code, 0) <> {NOT_MODIFIED}"
)
# Where posts stood that WordPress does not list any more. A list of posts that it does not name answers still.
GONE = f"SELECT id, key FROM page WHERE state = '{FORMER}' AND etag NOT LIKE '%/%'"
# Where a fetch broke off, silence may be the site's and not the address's.
ANSWERED = f"AND fault IN ('', '{BARRED}')"
# Where each page that redirects leads in the end, past `hops` redirects; a loop ends where it began.
ENDS = "faulty_end (page INTEGER PRIMARY KEY, url TEXT NOT NULL, hops INTEGER NOT NULL, is_loop INTEGER NOT NULL)"
END = "LEFT JOIN faulty_end e ON e.page = p.id"
# A page that did not answer this time has the status of the time before, and its fault.
ANSWERS = "p.state <> 'failed' AND p.fault = '' AND coalesce(p.status_code, 999) < 400"
REDIRECTS = f"({ANSWERS} AND NOT coalesce(e.is_loop, 0))"
IS_BARRED = f"(p.fault = '{BARRED}')"
IS_UNLISTED = f"(p.state = '{UNLISTED}')"
IS_BROKEN = f"NOT {REDIRECTS} AND NOT {IS_BARRED} AND NOT {IS_UNLISTED}"
ROWS = (
    "SELECT f.page, f.source, f.number, s.url, l.anchor, l.block, l.target, "
    "CASE WHEN p.state = 'failed' OR p.fault = '' THEN p.status_code END, "
    "coalesce(e.url, p.redirect_url), p.fault, coalesce(e.hops, 1), coalesce(e.is_loop, 0), p.state "
    f"FROM faulty_link f JOIN page p ON p.id = f.page {END} JOIN page s ON s.id = f.source "
    "JOIN link l ON l.source = f.source AND l.number = f.number "
    "WHERE (f.page, f.source, f.number) > (?, ?, ?) {only} ORDER BY f.page, f.source, f.number LIMIT ?"
)
ONLY = {
    "": "",
    BROKEN: f"AND {IS_BROKEN}",
    REDIRECTED: f"AND {REDIRECTS}",
    BY_ROBOTS: f"AND {IS_BARRED}",
    UNLISTED: f"AND {IS_UNLISTED}",
}
IN_TEXT = "content"
IN_TEXTS = f"AND l.block = '{IN_TEXT}'"


@dataclass(frozen=True)
class FaultyLink:
    """A link of the page at `source` to `target`. `status` is None where nothing answered, which `fault` then says;
    `redirect` is where it leads to in the end, past `hops` redirects; `is_loop`: they lead in a circle, and `redirect`
    is the next address of it. `state` is that of the address in the store. `at` is its place in the list."""

    at: tuple[int, int, int]
    source: str
    anchor: str
    block: str
    target: str
    status: int | None
    redirect: str
    fault: str
    hops: int
    is_loop: bool
    state: str

    @property
    def is_redirected(self) -> bool:
        return self.status is not None and self.status < 400 and not self.fault and not self.is_loop

    @property
    def redirect_href(self) -> str:
        """`redirect` where a browser may be sent there: a site may name any scheme."""
        return self.redirect if self.redirect.startswith(("https://", "http://")) else ""

    @property
    def is_barred(self) -> bool:
        return self.fault == BARRED

    @property
    def is_gone(self) -> bool:
        """Whether a post stood there that the source does not list any more."""
        return self.state == FORMER

    @property
    def is_unlisted(self) -> bool:
        return self.state == UNLISTED


def find_faulty(store: FetchStore, site: Site, *, lists_all: bool = False) -> None:
    """Writes down which links lead to pages that are broken, barred or redirect, instead of what was written before. Of
    a fetch that saw a part of the site, addresses that did not answer do not count. `lists_all`: the source has said
    which pages there are; links in texts to other addresses of the site are written down, too."""
    forget_unlisted(store)
    if lists_all:
        _note_unlisted(store, site)
    which = FAULTY if store.noted("crawl_is_whole", True) else f"{FAULTY} {ANSWERED}"
    faulty = {key: page for page, key in store.connection.execute(which)}
    if store.noted("former_are_gone", False):
        faulty |= {key: page for page, key in store.connection.execute(GONE)}
    page_of = _page_of(site, faulty)
    ends = _ends(store, page_of)
    with store.transaction() as rows:
        rows.execute("DROP TABLE IF EXISTS faulty_end")
        rows.execute(f"CREATE TABLE {ENDS}")
        rows.executemany("INSERT INTO faulty_end VALUES (?, ?, ?, ?)", ends)
        rows.execute("DROP TABLE IF EXISTS faulty_link")
        rows.execute(
            "CREATE TABLE faulty_link (page INTEGER, source INTEGER, number INTEGER, "
            "PRIMARY KEY (page, source, number)) WITHOUT ROWID"
        )
        if faulty:
            # Tags below a text, which WordPress may not list either, are no faults.
            of_texts = {page for (page,) in rows.execute("SELECT id FROM page WHERE state = ?", [UNLISTED])}
            links = rows.execute("SELECT source, number, target, block FROM link")
            found = (
                (page, source, number)
                for source, number, target, block in links
                if (page := page_of(target)) and (block == IN_TEXT or page not in of_texts)
            )
            rows.executemany("INSERT INTO faulty_link VALUES (?, ?, ?)", found)


def forget_unlisted(store: FetchStore) -> None:
    """Takes out what a try of this fetch has noted of links: such an address may be listed by now."""
    with store.transaction() as rows:
        rows.execute("DELETE FROM page WHERE state = ?", [UNLISTED])


def _note_unlisted(store: FetchStore, site: Site) -> None:
    """Notes the addresses of the site that links in texts lead to and that are no pages of the store. Files are left
    out."""
    found: dict[str, str] = {}
    for (target,) in store.connection.execute("SELECT DISTINCT target FROM link WHERE block = ?", [IN_TEXT]):
        try:
            key = site.canonical_url(target)
        except (NotAnAddress, AnotherSite):
            continue
        if not is_file(key.partition("?")[0]):
            found.setdefault(key, target.partition("#")[0])
    with store.transaction() as rows:
        rows.executemany(
            f"INSERT OR IGNORE INTO page (key, url, state, origin) VALUES (?, ?, '{UNLISTED}', '{UNLISTED}')",
            found.items(),
        )
        store.note("lists_all", True)


def broken_addresses(store: FetchStore) -> int:
    """How many addresses the broken links lead to."""
    [found] = store.connection.execute(
        f"SELECT count(DISTINCT f.page) FROM faulty_link f JOIN page p ON p.id = f.page {END} WHERE {IS_BROKEN}"
    ).fetchone()
    return int(found)


def _ends(store: FetchStore, page_of: Callable[[str], int | None]) -> Iterator[tuple[int, str, int, bool]]:
    """Rows of faulty_end: each redirect is followed once, whatever leads to it."""
    redirects = {
        page: (url, leads_to)
        for page, url, leads_to in store.connection.execute(
            "SELECT id, url, redirect_url FROM page WHERE state = 'done' AND redirect_url <> ''"
        )
    }
    known: dict[int, tuple[str, int, bool]] = {}
    for first in redirects:
        chain: dict[int, None] = {}
        at: int | None = first
        while at is not None and at in redirects and at not in known and at not in chain:
            chain[at] = None
            url, leads_to = redirects[at]
            found = page_of(leads_to)
            # Another form of a page's own address has the same key, and was not asked for.
            at = None if found == at and leads_to != url else found
        url, hops, is_loop = known.get(at or 0, ("", 0, at in chain))
        for step in reversed(chain):
            hops, leads_to = hops + 1, redirects[step][1]
            url = leads_to if is_loop else url or leads_to
            known[step] = url, hops, is_loop
    return ((page, *end) for page, end in known.items())


def _page_of(site: Site, faulty: dict[str, int]) -> Callable[[str], int | None]:
    @lru_cache(CACHED)  # most links of a site are those of its navigation
    def page_of(target: str) -> int | None:
        try:
            return faulty.get(site.canonical_url(target))
        except (NotAnAddress, AnotherSite):
            return None

    return page_of


def counts(path: Path) -> dict[str, int] | None:
    """How many links of a store are broken, redirected and barred, and not listed where the source lists all pages;
    None where that was not worked out."""
    with FetchStore(path, read_only=True) as store:
        if not _is_known(store):
            return None
        kinds = ", ".join(f"coalesce(sum({kind}), 0)" for kind in (IS_BROKEN, REDIRECTS, IS_BARRED, IS_UNLISTED))
        found = store.connection.execute(
            f"SELECT {kinds} FROM faulty_link f JOIN page p ON p.id = f.page {END}"
        ).fetchone()
        lists_all = store.noted("lists_all", False)
    return dict(zip((BROKEN, REDIRECTED, BY_ROBOTS, *[UNLISTED] * lists_all), found, strict=False))


def faulty_links(
    path: Path, only: str = "", after: tuple[int, int, int] = FIRST, most: int = SHOWN, *, in_texts: bool = False
) -> list[FaultyLink]:
    """Links of a store from a place in the list on, those to one address together; `only` those of a kind in ONLY;
    `in_texts`: without those of menus, footers and the like."""
    with FetchStore(path, read_only=True) as store:
        if not _is_known(store):
            return []
        which = f"{ONLY[only]} {IN_TEXTS if in_texts else ''}"
        found = store.connection.execute(ROWS.format(only=which), [*after, most]).fetchall()
    return [FaultyLink(row[:3], *row[3:]) for row in found]


def every_faulty_link(path: Path, only: str = "", *, in_texts: bool = False) -> Iterator[FaultyLink]:
    """All of them, a screen at a time."""
    after = FIRST
    while found := faulty_links(path, only, after, 20 * SHOWN, in_texts=in_texts):
        yield from found
        after = found[-1].at


def _is_known(store: FetchStore) -> bool:
    """Whether the links of a store were looked at. One that was fetched before ends were kept has none of them."""
    tables = {name for (name,) in store.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "faulty_link" in tables and "faulty_end" not in tables:
        store.connection.execute(f"CREATE TEMP TABLE {ENDS}")
    return "faulty_link" in tables
