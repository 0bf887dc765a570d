"""By the stated formula, with weights that people set."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linker.engine.messages import gettext_noop
from linker.engine.ranking.rankers.base import CandidateRanker

if TYPE_CHECKING:
    from linker.engine.index import SiteIndex
    from linker.engine.ranking.options import EngineOptions
    from linker.engine.ranking.rankers.base import Progress


class Formula(CandidateRanker):
    name: ClassVar = "formula"
    label: ClassVar = gettext_noop("By the formula, with the weights of the settings")
    help: ClassVar = "by the project's weights"
    by: ClassVar = gettext_noop("the formula")
    short: ClassVar = gettext_noop("formula")
    ranked_by: ClassVar = "formula"

    def fit(self, index: SiteIndex, options: EngineOptions, progress: Progress) -> None:
        """Nothing: the formula is worked out for every candidate, whoever ranks."""
