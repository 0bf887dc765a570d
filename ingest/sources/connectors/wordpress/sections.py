"""Where a post stands on its site: below its parents, or in its categories."""

from __future__ import annotations

import html
import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ingest.sources.connectors.wordpress.api import WordPressError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.sources.connectors.wordpress.api import WordPressApi

PER_PAGE = 100
MAX_DEPTH = 20
UNCATEGORISED = 1  # the id of the category that posts without one are in


class Sections:
    """The terms of hierarchical taxonomies: `routes` are theirs, such as “wp/v2/categories”. Terms are read once."""

    def __init__(self, api: WordPressApi, routes: Sequence[str]) -> None:
        self.api = api
        self.terms: dict[str, dict[int, tuple[str, int]]] = {}
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
        page = 1
        while True:
            try:
                answer = self.api.get(route, per_page=PER_PAGE, page=page, _fields="id,name,parent", orderby="id")
            except WordPressError:
                return terms
            for term in answer.data if isinstance(answer.data, list) else []:
                if isinstance(term, dict) and isinstance(term.get("id"), int):
                    name = " ".join(html.unescape(str(term.get("name", ""))).split())
                    terms[term["id"]] = name, int(term.get("parent") or 0)
            if answer.pages is None or page >= answer.pages:
                return terms
            page += 1

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


def _crumbs(seo: Any) -> tuple[str, ...]:
    """The breadcrumb in what an SEO plugin tells of a post, without the home page and the post itself."""
    graph = seo.get("schema", {}).get("@graph", []) if isinstance(seo, dict) else []
    for part in graph if isinstance(graph, list) else []:
        if isinstance(part, dict) and part.get("@type") == "BreadcrumbList":
            items = [item for item in part.get("itemListElement", []) if isinstance(item, dict)]
            return tuple(str(item["name"]) for item in items[1:-1] if item.get("name"))
    return ()
