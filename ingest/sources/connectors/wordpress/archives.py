"""The pages that list posts: those of categories, tags and authors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.addresses.normalise import AnotherSite, NotAnAddress
from ingest.sources.connectors.wordpress.earlier import copy
from ingest.sources.connectors.wordpress.facts import mapping, plain, stored_links
from ingest.sources.connectors.wordpress.sections import name_of
from ingest.sources.reading import read_page
from ingest.sources.store import FetchStore, Reading

if TYPE_CHECKING:
    from ingest.sources.connectors.wordpress.fetch import Fetch
    from ingest.sources.connectors.wordpress.sections import Archive


def save_archives(fetch: Fetch, archives: list[Archive]) -> None:
    """The pages that list posts, with what is said of each. Where a post has such an address, it is the post's."""
    for archive in archives:
        url = str(archive.facts.get("link") or "")
        try:
            key = fetch.site.canonical_url(url)
        except (NotAnAddress, AnotherSite):
            continue
        seo = mapping(archive.facts, "yoast_head_json")
        description = str(archive.facts.get("description") or "")
        read = read_page(f"<html><body><main><article>{description}</article></main></body></html>", url)
        name = name_of(archive.facts)
        reading = Reading(
            title=plain(str(seo.get("title") or name)),
            h1=name,
            headings=tuple(read.headings),
            description=plain(str(seo.get("description") or description))[:500],
            text=read.text,
            breadcrumb=(*archive.path, name) if archive.path else (),  # its own name is no category of it
            word_count=read.word_count,
        )
        robots = " ".join(map(str, mapping(seo, "robots").values()))
        with fetch.store.transaction() as rows:
            made = rows.execute(
                "INSERT OR IGNORE INTO page (key, url, state, origin, etag, status_code, content_type, robots, "
                "canonical) VALUES (?, ?, 'done', 'archive', ?, 200, 'text/html', ?, ?)",
                [key, url, archive.mark, robots, str(seo.get("canonical") or "")],
            )
            if made.rowcount:
                fetch.store.save_reading(made.lastrowid or 0, reading, stored_links(read.links))


def keep_archives(fetch: Fetch, refused: list[str]) -> None:
    """Takes over from the last fetch the pages of lists that the API keeps to itself by now: nothing says that
    these are gone."""
    previous = fetch.fetching.previous
    if previous is None or not refused:
        return
    wanted = " OR ".join("etag LIKE ?" for _name in refused)
    with FetchStore(previous, read_only=True) as old:
        held = old.connection.execute(
            f"SELECT id, key, url, etag FROM page WHERE origin = 'archive' AND state = 'done' AND ({wanted})",
            [f"{name}/%" for name in refused],
        ).fetchall()
    pairs = []
    with fetch.store.transaction() as rows:
        for page, *facts in held:
            made = rows.execute(
                "INSERT OR IGNORE INTO page (key, url, etag, origin, content_type) "
                "VALUES (?, ?, ?, 'archive', 'text/html')",
                facts,
            )
            if made.rowcount:
                pairs.append((made.lastrowid or 0, page))
    if pairs:
        copy(fetch, previous, pairs)
