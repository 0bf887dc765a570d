"""What the engine reads: a site as arrays over its pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from linker.engine.arrays.vectors import HalfVectors
from linker.errors import UserError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.arrays.vectors import Vectors
    from linker.engine.blocks import CategoryTree


def _no_pairs() -> NDArray[np.int64]:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Pairs:
    """Pairs of pages: `src`, `dst` int64 [m], positions of pages."""

    src: NDArray[np.int64] = field(default_factory=_no_pairs)
    dst: NDArray[np.int64] = field(default_factory=_no_pairs)

    def __len__(self) -> int:
        return len(self.src)


@dataclass(frozen=True)
class Links(Pairs):
    """Body links with the text of each, `anchors` [m]."""

    anchors: Sequence[str] = ()


@dataclass(frozen=True)
class Site:
    """A site's n pages; a page is its position.

    `urls`, `titles`, `h1s`, `bodies`, `languages` [n], as crawled ("" where there is none); `unit` [n, d]: rows of
    length 1, 0 where a page has no vector; `nodes` int64 [n]: the page's node of `tree`; `links`: body links that
    exist; `source`, `target` bool [n]: who may give and receive links; `forbidden`: pairs that may not be proposed
    besides those linked already; `accepted`, `rejected`: editors' decisions; `impressions` float64 [n]: searches a page
    was shown for, or None; `language_ids` int64 [n]: the language that keeps a page apart from others, 0 where none
    does, or None where all pages may be linked; `group` int64 [n]: near-copies, variants and translations of one page
    have one number, -1: none. `known`: some of the linked pairs, which are also ranked as if they were not linked;
    `standing`: pairs, linked or not, that are scored in the same way to be compared with what might replace them.

    `selected` bool [n]: the sources for which targets are looked for, or None for all of them; a ranker learns from the
    links of all. `levels_up`: how many levels above its own category a source's targets may lie, or None for anywhere.
    """

    urls: Sequence[str]
    titles: Sequence[str]
    h1s: Sequence[str]
    bodies: Sequence[str]
    languages: Sequence[str]
    unit: Vectors
    nodes: NDArray[np.int64]
    tree: CategoryTree
    links: Links
    source: NDArray[np.bool_]
    target: NDArray[np.bool_]
    forbidden: Pairs = field(default_factory=Pairs)
    accepted: Pairs = field(default_factory=Pairs)
    rejected: Pairs = field(default_factory=Pairs)
    impressions: NDArray[np.float64] | None = None
    selected: NDArray[np.bool_] | None = None
    levels_up: int | None = None
    language_ids: NDArray[np.int64] | None = None
    group: NDArray[np.int64] | None = None
    known: Pairs = field(default_factory=Pairs)
    standing: Pairs = field(default_factory=Pairs)

    def __len__(self) -> int:
        return len(self.urls)

    @property
    def taken(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sources and targets of the pairs that may not be proposed, int64 [k] each: those that are linked, forbidden
        or were rejected."""
        parts = (self.links, self.forbidden, self.rejected)
        return np.concatenate([part.src for part in parts]), np.concatenate([part.dst for part in parts])

    def within_levels(self, source: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each target lies within `levels_up` of its source's category, bool [m]; pages int64 [m] both."""
        if self.levels_up is None:
            return np.ones(len(source), dtype=np.bool_)
        return self.tree.within(self.nodes[source], self.nodes[target], self.levels_up)

    @cached_property
    def within_reach(self) -> NDArray[np.int64]:
        """How many pages no language keeps apart from each, itself among them, int64 [n]."""
        if self.language_ids is None:
            return np.full(len(self), len(self))
        _, place, count = np.unique(self.language_ids, return_inverse=True, return_counts=True)
        without = np.count_nonzero(self.language_ids == 0)
        return np.where(self.language_ids == 0, len(self), count[place] + without)


def checked(site: Site) -> Site:
    """The site with sound vectors: NaN and infinite rows become 0, others length 1. Pages that do not say their
    language have the one that most others say.

    Raises UserError where it has no pages, ValueError where the lengths of its parts differ, or a link or a category
    leads outside.
    """
    pages = len(site)
    if not pages:
        raise UserError("The project has no pages yet. Import a crawl first.")
    parts = (site.titles, site.h1s, site.bodies, site.languages, site.unit, site.nodes, site.source, site.target)
    if any(len(part) != pages for part in parts):
        raise ValueError("the parts of a site differ in length")
    optional = (site.impressions, site.selected, site.language_ids, site.group)
    if any(part is not None and len(part) != pages for part in optional):
        raise ValueError("an optional part of a site has another length than its pages")
    nodes = np.asarray(site.nodes)
    if nodes.min() < 0 or nodes.max() >= len(site.tree.parent):
        raise ValueError("a page belongs to a category that the tree does not have")
    if len(site.links.anchors) != len(site.links):
        raise ValueError("every link needs an anchor, if only an empty one")
    for pairs in (site.links, site.forbidden, site.accepted, site.rejected, site.standing):
        if len(pairs) and (min(pairs.src.min(), pairs.dst.min()) < 0 or max(pairs.src.max(), pairs.dst.max()) >= pages):
            raise ValueError("a link leads outside the site")
    said = Counter(language for language in site.languages if language)
    if said and len(site.languages) > said.total():
        usual = said.most_common(1)[0][0]
        site = replace(site, languages=[language or usual for language in site.languages])
    if isinstance(site.unit, HalfVectors):
        return site
    unit = np.asarray(site.unit, dtype=np.float32)
    with np.errstate(all="ignore"):
        length = np.sqrt(np.einsum("ij,ij->i", unit, unit, dtype=np.float64))
    sound = np.isfinite(length) & (length > 0)
    if np.all(sound & (np.abs(length - 1) < 1e-5) | (length == 0)):
        return replace(site, unit=unit)  # as stored vectors are: no second copy of the largest array
    unit = np.where(sound[:, None], unit, np.float32(0))
    unit[sound] /= length[sound, None].astype(np.float32)
    return replace(site, unit=unit)
