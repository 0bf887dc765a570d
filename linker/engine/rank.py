"""The matching engine: from a site to ranked pairs with reasons and anchors."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linker.engine.anchors.choice import (
    AnchorChoice,
    AnchorOptions,
    AnchorRanker,
    anchor_choices,
    span_finder,
    train_anchors,
)
from linker.engine.arrays.disk import in_file
from linker.engine.arrays.memory import give_back
from linker.engine.evidence import Evidence, TextEvidence, build_evidence
from linker.engine.index import Progress, build_index, no_progress
from linker.engine.ranking.approval import GOOD_WORDS, Approval, Calibration, nearness_of, pair_table, shipped
from linker.engine.ranking.features import FEATURES, Candidates, candidates, joined
from linker.engine.ranking.formula import VERSION as FORMULA_VERSION
from linker.engine.ranking.formula import FormulaWeights, formula_parts, formula_score
from linker.engine.ranking.learned import Quality, TrainedRanker, TrainOptions, train
from linker.engine.ranking.other_sites import Elsewhere
from linker.engine.ranking.reasons import REASONS, Why, why
from linker.engine.site import checked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from linker.engine.site import Site

SLICE = 256  # donors ranked at a time
MOST_WORDS = 5  # choices of words kept a pair
WORTH_PICKING = 0.5  # how likely words have to be all right for an editor to be offered them
SOURCES = ("anchor", "title", "h1", "url", "text")  # where words come from
# Characters of the donor's text, place in SOURCES, and how likely the words are all right.
WORDING = np.dtype([("start", "i4"), ("end", "i4"), ("source", "i1"), ("good", "f4")])
SUREST = 5  # links of a donor that go to what editors would likeliest approve, before what the site would link
_OF_REASONS = [FEATURES.index(name) for name in REASONS]


@dataclass(frozen=True)
class EngineOptions:
    """`generators`: names of those switched on, none: all; `pool`: best pairs kept a donor; `learn`: whether a ranker
    is trained where there are labels enough; `elsewhere`: the ranker that takes its place where there are not, None for
    the formula; `least_probability`: pairs that editors would approve less likely are left behind as `Ranked.below`.
    `worded`: best pairs of a donor whose words are looked for; the others can only stand beside the text. `approval`
    says how likely an editor is to approve, and `calibration` how this project's editors differ from that."""

    generators: tuple[str, ...] = ()
    pool: int = 40
    worded: int = 15
    learn: bool = True
    elsewhere: Elsewhere | None = None
    least_probability: float = 0.0
    training: TrainOptions = field(default_factory=TrainOptions)
    anchors: AnchorOptions = field(default_factory=AnchorOptions)
    weights: FormulaWeights = field(default_factory=FormulaWeights)
    approval: Approval = field(default_factory=shipped)
    calibration: Calibration = field(default_factory=Calibration)


@dataclass(frozen=True)
class Below:
    """Pairs too unlikely to become links; arrays [m]: `donor`, `target` int32, `value` float64: probability, of six
    decimals."""

    donor: NDArray[np.int32]
    target: NDArray[np.int32]
    value: NDArray[np.float64]


