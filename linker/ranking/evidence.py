"""What a set of visible links says about the site: built anew for each set of links that is hidden in training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from linker.graph.links import LinkGraph, link_graph, page_rank, top_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.ranking.index import SiteIndex

MOST_MEANINGS = 40  # pages that one group of phrases may mean
CATEGORY_LINKS = 20  # pages kept with each category, those its pages link to most
ROWS = 8192  # pages at a time


@dataclass(frozen=True)
class Meanings:
    """Which pages a phrase may mean, by group, then the most likely first; arrays [m].

    `phrase` int32 of `group` int32; `page` int64; `links` float32: visible links to the page by this phrase; `share`
    float32: of the phrase's visible links; `bits` int32: where the page is named so (TITLE ...). `first` int64
    [groups + 1]: where each group begins.
    """

    group: NDArray[np.int32]
    phrase: NDArray[np.int32]
    page: NDArray[np.int64]
    links: NDArray[np.float32]
    share: NDArray[np.float32]
    bits: NDArray[np.int32]
    first: NDArray[np.int64]


@dataclass(frozen=True)
class Spots:
    """Mentions of one phrase in one page taken together, by page; arrays [m].

    `page`, `phrase`, `group` int32; `times`: mentions; `free`: those neither within a longer mention nor on a link;
    `first` float32: place of the best mention as a share of the text; `at`: its token, counted over all texts;
    `place`: its position among the index's occurrences; `alone`, `leads` bool: of any mention; `near` float32: share of
    the lines within three of it that carry a visible link; `inline` float32: visible links on its line; `linked` bool:
    a visible link of the page stands where one of them stands; `bounds` int64 [n + 1]: where each page begins.
    """

    page: NDArray[np.int32]
    phrase: NDArray[np.int32]
    group: NDArray[np.int32]
    times: NDArray[np.float32]
    free: NDArray[np.float32]
    first: NDArray[np.float32]
    at: NDArray[np.int64]
    place: NDArray[np.int64]
    alone: NDArray[np.bool_]
    leads: NDArray[np.bool_]
    near: NDArray[np.float32]
    inline: NDArray[np.float32]
    linked: NDArray[np.bool_]
    bounds: NDArray[np.int64]


@dataclass(frozen=True)
class Evidence:
    """`visible` int64 [k]: positions of the links that may be seen; the rest follows from them and the index.

    `keyness` float32 [phrases]: visible links by the phrase a page that mentions it. `mentioned` float32 [phrases]:
    pages that mention it. `category_links` [nodes, n]: links to a page from pages of a category node, a page there;
    `category_best` its largest of each node. `giving`, `receiving` float16 [n, d]: sums of the vectors of the pages
    that link to, or are linked from, a page, of length 1.
    """

    index: SiteIndex
    visible: NDArray[np.int64]
    graph: LinkGraph
    meanings: Meanings
    spots: Spots
    keyness: NDArray[np.float32]
    mentioned: NDArray[np.float32]
    meant: NDArray[np.float32]
    category_links: sparse.csr_matrix
    category_best: sparse.csr_matrix
    parent_links: sparse.csr_matrix
    giving: NDArray[np.float16]
    receiving: NDArray[np.float16]
    rank: NDArray[np.float32]


def build_evidence(index: SiteIndex, visible: NDArray[np.int64]) -> Evidence:
    """The evidence of the site's links at positions `visible`; no other link is looked at."""
    site = index.site
    pages = len(site)
    src, dst = site.links.src[visible], site.links.dst[visible]
    phrase = index.anchor_phrase[visible]
    graph = link_graph(src, dst, pages)
    meanings = _meanings(index, dst, phrase)
    spots = _spots(index, meanings, src, phrase)
    linked_by = np.bincount(phrase[phrase >= 0], minlength=index.book.count).astype(np.float32)
    exact = spots.phrase >= 0
    mentioned = np.bincount(spots.phrase[exact], minlength=index.book.count).astype(np.float32)
    meant = np.bincount(meanings.group, minlength=index.book.groups).astype(np.float32)
    nodes, tree = site.nodes, site.tree
    members = _membership(nodes, len(tree))
    category_links = _per_member(members, graph.links)
    upper = _membership(tree.parent[nodes], len(tree))
    return Evidence(
        index,
        visible,
        graph,
        meanings,
        spots,
        (linked_by / np.maximum(mentioned, linked_by).clip(1)).astype(np.float32),
        mentioned,
        meant,
        category_links,
        top_rows(category_links, CATEGORY_LINKS),
        _per_member(upper, graph.links),
        _mean_directions(graph.back, site.unit),
        _mean_directions(graph.links, site.unit),
        (page_rank(graph.links) * pages).astype(np.float32),
    )


