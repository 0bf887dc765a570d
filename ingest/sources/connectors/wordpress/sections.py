"""Where a post stands on its site: below its parents, or in its categories. And the pages that list posts: those of the
categories, and those of the authors."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ingest.sources.connectors.wordpress.api import WordPressRefusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.sources.connectors.wordpress.api import WordPressApi

MAX_DEPTH = 20
UNCATEGORISED = 1  # the id of the category that posts without one are in
ARCHIVE = "id,name,link,description,yoast_head_json"


@dataclass(frozen=True)
class Archive:
    """A page that lists posts. `mark` tells it from all others, whatever its address; `facts` are as the API gives
    them; `path`: its place in the tree of categories."""

    mark: str
    facts: dict[str, Any]
    path: tuple[str, ...] = ()


class Sections:
    """The terms of hierarchical taxonomies: `routes` are theirs, such as “wp/v2/categories”. Terms are read once.
    `complaints`: which lists stayed incomplete, `refused` those that the API keeps to itself, as marks begin with them.
    Raises WordPressError where they cannot be: without them, all posts would seem to be in no category."""

    def __init__(self, api: WordPressApi, routes: Sequence[str]) -> None:
        self.api = api
        self.complaints: list[str] = []
        self.refused: list[str] = []
        self.terms: dict[str, dict[int, tuple[str, int]]] = {}
        self.listing: list[tuple[str, dict[str, Any]]] = []  # the terms that list posts, each with its taxonomy
        self.language = ""
        for route in dict.fromkeys(routes):
            self.terms[route.rpartition("/")[2]] = self._read(route)

    @property
    def digest(self) -> str:
        """Differs where a term was made, renamed, moved or removed."""
        return sha256(json.dumps(self.terms, sort_keys=True).encode()).hexdigest()

    def _read(self, route: str) -> dict[int, tuple[str, int]]:
        """Name and parent of each term. A taxonomy that the API keeps to itself has none."""
        terms: dict[int, tuple[str, int]] = {}
        try:
            for term in self.api.every(self.api.terms_of, route, self.complaints, _fields=f"{ARCHIVE},parent,count"):
                terms[term["id"]] = name_of(term), int(term.get("parent") or 0)
                if term.get("count"):
                    self.listing.append((route.rpartition("/")[2], term))
        except WordPressRefusal:
            self.refused.append(route.rpartition("/")[2])
            return {}
        return terms

    def archives(self) -> list[Archive]:
        """The pages of the terms that list posts."""
        return [
            Archive(f"{taxonomy}/{term['id']}", term, self._path(self.terms.get(taxonomy, {}), term["id"]))
            for taxonomy, term in self.listing
        ]

    def authors(self) -> list[Archive]:
        """The pages of those who have written posts; none where the API keeps them to itself."""
        try:
            users = self.api.every(
                self.api.pages_of, "wp/v2/users", self.complaints, _fields=ARCHIVE, has_published_posts="true"
            )
        except WordPressRefusal:
            self.refused.append("users")
            return []
        return [Archive(f"users/{user['id']}", user) for user in users]

    def path_of(self, post: dict[str, Any]) -> tuple[str, ...]:
        """Names from the root: the breadcrumb that the site's own plugin gives, else the deepest category, of equals
        the one with the lowest number. Empty where a post is in none."""
        if crumbs := _crumbs(post.get("yoast_head_json")):
            return crumbs
        paths = []
        for taxonomy, terms in self.terms.items():
            chosen = [term for term in post.get(taxonomy) or [] if term in terms]
            if taxonomy == "categories" and len(chosen) == 1 and chosen[0] == UNCATEGORISED:
                continue
            paths += [(-len(path), term, path) for term in chosen if (path := self._path(terms, term))]
        return min(paths)[2] if paths else ()

    def _path(self, terms: dict[int, tuple[str, int]], term: int) -> tuple[str, ...]:
        names: list[str] = []
        seen = set()
        while term in terms and term not in seen and len(names) < MAX_DEPTH:
            seen.add(term)
            name, parent = terms[term]
            names.append(name)
            term = parent
        return tuple(reversed(names))


def name_of(thing: dict[str, Any]) -> str:
    """The name of a term or a user, without entities."""
    return " ".join(html.unescape(str(thing.get("name", ""))).split())


def _crumbs(seo: Any) -> tuple[str, ...]:
    """The breadcrumb in what an SEO plugin tells of a post, without the home page and the post itself."""
    graph = seo.get("schema", {}).get("@graph", []) if isinstance(seo, dict) else []
    for part in graph if isinstance(graph, list) else []:
        if isinstance(part, dict) and part.get("@type") == "BreadcrumbList":
            items = [item for item in part.get("itemListElement", []) if isinstance(item, dict)]
            return tuple(str(item["name"]) for item in items[1:-1] if item.get("name"))
    return ()