@dataclass(frozen=True)
class Ranked:
    """Pairs by donor, then probability (highest first), then target; arrays [m].

    `pairs` as `Candidates`, with the features of REASONS alone, in their order; `probability` float64 in [0, 1]: how
    likely an editor is to approve the link at its best, on words of the text or beside it; `beside` float64: beside it,
    under the target's own name; `stated` float64: the first as the shipped model says it; `turn` float64: what links
    are given out by, see `turns`. `words`: what could become the link, by pair. `ranker` is "learned", "shipped" or
    "formula", with its `version`; `trained` is the learned one, and knows its quality. `evidence` is what words were
    chosen by. `other_language`: pairs left out because the two pages are in different languages.
    """

    evidence: TextEvidence
    pairs: Candidates
    probability: NDArray[np.float64]
    beside: NDArray[np.float64]
    stated: NDArray[np.float64]
    turn: NDArray[np.float64]
    words: Words
    below: Below
    ranker: str
    version: str
    trained: TrainedRanker | None
    other_language: int = 0

    @property
    def quality(self) -> Quality | None:
        return self.trained.quality if self.trained else None

    def __len__(self) -> int:
        return len(self.probability)

    def why(self, place: int) -> Why:
        """Why the pair at a position is suggested."""
        phrase = int(self.pairs.phrase[place])
        text = self.evidence.index.phrase_text[phrase].strip() if phrase >= 0 else ""
        values = dict(zip(REASONS, self.pairs.features[place].tolist(), strict=True))
        return why(values, text, int(self.pairs.found[place]))

    def anchor_choices(self, places: NDArray[np.int64]) -> list[list[AnchorChoice]]:
        """Words that could become the link of each pair at `places`, int64 [k], best first; `weight`: how likely they
        are all right in it, given that its target is."""
        return self.words.of(places, self.pairs.donor[places], self.evidence.index.site)


@dataclass(frozen=True)
class Words:
    """Words of texts that could become links: `rows` [k] of WORDING, in a file, best first; `first` int64, `count` int8
    [pairs]: those of each pair."""

    first: NDArray[np.int64]
    count: NDArray[np.int8]
    rows: NDArray[Any]

    def take(self, pairs: NDArray[np.int64]) -> Words:
        """The words of some pairs."""
        return replace(self, first=self.first[pairs], count=self.count[pairs])

    def of(self, places: NDArray[np.int64], donors: NDArray[np.int64], site: Site) -> list[list[AnchorChoice]]:
        """The words of the pairs at `places`, whose donors are `donors`."""
        texts: dict[int, str] = {}
        found = []
        for place, donor in zip(places.tolist(), donors.tolist(), strict=True):
            first, count = int(self.first[place]), int(self.count[place])
            if count and donor not in texts:
                texts[donor] = site.bodies[donor]
            found.append(
                [
                    AnchorChoice(texts[donor][start:end], SOURCES[source], good, start, end)
                    for start, end, source, good in self.rows[first : first + count].tolist()
                ]
            )
        return found


def rank_site(site: Site, options: EngineOptions | None = None, progress: Progress = no_progress) -> Ranked:
    """Ranks the candidates of every donor that is asked about, by a ranker learned from the site's own links, or
    where they are too few by one learned elsewhere, or by the formula.

    Where the site has `levels_up`, only targets within them come out, as many as would of the whole site; what is said
    of a pair stays what it is there, places among the donor's candidates included.

    Raises UserError for a site without pages.
    """
    options = options or EngineOptions()
    site = checked(site)
    index = build_index(site, progress)
    give_back()
    ranker = train(index, options.training, options.generators, progress) if options.learn else None
    give_back()
    anchors = train_anchors(index, options.anchors, progress) if options.learn else None
    give_back()
    evidence = build_evidence(index, np.arange(len(site.links)))
    give_back()
    skip = (
        np.concatenate([site.links.src, site.forbidden.src, site.rejected.src]),
        np.concatenate([site.links.dst, site.forbidden.dst, site.rejected.dst]),
    )
    donors = np.flatnonzero(site.donor if site.asked is None else site.asked)
    nearness = nearness_of(index.near)
    parts: list[Candidates] = []
    relevances, bases = [np.empty(0)], [np.empty(0)]
    barred: Counter[str] = Counter()
    below = [(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))]
    for first in range(0, len(donors), SLICE):
        progress(first, len(donors), "Ranking")
        found = candidates(evidence, donors[first : first + SLICE], skip, options.generators, barred, within=True)
        best, relevance, base = _best(evidence, found, nearness, ranker or options.elsewhere, options)
        del found
        value = np.round(options.calibration(options.approval.approved_beside(relevance)), 6)
        enough = value >= options.least_probability
        parts.append(best.take(enough))
        relevances.append(relevance[enough])
        bases.append(base[enough])
        below.append((best.donor[~enough].astype(np.int32), best.target[~enough].astype(np.int32), value[~enough]))
    texts = evidence.texts_alone()
    del evidence, index  # half of the memory
    give_back()
    pairs, relevance = joined(parts), np.concatenate(relevances)
    base = np.concatenate(bases)
    words, stated = _words(texts, pairs, relevance, base, anchors, options, progress)
    probability = np.round(options.calibration(stated), 6)
    beside = np.round(options.calibration(options.approval.approved_beside(relevance)), 6)
    order = np.lexsort((pairs.target, -stated, pairs.donor))
    pairs, probability = pairs.take(order), probability[order]
    return Ranked(
        texts,
        pairs,
        probability,
        beside[order],
        np.round(stated[order], 6),
        turns(pairs, probability, base[order]),
        words.take(order),
        Below(*(np.concatenate(column) for column in zip(*below, strict=True))),
        *_named(ranker, options),
        ranker,
        barred["language"],
    )


