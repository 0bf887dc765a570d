"""Once all posts came: what plugins set in and around many of them is learned, and each is read with that knowledge.

Until then a post's HTML lies in the store. A fetch that is interrupted goes on with those that still have theirs.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ingest.sources.connectors.wordpress.facts import stored_links
from ingest.sources.learned_template import learned_template
from ingest.sources.reading import read_page
from ingest.sources.store import unpacked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.sources.connectors.wordpress.fetch import Fetch
    from ingest.sources.connectors.wordpress.post_types import PostType

CHUNK = 50  # posts read in one transaction
SAYING = "Reading posts and pages"


def read_posts(fetch: Fetch, types: Sequence[PostType]) -> None:
    """Reads the posts that were not read yet. Tells how many of all posts are done, as the site counts them: with those
    that have not changed, and those behind a password."""
    store, progress = fetch.store, fetch.fetching.progress
    counts = dict(store.connection.execute("SELECT origin, count(*) FROM page GROUP BY origin"))
    every = sum(counts.get(post_type.name, 0) for post_type in types)
    left = store.connection.execute("SELECT count(*) FROM page WHERE html IS NOT NULL").fetchone()[0]
    template = learned_template(store, fetch.fetching.previous, left, progress)
    done = every - left
    while rows := store.connection.execute(
        "SELECT id, url, html FROM page WHERE html IS NOT NULL ORDER BY id LIMIT ?", [CHUNK]
    ).fetchall():
        with store.transaction():
            for page, url, html in rows:
                read = read_page(unpacked(html).decode(), url, template)
                store.connection.execute(
                    "UPDATE reading SET text = ?, headings = ?, word_count = ? WHERE page = ?",
                    [read.text, json.dumps(read.headings), read.word_count, page],
                )
                store.save_links(page, stored_links(read.links))
                store.connection.execute("UPDATE page SET html = NULL WHERE id = ?", [page])
        done += len(rows)
        progress(done, every, SAYING)
