"""Where posts and lists stood before: WordPress knows each by its number, whatever its address.

A store holds, besides what is there, each address that a number is known to have had: one that leads to where its post
is now is imported as a redirect, and so the page keeps its history. Where nothing says where the post is now, the
address is only kept, for the fetch that finds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.sources.connectors.wordpress.facts import which
from ingest.sources.store import FORMER, FetchStore

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ingest.sources.connectors.wordpress.fetch import Fetch

MOVED = "moved"  # an origin, as FORMER is
NUMBERED = "SELECT key, url, etag FROM page WHERE etag <> ''"


def forget_moves(fetch: Fetch) -> None:
    """Takes out what an earlier try of this fetch has noted: such an address may be listed as a post's by now."""
    with fetch.store.transaction() as rows:
        rows.execute("DELETE FROM page WHERE origin IN (?, ?)", [MOVED, FORMER])


def note_moves(fetch: Fetch, *, is_whole: bool) -> None:
    """Notes each address at which a post or a list stood in an earlier fetch, and at which there is nothing any more,
    as one that leads to where it is now: it is the same page, whatever its slug and its categories. WordPress
    answers most such addresses with the same redirect itself.

    `is_whole`: whether everything was listed. If not, a post that is now where another was known leads nowhere yet:
    the other may just as well have moved to where that one was.
    """
    known = _known_before(fetch.fetching.earlier)
    taken = {key for (key,) in fetch.store.connection.execute("SELECT key FROM page")}
    now = {
        which(mark): (key, url) for key, url, mark in fetch.store.connection.execute(f"{NUMBERED} AND state = 'done'")
    }
    moved, former = [], []
    for key, (url, number) in known.items():
        if key in taken:
            continue
        new_key, new_url = now.get(number, ("", ""))
        if new_key and (is_whole or known.get(new_key, ("", number))[1] == number):
            moved.append((key, url, number, new_url))
        else:
            former.append((key, url, number))
    with fetch.store.transaction() as rows:
        rows.executemany(
            "INSERT INTO page (key, url, etag, redirect_url, state, origin, status_code, content_type) "
            f"VALUES (?, ?, ?, ?, 'done', '{MOVED}', 301, 'text/html')",
            moved,
        )
        rows.executemany(
            f"INSERT INTO page (key, url, etag, state, origin) VALUES (?, ?, ?, '{FORMER}', '{FORMER}')", former
        )
        # A post of a type that is left out now may be where it was.
        fetch.store.note("former_are_gone", is_whole and not fetch.fetching.options.types_left_out)
    fetch.counts["redirects"] = len(moved)


def _known_before(stores: Sequence[Path]) -> dict[str, tuple[str, str]]:
    """By key, the address and the number that stood there, as the newest of the stores knows; they come newest
    first."""
    known: dict[str, tuple[str, str]] = {}
    for path in reversed(stores):
        with FetchStore(path, read_only=True) as old:
            known |= {key: (url, which(mark)) for key, url, mark in old.connection.execute(NUMBERED)}
    return known
