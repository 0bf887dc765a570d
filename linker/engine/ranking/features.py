"""Candidates of a slice of sources and the numbers that describe each pair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from linker.engine.address_tree import depths
from linker.engine.arrays.sparse import pair_values
from linker.engine.arrays.vectors import slices
from linker.engine.candidates.allowed import may_be_linked
from linker.engine.candidates.base import SourceSlice
from linker.engine.candidates.link_scores import LinkScores
from linker.engine.candidates.mention_rows import mention_rows
from linker.engine.candidates.union import proposed_pairs
from linker.engine.evidence import mean_directions
from linker.engine.phrases import H1, SHORT, SLUG, TITLE

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Collection

    from numpy.typing import NDArray

    from linker.engine.address_tree import AddressTree
    from linker.engine.candidates.mention_rows import MentionRows
    from linker.engine.evidence import Evidence
    from linker.engine.index import SiteIndex

GROUPS: dict[str, tuple[str, ...]] = {
    "meaning": ("cosine", "cosine_rank", "giving", "receiving", "near_linked"),
    "words": ("words", "words_rank", "title_in_text", "own_title_in_target", "titles_alike"),
    "mention": (
        "share", "anchor_links", "keyness", "named", "inflected", "phrase_words", "phrase_chars", "phrase_pages",
        "meanings", "times", "free", "first", "alone", "leads", "near_link", "inline_links", "on_link", "phrases",
        "share_rank", "spot_rank", "weight",
    ),
    "graph": (
        "neighbour_links", "word_neighbour_links", "similar_linkers", "cocited_with_links", "cocited", "coupled",
        "links_back", "two_steps", "neighbour_rank", "linker_rank",
    ),
    "popularity": ("indegree", "outdegree", "rank", "target_outdegree"),
    "category": ("levels", "target_levels", "category_links", "parent_links"),
    "address": ("above", "below", "beside", "shared", "same_last", "donor_depth", "target_depth"),
    "text": ("donor_tokens", "target_tokens", "donor_lines"),
}  # fmt: skip
FEATURES: tuple[str, ...] = tuple(name for group in GROUPS.values() for name in group)
# Features that are a pair's place among its source's by another feature.
RANKED_BY = {
    "cosine_rank": "cosine",
    "words_rank": "words",
    "share_rank": "weight",
    "neighbour_rank": "neighbour_links",
    "linker_rank": "similar_linkers",
}

PAIRS = 2048  # pairs whose vectors, or words, are compared together

_NO_FEATURES = np.empty((0, len(FEATURES)), dtype=np.float32)


@dataclass(frozen=True)
class Candidates:
    """Pairs by source, then target; arrays [m]: `source`, `target` int64, `found` int32 (bits of
    the generators), `features` float32 [m, len(FEATURES)], `phrase` int32: the phrase of the best mention, -1 for
    none."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    found: NDArray[np.int32]
    features: NDArray[np.float32]
    phrase: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.source)

    def take(self, keep: NDArray[np.int64] | NDArray[np.bool_]) -> Candidates:
        """The pairs at positions `keep`, int64 [k], in that order, or where it is true, bool [m]."""
        return Candidates(
            self.source[keep], self.target[keep], self.found[keep], self.features[keep], self.phrase[keep]
        )

    def bare(self) -> Candidates:
        """The pairs without their features."""
        return replace(self, features=np.empty((len(self), 0), dtype=np.float32))


def joined(parts: list[Candidates]) -> Candidates:
    """Candidates of several slices as one. Empties the list as it goes, so that they are never held twice."""
    empty = np.empty(0, dtype=np.int64)
    first = (
        parts[0] if parts else Candidates(empty, empty, empty.astype(np.int32), _NO_FEATURES, empty.astype(np.int32))
    )
    whole = {
        name: np.empty((sum(map(len, parts)), *getattr(first, name).shape[1:]), dtype=getattr(first, name).dtype)
        for name in Candidates.__dataclass_fields__
    }
    del first
    parts.reverse()
    start = 0
    while parts:
        part = parts.pop()
        for name, column in whole.items():
            column[start : start + len(part)] = getattr(part, name)
        start += len(part)
    return Candidates(**whole)


