"""The rows of what was fetched, for the imports: a source like a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ingest.files.table import Records
from ingest.sources.base import Source
from ingest.sources.store import CALENDAR, FetchStore
from linker.models.page import ENDLESS_CALENDAR

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CHUNK = 500
HEADINGS, CRUMBS = 40, 8
HTML = "text/html"
OF_TEXTS = ("url", "body", "status_code", "indexability", "indexability_status", "canonical_link", "redirect_url")
PAGES = (
    "SELECT p.id, p.url, p.content_type, p.status_code, p.robots, p.canonical, p.redirect_url, p.depth, p.modified, "
    "p.sitemap_modified, r.title, r.h1, r.headings, r.description, r.language, r.text, r.breadcrumb, r.word_count, "
    "r.modified FROM page p LEFT JOIN reading r ON r.page = p.id "
    "WHERE p.state = 'done' AND p.id > ? ORDER BY p.id LIMIT ?"
)
LINKS = (
    "SELECT s.id, l.number, s.url, l.target, l.anchor, l.block, l.follow, l.place FROM link l "
    "JOIN page s ON s.id = l.source WHERE s.state = 'done' AND (l.source, l.number) > (?, ?) "
    "ORDER BY l.source, l.number LIMIT ?"
)


class StoredRows(Source):
    """The rows of a store. `is_whole` says whether what it does not hold is gone."""

    exact_text = True
    allowed_by = "“Import anyway” on the page of the source"

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self.at = 0
        with FetchStore(path, read_only=True) as store:
            self.is_whole = store.is_whole
            self.known_only = bool(store.noted("texts_only", False))
            self.size = max(1, self._count(store))

    def _count(self, store: FetchStore) -> int:
        raise NotImplementedError

    @property
    def position(self) -> int:
        return self.at

    def describe(self) -> dict[str, Any]:
        return {"file": self.name}


class StoredPages(StoredRows):
    header = (
        *("url", "content_type", "status_code", "indexability", "indexability_status", "canonical_link"),
        *("redirect_url", "crawl_depth", "last_modified", "title", "h1", "description", "language", "body"),
        *("word_count", *(f"heading {n}" for n in range(1, HEADINGS + 1))),
        *(f"breadcrumb {n}" for n in range(1, CRUMBS + 1)),
    )
    simple = header[: header.index("heading 1")]

    @property
    def mapping(self) -> dict[str, list[str]]:
        """Which column fills which field. Breadcrumbs where any page has one; else addresses tell the categories.

        Where the fetch was for texts alone, they and how the pages answered are all that is taken.
        """
        if self.known_only:
            left_out: dict[str, list[str]] = {name: [] for name in (*self.simple, "headings", "breadcrumb")}
            return left_out | {name: [name] for name in OF_TEXTS}
        mapping = {name: [name] for name in self.simple}
        if not self._has("page WHERE depth IS NOT NULL"):  # a sitemap knows nothing of clicks
            mapping["crawl_depth"] = []
        mapping["headings"] = [f"heading {n}" for n in range(1, HEADINGS + 1)]
        if self._has("reading WHERE breadcrumb <> '[]'"):
            mapping["breadcrumb"] = [f"breadcrumb {n}" for n in range(1, CRUMBS + 1)]
        return mapping

    def _has(self, rows: str) -> bool:
        with FetchStore(self.path, read_only=True) as store:
            return store.connection.execute(f"SELECT 1 FROM {rows} LIMIT 1").fetchone() is not None

    def _count(self, store: FetchStore) -> int:
        return store.counts().get("done", 0)

    def chunks(self) -> Iterator[Records]:
        self.at = last = 0
        with FetchStore(self.path, read_only=True) as store:
            while rows := store.connection.execute(PAGES, [last, CHUNK]).fetchall():
                last = rows[-1][0]
                yield Records.of([_page_cells(row) for row in rows], len(self.header), self.at + 1)
                self.at += len(rows)


def _page_cells(row: tuple[Any, ...]) -> list[str]:
    (_, url, kind, code, robots, canonical, redirect, depth, modified, in_sitemap, *read) = row
    title, h1, headings, description, language, text, crumbs, words, said = read
    reason = _why_hidden((robots or "").split(), code, redirect)
    cells = [
        *(url, kind, code, "non-indexable" if reason else "", reason, canonical, redirect, depth),
        *(said or in_sitemap or modified, title, h1, description, language, text, words),
        *_padded(headings, HEADINGS),
        *_padded(crumbs, CRUMBS),
    ]
    return ["" if cell is None else str(cell) for cell in cells]


def _why_hidden(directives: list[str], code: int | None, redirect: str) -> str:
    """Why a page that answers 200 is not indexable; empty where it is, or where its status says so."""
    if "noindex" in directives:
        return "noindex"
    if redirect and code == 200:
        return "Redirected"
    return ENDLESS_CALENDAR if CALENDAR in directives else ""


def _padded(stored: str | None, size: int) -> list[str]:
    found = [str(part) for part in json.loads(stored or "[]")][:size]
    return found + [""] * (size - len(found))


class StoredLinks(StoredRows):
    header = ("source", "target", "anchor", "link_position", "follow", "place")

    @property
    def mapping(self) -> dict[str, list[str]]:
        return {name: [name] for name in self.header}

    @property
    def places_only(self) -> bool:  # type: ignore[override]
        return self.known_only

    def _count(self, store: FetchStore) -> int:
        return int(store.connection.execute("SELECT count(*) FROM link").fetchone()[0])

    def chunks(self) -> Iterator[Records]:
        self.at, last = 0, (0, -1)
        with FetchStore(self.path, read_only=True) as store:
            while rows := store.connection.execute(LINKS, [*last, CHUNK * 10]).fetchall():
                last = rows[-1][0], rows[-1][1]
                cells = [
                    [source, target, anchor, block, "true" if follow else "false", "" if place is None else str(place)]
                    for _, _, source, target, anchor, block, follow, place in rows
                ]
                yield Records.of(cells, len(self.header), self.at + 1)
                self.at += len(rows)
