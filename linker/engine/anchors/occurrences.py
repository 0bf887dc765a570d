"""Where in a text words become the link, if they stand there several times.

Editors link the first place, or one where the words follow, or come before, what the site's links usually do ("for more
information, see ..."). How much each counts was learned from hidden links of eight sites, whose places are known;
docs/quality.md says what it brings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linker.engine.anchors.boundaries import inside_links
from linker.engine.anchors.cuts import cut_out
from linker.engine.anchors.longer_names import WholeNames
from linker.engine.anchors.ownership import names_another
from linker.engine.anchors.spans import CandidateSpans
from linker.engine.anchors.title_words import capital_follows
from linker.engine.arrays.ranges import expand_ranges, ranks_within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.anchors.boundaries import BoundaryModel
    from linker.engine.anchors.spans import SpanFinder
    from linker.engine.anchors.tokenized import TokenizedTexts

MOST = 12  # places of the same words that are looked at
# Log-odds that links begin after a word, or end before one, below which it says nothing: links do so three times as
# often there as on average.
TELLING = 1.0
# Of the logarithm of a place's turn, of the first place, and of the words before and after.
WEIGHTS = np.array([-0.5, 1.0, 1.3, 1.3])


@dataclass(frozen=True)
class Spots:
    """Places of the same words; arrays [k], by span, then place: `of` int64: the span; `first`, `last` int64: tokens,
    the last one excluded."""

    of: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    def take(self, keep: NDArray[np.bool_]) -> Spots:
        """The places where `keep`, bool [k], is true."""
        return Spots(self.of[keep], self.first[keep], self.last[keep])


def fitting_places(
    finder: SpanFinder, texts: TokenizedTexts, target: NDArray[np.int64], found: CandidateSpans
) -> tuple[CandidateSpans, Spots]:
    """The spans whose words could become a link to their target, int64 [m], at one place or another, and these places.

    A span stays where it is if its words fit there, or is moved to the first place where they do. They do not where
    they are cut out of something longer or name another page (`linker.engine.anchors.cuts`, `longer_names`,
    `ownership`), nor, at any other place than their own, where a name goes on behind them.
    """
    spots = same_words(texts, found, *finder.positions.within(texts, finder.evidence.index))
    of, first, last = spots.of, spots.first, spots.last
    there = CandidateSpans(found.pair[of], first, last, found.features[of])
    own = first == found.first[of]
    fits = ~cut_out(finder, texts, target[of], there) & ~names_another(finder, texts, target[of], first, last)
    fits &= ~WholeNames(finder, texts).hold(target[of], first, last) & (own | ~capital_follows(texts, there))
    spots, own = spots.take(fits), own[fits]
    keep, place = np.unique(spots.of, return_inverse=True)
    best = np.flatnonzero(np.concatenate([[True], place[1:] != place[:-1]])[: len(place)])
    best[place[own]] = np.flatnonzero(own)
    moved = CandidateSpans(found.pair[keep], spots.first[best], spots.last[best], found.features[keep])
    return moved, Spots(place, spots.first, spots.last)


def best_places(finder: SpanFinder, texts: TokenizedTexts, spots: Spots) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First token, and the one after the last, of the place where an editor would likeliest link the words of each of m
    spans, int64 [m] both; ties to the earlier place. Each span has a place."""
    score = describe(finder.boundaries, texts, spots) @ WEIGHTS
    order = np.lexsort((spots.first, -np.round(score, 5), spots.of))
    best = order[ranks_within(spots.of[order]) < 1]
    return spots.first[best], spots.last[best]


def same_words(
    texts: TokenizedTexts, found: CandidateSpans, link_first: NDArray[np.int64], link_last: NDArray[np.int64]
) -> Spots:
    """The first MOST places where the words of each span stand in its text, whole and outside of links."""
    size = int(texts.words.max(initial=0)) + 1
    key = texts.rows.astype(np.int64) * size + texts.words
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    begin = np.searchsorted(ordered, key[found.first])
    of, place = expand_ranges(begin, np.searchsorted(ordered, key[found.first], side="right") - begin)
    first = order[place]
    last = first + (found.last - found.first)[of]
    inside = last <= texts.bounds[texts.rows[first] + 1]
    of, first, last = of[inside], first[inside], last[inside]
    linked = np.concatenate([[0], np.cumsum(inside_links(texts, link_first, link_last))])
    fits = texts.begins[first] & texts.ends[last - 1] & (linked[last] == linked[first])
    fits &= texts.hashes(first, last) == texts.hashes(found.first, found.last)[of]
    of, first, last = of[fits], first[fits], last[fits]
    few = ranks_within(of) < MOST
    return Spots(of[few], first[few], last[few])


def describe(boundaries: BoundaryModel, texts: TokenizedTexts, spots: Spots) -> NDArray[np.float64]:
    """The numbers of places that WEIGHTS weighs, float64 [k, len(WEIGHTS)]."""
    turn = ranks_within(spots.of)
    before, after = texts.neighbours()
    return np.column_stack(
        [
            np.log1p(turn),
            turn == 0,
            np.maximum(boundaries.begin_before[before[spots.first]], TELLING),
            np.maximum(boundaries.end_after[after[spots.last - 1]], TELLING),
        ]
    )