def _named(ranker: TrainedRanker | None, options: EngineOptions) -> tuple[str, str]:
    """What ranked, and its version."""
    if ranker is not None:
        name, version = "learned", ranker.version
    elif options.elsewhere is not None:
        name, version = "shipped", options.elsewhere.version
    else:
        name, version = "formula", FORMULA_VERSION
    return name, f"{version}+{options.approval.version}"


def _best(
    evidence: Evidence,
    found: Candidates,
    nearness: NDArray[np.float64],
    ranker: TrainedRanker | Elsewhere | None,
    options: EngineOptions,
) -> tuple[Candidates, NDArray[np.float64], NDArray[np.float64]]:
    """The best pairs of each donor by either, relevance or the ranker: ordered by donor, their log-odds of being
    relevant, and what the ranker makes of them, NaN where nothing. The ranker's first model, or the formula, chooses
    twice as many.

    What a ranker learned elsewhere says is added to what the approval model says without one: that model has learned
    from rankers that know the site, and would trust it as much as them.
    """
    parts = formula_parts(evidence.index.site, found.target, found.features, evidence.graph.indegree)
    formula = formula_score(parts, options.weights)
    formula_rank = places(found, formula)
    chosen_by = ranker.first(found.features) if ranker else formula
    inside = evidence.index.site.within_levels(found.donor, found.target)
    keep = _top(found, chosen_by, 2 * options.pool)
    if not inside.all():
        mine = np.flatnonzero(inside)
        keep = np.union1d(keep, mine[_top(found.bare().take(mine), chosen_by[mine], 2 * options.pool)])
    keep = np.sort(keep)
    found, formula, formula_rank, inside = found.take(keep), formula[keep], formula_rank[keep], inside[keep]
    base = ranker.raw(found.features) if ranker else np.full(len(found), np.nan)
    nothing = np.full(len(found), np.nan)
    is_own = isinstance(ranker, TrainedRanker)
    table = pair_table(
        found.features, base if is_own else nothing, places(found, base) if is_own else nothing, formula, formula_rank,
        found.found, nearness, found.donor, found.target,
    )  # fmt: skip
    relevance = options.approval.relevant(table)
    mine = np.flatnonzero(inside)
    pairs = found.bare().take(mine)
    by_base = places(pairs, base[mine])
    if isinstance(ranker, Elsewhere):
        relevance = relevance + ranker.leaning(found.features, base)
        base = np.where(ranker.knows(found.features), base, np.nan)
    by_relevance = places(pairs, relevance[mine])
    turn = np.minimum(by_relevance, by_base) if ranker else by_relevance
    chosen = _top(pairs, -turn, options.pool)
    order = mine[chosen[np.lexsort((by_relevance[chosen], pairs.donor[chosen]))]]
    kept = found.take(order)
    return replace(kept, features=kept.features[:, _OF_REASONS]), relevance[order], base[order]