def _mean_directions(links: sparse.csr_matrix, unit: NDArray[np.float32]) -> NDArray[np.float16]:
    """Of the pages in each row, float16 [n, d]; 0 for rows without any. Made in slices and kept in half precision:
    beside the vectors themselves these are the largest arrays there are."""
    directions = np.empty(unit.shape, dtype=np.float16)
    for first in range(0, len(unit), ROWS):
        sums = links[first : first + ROWS] @ unit
        length = np.sqrt(np.einsum("ij,ij->i", sums, sums))
        directions[first : first + ROWS] = sums / np.where(length > 0, length, 1)[:, None]
    return directions


def _membership(nodes: NDArray[np.int64], count: int) -> sparse.csr_matrix:
    return sparse.csr_matrix(
        (np.ones(len(nodes), dtype=np.float32), (np.arange(len(nodes)), nodes)), shape=(len(nodes), count)
    )


def _per_member(members: sparse.csr_matrix, links: sparse.csr_matrix) -> sparse.csr_matrix:
    """Links of a node's pages to each page, a page of the node, [nodes, n]."""
    size = np.asarray(members.sum(axis=0)).ravel()
    shared = sparse.diags((1 / np.maximum(size, 3)).astype(np.float32)) @ (members.T @ links)
    matrix = sparse.csr_matrix(shared, dtype=np.float32)
    matrix.sort_indices()
    return matrix


