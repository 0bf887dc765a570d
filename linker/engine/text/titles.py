"""The words of a site's titles in their order, and the years among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from linker.engine.text.tokens import A_NUMBER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.text.tokens import Tokens, Vocabulary


@dataclass(frozen=True)
class TitleWords:
    """The words of n titles, one title after the other, without what the site adds to them.

    `stems` int32 [words]; `bounds` int64 [n + 1]: where each title's words begin. `content`, `numbers` int32
    [words + 1]: how many of the words before each place are no function words, and how many have a digit. `years`
    [n, v] int8: 1 where a title has a year; `earliest`, `latest` int16 [n]: the first and the last of them, 0 without.
    """

    stems: NDArray[np.int32]
    bounds: NDArray[np.int64]
    content: NDArray[np.int32]
    numbers: NDArray[np.int32]
    years: sparse.csr_matrix
    earliest: NDArray[np.int16]
    latest: NDArray[np.int16]


def read_title_words(heads: Tokens, vocabulary: Vocabulary, is_stop: NDArray[np.bool_]) -> TitleWords:
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
    ones = np.ones(int(is_year.sum()), dtype=np.int8)
    years = sparse.csr_matrix((ones, (row[is_year], stems[is_year])), shape=(len(bounds) - 1, len(is_stop)))
    return TitleWords(
        stems=stems,
        bounds=bounds,
        content=_counted(~is_stop[stems]),
        numbers=_counted(values > 0),
        years=years,
        earliest=np.where(latest > 0, earliest, 0).astype(np.int16),
        latest=latest,
    )


def _counted(these: NDArray[np.bool_]) -> NDArray[np.int32]:
    return np.concatenate([[0], np.cumsum(these)]).astype(np.int32)
