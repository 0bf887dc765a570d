"""What a set of visible links says about the site: built again for each set of links that is hidden in training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from linker.engine.arrays.sparse import top_rows
from linker.engine.arrays.vectors import slices
from linker.engine.graph.links import LinkGraph, link_graph, page_rank
from linker.engine.phrase_evidence import PhraseMentions, PhraseTargets, find_mentions, join_targets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.arrays.vectors import Vectors
    from linker.engine.index import SiteIndex, TextIndex

CATEGORY_LINKS = 20  # pages kept with each category, those its pages link to most


@dataclass(frozen=True)
class TextEvidence:
    """What visible links say about words; `visible` int64 [k]: positions of the links that may be seen.

    `keyness` float32 [phrases]: visible links by the phrase a page that mentions it. `mentioned` float32 [phrases]:
    pages that mention it. `meant` float32 [groups]: what each group of phrases may mean.
    """

    index: TextIndex
    visible: NDArray[np.int64]
    phrase_targets: PhraseTargets
    phrase_mentions: PhraseMentions
    keyness: NDArray[np.float32]
    mentioned: NDArray[np.float32]
    meant: NDArray[np.float32]


@dataclass(frozen=True)
class Evidence(TextEvidence):
    """All that follows from the visible links and the index.

    `category_links` [nodes, n]: links to a page from pages of a category node, a page there; `category_best` its
    largest of each node. `giving` float16 [n, d]: sums of the vectors of the pages that link to a page, of length 1.
    """

    index: SiteIndex
    graph: LinkGraph
    category_links: sparse.csr_matrix
    category_best: sparse.csr_matrix
    parent_links: sparse.csr_matrix
    giving: NDArray[np.float16]
    rank: NDArray[np.float32]

    def texts_alone(self) -> TextEvidence:
        """What is needed when all pairs are ranked."""
        kept = {name: getattr(self, name) for name in TextEvidence.__dataclass_fields__}
        return TextEvidence(**kept | {"index": self.index.texts_alone()})


def text_evidence(index: TextIndex, visible: NDArray[np.int64]) -> TextEvidence:
    """What the site's links at positions `visible`, int64 [k], say about words; no other link is looked at."""
    src, dst = index.site.links.src[visible], index.site.links.dst[visible]
    phrase = index.anchor_phrase[visible]
    phrase_targets = join_targets(index, dst, phrase)
    phrase_mentions = find_mentions(index, phrase_targets, src, phrase)
    linked_by = np.bincount(phrase[phrase >= 0], minlength=index.book.count).astype(np.float32)
    exact = phrase_mentions.phrase >= 0
    mentioned = np.bincount(phrase_mentions.phrase[exact], minlength=index.book.count).astype(np.float32)
    return TextEvidence(
        index=index,
        visible=visible,
        phrase_targets=phrase_targets,
        phrase_mentions=phrase_mentions,
        keyness=(linked_by / np.maximum(mentioned, linked_by).clip(1)).astype(np.float32),
        mentioned=mentioned,
        meant=np.bincount(phrase_targets.group, minlength=index.book.groups).astype(np.float32),
    )


def build_evidence(index: SiteIndex, visible: NDArray[np.int64]) -> Evidence:
    """The evidence of the site's links at positions `visible`, int64 [k]; no other link is looked at."""
    site = index.site
    pages = len(site)
    graph = link_graph(site.links.src[visible], site.links.dst[visible], pages)
    texts = text_evidence(index, visible)
    nodes, tree = site.nodes, site.tree
    category_links = _per_member(_membership(nodes, len(tree)), graph.links)
    upper = _membership(tree.parent[nodes], len(tree))
    return Evidence(
        **vars(texts) | {"index": index},
        graph=graph,
        category_links=category_links,
        category_best=top_rows(category_links, CATEGORY_LINKS),
        parent_links=_per_member(upper, graph.links),
        giving=mean_directions(graph.back, site.unit, index.limits.sums),
        rank=(page_rank(graph.links) * pages).astype(np.float32),
    )


def mean_directions(links: sparse.csr_matrix, unit: Vectors, rows: int) -> NDArray[np.float16]:
    """Of the pages in each row of `links`, float16 [rows, d]; 0 for rows without any. Made in slices and kept in half
    precision: beside the vectors themselves these are the largest array there is."""
    directions = np.empty((links.shape[0], unit.shape[1]), dtype=np.float16)
    for part in slices(links.shape[0], rows):
        some = links[part]
        pages, column = np.unique(some.indices, return_inverse=True)
        narrow = sparse.csr_matrix((some.data, column, some.indptr), shape=(some.shape[0], len(pages)))
        sums = narrow @ unit[pages]
        length = np.sqrt(np.einsum("ij,ij->i", sums, sums))
        directions[part] = sums / np.where(length > 0, length, 1)[:, None]
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
