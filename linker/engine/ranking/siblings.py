"""Pages of one series, told by their titles: another year's, another country's, another product's; and namesakes.

Such pages are alike in words and in meaning, so that all else speaks for a link between them. What readers of judged
suggestions went by was whether the source says the word, or the year, that tells the target from the others. Where
nothing tells them apart, a reader who meets the title on its own page expects that page: readers approved three of 16
links between namesakes (judged suggestions of six sites), eleven of which they took for copies of one page. Of links
between members of a series of numbers ("Survey 2019") they approved 0.86 of the next ones, where 0.75 was stated, and
0.29 of those that are three and more apart, where 0.66 was (31 stated at half and more, three sites).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linker.engine.arrays.ranges import expand_ranges
from linker.engine.arrays.sparse import pair_values
from linker.engine.ranking.approval import A_TEXT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.index import SiteIndex

OF_ANOTHER = -1.0  # what it adds to the log-odds that the target is relevant
NAMESAKE = -3.0  # the same, where source and target have one title
FAR_OFF = -1.6  # the same, where the target is far from the source in one series
FAR = 3  # members of a series between which readers follow no link
COMPARED = 16  # words of a title that are compared at either end
SHARED = 2  # words that titles share for each in which they differ
NEXT = 1  # years between one edition and the next, which readers like


def series_shift(index: SiteIndex, source: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.float64]:
    """What is added to the log-odds that pairs, int64 [m] both, are relevant, float64 [m]: OF_ANOTHER where the target
    is about another year than the source, or about another member of a series, and the source does not say which;
    FAR_OFF instead where they are FAR and more apart in a series of numbers; NAMESAKE where both have one title."""
    of_another = another_year(index, source, target) | another_member(index, source, target)
    shift = np.where(of_another, OF_ANOTHER, 0.0)
    shift = np.where(far_in_series(index, source, target), FAR_OFF, shift)
    return shift + np.where(namesakes(index, source, target), NAMESAKE, 0.0)


def far_in_series(index: SiteIndex, source: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the titles of pairs are the same but for numbers and months, and FAR and more apart among all such
    titles, bool [m]: "Survey 2016" is not for readers of "Survey 2019"."""
    series, turn = index.titles.series, index.titles.turn
    same = (series[source] >= 0) & (series[source] == series[target])
    return np.asarray(same & (np.abs(turn[source] - turn[target]) >= FAR))


def namesakes(index: SiteIndex, source: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the titles of pairs are the same words in the same order, in any of their forms, bool [m]."""
    titles = index.titles
    first, last, mine = _differing(titles.bounds, titles.stems, source, target)
    has_title = titles.bounds[target + 1] > titles.bounds[target]
    return np.asarray(has_title & (first == last) & (mine[0] == mine[1]))


def another_year(index: SiteIndex, source: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the target's title has years that neither the title nor the text of the source says, bool [m].

    The edition before the source's and the one after it do not count, nor years that no text of the site says, nor
    sources without a text.
    """
    titles = index.titles
    earliest, latest = titles.earliest.astype(np.int64), titles.latest.astype(np.int64)
    apart = np.maximum(earliest[target] - latest[source], earliest[source] - latest[target])
    far = (latest[target] > 0) & ((latest[source] == 0) | (apart > NEXT)) & (np.log1p(index.tokens[source]) > A_TEXT)
    found = np.zeros(len(source), dtype=bool)
    some = np.flatnonzero(far)
    pair, place = expand_ranges(titles.years.indptr[target[some]], np.diff(titles.years.indptr)[target[some]])
    year = titles.years.indices[place].astype(np.int64)
    counts = index.in_texts[year] > 0
    pair, year = pair[counts], year[counts]
    said = np.bincount(pair, _in_text(index, source[some][pair], year), minlength=len(some)) > 0
    found[some] = (np.bincount(pair, minlength=len(some)) > 0) & ~said
    return found


def another_member(index: SiteIndex, source: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the titles agree but for the words of one place, and the source does not say those of the target, bool
    [m]: "Returns (Poland)" and "Returns (Italy)".

    They share SHARED words for each in which they differ, function words left out. Numbers tell the parts of a series
    that readers go through one after the other, and do not count; nor do sources without a text.
    """
    titles = index.titles
    first, last, mine = _differing(titles.bounds, titles.stems, source, target)
    theirs_content = titles.content[last] - titles.content[first]
    whole = titles.content[titles.bounds[target + 1]] - titles.content[titles.bounds[target]]
    own = titles.content[mine[1]] - titles.content[mine[0]]
    numbers = titles.numbers[last] - titles.numbers[first] + titles.numbers[mine[1]] - titles.numbers[mine[0]]
    alike = (whole - theirs_content >= SHARED * np.maximum(theirs_content, own)) & (numbers == 0)
    alike &= (theirs_content > 0) & (own > 0) & (np.log1p(index.tokens[source]) > A_TEXT)
    some = np.flatnonzero(alike)
    pair, place = expand_ranges(first[some], (last - first)[some])
    word = titles.stems[place].astype(np.int64)
    content = titles.content[place + 1] > titles.content[place]
    pair, word = pair[content], word[content]
    said = np.bincount(pair, _in_text(index, source[some][pair], word), minlength=len(some)) > 0
    found = np.zeros(len(source), dtype=bool)
    found[some] = ~said
    return found


def _differing(
    bounds: NDArray[np.int64], stems: NDArray[np.int32], source: NDArray[np.int64], target: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The words of the target's title between what both titles begin and end with, as first and last, the last one
    excluded; and those of the source's; int64 [m] each."""
    low, high, own_low, own_high = bounds[target], bounds[target + 1], bounds[source], bounds[source + 1]
    if not len(stems):
        return low, high, (own_low, own_high)
    shorter = np.minimum(high - low, own_high - own_low)
    step = np.arange(COMPARED)
    top = len(stems) - 1
    room = step < shorter[:, None]

    def run(theirs: NDArray[np.int64], mine: NDArray[np.int64]) -> NDArray[np.int64]:
        same = room & (stems[np.clip(theirs, 0, top)] == stems[np.clip(mine, 0, top)])
        return np.asarray(np.logical_and.accumulate(same, axis=1).sum(axis=1), dtype=np.int64)

    begin = run(low[:, None] + step, own_low[:, None] + step)
    end = run(high[:, None] - 1 - step, own_high[:, None] - 1 - step)
    end = np.minimum(end, shorter - begin)
    return low + begin, high - end, (own_low + begin, own_high - end)


def _in_text(index: SiteIndex, source: NDArray[np.int64], stem: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the text or the title of each source says the word, bool [k]."""
    if not len(source):
        return np.zeros(0, dtype=bool)
    pages, place = np.unique(source, return_inverse=True)
    return np.asarray(
        (pair_values(index.body[pages], place, stem) > 0) | (pair_values(index.title[pages], place, stem) > 0)
    )
