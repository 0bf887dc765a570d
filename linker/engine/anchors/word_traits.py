"""Traits of words in a text that editors differ about: one rejects names in small letters, another whatever says less
than half of a title. linker.engine.ranking.calibration learns from a project's decisions by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linker.engine.anchors.features import word_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A decimal digit each, so that a suggestion keeps all its traits as one number; a digit is 0 where nothing is known.
TITLE, CAPITALS, SPREAD = 10, 100, 1000
_TITLE = (0.01, 0.5, 0.999)  # shares of the words of the target's title, by their rarity: none, some, most, all
_CAPITALS = (0.01, 0.99)  # shares of the words that are written with a capital: none, some, all
_SPREAD = (np.log1p(3), np.log1p(30))  # pages that say them, as words of a link or a name; words that are none: 0


def word_traits(table: NDArray[np.float32]) -> NDArray[np.int16]:
    """The traits of words by their numbers, `table` [m, len(WORD_FEATURES)]; int16 [m]."""
    title = np.digitize(word_column(table, "title_share"), _TITLE)
    capitals = np.digitize(word_column(table, "capitals"), _CAPITALS)
    spread = np.digitize(word_column(table, "pages"), _SPREAD)
    return np.asarray(TITLE * (title + 1) + CAPITALS * (capitals + 1) + SPREAD * (spread + 1), dtype=np.int16)
