"""The matching engine: from a site to ranked pairs with reasons and anchors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.engine.index import Progress, no_progress
from linker.engine.ranking.options import EngineOptions
from linker.engine.ranking.rankers.registry import ranker_of
from linker.engine.site import checked

if TYPE_CHECKING:
    from linker.engine.ranking.rankers.base import RankedPairs
    from linker.engine.site import Site


def rank_site(site: Site, options: EngineOptions | None = None, progress: Progress = no_progress) -> RankedPairs:
    """The best pairs of every selected source, ranked as `options.ranking` says.

    Raises UserError for a site without pages, ValueError where its parts do not fit together or there is no such
    ranker.
    """
    options = options or EngineOptions()
    return ranker_of(options.ranking).rank(checked(site), options, progress)
