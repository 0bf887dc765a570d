"""What part of a page an element is, by its name, role, classes and id."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from ingest.sources.reading.types import ASIDE, FOOTER, HEADER, NAVIGATION

UNSEEN = "unseen"  # neither text nor links of it are read
NONE = ""

_UNSEEN_NAMES = (
    "script style template noscript svg math iframe object embed canvas audio video head select option datalist"
    " textarea input map dialog -comment -doctype"
)
_UNSEEN_ELEMENTS = frozenset(_UNSEEN_NAMES.split())
_BY_NAME = {"nav": NAVIGATION, "menu": NAVIGATION, "aside": ASIDE, "footer": FOOTER, "header": HEADER, "form": ASIDE}
_BY_ROLE = {
    "navigation": NAVIGATION,
    "menu": NAVIGATION,
    "menubar": NAVIGATION,
    "tablist": NAVIGATION,
    "banner": HEADER,
    "contentinfo": FOOTER,
    "complementary": ASIDE,
    "search": HEADER,
    "dialog": ASIDE,
    "alertdialog": ASIDE,
}
# Words of classes and ids, and pairs of words that follow each other, as sites and their systems write them.
_NAMES = {
    NAVIGATION: (
        "nav navbar navigation menu megamenu breadcrumb breadcrumbs crumbs pager pagination topnav subnav sitenav"
        " mainnav navi toc skip skiplink breadcrumbtrail main-menu side-nav table-contents post-navigation"
    ),
    HEADER: "masthead banner topbar siteheader toolbar site-header page-top top-bar",
    FOOTER: "footer colophon siteinfo copyright bottombar pagefooter sitefooter",
    ASIDE: (
        "sidebar sidebars related recommended recommendations recirculation similar upsell crosssell"
        " share sharing sharebar social socials addtoany sharedaddy cookie cookies cookiebar consent gdpr popup modal"
        " overlay newsletter subscribe subscription signup optin comments comment commentlist respond disqus byline"
        " authorbox widget widgets promo advert advertisement ads sponsor teaser tagcloud taglist postmeta entrymeta"
        " author-box author-bio author-info about-author post-meta entry-meta article-meta post-tags read-more see-more"
        " more-articles you-may may-like back-top to-top print-link edit-page"
    ),
}
# The same for words that are written together: relatedposts, cookiebanner.
_STARTS = re.compile(r"(?:related|recommend|newsletter|cookie|sidebar|advert|share)[a-z]")
_WORDS = {word: zone for zone, words in _NAMES.items() for word in words.split()}
# An aside that belongs to the text, as documentation has them.
_NOTE_NAMES = "note notes tip warning important caution callout admonition alert danger hint info pullquote"
_NOTES = frozenset(_NOTE_NAMES.split())
# What speaks against a word: wrappers named after what they hold or lack.
_WRAPPER_NAMES = "has no with without wrap wrapper wrapped layout container content main body page hide hidden"
_WRAPPERS = frozenset(_WRAPPER_NAMES.split())
_SPLIT = re.compile(r"[^a-zA-Z]+|(?<=[a-z])(?=[A-Z])")
_HIDDEN_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)


def zone_of(name: str, attributes: dict[str, str]) -> str:
    """The zone that an element begins, NONE where it begins none."""
    if name in _UNSEEN_ELEMENTS:
        return UNSEEN
    if not attributes:
        return _BY_NAME.get(name, NONE)
    if "hidden" in attributes or ("style" in attributes and _HIDDEN_STYLE.search(attributes["style"] or "")):
        return UNSEEN
    return named_zone(name, attributes.get("class") or "", attributes.get("id") or "", attributes.get("role") or "")


@lru_cache(maxsize=8192)
def named_zone(name: str, classes: str, identifier: str, role: str) -> str:
    """The zone by the names that an element bears; see zone_of."""
    by_role = _BY_ROLE.get(role.strip().lower())
    if by_role is not None:
        return by_role
    groups = [_words(token) for token in f"{classes} {identifier}"[:500].split()]
    if name in ("aside", "div", "section", "p", "blockquote") and any(_NOTES.intersection(words) for words in groups):
        return NONE
    if name == "a":
        return NAVIGATION if any("skip" in words for words in groups) else NONE
    if name in ("html", "body", "main", "article", "h1"):
        return NONE
    for words in groups:
        found = _by_words(words)
        if found:
            return found
    return _BY_NAME.get(name, NONE)


def _words(token: str) -> list[str]:
    return [word.lower() for word in _SPLIT.split(token) if word]


def _by_words(words: list[str]) -> str:
    for first, second in pairwise(words):
        found = _WORDS.get(f"{first}-{second}")
        if found:
            return found
    if _WRAPPERS.intersection(words):
        return NONE
    found = next((_WORDS[word] for word in words if word in _WORDS), NONE)
    return found or (ASIDE if any(map(_STARTS.match, words)) else NONE)
