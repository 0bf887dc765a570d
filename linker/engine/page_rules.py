"""Which pages may give or receive a link at all, from their address and state."""

from __future__ import annotations

from typing import Any, Protocol
from urllib.parse import parse_qsl, urlsplit

import re2


class Pattern(Protocol):
    """A compiled RE2 expression."""

    def search(self, text: str) -> Any: ...
    def sub(self, repl: str, text: str, /) -> str: ...


PAGINATION_PATH = re2.compile(r"(?i)/(?:page|seite|pagina|pagine)[/-]?\d{1,4}(?:/|\.html?)?$")
PAGINATION_NAMES = frozenset(["page", "paged", "pg", "start", "offset", "seite", "pagina", "pageno", "page_num"])
# Names that order, filter or track: the same content under another address.
VARIANT_NAMES = frozenset(
    [
        *("sort", "sortby", "sort_by", "order", "orderby", "order_by", "dir", "direction", "view", "show"),
        *("limit", "per_page", "perpage", "pagesize", "page_size", "min_price", "max_price", "currency"),
        *("filter", "filters", "facet", "facets", "q", "query", "s", "search", "color", "colour", "size", "brand"),
        *("replytocom", "share", "print", "add-to-cart", "sid", "sessionid", "session_id", "phpsessid", "jsessionid"),
        *("ref", "referrer", "source", "gclid", "fbclid", "msclkid", "mc_cid", "mc_eid"),
        *("utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"),
    ]
)


def is_pagination(url: str) -> bool:
    """Whether the address is a further page of a listing: `/page/2`, `?page=2`."""
    # Most addresses are known by their end alone: without query and fragment the path ends where the address does.
    if "?" not in url and "#" not in url and url.isprintable() and not PAGINATION_PATH.search(url):
        return False
    parts = urlsplit(url)
    if PAGINATION_PATH.search(parts.path):
        return True
    return any(name.lower() in PAGINATION_NAMES and value.isdigit() for name, value in parse_qsl(parts.query))


def is_parameter_url(url: str, policy: str, *, is_variant: bool) -> bool:
    """Whether the address is left out for its query, by the project's policy.

    `auto`: the query sorts, filters, searches or tracks, or the address without it is a page of its own
    (`is_variant`); a shop whose products live at `?pid=...` keeps them. `exclude`: any query. `allow`: none.
    """
    query = urlsplit(url).query if "?" in url else ""
    if not query or policy == "allow":
        return False
    if policy == "exclude" or is_variant:
        return True
    names = {name.lower() for name, _ in parse_qsl(query, keep_blank_values=True)}
    return bool(names & VARIANT_NAMES)
