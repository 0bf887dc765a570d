"""Candidates of a slice of donors and the numbers that describe each pair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from linker.engine.address_tree import depths
from linker.engine.arrays.sparse import pair_values, scale_columns, top_rows
from linker.engine.arrays.vectors import slices
from linker.engine.candidates.generators import EVERY, Generator, union
from linker.engine.evidence import CATEGORY_LINKS, mean_directions
from linker.engine.index import IN_CATEGORY
from linker.engine.phrases import H1, SHORT, SLUG, TITLE
from linker.engine.text.languages import apart

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from linker.engine.address_tree import AddressTree
    from linker.engine.evidence import Evidence, TextEvidence
    from linker.engine.site import Site

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

PER_GENERATOR = {
    Generator.CATEGORY: IN_CATEGORY,
    Generator.NEAREST: 30,
    Generator.LEXICAL: 30,
    Generator.MENTION: 120,
    Generator.NEIGHBOUR_LINKS: 30,
    Generator.SIMILAR_LINKERS: 30,
    Generator.COCITED: 30,
    Generator.CATEGORY_LINKS: CATEGORY_LINKS,
    Generator.RECIPROCAL: 30,
    Generator.ADDRESS: 40,
}


PAIRS = 2048  # pairs whose vectors, or words, are compared together

_NO_FEATURES = np.empty((0, len(FEATURES)), dtype=np.float32)


@dataclass(frozen=True)
class Candidates:
    """Pairs by donor, then target; arrays [m]: `donor`, `target` int64, `found` int32 (bits of Generator), `features`
    float32 [m, len(FEATURES)], `phrase` int32: the phrase of the best mention, -1 for none."""

    donor: NDArray[np.int64]
    target: NDArray[np.int64]
    found: NDArray[np.int32]
    features: NDArray[np.float32]
    phrase: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.donor)

    def take(self, keep: NDArray[np.int64] | NDArray[np.bool_]) -> Candidates:
        """Some of the pairs."""
        return Candidates(self.donor[keep], self.target[keep], self.found[keep], self.features[keep], self.phrase[keep])

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


@dataclass(frozen=True)
class MentionRows:
    """Mentions joined with what they may mean: one row a (spot, phrase, page)."""

    donor: NDArray[np.int64]
    target: NDArray[np.int64]
    spot: NDArray[np.int64]
    meaning: NDArray[np.int64]
    exact: NDArray[np.bool_]
    weight: NDArray[np.float32]

    def take(self, keep: NDArray[np.bool_]) -> MentionRows:
        """Some of the rows."""
        return MentionRows(*(column[keep] for column in vars(self).values()))


def candidates(
    evidence: Evidence,
    donors: NDArray[np.int64],
    skip: tuple[NDArray[np.int64], NDArray[np.int64]],
    switched_on: Generator = EVERY,
    barred: Counter[str] | None = None,
    *,
    within: bool = False,
) -> Candidates:
    """Every candidate of `donors` (int64, ascending), at most PER_GENERATOR from each generator, without the pairs of
    `skip`, those in different languages, which `barred` counts, and pages that may not be targets. Ties go to the lower
    page.

    `within`: besides them those that come first among the targets within the site's `levels_up`, PER_GENERATOR again.
    """
    site = evidence.index.site
    pages = len(site)
    scores = _Scores(evidence, donors)
    mentions = mention_rows(evidence, donors)
    parts = [
        (flag, donors[rows], columns)
        for flag, rows, columns in _proposals(evidence, donors, scores, mentions, within=within)
        if flag & switched_on
    ]
    donor, target, found = union(parts, pages)
    keep = site.target[target] & (donor != target)
    mine = np.isin(skip[0], donors)
    keep &= ~np.isin(donor * pages + target, skip[0][mine] * pages + skip[1][mine])
    if site.tongues is not None:
        other = apart(site.tongues[donor], site.tongues[target])
        if barred is not None:
            barred["language"] += int((keep & other).sum())
        keep &= ~other
    if site.group is not None:
        keep &= ~_in_group(site.group, donor, target, skip[0][mine], skip[1][mine])
    donor, target, found = donor[keep], target[keep], found[keep]
    features, phrase = _features(evidence, donors, donor, target, scores, mentions)
    return Candidates(donor, target, found, features, phrase)


def _in_group(
    group: NDArray[np.int64],
    donor: NDArray[np.int64],
    target: NDArray[np.int64],
    source: NDArray[np.int64],
    linked: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Whether each pair is of one group, or its target of one that the donor links to already (`source`, `linked`)."""
    theirs = group[target]
    groups = int(group.max(initial=0)) + 1
    known = group[linked] >= 0
    return (theirs >= 0) & (
        (group[donor] == theirs) | np.isin(donor * groups + theirs, source[known] * groups + group[linked[known]])
    )


