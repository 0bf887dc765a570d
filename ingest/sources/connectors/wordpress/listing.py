"""The list of all posts, which is cheap and says what is new, what is gone and what has moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from ingest.addresses.normalise import AnotherSite, NotAnAddress
from ingest.sources.connectors.wordpress.api import LIST_TRIES, IncompleteList, WordPressError
from ingest.sources.connectors.wordpress.facts import time_of, which
from ingest.sources.store import FetchStore

if TYPE_CHECKING:
    from ingest.sources.connectors.wordpress.fetch import Fetch
    from ingest.sources.connectors.wordpress.post_types import PostType

LISTED = "id,link,modified_gmt,status"


def types_gone(fetch: Fetch, types: list[PostType]) -> list[str]:
    """Complaints of types that the last fetch had and the site does not name now: a plugin may have switched their
    API off. The fetch after this one takes the site at its word."""
    fetch.store.note("types", [post_type.name for post_type in types])
    if fetch.fetching.previous is None:
        return []
    with FetchStore(fetch.fetching.previous, read_only=True) as old:
        before = set(old.noted("types", [])) - fetch.fetching.options.types_left_out
    gone = sorted(before - {post_type.name for post_type in types})
    return [_("The site no longer names its posts of the type “%(type)s”.") % {"type": name} for name in gone]


def list_posts(fetch: Fetch, post_type: PostType) -> str:
    """Notes every post of a type as waiting. Returns why the list is not whole; empty where it is."""
    if fetch.store.noted(f"listed {post_type.name}"):
        return ""
    fields = ",".join((LISTED, *post_type.term_fields))
    said = ""
    for _attempt in range(LIST_TRIES):
        try:
            for posts in fetch.api.pages_of(post_type.route, _fields=fields):
                with fetch.store.transaction():
                    for post in posts:
                        _note_post(fetch, post_type, post)
        except IncompleteList as error:
            said = f"{post_type.label}: {error}."
        except WordPressError as error:
            return f"{post_type.label}: {error}"
        else:
            with fetch.store.transaction():
                fetch.store.note(f"listed {post_type.name}", True)
                fetch.note_requests()
            return ""
    return said


def _note_post(fetch: Fetch, post_type: PostType, post: dict[str, Any]) -> None:
    url = str(post.get("link") or "")
    if post.get("status", "publish") != "publish":
        return
    try:
        key = fetch.site.canonical_url(url)
    except (NotAnAddress, AnotherSite):
        fetch.counts["offsite"] = fetch.counts.get("offsite", 0) + 1
        return
    terms = [f"{name}={sorted(post.get(name) or [])}" for name in post_type.term_fields]
    fetch.store.connection.execute(
        "INSERT INTO page (key, url, origin, modified, etag, content_type) VALUES (?, ?, ?, ?, ?, 'text/html') "
        "ON CONFLICT (key) DO UPDATE SET origin = excluded.origin, modified = excluded.modified, "
        "etag = excluded.etag WHERE page.state = 'waiting'",
        [key, url, post_type.name, time_of(post.get("modified_gmt")), " ".join([str(post["id"]), *terms])],
    )


def note_moves(fetch: Fetch) -> None:
    """Notes each address at which a post or a list of the last fetch stood, and at which there is nothing any more,
    as one that leads to where it is now: it is the same page, whatever its slug and its categories. WordPress
    answers most such addresses with the same redirect itfetch."""
    previous = fetch.fetching.previous
    if previous is None:
        return
    posts = "SELECT key, url, etag FROM page WHERE etag <> ''"
    with FetchStore(previous, read_only=True) as old:
        before = old.connection.execute(posts).fetchall()
    rows = fetch.store.connection.execute(posts).fetchall()
    taken = {key for key, _url, _mark in rows}
    now = {which(mark): url for _key, url, mark in rows}
    moved = [
        (key, url, which(mark), now[which(mark)])
        for key, url, mark in before
        if key not in taken and which(mark) in now
    ]
    with fetch.store.transaction() as connection:
        connection.executemany(
            "INSERT OR IGNORE INTO page (key, url, etag, redirect_url, state, origin, status_code, content_type) "
            "VALUES (?, ?, ?, ?, 'done', 'moved', 301, 'text/html')",
            moved,
        )
    fetch.counts["redirects"] = len(moved)
