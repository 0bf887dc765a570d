"""The words of a site's titles in their order, and the years among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from linker.engine.arrays.ranges import ranks_within
from linker.engine.text.fold import fold
from linker.engine.text.hashing import hash_runs, prefix_sums
from linker.engine.text.stems import STEMMED_LANGUAGES, stem
from linker.engine.text.tokens import A_NUMBER
from linker.engine.text.words import MONTHS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.text.tokens import Tokens, Vocabulary

YEARS = (1950, 2049)  # numbers that are years and no models of a thing
ORDERED = 3  # numbers of a title besides its year that put it in order


@dataclass(frozen=True)
class SiteTitles:
    """The words of n titles, one title after the other, without what the site adds to them.

    `stems` int32 [words]; `bounds` int64 [n + 1]: where each title's words begin. `content`, `numbers` int32
    [words + 1]: how many of the words before each place are no function words, and how many have a digit. `years`
    [n, v] int8: 1 where a title has a year; `earliest`, `latest` int16 [n]: the first and the last of them, 0 without.
    `series` int64 [n]: a number that titles share which are the same words but for numbers and months, -1 where a title
    has no such others, or neither a year, a month nor a number of several parts ("1.2"); `turn` int64 [n]: a title's
    place among these by year, month and other numbers, from 0 on.
    """

    stems: NDArray[np.int32]
    bounds: NDArray[np.int64]
    content: NDArray[np.int32]
    numbers: NDArray[np.int32]
    years: sparse.csr_matrix
    earliest: NDArray[np.int16]
    latest: NDArray[np.int16]
    series: NDArray[np.int64]
    turn: NDArray[np.int64]


def read_titles(heads: Tokens, vocabulary: Vocabulary, is_stop: NDArray[np.bool_]) -> SiteTitles:
    """The words of titles; `heads`: each title, and behind a line break what else there is. `is_stop` bool [v]."""
    breaks = np.concatenate([[0], np.cumsum(heads.words == 0)])
    first_line = breaks[:-1] == np.repeat(breaks[heads.bounds[:-1]], np.diff(heads.bounds))
    kept = first_line & vocabulary.word_mask()[heads.words]
    stems = heads.stems[kept]
    bounds = np.concatenate([[0], np.cumsum(kept)])[heads.bounds].astype(np.int64)
    known, place = np.unique(stems, return_inverse=True)
    values = vocabulary.number_values(known)[place]
    row = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    is_year = values > A_NUMBER
    earliest, latest = np.full(len(bounds) - 1, 9999, dtype=np.int16), np.zeros(len(bounds) - 1, dtype=np.int16)
    np.minimum.at(earliest, row[is_year], values[is_year])
    np.maximum.at(latest, row[is_year], values[is_year])
    numbers, months = vocabulary.whole_numbers(known)[place], _months(vocabulary, known)[place]
    series, turn = _series(stems, bounds, row, numbers, months)
    ones = np.ones(int(is_year.sum()), dtype=np.int8)
    years = sparse.csr_matrix((ones, (row[is_year], stems[is_year])), shape=(len(bounds) - 1, len(is_stop)))
    return SiteTitles(
        stems=stems,
        bounds=bounds,
        content=_counted(~is_stop[stems]),
        numbers=_counted(values > 0),
        years=years,
        earliest=np.where(latest > 0, earliest, 0).astype(np.int16),
        latest=latest,
        series=series,
        turn=turn,
    )


def _months(vocabulary: Vocabulary, stems: NDArray[np.int32]) -> NDArray[np.int64]:
    """Which month each of some stems names, from 1 on, 0 for none; int64 [k]."""
    found = np.zeros(len(stems), dtype=np.int64)
    for month, names in enumerate(MONTHS, 1):
        words = {fold(name) for name in names.split()}
        forms = {form for word in words for form in (word, *(stem(word, language) for language in STEMMED_LANGUAGES))}
        found[np.isin(stems, vocabulary.numbers(forms))] = month
    return found


def _series(
    stems: NDArray[np.int32],
    bounds: NDArray[np.int64],
    row: NDArray[np.int64],
    number: NDArray[np.int64],
    month: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """`series` and `turn` of titles; `row` int64 [words]: the title of each word, `number`, `month`: what it says, -1
    and 0 for nothing. A month counts beside a number alone: "may" is a verb as well."""
    titles, is_number = len(bounds) - 1, number >= 0
    beside = np.zeros(len(stems), dtype=bool)
    same = row[1:] == row[:-1]
    beside[1:] |= is_number[:-1] & same
    beside[:-1] |= is_number[1:] & same
    is_month = (month > 0) & beside
    told = np.where(is_number, -1, np.where(is_month, -2, stems)).astype(np.int64)
    _, place = np.unique(told, return_inverse=True)
    words = hash_runs(prefix_sums(place.astype(np.int32)), bounds[:-1], bounds[1:])
    _, series, members = np.unique(words, return_inverse=True, return_counts=True)
    is_year = is_number & (number >= YEARS[0]) & (number <= YEARS[1])
    tells = np.bincount(row, is_year | is_month, minlength=titles) + np.bincount(row, is_number, minlength=titles) // 2
    series = np.where((tells > 0) & (members[series] > 1), series, -1)
    keys = np.zeros((titles, 2 + ORDERED), dtype=np.int64)
    np.maximum.at(keys[:, 0], row[is_year], number[is_year])
    np.maximum.at(keys[:, 1], row[is_month], month[is_month])
    other = np.flatnonzero(is_number & ~is_year)
    rank = ranks_within(row[other])
    other, rank = other[rank < ORDERED], rank[rank < ORDERED]
    keys[row[other], 2 + rank] = number[other]
    order = np.lexsort((*keys.T[::-1], series))
    another = (np.diff(series[order]) != 0) | (np.diff(keys[order], axis=0) != 0).any(axis=1)
    step = np.concatenate([[0], np.cumsum(another)])[:titles]
    turn = np.empty(titles, dtype=np.int64)
    turn[order] = step
    first = np.full(int(series.max(initial=-1)) + 2, titles, dtype=np.int64)
    np.minimum.at(first, series, turn)
    return series, turn - first[series]


def _counted(these: NDArray[np.bool_]) -> NDArray[np.int32]:
    return np.concatenate([[0], np.cumsum(these)]).astype(np.int32)
