"""Drawing the sources of a pilot run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def draw(strata: NDArray[np.int64], pages: int, seed: int) -> NDArray[np.int64]:
    """Positions of `pages` of the rows [n], int64, ascending; all of them where there are no more.

    Rows are put in order by stratum and by chance within it, and taken at equal distances: each stratum gives its
    share, up to one row more or less (systematic sampling). The same seed draws the same rows.
    """
    rows = len(strata)
    if pages >= rows:
        return np.arange(rows)
    chance = np.random.default_rng(seed)
    order = np.lexsort((chance.random(rows), strata))
    places = ((np.arange(pages) + chance.random()) * rows / pages).astype(np.int64)
    return np.sort(order[np.minimum(places, rows - 1)])
