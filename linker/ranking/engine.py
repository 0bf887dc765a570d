"""The matching engine: from a site to ranked pairs with reasons and anchors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from linker.anchors.generic import primary_language, stop_words
from linker.anchors.placement import Folded, Words
from linker.matching.generators import EVERY, Generator
from linker.ranking.evidence import Evidence, build_evidence
from linker.ranking.explain import Why, why
from linker.ranking.features import FEATURES, Candidates, candidates, joined, mention_rows
from linker.ranking.formula import VERSION as FORMULA_VERSION
from linker.ranking.formula import FormulaWeights, formula_parts, formula_score
from linker.ranking.index import H1, SHORT, SLUG, TITLE, Progress, build_index, no_progress
from linker.ranking.learned import Quality, TrainedRanker, TrainOptions, train
from linker.ranking.site import Site, checked

if TYPE_CHECKING:
    from numpy.typing import NDArray

SLICE = 1024  # donors ranked at a time
_SOURCES = ((TITLE, "title"), (H1, "h1"), (SHORT, "title"), (SLUG, "url"))


@dataclass(frozen=True)
class EngineOptions:
    """`generators` switched on; `pool`: best pairs kept a donor; `learn`: whether a ranker is trained where there are
    labels enough."""

    generators: Generator = EVERY
    pool: int = 40
    learn: bool = True
    training: TrainOptions = field(default_factory=TrainOptions)
    weights: FormulaWeights = field(default_factory=FormulaWeights)


@dataclass(frozen=True)
class AnchorChoice:
    """A phrase of the donor's text that may become the link: `text` as written there, `source` ("anchor", "title",
    "h1", "url"), `weight` (higher fits better), `start`, `end` of one mention, in characters of the text."""

    text: str
    source: str
    weight: float
    start: int
    end: int


@dataclass(frozen=True)
class Ranked:
    """Pairs by donor, then score (highest first), then target; arrays [m].

    `pairs` as `Candidates`; `score` float64: log-odds of the learned ranker, or the formula's sum; `probability`
    float64 in [0, 1], NaN where the formula ranked. `ranker` is "learned" or "formula", with its `version`;
    `trained` is the learned one, and knows its quality.
    """

    evidence: Evidence
    pairs: Candidates
    score: NDArray[np.float64]
    probability: NDArray[np.float64]
    ranker: str
    version: str
    trained: TrainedRanker | None

    @property
    def quality(self) -> Quality | None:
        return self.trained.quality if self.trained else None

    def __len__(self) -> int:
        return len(self.score)

    def why(self, place: int) -> Why:
        """Why the pair at a position is suggested."""
        phrase = int(self.pairs.phrase[place])
        text = self.evidence.index.phrase_text[phrase].strip() if phrase >= 0 else ""
        values = dict(zip(FEATURES, self.pairs.features[place].tolist(), strict=True))
        return why(values, text, int(self.pairs.found[place]))


def rank_site(site: Site, options: EngineOptions | None = None, progress: Progress = no_progress) -> Ranked:
    """Ranks every donor's candidates, by a ranker learned from the site's own links or else by the formula.

    Raises UserError for a site without pages.
    """
    options = options or EngineOptions()
    site = checked(site)
    index = build_index(site, progress)
    ranker = train(index, options.training, options.generators, progress) if options.learn else None
    evidence = build_evidence(index, np.arange(len(site.links)))
    skip = (
        np.concatenate([site.links.src, site.forbidden.src, site.rejected.src]),
        np.concatenate([site.links.dst, site.forbidden.dst, site.rejected.dst]),
    )
    donors = np.flatnonzero(site.donor)
    parts, scores = [], []
    for first in range(0, len(donors), SLICE):
        progress(first, len(donors), "Ranking")
        found = candidates(evidence, donors[first : first + SLICE], skip, options.generators)
        kept, score = _best(evidence, found, ranker, options)
        parts.append(kept)
        scores.append(score)
    pairs = joined(parts)
    score = np.concatenate(scores) if scores else np.empty(0)
    if ranker is None:
        return Ranked(evidence, pairs, score, np.full(len(score), np.nan), "formula", FORMULA_VERSION, None)
    return Ranked(evidence, pairs, score, ranker.probability(score), "learned", ranker.version, ranker)


def _best(
    evidence: Evidence, found: Candidates, ranker: TrainedRanker | None, options: EngineOptions
) -> tuple[Candidates, NDArray[np.float64]]:
    """The best pairs of each donor, ordered. The ranker's first model chooses twice as many, all its models rank."""
    if ranker is None:
        parts = formula_parts(evidence.index.site, found.target, found.features, evidence.graph.indegree)
        score = formula_score(parts, options.weights)
    else:
        keep = np.sort(_top(found, ranker.first(found.features), 2 * options.pool))
        found = found.take(keep)
        score = ranker.raw(found.features)
    order = _top(found, score, options.pool)
    return found.take(order), score[order]


