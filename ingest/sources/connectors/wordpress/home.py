"""The home page where it lists posts instead of being one, with the links of the site's menus."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urljoin

from ingest.addresses.normalise import AnotherSite, NotAnAddress
from ingest.sources.connectors.wordpress.api import WordPressError, WordPressRefusal
from ingest.sources.connectors.wordpress.facts import plain, rendered
from ingest.sources.store import Reading, StoredLink

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ingest.sources.connectors.wordpress.fetch import Fetch


def add_home(fetch: Fetch) -> None:
    """The home page where it lists posts instead of being one, with the links of the site's menus."""
    try:
        root = fetch.api.get("", _fields="name,description,home,url").data
    except WordPressRefusal:  # some plugins keep it to themselves
        root = None
    root = root if isinstance(root, dict) else {}
    home = str(root.get("home") or fetch.fetching.source.address)
    home = home if home.endswith("/") else f"{home}/"
    try:
        key = fetch.site.canonical_url(home)
    except (NotAnAddress, AnotherSite):
        return
    with fetch.store.transaction() as rows:
        rows.execute(
            "INSERT INTO page (key, url, state, origin, depth, status_code, content_type) "
            "VALUES (?, ?, 'done', 'home', 0, 200, 'text/html') ON CONFLICT (key) DO UPDATE SET depth = 0",
            [key, home],
        )
        page, origin = rows.execute("SELECT id, origin FROM page WHERE key = ?", [key]).fetchone()
        menu = list(_menu_links(fetch, home))
        if origin == "home":
            name = plain(str(root.get("name", "")))
            reading = Reading(title=name, h1=name, description=plain(str(root.get("description", ""))))
            fetch.store.save_reading(page, reading, menu)
        elif menu:
            first = rows.execute("SELECT coalesce(max(number) + 1, 0) FROM link WHERE source = ?", [page])
            start = first.fetchone()[0]
            rows.execute("DELETE FROM link WHERE source = ? AND block = 'navigation'", [page])
            rows.executemany(
                "INSERT INTO link VALUES (?, ?, ?, ?, ?, ?, NULL)",
                [(page, start + n, link.target, link.anchor, link.block, link.follow) for n, link in enumerate(menu)],
            )


def _menu_links(fetch: Fetch, home: str) -> Iterator[StoredLink]:
    """The links of the menus, which only a user who may edit them is told."""
    if fetch.api.auth is None:
        return
    try:
        items = fetch.api.every(fetch.api.pages_of, "wp/v2/menu-items", [], _fields="id,title,url")
    except WordPressError:
        return
    for item in items:
        if item.get("url"):
            anchor = plain(rendered(item, "title"))
            yield StoredLink(urljoin(home, str(item["url"])), anchor, "navigation")