def candidates(
    evidence: Evidence,
    pages: NDArray[np.int64],
    skip: tuple[NDArray[np.int64], NDArray[np.int64]],
    generators: Collection[str] = (),
    barred: Counter[str] | None = None,
    *,
    within: bool = False,
) -> Candidates:
    """Every candidate of the sources `pages`, int64 [k], ascending, that the named generators (none: all) propose,
    without the pairs of `skip` (sources and targets, int64 [j] each), those in different languages, which `barred`
    counts, and pages that may not be targets. Ties go to the lower page.

    `within`: besides them each generator's best among the targets within the site's `levels_up`.
    """
    sources = SourceSlice(evidence, pages, LinkScores(evidence, pages), mention_rows(evidence, pages))
    source, target, found = proposed_pairs(sources, generators, within=within)
    allowed = may_be_linked(sources.site, pages, source, target, skip, barred)
    source, target, found = source[allowed], target[allowed], found[allowed]
    features, phrase = describe(sources, source, target)
    return Candidates(source, target, found, features, phrase)


def describe(
    sources: SourceSlice, source: NDArray[np.int64], target: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """The numbers of pairs of a slice, float32 [m, len(FEATURES)], and the phrase of the best mention of each, int32
    [m], -1 for none. Pairs by source."""
    row = np.searchsorted(sources.pages, source)
    mention, phrase = _mention_features(sources.evidence, source, target, sources.mentions)
    columns = {
        **_meaning_features(sources, row, target),
        **_word_features(sources.index, source, target),
        **mention,
        **_graph_features(sources.links, row, target),
        **_popularity_features(sources.evidence, source, target),
        **_category_features(sources.evidence, source, target),
        **_address_features(sources.index.address, source, target),
        **_text_features(sources.index, source, target),
    }
    columns |= {name: _ranks(source, columns[by]) for name, by in RANKED_BY.items()}
    return np.column_stack([columns[name].astype(np.float32) for name in FEATURES]), phrase


def _meaning_features(
    sources: SourceSlice, row: NDArray[np.int64], target: NDArray[np.int64]
) -> dict[str, NDArray[np.float32]]:
    """Cosines of source and target, of the source and what links to the target, and of what the source links to and the
    target; and how near the target is to what the source links to."""
    evidence, unit = sources.evidence, sources.site.unit
    own = unit[sources.pages]
    receiving = mean_directions(evidence.graph.links[sources.pages], unit, sources.index.limits.sums).astype(np.float32)
    found = {name: np.empty(len(row), dtype=np.float32) for name in ("cosine", "giving", "receiving")}
    for part in slices(len(row), PAIRS):
        mine, others = own[row[part]], unit[target[part]]
        for name, left, right in (
            ("cosine", mine, others),
            ("giving", mine, evidence.giving[target[part]].astype(np.float32)),
            ("receiving", receiving[row[part]], others),
        ):
            found[name][part] = np.einsum("ij,ij->i", left, right, dtype=np.float32)
    rounded = {name: np.round(value, 5) for name, value in found.items()}
    return rounded | {"near_linked": pair_values(sources.links.near_linked, row, target)}


def _word_features(
    index: SiteIndex, source: NDArray[np.int64], target: NDArray[np.int64]
) -> dict[str, NDArray[np.float32]]:
    """What the words of the two texts and of the two titles have in common."""
    return {
        "words": sparse_dots(index.terms, source, index.terms, target),
        "title_in_text": sparse_dots(index.body, source, index.title, target),
        "own_title_in_target": sparse_dots(index.title, source, index.body, target),
        "titles_alike": sparse_dots(index.title_unit, source, index.title_unit, target),
    }


def _graph_features(
    links: LinkScores, row: NDArray[np.int64], target: NDArray[np.int64]
) -> dict[str, NDArray[np.float32]]:
    """What the links around the source say of the target."""
    scores = {
        "neighbour_links": links.neighbour,
        "word_neighbour_links": links.word_neighbour,
        "similar_linkers": links.similar,
        "cocited_with_links": links.cocited_links,
        "cocited": links.cocited,
        "coupled": links.coupled,
        "links_back": links.back,
        "two_steps": links.two_steps,
    }
    return {name: pair_values(matrix, row, target) for name, matrix in scores.items()}


def _popularity_features(
    evidence: Evidence, source: NDArray[np.int64], target: NDArray[np.int64]
) -> dict[str, NDArray[np.float32]]:
    """How much the two pages are linked and link, whatever the pair."""
    graph = evidence.graph
    return {
        "indegree": np.log1p(graph.indegree[target]),
        "outdegree": np.log1p(graph.outdegree[source]),
        "target_outdegree": np.log1p(graph.outdegree[target]),
        "rank": np.log(evidence.rank[target] + 1e-6),
    }


def _category_features(
    evidence: Evidence, source: NDArray[np.int64], target: NDArray[np.int64]
) -> dict[str, NDArray[np.float32]]:
    """How far apart the two categories are, and how often the source's, and the one above, link to the target."""
    site = evidence.index.site
    parent, nodes = site.tree.parent, site.nodes[source]
    levels, target_levels = _levels(parent, depths(parent), nodes, site.nodes[target])
    return {
        "levels": levels,
        "target_levels": target_levels,
        "category_links": _of_nodes(evidence.category_links, nodes, target),
        "parent_links": _of_nodes(evidence.parent_links, parent[nodes], target),
    }


def _of_nodes(matrix: sparse.csr_matrix, nodes: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.float32]:
    """Values of a matrix [nodes of the tree, n] at pairs of nodes and pages; only the rows of these nodes are read."""
    these, place = np.unique(nodes, return_inverse=True)
    return pair_values(matrix[these], place, target)


def _text_features(
    index: SiteIndex, source: NDArray[np.int64], target: NDArray[np.int64]
) -> dict[str, NDArray[np.float32]]:
    """How long the texts are."""
    return {
        "donor_tokens": np.log1p(index.tokens[source]).astype(np.float32),
        "target_tokens": np.log1p(index.tokens[target]).astype(np.float32),
        "donor_lines": np.log1p(index.lines[source]).astype(np.float32),
    }


def sparse_dots(
    left: sparse.csr_matrix, rows: NDArray[np.int64], right: sparse.csr_matrix, columns: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Inner products of pairs of sparse rows, float32 [k]; `rows` in ascending runs is fastest."""
    result = np.empty(len(rows), dtype=np.float32)
    for part in slices(len(rows), PAIRS):
        result[part] = np.asarray(left[rows[part]].multiply(right[columns[part]]).sum(axis=1)).ravel()
    return result


def _ranks(source: NDArray[np.int64], value: NDArray[np.float32]) -> NDArray[np.float32]:
    """Place of each value among its source's, 0 for the highest, equal ones alike; -1 for values not above 0."""
    order = np.lexsort((-value, source))
    sorted_source, sorted_value = source[order], value[order]
    new = np.concatenate([[True], (sorted_source[1:] != sorted_source[:-1]) | (sorted_value[1:] != sorted_value[:-1])])
    if not len(order):
        return np.empty(0, dtype=np.float32)
    start = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    rank = np.empty(len(order), dtype=np.float32)
    rank[order] = start - np.searchsorted(sorted_source, sorted_source)
    rank[value <= 0] = -1
    return rank


def _levels(
    parent: NDArray[np.int64], depth: NDArray[np.int64], source: NDArray[np.int64], target: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Levels from each page's node up to the lowest node that holds both."""
    up, over = np.zeros(len(source), np.float32), np.zeros(len(source), np.float32)
    left, right = source.copy(), target.copy()
    while (apart := left != right).any():
        lower_left = apart & (depth[left] >= depth[right])
        lower_right = apart & (depth[right] >= depth[left])
        up += lower_left
        over += lower_right
        left = np.where(lower_left, parent[left], left)
        right = np.where(lower_right, parent[right], right)
    return up, over


def _address_features(
    tree: AddressTree, source: NDArray[np.int64], target: NDArray[np.int64]
) -> dict[str, NDArray[np.float32]]:
    """Where the two addresses lie to each other."""
    depth = tree.depth.astype(np.float32)
    up, _ = _levels(tree.rooted, tree.rooted_depths, source + 1, target + 1)
    return {
        "above": (tree.parent[source] == target).astype(np.float32),
        "below": (tree.parent[target] == source).astype(np.float32),
        "beside": (tree.folder[source] == tree.folder[target]).astype(np.float32),
        "shared": up,
        "same_last": (tree.last[source] == tree.last[target]).astype(np.float32),
        "donor_depth": depth[source],
        "target_depth": depth[target],
    }


def _mention_features(
    evidence: Evidence, source: NDArray[np.int64], target: NDArray[np.int64], mentions: MentionRows
) -> tuple[dict[str, NDArray[np.float32]], NDArray[np.int32]]:
    """Of the best mention of each pair; 0 (places: 1) where there is none."""
    pages = len(evidence.index.site)
    phrase_mentions, phrase_targets, book = evidence.phrase_mentions, evidence.phrase_targets, evidence.index.book
    key = mentions.source * pages + mentions.target
    count = len(source)
    names = GROUPS["mention"]
    columns = {name: np.zeros(count, dtype=np.float32) for name in names}
    phrase = np.full(count, -1, dtype=np.int32)
    columns["first"][:] = 1
    columns["spot_rank"][:] = -1
    if not len(key):
        return columns, phrase
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    wanted = source * pages + target
    place = np.minimum(np.searchsorted(key[first], wanted), len(first) - 1)
    hit = key[first][place] == wanted
    place = place[hit]
    best = first[place]
    mention, phrase_target = mentions.mention[best], mentions.phrase_target[best]
    meant = phrase_targets.phrase[phrase_target]

    def best_of(values: NDArray[np.float32]) -> NDArray[np.float32]:
        best: NDArray[np.float32] = np.maximum.reduceat(values, first)[place]
        return best

    bits = np.bitwise_or.reduceat(np.where(mentions.exact, phrase_targets.bits[mentions.phrase_target], 0), first)[
        place
    ]
    named = np.select([bits & (TITLE | H1) > 0, bits & SHORT > 0, bits & SLUG > 0], [3, 2, 1], 0)
    values: dict[str, NDArray[np.generic]] = {
        "share": best_of(np.where(mentions.exact, phrase_targets.share[mentions.phrase_target], 0)),
        "anchor_links": np.log1p(best_of(phrase_targets.links[mentions.phrase_target])),
        "keyness": evidence.keyness[meant],
        "named": named,
        "inflected": ~mentions.exact[best],
        "phrase_words": book.size[meant],
        "phrase_chars": evidence.index.phrase_chars[meant],
        "phrase_pages": np.log1p(evidence.mentioned[meant]),
        "meanings": np.log1p(evidence.meant[phrase_targets.group[phrase_target]]),
        "times": np.log1p(phrase_mentions.times[mention]),
        "free": np.log1p(best_of(phrase_mentions.free[mentions.mention])),
        "first": phrase_mentions.first[mention],
        "alone": best_of(phrase_mentions.alone[mentions.mention].astype(np.float32)),
        "leads": phrase_mentions.leads[mention],
        "near_link": best_of(phrase_mentions.near[mentions.mention]),
        "inline_links": np.minimum(phrase_mentions.inline[mention], 20),
        "on_link": phrase_mentions.linked[mention],
        "phrases": np.diff(np.concatenate([first, [len(key)]]))[place],
        "weight": mentions.weight[best],
        "spot_rank": _mention_ranks(mentions)[best],
    }
    for name, value in values.items():
        columns[name][hit] = value
    phrase[hit] = meant
    return columns, phrase


def _mention_ranks(mentions: MentionRows) -> NDArray[np.float32]:
    """Place of each row among those of its mention by weight, 0 for the first."""
    order = np.lexsort((mentions.target, -mentions.weight, mentions.mention))
    mention = mentions.mention[order]
    rank = np.empty(len(order), dtype=np.float32)
    rank[order] = np.arange(len(order)) - np.searchsorted(mention, mention)
    return rank
