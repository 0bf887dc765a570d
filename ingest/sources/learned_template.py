"""What repeats on the pages of a site that was fetched: learned once a fetch, or taken over from the last one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ingest.sources.reading import SiteTemplate, decode
from ingest.sources.reading.site_template import MAX_PAGES
from ingest.sources.store import FetchStore, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def learned_template(
    store: FetchStore, previous: Path | None, left: int, tell: Callable[[int, int, str], None]
) -> SiteTemplate:
    """Of the pages whose HTML the store holds, `left` of which are to be read. Where most pages are as they were at the
    `previous` fetch, what was learned then still holds, and so do the texts of the pages that were read with it."""
    stored = store.noted("template")
    if stored is None:
        stored = _earlier(store, previous, left)
    if stored is not None:
        return SiteTemplate.from_json(stored)
    tell(0, 0, "Learning what repeats")
    template = SiteTemplate.learn(_sample(store))
    with store.transaction():
        store.note("template", template.to_json())
    return template


def _earlier(store: FetchStore, previous: Path | None, left: int) -> dict[str, Any] | None:
    unchanged = store.connection.execute("SELECT count(*) FROM page WHERE unchanged").fetchone()[0]
    if previous is None or unchanged < left:
        return None
    with FetchStore(previous, read_only=True) as old:
        found: dict[str, Any] | None = old.noted("template")
    if found is not None:
        with store.transaction():
            store.note("template", found)
    return found


def _sample(store: FetchStore) -> Iterator[tuple[str, str]]:
    """As many pages as are learned from, from all over the site."""
    rows = store.connection
    condition = "state = 'done' AND status_code = 200 AND html IS NOT NULL"
    numbers = [number for (number,) in rows.execute(f"SELECT id FROM page WHERE {condition} ORDER BY id")]
    step = max(1, len(numbers) // MAX_PAGES)
    for number in numbers[::step][:MAX_PAGES]:
        url, kind, html = rows.execute("SELECT url, content_type, html FROM page WHERE id = ?", [number]).fetchone()
        yield url, decode(unpacked(html), kind)
