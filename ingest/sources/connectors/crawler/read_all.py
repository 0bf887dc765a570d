"""After the crawl: what repeats on the site's pages is learned, and each page is read with that knowledge."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.sources.connectors.crawler.crawl import tell
from ingest.sources.connectors.crawler.parts import in_parts
from ingest.sources.connectors.crawler.scope import Scope
from ingest.sources.learned_template import learned_template
from ingest.sources.reading import read_page
from ingest.sources.store import FetchStore, Reading, StoredLink, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable

    from ingest.sources.connectors.crawler.plan import Plan
    from ingest.sources.reading import ReadPage, SiteTemplate

CHUNK = 50  # pages read in one transaction
WITHOUT_READING = (
    "FROM page p WHERE p.state = 'done' AND p.status_code = 200 AND p.html IS NOT NULL "
    "AND NOT EXISTS (SELECT 1 FROM reading r WHERE r.page = p.id)"
)


def read_all(plan: Plan, store: FetchStore) -> None:
    """Reads the pages that were not read yet. May be called again after it was interrupted."""
    left = store.connection.execute(f"SELECT count(*) {WITHOUT_READING}").fetchone()[0]
    if not left:
        return
    template = learned_template(store, Path(plan.previous) if plan.previous else None, left, tell)
    in_parts(plan, left, "Reading pages", partial(_read_part, plan, template))


def _read_part(plan: Plan, template: SiteTemplate, part: int, parts: int, note: Callable[[int], None]) -> None:
    """Reads each page whose number leaves the rest `part`, and calls `note` with how many it has read."""
    scope = Scope(plan.site, plan.choices)
    last = done = 0
    with FetchStore(Path(plan.store)) as store:
        while rows := store.connection.execute(
            f"SELECT p.id, p.url, p.content_type, p.html, p.robots {WITHOUT_READING} AND p.id > ? AND p.id % ? = ? "
            "ORDER BY p.id LIMIT ?",
            [last, parts, part, CHUNK],
        ).fetchall():
            found = [(row[0], *_read_one(row, template, scope)) for row in rows]
            last = rows[-1][0]
            with store.transaction():
                for number, reading, links in found:
                    store.save_reading(number, reading, links)
            done += len(rows)
            note(done)


def _read_one(
    row: tuple[int, str, str, bytes, str], template: SiteTemplate, scope: Scope
) -> tuple[Reading, list[StoredLink]]:
    _, url, kind, html, robots = row
    page = read_page(unpacked(html), url, template, content_type=kind)
    follows = "nofollow" not in robots.split()
    links = [
        StoredLink(_cleaned(link.target, scope), link.anchor, link.block, link.follow and follows, link.place)
        for link in page.links
    ]
    return _reading(page), links


def _cleaned(target: str, scope: Scope) -> str:
    """A link's target as the crawl asks for it: without parameters that are left out."""
    return scope.clean(target) if "?" in target or ";" in target else target


def _reading(page: ReadPage) -> Reading:
    return Reading(
        title=page.title,
        h1=page.h1,
        headings=tuple(page.headings),
        description=page.description,
        language=page.language,
        text=page.text,
        breadcrumb=tuple(page.breadcrumb),
        hreflang=dict(page.hreflang),
        word_count=page.word_count,
        modified=page.modified,
        needs_browser=page.needs_browser,
    )