def _top(found: Candidates, score: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    order = np.lexsort((found.target, -score, found.donor))
    rank = np.arange(len(order)) - np.searchsorted(found.donor[order], found.donor[order])
    return order[rank < most]


def anchor_choices(
    evidence: Evidence, donor: NDArray[np.int64], target: NDArray[np.int64], most: int = 6
) -> list[list[AnchorChoice]]:
    """For each pair, int64 [k] each, the phrases of the donor's text that mean the target, best first.

    Where none does, the stretch of the text most like the target's name.
    """
    pages = len(evidence.index.site)
    wanted, place = np.unique(donor * pages + target, return_inverse=True)
    choices: list[list[AnchorChoice]] = [[] for _ in range(len(wanted))]
    donors = np.unique(donor)
    for first in range(0, len(donors), SLICE):
        part = donors[first : first + SLICE]
        mentions = mention_rows(evidence, part)
        key = mentions.donor * pages + mentions.target
        at = np.minimum(np.searchsorted(wanted, key), len(wanted) - 1)
        rows = np.flatnonzero(wanted[at] == key)
        _fill(evidence, choices, at[rows], mentions.spot[rows], mentions.meaning[rows], mentions.exact[rows], most)
    _add_partial_names(evidence, choices, wanted)
    return [choices[number] for number in place.tolist()]


def _add_partial_names(evidence: Evidence, choices: list[list[AnchorChoice]], wanted: NDArray[np.int64]) -> None:
    """`wanted` holds donor * n + target of each list of `choices`, ascending."""
    site, template = evidence.index.site, evidence.index.template
    last, words = -1, Words(Folded(""), "")
    for mine, key in zip(choices, wanted.tolist(), strict=True):
        donor, target = divmod(key, len(site))
        if mine:
            continue
        if donor != last:
            last, words = donor, Words(Folded(site.bodies[donor]), site.languages[donor])
        stops = stop_words(primary_language(site.languages[target]))
        for raw, source in ((site.h1s[target], "h1"), (site.titles[target], "title")):
            span = words.nearest_to(template.strip(raw), stops) if raw else None
            if span is not None:
                mine.append(AnchorChoice(words.text.text[span[0] : span[1]], source, 0.1, *span))
                break


def _fill(
    evidence: Evidence,
    choices: list[list[AnchorChoice]],
    pair: NDArray[np.int64],
    spot: NDArray[np.int64],
    meaning: NDArray[np.int64],
    exact: NDArray[np.bool_],
    most: int,
) -> None:
    index, spots, meanings = evidence.index, evidence.spots, evidence.meanings
    weight = _anchor_weight(evidence, spot, meaning, exact)
    order = np.lexsort((meanings.phrase[meaning], -weight, pair))
    places = spots.place[spot]
    page, start, end = spots.page[spot], index.occurrences.start[places], index.occurrences.end[places]
    texts: dict[int, Folded] = {}
    for row in order.tolist():
        mine = choices[pair[row]]
        if len(mine) >= most:
            continue
        donor = int(page[row])
        if donor not in texts:
            texts[donor] = Folded(index.site.bodies[donor])
        span = texts[donor].span(int(start[row]), int(end[row]))
        if span is None:
            continue
        text = texts[donor].text[span[0] : span[1]]
        if any(choice.text.lower() == text.lower() for choice in mine):
            continue
        bits = int(meanings.bits[meaning[row]])
        source = "anchor" if meanings.links[meaning[row]] > 0 else ""
        source = source or next((name for bit, name in _SOURCES if bits & bit), "title")
        mine.append(AnchorChoice(text, source, round(float(weight[row]), 4), *span))


def _anchor_weight(
    evidence: Evidence, spot: NDArray[np.int64], meaning: NDArray[np.int64], exact: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """How well a phrase would serve as the anchor: used for the target before, whole, rare, free, long."""
    spots, meanings, book = evidence.spots, evidence.meanings, evidence.index.book
    phrase = meanings.phrase[meaning]
    used = np.log1p(meanings.links[meaning]) * (0.3 + meanings.share[meaning])
    key = np.sqrt(evidence.keyness[phrase])
    bits = meanings.bits[meaning]
    named = np.select([bits & (TITLE | H1) > 0, bits & SHORT > 0, bits & SLUG > 0], [1.0, 0.5, 0.25], 0.0)
    return np.round(
        (used + key + named + 0.15 * np.minimum(book.size[phrase], 6))
        * np.where(exact, 1.0, 0.6)
        * np.where(spots.free[spot] > 0, 1.0, 0.4)
        * np.where(spots.alone[spot], 1.2, 1.0),
        6,
    )
