"""By similarity of meaning, less a penalty for each level of the category tree between the two pages.

A match run by cosine goes over a site of any size in batches, `linker.matching.plan`; this ranks a whole site that fits
in memory with the same search, `linker.engine.candidates.block_search`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linker.engine.arrays.vectors import any_values, slices
from linker.engine.candidates.allowed import may_be_linked
from linker.engine.candidates.block_search import Pairs, Side, search
from linker.engine.messages import gettext_noop
from linker.engine.ranking.rankers.base import Ranker
from linker.engine.ranking.reasons import BY_COSINE, Why
from linker.engine.text.languages import apart

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from linker.engine.anchors.choice import AnchorChoice
    from linker.engine.ranking.options import EngineOptions
    from linker.engine.ranking.rankers.base import Progress
    from linker.engine.site import Site

VERSION = "cosine-1"


@dataclass(frozen=True)
class RankedByCosine:
    """Pairs as `RankedPairs`; `pairs` with the cosine and the level of each. It has no words for links: they are looked
    for in the texts by the targets' names alone."""

    pairs: Pairs
    ranker: str = "cosine"
    version: str = VERSION

    @property
    def source(self) -> NDArray[np.int64]:
        """int64 [m]: pages that give the links."""
        return self.pairs.sources

    @property
    def target(self) -> NDArray[np.int64]:
        """int64 [m]: pages that receive them."""
        return self.pairs.targets

    @property
    def score(self) -> NDArray[np.float64]:
        """float64 [m]: the cosine, less the penalty of the level."""
        return self.pairs.score

    def __len__(self) -> int:
        return len(self.pairs)

    def why(self, place: int) -> Why:
        numbers = {"cosine": float(self.pairs.similarity[place]), "level": float(self.pairs.levels[place])}
        return Why(BY_COSINE.text, numbers)

    def anchor_choices(self, places: NDArray[np.int64]) -> list[list[AnchorChoice]]:
        return [[] for _ in places]


class Cosine(Ranker):
    name: ClassVar = "cosine"
    label: ClassVar = gettext_noop("By similarity, within category blocks")
    help: ClassVar = "by similarity within category blocks"
    by: ClassVar = gettext_noop("similarity within category blocks")
    short: ClassVar = gettext_noop("similarity, within category blocks")
    ranked_by: ClassVar = "cosine"
    threshold: ClassVar = 0.5
    whole_site: ClassVar = False

    def rank(self, site: Site, options: EngineOptions, progress: Progress) -> RankedByCosine:
        """As `Ranker.rank`; `options.level_penalty` is taken off the cosine for each level. Pages without a vector take
        no part."""
        progress(0, 1, "Comparing pages")
        with_vector = any_values(site.unit)
        sources = np.flatnonzero((site.source if site.selected is None else site.selected) & with_vector)
        targets = np.flatnonzero(site.target & with_vector)
        kinds, levels = _kinds_and_levels(site)
        found = search(
            Side(sources, site.unit[sources], kinds[sources]),
            (Side(part, site.unit[part], kinds[part]) for part in (targets[rows] for rows in slices(len(targets)))),
            levels,
            site.taken,
            threshold=options.least_score,
            level_penalty=options.level_penalty,
            pool=options.pool,
            tiling=options.tiling,
        )
        allowed = may_be_linked(site, sources, found.sources, found.targets, site.taken)  # copies of one page are not
        return RankedByCosine(Pairs(*(column[allowed] for column in vars(found).values())))


def _kinds_and_levels(
    site: Site,
) -> tuple[NDArray[np.int64], Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int8]]]:
    """The kind of each page, its category and its language as one number, int64 [n], and the levels between kinds: -1
    where they are out of reach or in different languages."""
    size, levels_up = len(site.tree), site.tree.height if site.levels_up is None else site.levels_up
    languages, language = np.unique(
        np.zeros_like(site.nodes) if site.language_ids is None else site.language_ids, return_inverse=True
    )

    def levels(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int8]:
        found = site.tree.levels(left % size, right % size, levels_up)
        other = apart(languages[left // size][:, None], languages[right // size][None, :])
        return np.where(other, np.int8(-1), found)

    return site.nodes + language * size, levels
