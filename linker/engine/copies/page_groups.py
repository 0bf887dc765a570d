"""Pages that are one page more than once: near-copies, variants of one thing, translations.

Editors do not link such pages with one another, however near their vectors are; and men's and women's jackets at a
cosine of 0.96 are no nearer than two jackets that have nothing in common but the word. So the vectors have no say
here: names, addresses and the words of the texts decide.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from linker.engine.copies.duplicate_pairs import TRANSLATION, VARIANT, pairs_by_address, pairs_by_name, pairs_by_text
from linker.engine.copies.translations import translations

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from linker.engine.copies.describe import Described

MAX_LINKED_COPIES = 20  # pages with one text of which each may receive links; beyond, one does for all


@dataclass(frozen=True)
class LeadCriteria:
    """What decides which page of a group represents it; arrays [n].

    `target` bool: whether it may receive links; `inlinks`, `clicks` int64; `address` int64: the length of its address;
    `ids` int64, ascending.
    """

    target: NDArray[np.bool_]
    inlinks: NDArray[np.int64]
    clicks: NDArray[np.int64]
    address: NDArray[np.int64]
    ids: NDArray[np.int64]


@dataclass(frozen=True)
class Groups:
    """Groups of pages, by position; arrays [n].

    `group` int64: its number, -1 for a page without a group; `kind` int8: a place in KINDS, what the page is to its
    group's first page; `near` float32: share of its text that it has in common with a page of the group, NaN where that
    did not decide; `lead` bool: whether it is the group's first page; `receives` bool: whether links may lead to it.
    """

    group: NDArray[np.int64]
    kind: NDArray[np.int8]
    near: NDArray[np.float32]
    lead: NDArray[np.bool_]
    receives: NDArray[np.bool_]


@dataclass
class SeparatedPages:
    """Pages that people have said are not the same.

    `sides`: by page, its side in each ruling; two pages are apart where a ruling puts them on different sides.
    """

    sides: Mapping[int, Mapping[int, int]] = field(default_factory=dict)


def find_groups(pages: Described, criteria: LeadCriteria, apart: SeparatedPages | None = None) -> Groups:
    """The groups of n pages. `criteria`: who represents a group and who receives links; `apart`: pages that are never
    brought together, not by way of others either. The same pages have the same groups in any order.
    """
    pairs = np.concatenate(
        [
            pairs_by_name(pages),
            pairs_by_address(pages),
            pairs_by_text(pages),
            translations(pages),
        ]
    )
    pairs = _allowed(pairs, apart or SeparatedPages())
    return _grouped(pages, pairs, criteria)


def _allowed(pairs: NDArray[np.void], apart: SeparatedPages) -> NDArray[np.void]:
    """The pairs without those that would bring together what was ruled apart, also by way of other pages."""
    sides = apart.sides
    if not sides:
        return pairs
    pages = int(max(pairs["a"].max(initial=0), pairs["b"].max(initial=0))) + 1
    _, part = connected_components(_matrix(pairs, pages), directed=False)
    ruled = np.array([page for page in sides if page < pages], dtype=np.int64)
    touched = np.isin(part[pairs["a"]], part[ruled])
    kept = np.ones(len(pairs), dtype=bool)
    parent: dict[int, int] = {}
    held: dict[int, dict[int, int]] = {}

    def root(page: int) -> int:
        while parent.setdefault(page, page) != page:
            parent[page] = page = parent[parent[page]]
        return page

    places = np.flatnonzero(touched)
    near = np.nan_to_num(pairs["near"][places], nan=1.0)
    for place in places[np.lexsort((pairs["b"][places], pairs["a"][places], -near))].tolist():
        left, right = root(int(pairs["a"][place])), root(int(pairs["b"][place]))
        if left == right:
            continue
        mine, yours = held.get(left) or dict(sides.get(left, {})), held.get(right) or dict(sides.get(right, {}))
        if any(yours.get(ruling, side) != side for ruling, side in mine.items()):
            kept[place] = False
            continue
        parent[right] = left
        held[left] = {**mine, **yours}
    return pairs[kept]


def _matrix(pairs: NDArray[np.void], pages: int) -> sparse.csr_matrix:
    ones = np.ones(len(pairs), dtype=np.int8)
    return sparse.csr_matrix((ones, (pairs["a"], pairs["b"])), shape=(pages, pages))


def _grouped(pages: Described, pairs: NDArray[np.void], criteria: LeadCriteria) -> Groups:
    """The groups that the pairs connect, with what each page is in its group."""
    count = len(pages)
    group, lead = np.full(count, -1, dtype=np.int64), np.zeros(count, dtype=bool)
    if not len(pairs):
        near = np.full(count, np.nan, dtype=np.float32)
        return Groups(group, np.zeros(count, dtype=np.int8), near, lead, np.ones(count, dtype=bool))
    _, part = connected_components(_matrix(pairs, count), directed=False)
    members = np.unique(np.concatenate([pairs["a"], pairs["b"]]))
    group[members] = np.unique(part[members], return_inverse=True)[1]
    ordered = members[_by_group(group[members], members, criteria)]
    lead[ordered[_firsts(group[ordered])]] = True
    kind, near = _relation_to_lead(pages.key("own_or_address_language"), pairs, group, lead)
    return Groups(group, kind, near, lead, _receives(pages.key("own_or_address_language"), pairs, group, ordered))


def _by_group(group: NDArray[np.int64], members: NDArray[np.int64], criteria: LeadCriteria) -> NDArray[np.intp]:
    """The order of pages by group; within one the page first that stands for it: a target, the most links, the most
    clicks, the shortest address, the lowest id."""
    return np.lexsort(
        (
            criteria.ids[members],
            criteria.address[members],
            -criteria.clicks[members],
            -criteria.inlinks[members],
            ~criteria.target[members],
            group,
        )
    )


def _receives(
    language: NDArray[np.int64], pairs: NDArray[np.void], group: NDArray[np.int64], ordered: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether links may lead to each page: to one of a group in each language, except where the source can tell which
    of the pages it means. `ordered`: the pages of groups, as `_by_group` orders them."""
    receives = np.ones(len(group), dtype=bool)
    ordered = ordered[np.lexsort((np.arange(len(ordered)), language[ordered], group[ordered]))]
    team = np.cumsum(_firsts(group[ordered]) | _firsts(language[ordered])) - 1
    size = np.bincount(team)
    indistinct = np.zeros(int(group.max()) + 1, dtype=bool)
    indistinct[group[pairs["a"][(pairs["kind"] != TRANSLATION) & ~pairs["chosen"]]]] = True
    one = indistinct[group[ordered]] | (size[team] > MAX_LINKED_COPIES)
    receives[ordered[one & ~_firsts(team)]] = False
    return receives


def _relation_to_lead(
    language: NDArray[np.int64], pairs: NDArray[np.void], group: NDArray[np.int64], lead: NDArray[np.bool_]
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """What each page is to its group's first page, by its language, or else by its nearest pair; and how near."""
    kind, near = np.zeros(len(group), dtype=np.int8), np.full(len(group), np.nan, dtype=np.float32)
    ends, kinds = np.concatenate([pairs["a"], pairs["b"]]), np.tile(pairs["kind"], 2)
    nears = np.tile(pairs["near"], 2)
    order = np.lexsort((kinds == VARIANT, np.nan_to_num(nears, nan=0.0), kinds != TRANSLATION, ends))
    kind[ends[order]], near[ends[order]] = kinds[order], nears[order]  # the last of a page's pairs stays
    language_of_lead = np.zeros(int(group.max()) + 1, dtype=np.int64)
    language_of_lead[group[lead]] = language[lead]
    theirs = language_of_lead[group]
    other = (group >= 0) & (language != 0) & (theirs != 0) & (language != theirs)
    kind[other], near[other] = TRANSLATION, np.nan
    return kind, near


def _firsts(values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each value differs from the one before it."""
    return np.concatenate([[True], values[1:] != values[:-1]])[: len(values)]