def turns(pairs: Candidates, probability: NDArray[np.float64], base: NDArray[np.float64]) -> NDArray[np.float64]:
    """What links are given out by, highest first, float64 [m].

    A donor's SUREST likeliest pairs come by their `probability`. The others share theirs out anew, the highest to what
    the ranker, by `base`, would likeliest link: what readers approve is not all that a site's editors link,
    and a donor's last links are for finding that. A base of NaN changes nothing.
    """
    order = np.lexsort((pairs.target, -probability, pairs.donor))
    rank = np.arange(len(order)) - np.searchsorted(pairs.donor[order], pairs.donor[order])
    tail = order[(rank >= SUREST) & ~np.isnan(base[order])]
    turn = probability.copy()
    turn[tail[np.lexsort((pairs.target[tail], -base[tail], pairs.donor[tail]))]] = probability[tail]
    return turn


def _words(
    evidence: TextEvidence,
    pairs: Candidates,
    relevance: NDArray[np.float64],
    base: NDArray[np.float64],
    anchors: AnchorRanker | None,
    options: EngineOptions,
    progress: Progress,
) -> tuple[Words, NDArray[np.float64]]:
    """Words for the pairs of each donor whose turn comes first, and how likely each pair is to be approved at its
    best."""
    approval = options.approval
    probability = approval.approved_beside(relevance)
    rank = places(pairs, turns(pairs, probability, base))
    asked = np.flatnonzero((rank < options.worded) & (evidence.index.tokens[pairs.donor] > 0))
    finder = span_finder(evidence, anchors) if len(asked) else None
    count = np.zeros(len(pairs), dtype=np.int8)
    kept = [np.empty(0, dtype=WORDING)]
    for part in _by_donor(pairs.donor[asked], SLICE):
        progress(part.start, len(asked), "Choosing words")
        some = asked[part]
        donor, target = pairs.donor[some], pairs.target[some]
        choices = anchor_choices(evidence, donor, target, approval, MOST_WORDS, anchors, finder)
        rows = np.array(
            [(c.start, c.end, SOURCES.index(c.source), c.weight) for mine in choices for c in mine], dtype=WORDING
        )
        row_of = np.repeat(np.arange(len(some)), [len(mine) for mine in choices])
        pair = some[row_of]
        likely = approval.approved_in_text(relevance[pair], rows["good"].astype(np.float64))
        rows["good"] = np.minimum(likely / np.maximum(probability[pair], 1e-6), 1)
        usable = rows["good"] >= GOOD_WORDS
        in_text = np.zeros(len(some))
        np.maximum.at(in_text, row_of[usable], likely[usable])
        worth_keeping = rows["good"] >= WORTH_PICKING
        count[some] = np.bincount(row_of[worth_keeping], minlength=len(some))
        kept.append(rows[worth_keeping])
        probability[some] = np.where(in_text > 0, in_text, probability[some])
    first = np.cumsum(count, dtype=np.int64) - count
    return Words(first, count, in_file(np.concatenate(kept))), probability


def _by_donor(donor: NDArray[np.int64], most: int) -> Iterator[slice]:
    """Slices of pairs that hold so many donors each."""
    starts = np.flatnonzero(np.concatenate([[True], donor[1:] != donor[:-1]])[: len(donor)])
    for place in range(0, len(starts), most):
        after = place + most
        yield slice(int(starts[place]), int(starts[after]) if after < len(starts) else len(donor))


def _top(found: Candidates, score: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    order = np.lexsort((found.target, -score, found.donor))
    rank = np.arange(len(order)) - np.searchsorted(found.donor[order], found.donor[order])
    return order[rank < most]


def places(found: Candidates, score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Place of each pair among its donor's by score, 0 for the highest, float64 [m]."""
    order = np.lexsort((found.target, -score, found.donor))
    place = np.empty(len(order))
    place[order] = np.arange(len(order)) - np.searchsorted(found.donor[order], found.donor[order])
    return place
