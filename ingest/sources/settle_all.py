"""After all pages of a site are read, by a crawl or from WordPress: what an editor linked is told once more."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from ingest.sources.reading.groups import learn as learn_groups
from ingest.sources.reading.site_names import SiteNames, page_number
from ingest.sources.reading.site_template import MAX_PAGES
from ingest.sources.reading.surroundings import Surroundings, learn
from ingest.sources.reading.types import CONTENT, LIST
from ingest.sources.reading.whole_site import settle, settle_around
from ingest.sources.store import FetchStore, StoredLink

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

    from ingest.sources.reading.whole_site import Settled

Work = Callable[[int, int, Callable[[int], None]], None]
InParts = Callable[[int, str, Work], None]

CHUNK = 100  # pages in one transaction
BEGINNING = 2000  # characters of a text in which its opening stands
SAYING = "Comparing pages"


def settle_all(store: FetchStore, previous: Path | None, in_parts: InParts) -> None:
    """Once for a fetch; again where it was interrupted, which changes nothing of pages that were done. `previous` is
    the store of the last fetch. `in_parts` is given how many pages there are, what to say meanwhile, and work that it
    calls for each part."""
    if store.noted("is_settled", False):
        return
    pages = store.connection.execute("SELECT count(*) FROM reading").fetchone()[0]
    if pages:
        names = SiteNames.of(
            store.connection.execute(
                "SELECT p.url, r.title, r.h1, r.description, substr(r.text, 1, ?) "
                "FROM reading r JOIN page p ON p.id = r.page WHERE p.state = 'done'",
                [BEGINNING],
            )
        )
        in_parts(pages, SAYING, partial(_settle_part, store.path, partial(_by_names, names)))
        known = _surroundings(store, previous, names)
        if known:
            in_parts(pages, SAYING, partial(_settle_part, store.path, partial(_by_surroundings, known, names)))
    with store.transaction():
        store.note("is_settled", True)


def _by_names(names: SiteNames, url: str, text: str, links: list[StoredLink]) -> Settled | None:
    return settle(url, text, links, names)


def _by_surroundings(
    known: Surroundings, names: SiteNames, url: str, text: str, links: list[StoredLink]
) -> Settled | None:
    return settle_around(url, text, links, known, names)


def _surroundings(store: FetchStore, previous: Path | None, names: SiteNames) -> Surroundings:
    """What stands around the texts, learned from pages all over the site; what was learned of the last crawl still
    holds, for its pages that are as they were have lost it."""
    rows = store.connection.execute(
        "SELECT p.url FROM reading r JOIN page p ON p.id = r.page "
        "WHERE EXISTS (SELECT 1 FROM link l WHERE l.source = p.id AND l.block = ?)",
        [LIST],
    )
    lists = frozenset(page_number(url) for (url,) in rows)
    stored = store.noted("surroundings")
    if stored is None:
        known = learn(_sample(store), lists, names)._replace(groups=learn_groups(_all(store), names))
        if previous is not None:
            with FetchStore(previous, read_only=True) as old:
                known = known.with_earlier(old.noted("surroundings"))
        with store.transaction():
            store.note("surroundings", known.to_json())
        return known
    return Surroundings.nothing(lists).with_earlier(stored)


def _all(store: FetchStore) -> Iterator[tuple[str, str, list[StoredLink]]]:
    """The pages whose texts name others, with their links."""
    last = 0
    while rows := store.connection.execute(
        "SELECT p.id, p.url, r.text FROM reading r JOIN page p ON p.id = r.page WHERE p.id > ? ORDER BY p.id LIMIT ?",
        [last, CHUNK],
    ).fetchall():
        last = rows[-1][0]
        links = _links(store.connection, rows[0][0], last, 0, 1)
        yield from ((url, text, [link for _, link in links.get(number, ())]) for number, url, text in rows)


def _sample(store: FetchStore) -> Iterator[tuple[str, list[StoredLink]]]:
    numbers = [number for (number,) in store.connection.execute("SELECT page FROM reading ORDER BY page")]
    for number in numbers[:: max(1, len(numbers) // MAX_PAGES)][:MAX_PAGES]:
        [text] = store.connection.execute("SELECT text FROM reading WHERE page = ?", [number]).fetchone()
        yield text, [link for _, link in _links(store.connection, number, number, 0, 1).get(number, ())]


def _settle_part(
    path: Path,
    change: Callable[[str, str, list[StoredLink]], Settled | None],
    part: int,
    parts: int,
    note: Callable[[int], None],
) -> None:
    """Settles each page whose number leaves the rest `part`."""
    last = done = 0
    with FetchStore(path) as store:
        while rows := store.connection.execute(
            "SELECT p.id, p.url, r.text FROM reading r JOIN page p ON p.id = r.page "
            "WHERE p.id > ? AND p.id % ? = ? ORDER BY p.id LIMIT ?",
            [last, parts, part, CHUNK],
        ).fetchall():
            links = _links(store.connection, rows[0][0], rows[-1][0], part, parts)
            changed = [
                (number, found, links[number])
                for number, url, text in rows
                if number in links and (found := change(url, text, [link for _, link in links[number]])) is not None
            ]
            with store.transaction() as connection:
                for number, found, before in changed:
                    _save(connection, number, found, before)
            last = rows[-1][0]
            done += len(rows)
            note(done)


def _links(
    connection: sqlite3.Connection, first: int, last: int, part: int, parts: int
) -> dict[int, list[tuple[int, StoredLink]]]:
    """The links of texts by their pages, with their numbers."""
    rows = connection.execute(
        "SELECT source, number, target, anchor, block, follow, place FROM link "
        "WHERE source BETWEEN ? AND ? AND source % ? = ? AND block = ? ORDER BY source, number",
        [first, last, parts, part, CONTENT],
    )
    return {source: [(row[1], StoredLink(*row[2:])) for row in found] for source, found in groupby(rows, itemgetter(0))}


def _save(connection: sqlite3.Connection, page: int, found: Settled, links: list[tuple[int, StoredLink]]) -> None:
    connection.executemany(
        "UPDATE link SET block = ?, place = NULL WHERE source = ? AND number = ?",
        [(block, page, links[at][0]) for at, block in found.blocks.items()],
    )
    if found.is_list:
        return
    connection.executemany(
        "UPDATE link SET place = ? WHERE source = ? AND number = ?",
        [(place, page, links[at][0]) for at, place in found.places.items()],
    )
    before, headings = connection.execute("SELECT text, headings FROM reading WHERE page = ?", [page]).fetchone()
    gone = {*before.split("\n")} - {*found.text.split("\n")}
    kept = [heading for heading in json.loads(headings) if heading not in gone]
    connection.execute(
        "UPDATE reading SET text = ?, word_count = ?, headings = ? WHERE page = ?",
        [found.text, len(found.text.split()), json.dumps(kept), page],
    )
