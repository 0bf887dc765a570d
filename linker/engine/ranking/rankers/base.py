"""What a ranker is: it puts the pairs of a site's pages in order, the likeliest link of each source first.

A ranker has a file in this folder and a line in `registry.RANKERS`. Most score candidates that are found for all of
them alike: they derive from `CandidateRanker` and say no more than how a pair scores. The registry is read by forms and
commands, so a ranker's file imports what is heavy (LightGBM, scikit-learn) where it is used.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from linker.engine.anchors.choice import AnchorChoice
    from linker.engine.index import SiteIndex
    from linker.engine.ranking.options import EngineOptions
    from linker.engine.ranking.ranked import Ranked
    from linker.engine.ranking.reasons import Why
    from linker.engine.site import Site

    Progress = Callable[[int, int, str], None]


class RankedPairs(Protocol):
    """What every ranker gives: pairs by source, then score (highest first), then target; no pair twice.

    `ranker`: the name of the one that ranked, which may be another than was asked for where a site has too little to
    learn from; `version`: of its model or formula.
    """

    @property
    def ranker(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def source(self) -> NDArray[np.int64]:
        """int64 [m]: pages that give the links."""

    @property
    def target(self) -> NDArray[np.int64]:
        """int64 [m]: pages that receive them."""

    @property
    def score(self) -> NDArray[np.float64]:
        """float64 [m], finite, of six decimals."""

    def __len__(self) -> int: ...

    def why(self, place: int) -> Why:
        """Why the pair at a position is suggested."""

    def anchor_choices(self, places: NDArray[np.int64]) -> list[list[AnchorChoice]]:
        """Words of the sources' texts that could become the link of each pair at `places`, int64 [k], best first."""


class Ranker(ABC):
    """Ranks a site.

    name        at most 8 characters: in a run's parameters, on the command line and in its report; may not change
    label       what the match form calls it
    help        what the command line says of it
    by          who ranked, for reports: "By ..."
    short       the same in a list of parameters
    ranked_by   which of the three kinds that the database knows its suggestions carry
    threshold   lowest score kept where a run names none
    whole_site  whether it looks over the whole site where a run names no scope, else some levels of the category tree
    """

    name: ClassVar[str]
    label: ClassVar[str]
    help: ClassVar[str]
    by: ClassVar[str]
    short: ClassVar[str]
    ranked_by: ClassVar[Literal["cosine", "formula", "learned"]] = "learned"
    threshold: ClassVar[float] = 0.1
    whole_site: ClassVar[bool] = True

    @abstractmethod
    def rank(self, site: Site, options: EngineOptions, progress: Progress) -> RankedPairs:
        """The best pairs of every selected source, at most `options.pool` a source, of `options.least_score`
        and more.

        `site` as `linker.engine.site.checked` returns it: a page whose vector holds NaN or infinity counts as one
        without a vector, which is near to nothing. Never a link that exists, a pair that is forbidden or was rejected,
        a page with itself, or beyond the site's `levels_up`. The same site gives the same bytes. Memory grows with the
        pages, never with their square.
        """


@dataclass(frozen=True)
class Card:
    """What is kept of a ranker with the run that it ranked: how many `labels` it was learned from, its `quality` as
    measured, the `weights` of its parts, and the `model` itself."""

    labels: int = 0
    quality: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    model: bytes = b""


class Scorer(ABC):
    """Scores pairs by their numbers, float32 [m, len(FEATURES)]; linker.engine.ranking.features.FEATURES names them.

    `version`: at most 10 characters. `knows_site`: whether it was learned from the site's own links; the model of
    approval then reads its scores beside the numbers of a pair.
    """

    version: str
    knows_site: ClassVar[bool] = False

    @abstractmethod
    def raw(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """How likely the site would link each pair, as log-odds or on any scale that rises with it; float64 [m]."""

    def quick(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """A quicker reading, by which twice as many pairs are chosen as are kept; float64 [m]."""
        return self.raw(features)

    def covers(self, features: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Whether it has anything to say of each pair; bool [m]."""
        return np.ones(len(features), dtype=np.bool_)

    def log_odds_shift(self, features: NDArray[np.float32], raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """What its scores `raw` add to the log-odds of approval, which know nothing of them; float64 [m]."""
        return np.zeros(len(features))

    def card(self) -> Card:
        """What is kept of it with a run."""
        return Card()


class CandidateRanker(Ranker):
    """A ranker of the candidates that the generators propose. Its pairs carry a probability of approval, and words.

    `learns`: whether it learns from the site's own links; words of links are then learned from them as well.
    """

    learns: ClassVar[bool] = False

    @abstractmethod
    def fit(self, index: SiteIndex, options: EngineOptions, progress: Progress) -> Scorer | None:
        """What scores the site's pairs. None: by the formula alone; of one that `learns`: the site has too little to
        learn from, and `options.otherwise` takes its place."""

    def rank(self, site: Site, options: EngineOptions, progress: Progress) -> Ranked:
        from linker.engine.ranking.pipeline import rank_candidates  # heavy: LightGBM and scikit-learn

        return rank_candidates(site, self, options, progress)