class _Scores:
    """Matrices [donors, n] of what each graph generator says of every page."""

    def __init__(self, evidence: Evidence, donors: NDArray[np.int64]) -> None:
        index, graph = evidence.index, evidence.graph
        self.near = top_rows(index.near[donors], 20)
        links = graph.links
        self.neighbour = _sorted(_sharp(self.near) @ links)
        self.word_neighbour = _sorted(top_rows(index.near_words[donors], 20) @ links)
        coupled = graph.coupled[donors]
        self.similar = _sorted(_shares(coupled) @ links)
        damp = (1 / np.sqrt(np.maximum(graph.indegree, 1))).astype(np.float32)
        mine = scale_columns(links[donors], damp)
        self.cocited_links = _sorted(mine @ graph.cocited)
        self.cocited = graph.cocited[donors]
        self.coupled = coupled
        self.near_linked = _sorted(mine @ index.around)
        step = (1 / np.maximum(graph.outdegree, 1)).astype(np.float32)
        self.two_steps = _sorted(scale_columns(links[donors], step) @ links)
        self.back = graph.back[donors]


def _sharp(near: sparse.csr_matrix) -> sparse.csr_matrix:
    """Cosines cubed, so that the nearest pages count for most; rows of sum 1."""
    sharp = near.copy()
    sharp.data = sharp.data**3
    return _shares(sharp)


