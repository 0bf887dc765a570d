"""Addresses that speak for no role. Most pages of a site have one, and need no second look."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from linker.engine.roles.finder import (
    _ABOUT,
    _CLEAR,
    _MACHINERY,
    _MAYBE,
    _UNREADABLE,
    _above,
    _base_parts,
    _key,
    _path,
    _read_path,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from linker.engine.roles.finder import SiteFacts

_TELLING = _CLEAR | _MAYBE | _ABOUT | {"index", "home", "default"}
_TELLING_OR_MACHINERY = _TELLING | _MACHINERY


def ordinary_addresses(site: SiteFacts) -> Callable[[str], bool]:
    """What `is_ordinary` says of the addresses of a site, in a third of the time: what comes before the last slash,
    which many pages share, is looked at once."""
    base = _base_parts(site.base_url)

    @lru_cache(maxsize=2**14)
    def telling_below(above: str) -> frozenset[str] | None:
        """The last parts that make an address below `above` another than an ordinary one; None where it takes more than
        the last part to say."""
        parts = _read_path(above).parts
        if not parts or parts == _UNREADABLE.parts or above.endswith("/") or parts == base[:-1]:
            return None
        if not is_ordinary(f"{above}/page", site):
            return None
        return _TELLING_OR_MACHINERY if len(parts) == 1 else _TELLING

    def look(url: str) -> bool:
        above, _, last = url.rstrip("/").rpartition("/")
        if "?" not in url and "#" not in url and "%" not in url and last.isprintable():
            telling = telling_below(above)
            if telling is not None:
                return _key(last) not in telling
        return is_ordinary(url, site)

    return look


def is_ordinary(url: str, site: SiteFacts) -> bool:
    """Whether a page at this address is an article, should nothing else be known of it: it has no text, no page lies
    below it, no list of the crawl's names pages on it, and few menus lead to it. `find_role` says the same of such a
    page, and takes longer."""
    parts = _path(url).parts
    if not parts or parts[-1] in _TELLING or parts == _base_parts(site.base_url):
        return False
    if not _MACHINERY.isdisjoint(parts[:2]):
        return False
    above = _above(parts[:-1])
    return not above.maybe_lists and above.product not in site.sells_in
