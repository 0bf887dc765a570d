"""Which other pages might link to a few pages that have changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linker.engine.arrays.ranges import distinct, expand_ranges, ranks_within
from linker.engine.phrases import H1, TITLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.index import SiteIndex

BY_NAME = 2.0  # more than any cosine: a text that names a page is the best place for a link to it


def givers(
    index: SiteIndex, pages: NDArray[np.int64], without: NDArray[np.int64], most: int, each: int
) -> NDArray[np.int64]:
    """At most `most` sources, int64 [k], ascending, that are likeliest to link to some pages, int64; up to `each` for a
    page, and none of `without`, int64.

    A source whose text names the page comes before the pages nearest to it by vector, which `index.near` knows of all
    of them. All pages have one before any has a second; ties go to the lower page.
    """
    order = _in_turn(index, pages, without, each)
    _, place = np.unique(order, return_index=True)
    return np.sort(order[np.sort(place)[:most]])


def _in_turn(index: SiteIndex, pages: NDArray[np.int64], without: NDArray[np.int64], each: int) -> NDArray[np.int64]:
    """The likeliest sources, the best of each page first, then the second of each."""
    site = index.site
    near = index.near[pages].tocoo()
    target, source, score = pages[near.row], near.col.astype(np.int64), near.data.astype(np.float64)
    named, sayer = _sayers(index, pages, 4 * each)
    target, source = np.concatenate([target, named]), np.concatenate([source, sayer])
    score = np.concatenate([score, np.full(len(named), BY_NAME)])
    keep = site.source[source] & (source != target) & ~np.isin(source, without)
    target, source, score = target[keep], source[keep], score[keep]
    order = np.lexsort((source, -score, target))
    target, source = target[order], source[order]
    turn = ranks_within(target)
    first = turn < each
    best: NDArray[np.int64] = source[first][np.lexsort((target[first], turn[first]))]
    return best


def _sayers(index: SiteIndex, pages: NDArray[np.int64], most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pages that a text names, and the pages with such texts, int64 [m] both: the lowest `most` for each name."""
    names, found = index.names, index.occurrences
    own = np.flatnonzero(np.isin(names.page, pages) & ((names.bits & (TITLE | H1)) > 0))
    said = np.flatnonzero(np.isin(found.phrase, names.phrase[own]))
    pairs = distinct(found.phrase[said].astype(np.int64) * len(index.site) + found.page[said])
    phrase, sayer = np.divmod(pairs, len(index.site))
    first = ranks_within(phrase) < most
    phrase, sayer = phrase[first], sayer[first]
    begin = np.searchsorted(phrase, names.phrase[own])
    count = np.searchsorted(phrase, names.phrase[own], side="right") - begin
    name, place = expand_ranges(begin, count)
    return names.page[own][name], sayer[place]
