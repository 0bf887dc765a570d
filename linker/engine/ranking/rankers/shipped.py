"""By trees that ship with the product, learned from the links of other sites."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linker.engine.messages import gettext_noop
from linker.engine.ranking.rankers.base import CandidateRanker

if TYPE_CHECKING:
    from linker.engine.index import SiteIndex
    from linker.engine.ranking.options import EngineOptions
    from linker.engine.ranking.other_sites import OtherSitesScorer
    from linker.engine.ranking.rankers.base import Progress


class Shipped(CandidateRanker):
    name: ClassVar = "shipped"
    label: ClassVar = gettext_noop("Learned from the links of other sites")
    help: ClassVar = "by one that learned from other sites"
    by: ClassVar = gettext_noop("the built-in ranker (learned from the links of other sites)")
    short: ClassVar = gettext_noop("learned from the links of other sites")

    def fit(self, index: SiteIndex, options: EngineOptions, progress: Progress) -> OtherSitesScorer:
        from linker.engine.ranking.other_sites import other_sites_scorer  # heavy: LightGBM

        return other_sites_scorer()
