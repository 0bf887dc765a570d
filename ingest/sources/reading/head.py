"""What the head of a page says, and what a crawl needs to know of a page at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ingest.sources.reading.addresses import Resolver
from ingest.sources.reading.decode import decode
from ingest.sources.reading.document import parse
from ingest.sources.reading.types import HeadLink, PageHead
from linker.engine.text.clean import collapse, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_LINKS = 20_000  # of a page
MAX_TEXT = 10_000  # characters of a title, an anchor or a description
ROBOTS = ("robots", "googlebot")
NOT_FOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})
_SEPARATORS = re.compile(r"[\s,;]+")
_REFRESH = re.compile(r"\s*+([\d.]*+)\s*+[;,]\s*+(?:url\s*+=\s*+)?[\"']?([^\"']+)", re.IGNORECASE)


class Head:
    """What a page says in its head; of elements that may stand there once, the first counts."""

    def __init__(self, tree: LexborHTMLParser, url: str) -> None:
        base = next((_value(node, "href") for node in tree.css("base[href]")), "")
        self.url = url
        self.resolver = Resolver(url, base)
        self.metas: dict[str, str] = {}
        robots: list[str] = []
        for node in tree.css("meta[content]"):
            attributes = node.attributes
            key = attributes.get("name") or attributes.get("property") or attributes.get("http-equiv")
            key = (key or attributes.get("itemprop") or "").strip().lower()
            content = attributes.get("content") or ""
            if key == "refresh" and node.parent is not None and node.parent.tag == "noscript":
                continue  # for browsers without scripts alone
            if key in ROBOTS:
                robots.append(content)
            elif key:
                self.metas.setdefault(key, content)
        self.robots = frozenset(filter(None, _SEPARATORS.split(" ".join(robots).lower())))
        self.canonical = self.next_page = self.previous_page = ""
        self.hreflang: dict[str, str] = {}
        for node in tree.css("link[rel][href]"):
            self._take(node)
        title = next(
            (node for node in tree.css("title") if node.parent is not None and node.parent.tag == "head"), None
        )
        self.title = plain(title.text()) if title is not None else ""

    @property
    def follows(self) -> bool:
        return not self.robots & {"nofollow", "none"}

    @property
    def refresh(self) -> str:
        found = _REFRESH.match(self.metas.get("refresh", ""))
        return self.resolver.resolve(found[2]) if found is not None else ""

    @property
    def redirect(self) -> str:
        """Where `refresh` leads at once, which search engines take for a redirect."""
        found = _REFRESH.match(self.metas.get("refresh", ""))
        return self.refresh if found is not None and not found[1].strip("0.") else ""

    def meta(self, names: Iterable[str]) -> str:
        """The first of some meta elements that says something."""
        return next((plain(content) for name in names if (content := self.metas.get(name, "").strip())), "")

    def _take(self, node: LexborNode) -> None:
        attributes = node.attributes
        rel = (attributes.get("rel") or "").lower().split()
        address = self.resolver.resolve(attributes.get("href") or "")
        if not address:
            return
        if "canonical" in rel:
            self.canonical = self.canonical or address
        if "next" in rel:
            self.next_page = self.next_page or address
        if "prev" in rel or "previous" in rel:
            self.previous_page = self.previous_page or address
        language = (attributes.get("hreflang") or "").strip().lower()
        if "alternate" in rel and language:
            self.hreflang.setdefault(language, address)


def read_head(html: bytes | str, url: str, content_type: str = "") -> PageHead:
    """What a crawl needs to know of a page while it goes on."""
    text = html if isinstance(html, str) else decode(html, content_type)
    tree = parse(text)
    head = Head(tree, url)
    links: list[HeadLink] = []
    next_page, previous_page = head.next_page, head.previous_page
    for node in tree.css("a[href], area[href]"):
        if len(links) >= MAX_LINKS:
            break
        attributes = node.attributes
        target = head.resolver.resolve(attributes.get("href") or "")
        if not target:
            continue
        rel = frozenset((attributes.get("rel") or "").lower().split())
        if rel:
            next_page = next_page or (target if "next" in rel else "")
            previous_page = previous_page or (target if rel & {"prev", "previous"} else "")
        links.append(HeadLink(target, plain(node.text() or ""), head.follows and not rel & NOT_FOLLOWED))
    return PageHead(
        title=head.title,
        canonical=head.canonical,
        robots=head.robots,
        hreflang=head.hreflang,
        next_page=next_page,
        previous_page=previous_page,
        refresh=head.refresh,
        redirect=head.redirect,
        links=links,
    )


def plain(text: str) -> str:
    """A short text as a person reads it: blanks collapsed, nothing invisible."""
    return collapse(visible(text[:MAX_TEXT]))


def _value(node: LexborNode, name: str) -> str:
    return node.attributes.get(name) or ""
