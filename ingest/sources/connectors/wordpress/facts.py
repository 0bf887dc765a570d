"""What an answer of the API says of a post, in the form in which it is stored."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from ingest.sources.store import StoredLink

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.sources.reading import PageLink

TAGS = re.compile(r"<[^>]{0,2000}>")


def stored_links(links: Sequence[PageLink]) -> list[StoredLink]:
    return [StoredLink(link.target, link.anchor, link.block, link.follow, link.place) for link in links]


def which(mark: str) -> str:
    """Which post or list a row of the store is: what its mark begins with."""
    return mark.partition(" ")[0]


def mapping(post: dict[str, Any], name: str) -> dict[str, Any]:
    """A part of a post that has parts; empty where plugins have put something else there."""
    part = post.get(name)
    return part if isinstance(part, dict) else {}


def rendered(post: dict[str, Any], name: str) -> str:
    return str(mapping(post, name).get("rendered", ""))


def plain(text: str) -> str:
    """Rendered text without tags and entities."""
    return " ".join(html.unescape(TAGS.sub(" ", text)).replace("\0", "").split())


def time_of(gmt: Any) -> str:
    return f"{gmt}Z" if isinstance(gmt, str) and gmt and not gmt.startswith("0000") else ""
