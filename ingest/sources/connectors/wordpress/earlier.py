"""What is taken over from the last fetch instead of being asked for again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.sources.store import FetchStore

if TYPE_CHECKING:
    from pathlib import Path

    from ingest.sources.connectors.wordpress.fetch import Fetch
    from ingest.sources.connectors.wordpress.post_types import PostType


def copy_unchanged(fetch: Fetch, post_type: PostType) -> None:
    """Takes from the last fetch what has the same time of change and terms as then: text, links and section. Where
    the terms themselves have changed, or posts were read one by one then, everything is read anew."""
    previous = fetch.fetching.previous
    if previous is None:
        return
    with FetchStore(previous, read_only=True) as old:
        if old.noted("sections") != fetch.store.noted("sections") or old.noted("template") is None:
            return
        known = {
            (key, modified, mark): page
            for page, key, modified, mark in old.connection.execute(
                "SELECT p.id, p.key, p.modified, p.etag FROM page p JOIN reading r ON r.page = p.id "
                "WHERE p.state = 'done' AND p.origin = ? AND p.modified <> ''",
                [post_type.name],
            )
        }
    waiting = fetch.store.connection.execute(
        "SELECT id, key, modified, etag FROM page WHERE state = 'waiting' AND origin = ?", [post_type.name]
    ).fetchall()
    pairs = [(page, known[tuple(of)]) for page, *of in waiting if tuple(of) in known]
    if pairs:
        copy(fetch, previous, pairs)


def copy(fetch: Fetch, previous: Path, pairs: list[tuple[int, int]]) -> None:
    """What was read in pages of the last fetch, for pages of this one: `pairs` are their numbers, (new, old)."""
    rows = fetch.store.connection
    rows.execute("ATTACH ? AS old", [f"{previous.resolve().as_uri()}?mode=ro"])
    try:
        with fetch.store.transaction():
            rows.execute("CREATE TEMP TABLE pair (new INTEGER PRIMARY KEY, old INTEGER)")
            rows.executemany("INSERT INTO pair VALUES (?, ?)", pairs)
            rows.execute(
                "INSERT OR REPLACE INTO reading SELECT pair.new, r.title, r.h1, r.headings, r.description, "
                "r.language, r.text, r.breadcrumb, r.hreflang, r.word_count, r.modified, r.needs_browser "
                "FROM pair JOIN old.reading r ON r.page = pair.old"
            )
            rows.execute(
                "INSERT OR REPLACE INTO link SELECT pair.new, l.number, l.target, l.anchor, l.block, l.follow, "
                "l.place FROM pair JOIN old.link l ON l.source = pair.old"
            )
            rows.execute(
                "UPDATE page SET (state, status_code, robots, canonical, unchanged) = "
                "(SELECT 'done', o.status_code, o.robots, o.canonical, 1 FROM pair JOIN old.page o "
                "ON o.id = pair.old WHERE pair.new = page.id) WHERE id IN (SELECT new FROM pair)"
            )
            rows.execute("DROP TABLE pair")
    finally:
        rows.execute("DETACH old")
