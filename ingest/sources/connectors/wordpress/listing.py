"""The list of all posts, which is cheap and says what is new and what is gone."""

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
    listed: dict[str, str] = {}
    said = _read_list(fetch, post_type, listed)
    with fetch.store.transaction():
        _forget_left(fetch, post_type, listed)
        if not said:
            fetch.store.note(f"listed {post_type.name}", True)
        fetch.note_requests()
    return said


def _read_list(fetch: Fetch, post_type: PostType, listed: dict[str, str]) -> str:
    """Fills `listed` with the key of each post by its number, as it was listed last."""
    fields = ",".join((LISTED, *post_type.term_fields))
    said = ""
    for _attempt in range(LIST_TRIES):
        try:
            for posts in fetch.api.pages_of(post_type.route, _fields=fields):
                with fetch.store.transaction():
                    for post in posts:
                        if key := _note_post(fetch, post_type, post):
                            listed[str(post["id"])] = key
        except IncompleteList as error:
            said = f"{post_type.label}: {error}."
        except WordPressError as error:
            return f"{post_type.label}: {error}"
        else:
            return ""
    return said


def _forget_left(fetch: Fetch, post_type: PostType, listed: dict[str, str]) -> None:
    """Takes out the addresses that posts have left since an earlier reading of the list, or an earlier try of this
    fetch: a post is one page."""
    rows = fetch.store.connection
    noted = rows.execute("SELECT id, key, etag FROM page WHERE origin = ?", [post_type.name]).fetchall()
    left = [(page,) for page, key, mark in noted if listed.get(which(mark), key) != key]
    for table, column in (("link", "source"), ("reading", "page"), ("page", "id")):
        rows.executemany(f"DELETE FROM {table} WHERE {column} = ?", left)


def _note_post(fetch: Fetch, post_type: PostType, post: dict[str, Any]) -> str:
    """Returns the key of the post's address; empty where the post is no page of the site."""
    url = str(post.get("link") or "")
    if post.get("status", "publish") != "publish":
        return ""
    try:
        key = fetch.site.canonical_url(url)
    except (NotAnAddress, AnotherSite):
        fetch.counts["offsite"] = fetch.counts.get("offsite", 0) + 1
        return ""
    terms = [f"{name}={sorted(post.get(name) or [])}" for name in post_type.term_fields]
    fetch.store.connection.execute(
        "INSERT INTO page (key, url, origin, modified, etag, content_type) VALUES (?, ?, ?, ?, ?, 'text/html') "
        "ON CONFLICT (key) DO UPDATE SET origin = excluded.origin, modified = excluded.modified, "
        "etag = excluded.etag WHERE page.state = 'waiting'",
        [key, url, post_type.name, time_of(post.get("modified_gmt")), " ".join([str(post["id"]), *terms])],
    )
    return key