def _shares(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    total = np.asarray(matrix.sum(axis=1)).ravel()
    return sparse.csr_matrix(
        sparse.diags(np.divide(1, total, out=np.zeros(len(total)), where=total > 0).astype(np.float32)) @ matrix
    )


def _sorted(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    matrix = sparse.csr_matrix(matrix, dtype=np.float32)
    matrix.sort_indices()
    return matrix


def _proposals(
    evidence: Evidence, donors: NDArray[np.int64], scores: _Scores, mentions: MentionRows, *, within: bool
) -> Iterable[tuple[Generator, NDArray[np.int64], NDArray[np.int64]]]:
    """Each generator's pairs: rows of `donors`, and pages."""
    index = evidence.index
    site = index.site
    same = site.nodes[donors]

    def best(flag: Generator, matrix: sparse.csr_matrix) -> tuple[Generator, NDArray[np.int64], NDArray[np.int64]]:
        kept = top_rows(matrix, PER_GENERATOR[flag])
        return flag, np.repeat(np.arange(len(donors)), np.diff(kept.indptr)), kept.indices.astype(np.int64)

    graph = [
        (Generator.NEIGHBOUR_LINKS, scores.neighbour),
        (Generator.NEIGHBOUR_LINKS, scores.word_neighbour),
        (Generator.SIMILAR_LINKERS, scores.similar),
        (Generator.COCITED, scores.cocited_links),
        (Generator.COCITED, scores.cocited),
        (Generator.RECIPROCAL, scores.back),
    ]
    yield best(Generator.NEAREST, index.near[donors])
    yield best(Generator.CATEGORY, index.near_category[donors])
    yield best(Generator.LEXICAL, index.near_words[donors])
    for flag, matrix in graph:
        yield best(flag, matrix)
    yield best(Generator.CATEGORY_LINKS, evidence.category_best[same])
    yield Generator.ADDRESS, *_relatives(index.address, donors)
    yield Generator.MENTION, *_best_mentions(donors, mentions)
    if not within or index.near_within is None or index.words_within is None:
        return
    yield best(Generator.NEAREST, index.near_within[donors])
    yield best(Generator.LEXICAL, index.words_within[donors])
    for flag, matrix in [*graph, (Generator.CATEGORY_LINKS, evidence.category_links[same])]:
        yield best(flag, _cut(site, donors, matrix))
    inside = is_within(site, mentions.donor, mentions.target)
    yield Generator.MENTION, *_best_mentions(donors, mentions.take(inside))


def is_within(site: Site, donor: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each target [m] lies within the site's `levels_up` of its donor's category."""
    if site.levels_up is None:
        return np.ones(len(donor), dtype=np.bool_)
    return site.tree.within(site.nodes[donor], site.nodes[target], site.levels_up)


def _cut(site: Site, donors: NDArray[np.int64], matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    """A matrix [donors, n] without the pages beyond the site's `levels_up`."""
    inside = is_within(site, np.repeat(donors, np.diff(matrix.indptr)), matrix.indices)
    bounds = np.concatenate([[0], np.cumsum(inside)])[matrix.indptr]
    return sparse.csr_matrix((matrix.data[inside], matrix.indices[inside], bounds), shape=matrix.shape)


def _best_mentions(donors: NDArray[np.int64], mentions: MentionRows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    order = np.lexsort((mentions.target, -mentions.weight, mentions.donor))
    donor, target = mentions.donor[order], mentions.target[order]
    rank = np.arange(len(donor)) - np.searchsorted(donor, donor)
    keep = rank < PER_GENERATOR[Generator.MENTION]
    return np.searchsorted(donors, donor[keep]), target[keep]


def _relatives(tree: AddressTree, donors: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The page above each donor, those below it, and some beside it: the nearest in the order of pages."""
    most = PER_GENERATOR[Generator.ADDRESS]
    parent, folder = tree.parent, tree.folder
    has = np.flatnonzero(parent[donors] >= 0)
    rows, found = [has], [parent[donors[has]]]
    rows_below, below = _windows(parent[tree.by_parent], tree.by_parent, donors, np.zeros(len(donors), np.int64), most)
    place = np.empty(len(folder), dtype=np.int64)
    place[tree.by_folder] = np.arange(len(folder))
    keys = folder[tree.by_folder]
    start = np.maximum(place[donors] - np.searchsorted(keys, folder[donors]) - most // 4, 0)
    rows_beside, beside = _windows(keys, tree.by_folder, folder[donors], start, most // 2)
    return np.concatenate([*rows, rows_below, rows_beside]), np.concatenate([*found, below, beside])


def _windows(
    keys: NDArray[np.int64], pages: NDArray[np.int64], wanted: NDArray[np.int64], skip: NDArray[np.int64], most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each wanted key up to `most` of its pages after the first `skip`; `keys` ascending."""
    low = np.searchsorted(keys, wanted) + skip
    high = np.minimum(np.searchsorted(keys, wanted, side="right"), low + most)
    size = np.maximum(high - low, 0)
    row = np.repeat(np.arange(len(wanted)), size)
    offset = np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size)
    return row, pages[low[row] + offset]


def mention_rows(evidence: TextEvidence, donors: NDArray[np.int64]) -> MentionRows:
    """The mentions in the donors' texts with every page they may mean; the weight says how likely, roughly."""
    spots, meanings = evidence.spots, evidence.meanings
    low, high = spots.bounds[donors], spots.bounds[donors + 1]
    size = high - low
    spot = np.repeat(low - (np.cumsum(size) - size), size) + np.arange(int(size.sum()))
    group = spots.group[spot]
    first, count = meanings.first[group], meanings.first[group + 1] - meanings.first[group]
    meaning = np.repeat(first - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
    spot = np.repeat(spot, count)
    exact = spots.phrase[spot] == meanings.phrase[meaning]
    donor, target = spots.page[spot].astype(np.int64), meanings.page[meaning]
    named = (meanings.bits[meaning] & (TITLE | H1)) > 0
    key = evidence.keyness[meanings.phrase[meaning]]
    weight = (
        (meanings.share[meaning] * np.sqrt(key + 0.02) + 0.3 * named + 0.05)
        * np.where(exact, 1.0, 0.5)
        * np.where(spots.free[spot] > 0, 1.0, 0.3)
        * (1 + spots.alone[spot] + 0.2 * (spots.inline[spot] > 0) + spots.near[spot])
    ).astype(np.float32)
    other = donor != target
    order = np.lexsort((-weight, target, donor))
    order = order[other[order]]
    return MentionRows(donor[order], target[order], spot[order], meaning[order], exact[order], weight[order])


def _features(
    evidence: Evidence,
    donors: NDArray[np.int64],
    donor: NDArray[np.int64],
    target: NDArray[np.int64],
    scores: _Scores,
    mentions: MentionRows,
) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    index, graph = evidence.index, evidence.graph
    site = index.site
    columns: dict[str, NDArray[np.float32]] = {}
    row = np.searchsorted(donors, donor)

    def at(matrix: sparse.csr_matrix) -> NDArray[np.float32]:
        return pair_values(matrix, row, target)

    columns |= _meaning_features(evidence, donors, row, target)
    columns["near_linked"] = at(scores.near_linked)
    columns["words"] = sparse_dots(index.terms, donor, index.terms, target)
    columns["title_in_text"] = sparse_dots(index.body, donor, index.title, target)
    columns["own_title_in_target"] = sparse_dots(index.title, donor, index.body, target)
    columns["titles_alike"] = sparse_dots(index.title_unit, donor, index.title_unit, target)
    columns["neighbour_links"] = at(scores.neighbour)
    columns["word_neighbour_links"] = at(scores.word_neighbour)
    columns["similar_linkers"] = at(scores.similar)
    columns["cocited_with_links"] = at(scores.cocited_links)
    columns["cocited"] = at(scores.cocited)
    columns["coupled"] = at(scores.coupled)
    columns["links_back"] = at(scores.back)
    columns["two_steps"] = at(scores.two_steps)
    nodes = site.nodes[donor]
    for name, matrix, node in (
        ("category_links", evidence.category_links, nodes),
        ("parent_links", evidence.parent_links, site.tree.parent[nodes]),
    ):
        these, place = np.unique(node, return_inverse=True)
        columns[name] = pair_values(matrix[these], place, target)
    columns["indegree"] = np.log1p(graph.indegree[target])
    columns["outdegree"] = np.log1p(graph.outdegree[donor])
    columns["target_outdegree"] = np.log1p(graph.outdegree[target])
    columns["rank"] = np.log(evidence.rank[target] + 1e-6)
    columns["donor_tokens"] = np.log1p(index.tokens[donor]).astype(np.float32)
    columns["target_tokens"] = np.log1p(index.tokens[target]).astype(np.float32)
    columns["donor_lines"] = np.log1p(index.lines[donor]).astype(np.float32)
    columns["levels"], columns["target_levels"] = _levels(
        site.tree.parent, depths(site.tree.parent), nodes, site.nodes[target]
    )
    columns |= _address_features(evidence, donor, target)
    found, phrase = _mention_features(evidence, donor, target, mentions)
    columns |= found
    for name, source in (
        ("cosine_rank", "cosine"),
        ("words_rank", "words"),
        ("share_rank", "weight"),
        ("neighbour_rank", "neighbour_links"),
        ("linker_rank", "similar_linkers"),
    ):
        columns[name] = _ranks(donor, columns[source])
    return np.column_stack([columns[name].astype(np.float32) for name in FEATURES]), phrase


def _meaning_features(
    evidence: Evidence, donors: NDArray[np.int64], row: NDArray[np.int64], target: NDArray[np.int64]
) -> dict[str, NDArray[np.float32]]:
    """Cosines of donor and target, of the donor and what links to the target, and of what the donor links to and the
    target."""
    unit = evidence.index.site.unit
    own = unit[donors]
    receiving = mean_directions(evidence.graph.links[donors], unit).astype(np.float32)
    found = {name: np.empty(len(row), dtype=np.float32) for name in ("cosine", "giving", "receiving")}
    for part in slices(len(row), PAIRS):
        mine, others = own[row[part]], unit[target[part]]
        for name, left, right in (
            ("cosine", mine, others),
            ("giving", mine, evidence.giving[target[part]].astype(np.float32)),
            ("receiving", receiving[row[part]], others),
        ):
            found[name][part] = np.einsum("ij,ij->i", left, right, dtype=np.float32)
    return {name: np.round(value, 5) for name, value in found.items()}


def sparse_dots(
    left: sparse.csr_matrix, rows: NDArray[np.int64], right: sparse.csr_matrix, columns: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Inner products of pairs of sparse rows, float32 [k]; `rows` in ascending runs is fastest."""
    result = np.empty(len(rows), dtype=np.float32)
    for part in slices(len(rows), PAIRS):
        result[part] = np.asarray(left[rows[part]].multiply(right[columns[part]]).sum(axis=1)).ravel()
    return result


def _ranks(donor: NDArray[np.int64], value: NDArray[np.float32]) -> NDArray[np.float32]:
    """Place of each value among its donor's, 0 for the highest, equal ones alike; -1 for values not above 0."""
    order = np.lexsort((-value, donor))
    sorted_donor, sorted_value = donor[order], value[order]
    new = np.concatenate([[True], (sorted_donor[1:] != sorted_donor[:-1]) | (sorted_value[1:] != sorted_value[:-1])])
    if not len(order):
        return np.empty(0, dtype=np.float32)
    start = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    rank = np.empty(len(order), dtype=np.float32)
    rank[order] = start - np.searchsorted(sorted_donor, sorted_donor)
    rank[value <= 0] = -1
    return rank


def _levels(
    parent: NDArray[np.int64], depth: NDArray[np.int64], donor: NDArray[np.int64], target: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Levels from each page's node up to the lowest node that holds both."""
    up, over = np.zeros(len(donor), np.float32), np.zeros(len(donor), np.float32)
    left, right = donor.copy(), target.copy()
    while (apart := left != right).any():
        lower_left = apart & (depth[left] >= depth[right])
        lower_right = apart & (depth[right] >= depth[left])
        up += lower_left
        over += lower_right
        left = np.where(lower_left, parent[left], left)
        right = np.where(lower_right, parent[right], right)
    return up, over


def _address_features(
    evidence: Evidence, donor: NDArray[np.int64], target: NDArray[np.int64]
) -> dict[str, NDArray[np.float32]]:
    tree = evidence.index.address
    depth = tree.depth.astype(np.float32)
    up, _ = _levels(tree.rooted, tree.rooted_depths, donor + 1, target + 1)
    return {
        "above": (tree.parent[donor] == target).astype(np.float32),
        "below": (tree.parent[target] == donor).astype(np.float32),
        "beside": (tree.folder[donor] == tree.folder[target]).astype(np.float32),
        "shared": up,
        "same_last": (tree.last[donor] == tree.last[target]).astype(np.float32),
        "donor_depth": depth[donor],
        "target_depth": depth[target],
    }


def _mention_features(
    evidence: Evidence, donor: NDArray[np.int64], target: NDArray[np.int64], mentions: MentionRows
) -> tuple[dict[str, NDArray[np.float32]], NDArray[np.int32]]:
    """Of the best mention of each pair; 0 (places: 1) where there is none."""
    pages = len(evidence.index.site)
    spots, meanings, book = evidence.spots, evidence.meanings, evidence.index.book
    key = mentions.donor * pages + mentions.target
    count = len(donor)
    names = GROUPS["mention"]
    columns = {name: np.zeros(count, dtype=np.float32) for name in names}
    phrase = np.full(count, -1, dtype=np.int32)
    columns["first"][:] = 1
    columns["spot_rank"][:] = -1
    if not len(key):
        return columns, phrase
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    wanted = donor * pages + target
    place = np.minimum(np.searchsorted(key[first], wanted), len(first) - 1)
    hit = key[first][place] == wanted
    place = place[hit]
    best = first[place]
    spot, meaning = mentions.spot[best], mentions.meaning[best]
    meant = meanings.phrase[meaning]

    def best_of(values: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.maximum.reduceat(values, first)[place]

    bits = np.bitwise_or.reduceat(np.where(mentions.exact, meanings.bits[mentions.meaning], 0), first)[place]
    named = np.select([bits & (TITLE | H1) > 0, bits & SHORT > 0, bits & SLUG > 0], [3, 2, 1], 0)
    values: dict[str, NDArray[np.generic]] = {
        "share": best_of(np.where(mentions.exact, meanings.share[mentions.meaning], 0)),
        "anchor_links": np.log1p(best_of(meanings.links[mentions.meaning])),
        "keyness": evidence.keyness[meant],
        "named": named,
        "inflected": ~mentions.exact[best],
        "phrase_words": book.size[meant],
        "phrase_chars": evidence.index.phrase_chars[meant],
        "phrase_pages": np.log1p(evidence.mentioned[meant]),
        "meanings": np.log1p(evidence.meant[meanings.group[meaning]]),
        "times": np.log1p(spots.times[spot]),
        "free": np.log1p(best_of(spots.free[mentions.spot])),
        "first": spots.first[spot],
        "alone": best_of(spots.alone[mentions.spot].astype(np.float32)),
        "leads": spots.leads[spot],
        "near_link": best_of(spots.near[mentions.spot]),
        "inline_links": np.minimum(spots.inline[spot], 20),
        "on_link": spots.linked[spot],
        "phrases": np.diff(np.concatenate([first, [len(key)]]))[place],
        "weight": mentions.weight[best],
        "spot_rank": _spot_ranks(mentions)[best],
    }
    for name, value in values.items():
        columns[name][hit] = value
    phrase[hit] = meant
    return columns, phrase


def _spot_ranks(mentions: MentionRows) -> NDArray[np.float32]:
    """Place of each row among those of its spot by weight, 0 for the first."""
    order = np.lexsort((mentions.target, -mentions.weight, mentions.spot))
    spot = mentions.spot[order]
    rank = np.empty(len(order), dtype=np.float32)
    rank[order] = np.arange(len(order)) - np.searchsorted(spot, spot)
    return rank
