"""By trees that are learned from the site's own links and the editors' decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linker.engine.messages import gettext_noop
from linker.engine.ranking.rankers.base import CandidateRanker

if TYPE_CHECKING:
    from linker.engine.index import SiteIndex
    from linker.engine.ranking.boosted_trees import TrainedScorer
    from linker.engine.ranking.options import EngineOptions
    from linker.engine.ranking.rankers.base import Progress


class Learned(CandidateRanker):
    name: ClassVar = "learned"
    label: ClassVar = gettext_noop("Learned from the site’s own links")
    help: ClassVar = "by a ranker trained on the site's own links"
    by: ClassVar = gettext_noop("a ranker that learned from the site’s own links")
    short: ClassVar = gettext_noop("learned from links")
    learns: ClassVar = True

    def fit(self, index: SiteIndex, options: EngineOptions, progress: Progress) -> TrainedScorer | None:
        from linker.engine.ranking.boosted_trees import train  # heavy: LightGBM and scikit-learn

        return train(index, options.training, options.generators, progress)
