"""Addresses that speak for no role. Most pages of a site have one, and need no second look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.engine.roles.finder import _ABOUT, _CLEAR, _MACHINERY, _MAYBE, _above, _base_parts, _path

if TYPE_CHECKING:
    from linker.engine.roles.finder import SiteFacts

_TELLING = _CLEAR | _MAYBE | _ABOUT | {"index", "home", "default"}


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