def _meanings(index: SiteIndex, dst: NDArray[np.int64], phrase: NDArray[np.int32]) -> Meanings:
    """Joins the names of pages with the anchors of visible links."""
    pages, names = len(index.site), index.names
    seen = (phrase >= 0) & index.site.target[dst]
    key = np.concatenate(
        [names.phrase.astype(np.int64) * pages + names.page, phrase[seen].astype(np.int64) * pages + dst[seen]]
    )
    links = np.concatenate([np.zeros(len(names.page)), np.ones(int(seen.sum()))])
    bits = np.concatenate([names.bits, np.zeros(int(seen.sum()), dtype=np.int32)])
    distinct, place = np.unique(key, return_inverse=True)
    links = np.bincount(place, links, minlength=len(distinct)).astype(np.float32)
    joined = np.zeros(len(distinct), dtype=np.int32)
    np.bitwise_or.at(joined, place, bits)
    found, page = (distinct // pages).astype(np.int32), distinct % pages
    total = np.bincount(found, links, minlength=index.book.count).astype(np.float32)
    share = links / np.maximum(total[found], 1)
    group = index.book.group_of[found]
    order = np.lexsort((page, -joined, -links, group))
    rank = np.arange(len(order)) - np.searchsorted(group[order], group[order])
    order = order[rank < MOST_MEANINGS]
    group = group[order]
    return Meanings(
        group,
        found[order],
        page[order],
        links[order],
        share[order].astype(np.float32),
        joined[order],
        np.searchsorted(group, np.arange(index.book.groups + 1)),
    )


def _spots(index: SiteIndex, meanings: Meanings, src: NDArray[np.int64], anchor: NDArray[np.int32]) -> Spots:
    """Mentions of phrases that mean a page, taken together a page and phrase."""
    found = index.occurrences
    active = np.diff(meanings.first) > 0
    live = np.flatnonzero(active[found.group])
    page, phrase, group = found.page[live], found.phrase[live], found.group[live]
    at, size, line = found.at[live], found.size[live].astype(np.int64), found.line[live]
    begin = link_tokens(page, phrase, at, src, anchor, index.book.count)
    linked_tokens = at[begin]
    linked_ends = linked_tokens + size[begin]
    covered = _covered(at, size)
    on_link = np.isin(at, linked_tokens) | _within(at, linked_tokens, linked_ends)
    lines = np.bincount(line[begin], minlength=int(line.max(initial=-1)) + 5).astype(np.float32)
    has_link = np.concatenate([[0], np.cumsum(lines > 0)])
    low, high = np.maximum(line - 3, 0), np.minimum(line + 4, len(lines))
    near = (has_link[high] - has_link[low] - (lines[line] > 0)) / 6
    key = page.astype(np.int64) * (index.book.count + index.book.groups) + np.where(
        phrase >= 0, phrase, index.book.count + group
    )
    free = ~covered & ~on_link
    quality = free * 8.0 + found.alone[live] * 4.0 + (lines[line] > 0) * 1.0 + near
    order = np.lexsort((at, -quality, key))
    if not len(order):
        empty = np.empty(0, dtype=np.float32)
        nobody = np.empty(0, dtype=np.int32)
        return Spots(
            nobody, nobody, nobody, empty, empty, empty, at, at, empty > 0, empty > 0, empty, empty, empty > 0,
            np.zeros(len(index.site) + 1, dtype=np.int64),
        )  # fmt: skip
    key = key[order]
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    best = order[first]
    starts = np.concatenate([[0], np.cumsum(index.tokens)])
    page_best = page[best]
    by_page = np.argsort(page_best, kind="stable")

    def total(values: NDArray[np.bool_]) -> NDArray[np.float32]:
        return np.add.reduceat(values[order].astype(np.float32), first)[by_page]

    best, page_best = best[by_page], page_best[by_page]
    return Spots(
        page_best,
        phrase[best],
        group[best],
        total(np.ones(len(live), dtype=bool)),
        total(free),
        ((at[best] - starts[page_best]) / np.maximum(index.tokens[page_best], 1)).astype(np.float32),
        at[best],
        live[best],
        total(found.alone[live]) > 0,
        total(found.leads[live]) > 0,
        near[best].astype(np.float32),
        lines[line[best]],
        total(on_link) > 0,
        np.searchsorted(page_best, np.arange(len(index.site) + 1)),
    )


def link_tokens(
    page: NDArray[np.int32],
    phrase: NDArray[np.int32],
    at: NDArray[np.int64],
    src: NDArray[np.int64],
    anchor: NDArray[np.int32],
    phrases: int,
) -> NDArray[np.int64]:
    """The mentions where a visible link most likely stands: the first of its anchor in its page that no longer
    mention covers; positions, ascending."""
    wanted = np.unique(src[anchor >= 0] * phrases + anchor[anchor >= 0])
    exact = np.flatnonzero(phrase >= 0)
    key = page[exact].astype(np.int64) * phrases + phrase[exact]
    mine = exact[np.isin(key, wanted)]
    key = page[mine].astype(np.int64) * phrases + phrase[mine]
    order = np.lexsort((at[mine], key))
    _, first = np.unique(key[order], return_index=True)
    return np.sort(mine[order[first]])


def _covered(at: NDArray[np.int64], size: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a longer mention holds each mention."""
    order = np.lexsort((-size, at))
    end = (at + size)[order]
    reach = np.maximum.accumulate(np.concatenate([[-1], end]))[:-1]
    covered = np.zeros(len(at), dtype=bool)
    covered[order] = reach >= end
    return covered


def _within(at: NDArray[np.int64], begin: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each token lies in one of the spans, which are in order."""
    if not len(begin):
        return np.zeros(len(at), dtype=bool)
    order = np.argsort(begin, kind="stable")
    begin, reach = begin[order], np.maximum.accumulate(end[order])
    place = np.searchsorted(begin, at, side="right") - 1
    return (place >= 0) & (at < reach[np.maximum(place, 0)])
