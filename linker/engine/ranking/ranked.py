"""What ranking the candidates of a site gives: pairs with probabilities, reasons and words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linker.engine.anchors.choice import AnchorChoice
from linker.engine.ranking.boosted_trees import Quality, TrainedScorer
from linker.engine.ranking.calibration import SOURCES
from linker.engine.ranking.reasons import REASONS, Why, why
from linker.engine.text.clean import clean
from linker.engine.text.names import page_name, says_only_in_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.anchors.training import AnchorRanker
    from linker.engine.index import TextIndex
    from linker.engine.ranking.features import Candidates
    from linker.engine.ranking.rankers.base import Scorer
    from linker.engine.site import Site

# Characters of the source's text, place in SOURCES, how likely the words are all right, and their traits.
WORDING = np.dtype([("start", "i4"), ("end", "i4"), ("source", "i1"), ("good", "f4"), ("traits", "i2")])


@dataclass(frozen=True)
class PairsBelowThreshold:
    """Pairs too unlikely to become links; arrays [m]: `source`, `target` int32, `value` float64: probability, of six
    decimals."""

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    value: NDArray[np.float64]


NONE_BELOW = PairsBelowThreshold(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))


@dataclass(frozen=True)
class Ranked:
    """Pairs by source, then probability (highest first), then target, as linker.engine.ranking.rankers.base.RankedPairs
    whose score is the probability; arrays [m].

    `pairs` as `Candidates`, with the features of REASONS alone, in their order; `probability` float64 in [0, 1]: how
    likely an editor is to approve the link at its best, on words of the text or beside it; `beside` float64: beside it,
    under the target's own name; `uncalibrated` float64: the first as the shipped model says it; `allocation_score`
    float64: what links are allocated by, see `linker.engine.ranking.choose.allocation_scores`; `near` int8: see
    `linker.engine.ranking.calibration.nearness_kind`. `words`: what could become the link, by pair. `ranker`: the name
    of what ranked, with its `version`; `scorer`: what it scored pairs with, None for the formula. `index` is what the
    words are words of. `other_language`: pairs left out because the two pages are in different languages. `known`:
    those of the site's known pairs that would be suggested, as if they were not linked; None where there were none to
    look at. `standing`: all of the site's standing pairs that are candidates at all, as if they were not linked; None
    where there were none. `nearness` float64 [n] and `anchors`: what a later run over a few of the sources needs, see
    `linker.engine.ranking.pipeline.rank_sources`."""

    index: TextIndex
    pairs: Candidates
    probability: NDArray[np.float64]
    beside: NDArray[np.float64]
    uncalibrated: NDArray[np.float64]
    allocation_score: NDArray[np.float64]
    near: NDArray[np.int8]
    words: Words
    below: PairsBelowThreshold
    ranker: str
    version: str
    scorer: Scorer | None
    other_language: int = 0
    known: Ranked | None = None
    standing: Ranked | None = None
    nearness: NDArray[np.float64] | None = None
    anchors: AnchorRanker | None = None

    @property
    def quality(self) -> Quality | None:
        """Of a ranker that learned from this site, as measured on links hidden from it."""
        return self.scorer.quality if isinstance(self.scorer, TrainedScorer) else None

    @property
    def source(self) -> NDArray[np.int64]:
        """int64 [m]: pages that give the links."""
        return self.pairs.source

    @property
    def target(self) -> NDArray[np.int64]:
        """int64 [m]: pages that receive them."""
        return self.pairs.target

    @property
    def score(self) -> NDArray[np.float64]:
        """float64 [m]: the probability of approval."""
        return self.probability

    def __len__(self) -> int:
        return len(self.probability)

    def take(self, keep: NDArray[np.int64]) -> Ranked:
        """The pairs at positions `keep`, int64 [k], in that order."""
        of_pairs = ("probability", "beside", "uncalibrated", "allocation_score", "near")
        columns = {name: getattr(self, name)[keep] for name in of_pairs}
        return replace(self, pairs=self.pairs.take(keep), words=self.words.take(keep), **columns)

    def why(self, place: int) -> Why:
        """Why the pair at a position is suggested."""
        phrase = int(self.pairs.phrase[place])
        text = self.index.phrase_text[phrase].strip() if phrase >= 0 else ""
        values = dict(zip(REASONS, self.pairs.features[place].tolist(), strict=True))
        page = int(self.source[place])
        is_own = bool(text) and self._is_own_name(page, text)
        return why(values, text, int(self.pairs.found[place]), self.index.site.languages[page], is_own=is_own)

    def _is_own_name(self, page: int, phrase: str) -> bool:
        """Whether the page's text says a phrase only where it says the page's own name."""
        site = self.index.site
        title, h1 = site.titles[page], site.h1s[page]
        if phrase.casefold() not in f"{title}\n{h1}".casefold():  # as nearly always: the text need not be read
            return False
        return says_only_in_names(site.bodies[page], phrase, (page_name(title, h1), clean(h1)))

    def anchor_choices(self, places: NDArray[np.int64]) -> list[list[AnchorChoice]]:
        """Words that could become the link of each pair at `places`, int64 [k], best first; `weight`: how likely they
        are all right in it, given that its target is."""
        return self.words.of(places, self.pairs.source[places], self.index.site)


@dataclass(frozen=True)
class Words:
    """Words of texts that could become links: `rows` [k] of WORDING, in a file, best first; `first` int64, `count` int8
    [pairs]: those of each pair."""

    first: NDArray[np.int64]
    count: NDArray[np.int8]
    rows: NDArray[Any]

    def take(self, pairs: NDArray[np.int64]) -> Words:
        """The words of the pairs at positions `pairs`, int64 [k], in that order."""
        return replace(self, first=self.first[pairs], count=self.count[pairs])

    def of(self, places: NDArray[np.int64], sources: NDArray[np.int64], site: Site) -> list[list[AnchorChoice]]:
        """The words of the pairs at `places`, whose sources are `sources`, int64 [k] both; for each pair, best
        first."""
        texts: dict[int, str] = {}
        found = []
        for place, source in zip(places.tolist(), sources.tolist(), strict=True):
            first, count = int(self.first[place]), int(self.count[place])
            if count and source not in texts:
                texts[source] = site.bodies[source]
            found.append(
                [
                    AnchorChoice(texts[source][start:end], SOURCES[kind], good, start, end, traits)
                    for start, end, kind, good, traits in self.rows[first : first + count].tolist()
                ]
            )
        return found
