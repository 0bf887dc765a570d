"""How a project's editors approve beside what the shipped model expects, by what kind of link it is.

A rejection is seldom about all links: it is about links to lists, from one section, or on words of one source. So the
log-odds of the model are moved by kind, each kind as far as the decisions on it say, held near nothing by a normal
prior (partial pooling); what moves all links at once is held nearer still. A kind that nearly all links of a site are
of tells none of them apart, so it does not move them beside that. A kind that nobody decided on stays where the model
that ships puts it, but for that. What the kinds leave to be explained is learned of each page that links lead to."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from linker.engine.anchors.word_traits import CAPITALS, SPREAD, TITLE

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

# Where words of a text come from; a link of no such words stands beside the text.
SOURCES = ("anchor", "title", "h1", "url", "text")
BESIDE = len(SOURCES)


class Family(StrEnum):
    """In what links of one kind are alike."""

    GIVER = "giver"  # the role of the page that gives the link
    RECEIVER = "receiver"  # that of the page that receives it
    FROM = "from"  # the top category of the page that gives it
    TO = "to"  # that of the page that receives it
    PLACE = "place"  # in the text, or beside it
    WORDS = "words"  # where the words of the text come from
    NEARNESS = "nearness"  # how near in meaning the two pages are
    TITLE = "title"  # how much of the title of the page that receives it the words of the text say
    CAPITALS = "capitals"  # whether these words are written with capitals
    SPREAD = "spread"  # how many pages say them
    ACCEPTOR = "acceptor"  # which page receives it: not of few kinds, but of as many as pages, see `Acceptors`


# Families by the digit of a suggestion's traits that says which kind it is: 0 for none, 1 for the first.
DIGIT = {Family.NEARNESS: 1, Family.TITLE: TITLE, Family.CAPITALS: CAPITALS, Family.SPREAD: SPREAD}
# By how much two pages are nearer, by cosine, than the nearest pages of the one that receives the link are on average.
_NEARNESS = (-0.15, 0.0, 0.1)
OF_WORDS = (Family.PLACE, Family.WORDS, Family.TITLE, Family.CAPITALS, Family.SPREAD)
# What shifts and the slope are taken to be before there are decisions: normal, with these standard deviations. Chosen
# by halving the judged suggestions of each site of bench/panel: see docs/approval.md.
_SLOPE_DEVIATION, _SHIFT_DEVIATION, _LEAST_SLOPE = 0.1, 0.2, 0.2
_FEW = 0.1  # of the decisions may be on links that were stated lower than what they count for
DEVIATIONS = {
    Family.GIVER: 0.5,
    Family.RECEIVER: 0.5,
    Family.FROM: 0.3,
    Family.TO: 0.3,
    Family.PLACE: 0.35,
    Family.WORDS: 0.35,
    Family.NEARNESS: 0.35,
    Family.TITLE: 0.35,
    Family.CAPITALS: 0.35,
    Family.SPREAD: 0.35,
}
SUREST_STATED = 0.95  # anybody rejects a link now and then: what was stated counts as no surer than this
LEAST_DECISIONS = 3  # on a kind, for it to move
COMMON = 0.8  # of a site's links: a kind that so many are of is no kind in particular
MOST_KINDS = 60  # of a family: those with the most decisions
MOST_BANDS = 4  # kinds of a family of DIGIT
# Editors who reject one link to a page reject others to it: of the judged suggestions of a site, two to one page agree
# more often than what was stated explains, with a correlation of 0.25 in the text, 0.27 beside it, and of none between
# the two. See docs/approval.md.
_ACCEPTOR_DEVIATION = 1.0
_LEAST_SHIFT = 0.05  # log-odds of a page that is worth keeping
MOST_ACCEPTORS = 1_000  # pages whose links were moved farthest: a run keeps them with its report
_AT_A_TIME = 10_000  # decisions
_MOST_STEPS, _CLOSE = 50, 1e-9  # of Newton's method

Kind = tuple[Family, int]


@dataclass(frozen=True)
class PageShifts:
    """How far pages move links, in log-odds: those that they give, float64 [n], by their roles and sections, and those
    that they receive beside the text and in it, float64 [n, 2], by these and by what was decided on links to them."""

    giving: NDArray[np.float64]
    receiving: NDArray[np.float64]


@dataclass(frozen=True)
class Acceptors:
    """Pages on whose links editors decided: ids `pages`, int64 [a], ascending, and how far their links are moved beside
    the text and in it, in log-odds, float64 [a, 2]."""

    pages: NDArray[np.int64]
    shifts: NDArray[np.float64]

    def of(self, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        """The shifts of pages by their ids, float64 [m, 2]; 0 for others."""
        found = np.zeros((len(targets), 2))
        if len(self.pages):
            place = np.minimum(np.searchsorted(self.pages, targets), len(self.pages) - 1)
            known = self.pages[place] == targets
            found[known] = self.shifts[place[known]]
        return found


NO_ACCEPTORS = Acceptors(np.empty(0, dtype=np.int64), np.empty((0, 2)))


@dataclass(frozen=True)
class Calibration:
    """`slope` and `shift` of the shipped model's log-odds by so many `decisions`; beside that, how far `pages` move
    their links, `words` the links on words of each of SOURCES and, last, those beside the text, and `traits` those of
    each kind of the families of DIGIT. `sources`: how far words of each of SOURCES were found worse than stated where
    the pair was not. Nothing stated below `lowest` is raised."""

    slope: float = 1.0
    shift: float = 0.0
    decisions: int = 0
    pages: PageShifts | None = None
    words: tuple[float, ...] = (0.0,) * (BESIDE + 1)
    sources: tuple[float, ...] = ()
    lowest: float = 0.0
    traits: Mapping[Family, tuple[float, ...]] = field(default_factory=dict)

    def __call__(self, probability: NDArray[np.float64]) -> NDArray[np.float64]:
        """What is to be expected where the model expects `probability`, float64 [m], of links of no kind in
        particular; never falls as that rises."""
        if not self.decisions:
            return probability
        return as_moved(probability, self.slope * log_odds(probability) + self.shift, self.lowest)

    def of_links(
        self,
        probability: NDArray[np.float64],
        source: NDArray[np.int64],
        target: NDArray[np.int64],
        traits: NDArray[np.integer[Any]],
        words: NDArray[np.int8] | int = BESIDE,
    ) -> NDArray[np.float64]:
        """The same of links between pages at these positions, with these `traits`, [m] each; `words`: the places of
        theirs among SOURCES, or BESIDE."""
        if not self.decisions:
            return probability
        moved = self.slope * log_odds(probability) + self.shift + np.array(self.words)[words] + self._by_traits(traits)
        if self.pages is not None:
            in_text = np.asarray(np.not_equal(words, BESIDE), dtype=np.int64)
            moved += self.pages.giving[source] + self.pages.receiving[target, in_text]
        return as_moved(probability, moved, self.lowest)

    def _by_traits(self, traits: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """How far links with these traits are moved, [m]."""
        moved = np.zeros(len(traits))
        for family, shifts in self.traits.items():
            moved += np.array((0.0, *shifts))[kinds_of(family, traits) + 1]
        return moved

    def by_words(
        self, probability: NDArray[np.float64], words: NDArray[np.int8], traits: NDArray[np.int16]
    ) -> NDArray[np.float64]:
        """How many times as likely as the model expects a link is to be approved for its words, [m] all: for where
        they come from, and for their `traits`."""
        if not any(self.words) and not self.traits:
            return np.ones(len(probability))
        moved = self._by_traits(traits) + np.array(self.words)[words]
        return _chance(log_odds(probability) + moved) / np.maximum(probability, 1e-6)

    def by_source(self, probability: NDArray[np.float64], words: NDArray[np.int8]) -> NDArray[np.float64]:
        """The same for the words alone, whatever was said of the pairs."""
        if not any(self.sources):
            return np.ones(len(probability))
        return _chance(log_odds(probability) + np.array(self.sources)[words]) / np.maximum(probability, 1e-6)


@dataclass(frozen=True)
class Lesson:
    """What decisions teach: `slope` and `shift` for all links, and `shifts` by kind, in log-odds. They were on links
    stated at `lowest` and more: how editors like what is stated less, nobody knows, and nothing of it is raised.
    `sources`: see `Calibration`."""

    slope: float
    shift: float
    decisions: int
    shifts: Mapping[Kind, float]
    lowest: float = 0.0
    sources: tuple[float, ...] = ()
    acceptors: Acceptors = NO_ACCEPTORS

    def traits(self) -> dict[Family, tuple[float, ...]]:
        """As Calibration has them; families that are not moved are left out."""
        moved = {family for family, _ in self.shifts}
        return {
            family: tuple(self.shifts.get((family, kind), 0.0) for kind in range(MOST_BANDS))
            for family in DIGIT
            if family in moved
        }

    def words(self) -> tuple[float, ...]:
        """As Calibration has it. Places are 0 beside the text and 1 in it."""
        beside, inside = (self.shifts.get((Family.PLACE, place), 0.0) for place in (0, 1))
        return (*(inside + self.shifts.get((Family.WORDS, place), 0.0) for place in range(BESIDE)), beside)


def nearness_kind(nearer: NDArray[np.floating[Any]]) -> NDArray[np.int8]:
    """The first digit of the traits of pairs, int8 [m], by how much the two pages are nearer to each other than the
    target's nearest pages are to it on average."""
    return np.asarray(np.digitize(nearer, _NEARNESS) + 1, dtype=np.int8)


def kinds_of(family: Family, traits: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Of which kind of a family of DIGIT each suggestion is, by its traits, int64 [m]; -1 for none."""
    return np.asarray(traits.astype(np.int64) // DIGIT[family] % 10 - 1)


def as_moved(stated: NDArray[np.float64], moved: NDArray[np.float64], lowest: float) -> NDArray[np.float64]:
    """What is to be expected of links whose log-odds decisions have `moved`, float64 [m]: no more than was `stated`,
    [m], where that is below `lowest`."""
    return np.where(stated < lowest, np.minimum(_chance(moved), stated), _chance(moved))


def calibrate(stated: NDArray[np.float64], approved: NDArray[np.bool_]) -> Calibration:
    """The likeliest calibration given what the shipped model `stated` of decided suggestions and whether they were
    `approved`, [k] each, where nothing is known of their kinds."""
    lesson = learn(stated, approved, {}, np.ones(len(stated), dtype=np.bool_))
    return Calibration(lesson.slope, lesson.shift, lesson.decisions, lowest=lesson.lowest)


def learn(
    stated: NDArray[np.float64],
    approved: NDArray[np.bool_],
    kinds: Mapping[Family, NDArray[np.int64]],
    of_pair: NDArray[np.bool_],
    common: Collection[Kind] = (),
    targets: NDArray[np.int64] | None = None,
) -> Lesson:
    """What decisions [k] teach, given what the shipped model `stated` of the suggestions and whether they were
    `approved`. `kinds`: which of each family they are, -1 for none; `of_pair`: whether a decision speaks of the pair:
    one that does not moves the kinds OF_WORDS alone. `common`: kinds that nearly all links of the site are of, which
    decisions on pairs do not move; see `common_kinds`. `targets`: ids of the pages that the links lead to, for what is
    learned of each page by what the kinds leave to be explained; None where nothing is.

    Logistic, with a normal prior on each number."""
    known = [
        kind
        for family, codes in kinds.items()
        for kind in _learned(family, codes)
        if kind not in common or family in OF_WORDS
    ]
    if not len(stated):
        return Lesson(1.0, 0.0, 0, {})
    x, y = log_odds(np.clip(stated, 1 - SUREST_STATED, SUREST_STATED)), approved.astype(np.float64)
    (slope, shift, *shifts), expected = _by_kinds(x, y, kinds, of_pair, known, common)
    of_pairs, acceptors = stated[of_pair], NO_ACCEPTORS
    if targets is not None:
        acceptors = _by_acceptor(expected[of_pair], y[of_pair], targets[of_pair], kinds[Family.PLACE][of_pair])
    return Lesson(
        slope=round(max(1 + slope, _LEAST_SLOPE), 6),
        shift=shift,
        decisions=len(stated),
        shifts=dict(zip(known, shifts, strict=True)),
        lowest=round(float(np.quantile(of_pairs, _FEW)), 6) if len(of_pairs) else 0.0,
        sources=_by_source(x, approved, kinds.get(Family.WORDS, np.full(len(x), -1)), of_pair),
        acceptors=acceptors,
    )


def _by_kinds(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    kinds: Mapping[Family, NDArray[np.int64]],
    of_pair: NDArray[np.bool_],
    known: Sequence[Kind],
    common: Collection[Kind],
) -> tuple[list[float], NDArray[np.float64]]:
    """The slope less 1, the shift, and those of the `known` kinds; and the log-odds of each decided link by them, [k].
    `x`: the stated log-odds; `y`: 1 where a link was approved."""
    deviations = [_SLOPE_DEVIATION, _SHIFT_DEVIATION, *(DEVIATIONS[family] for family, _ in known)]
    precision = 1 / np.array(deviations) ** 2
    found, moved = np.zeros(len(precision)), np.empty(len(x))
    for _ in range(_MOST_STEPS):
        gradient, curvature = -precision * found, np.diag(precision)
        for first in range(0, len(x), _AT_A_TIME):
            part = slice(first, first + _AT_A_TIME)
            of_part = {family: codes[part] for family, codes in kinds.items()}
            table = _table(x[part], of_part, of_pair[part], known, common)
            moved[part] = x[part] + table @ found
            expected = _chance(moved[part])
            gradient += table.T @ (y[part] - expected)
            curvature += (table.T * (expected * (1 - expected))) @ table
        step = np.linalg.solve(curvature, gradient)
        found += step
        if np.abs(step).max() < _CLOSE:
            break
    return np.round(found, 6).tolist(), moved


def _by_group(
    x: NDArray[np.float64], y: NDArray[np.float64], group: NDArray[np.int64], groups: int, deviation: float
) -> NDArray[np.float64]:
    """How far the log-odds `x` of decided links, [k], are moved in each of so many groups, float64 [groups]; `y`: 1
    where a link was approved."""
    shift, precision = np.zeros(groups), 1 / deviation**2
    for _ in range(_MOST_STEPS):
        expected = _chance(x + shift[group])
        gradient = np.bincount(group, y - expected, minlength=groups) - precision * shift
        curvature = np.bincount(group, expected * (1 - expected), minlength=groups) + precision
        step = np.clip(
            gradient / curvature, -1, 1
        )  # of a few decisions that were all stated as sure, a step overshoots
        shift += step
        if np.abs(step).max(initial=0.0) < _CLOSE:
            break
    return shift


def _by_acceptor(
    x: NDArray[np.float64], y: NDArray[np.float64], target: NDArray[np.int64], place: NDArray[np.int64]
) -> Acceptors:
    """What decisions say of the pages that links lead to, beside what is expected of each link, log-odds `x`; `y`: 1
    where it was approved; `place`: 1 in the text, 0 beside it; [k] all."""
    known, row = np.unique(target, return_inverse=True)
    shifts = _by_group(x, y, 2 * row + place, 2 * len(known), _ACCEPTOR_DEVIATION).reshape(-1, 2)
    most = np.abs(shifts).max(axis=1, initial=0.0)
    kept = np.sort(np.lexsort((known, -most))[:MOST_ACCEPTORS])
    kept = kept[most[kept] >= _LEAST_SHIFT]
    return Acceptors(known[kept], np.round(shifts[kept], 3))


def _by_source(
    x: NDArray[np.float64], approved: NDArray[np.bool_], words: NDArray[np.int64], of_pair: NDArray[np.bool_]
) -> tuple[float, ...]:
    """How far words of each source move the log-odds `x` by what was approved and what was rejected for its words."""
    some = (words >= 0) & (approved | ~of_pair)
    shift = _by_group(x[some], approved[some].astype(np.float64), words[some], BESIDE, DEVIATIONS[Family.WORDS])
    shift[np.bincount(words[some], minlength=BESIDE) < LEAST_DECISIONS] = 0.0
    return tuple(np.round(np.minimum(shift, 0.0), 6).tolist())


def common_kinds(kinds: Mapping[Family, NDArray[np.int64]]) -> frozenset[Kind]:
    """The kinds that nearly all of some links are of, by the codes of each family as `learn` has them."""
    found = set()
    for family, codes in kinds.items():
        code, count = np.unique(codes, return_counts=True)
        found |= {(family, int(one)) for one in code[(code >= 0) & (count >= COMMON * len(codes))]}
    return frozenset(found)


def _learned(family: Family, codes: NDArray[np.int64]) -> list[Kind]:
    """The kinds of a family on which there are decisions enough, of MOST_KINDS at most."""
    code, count = np.unique(codes[codes >= 0], return_counts=True)
    order = np.lexsort((code, -count))[:MOST_KINDS]
    return [(family, int(code[place])) for place in sorted(order) if count[place] >= LEAST_DECISIONS]


def _table(
    x: NDArray[np.float64],
    kinds: Mapping[Family, NDArray[np.int64]],
    of_pair: NDArray[np.bool_],
    known: Sequence[Kind],
    common: Collection[Kind],
) -> NDArray[np.float64]:
    """What each number to be learned counts for in each decision, [k, 2 + kinds]."""
    columns = [np.where(of_pair, x, 0.0), of_pair.astype(np.float64)]
    for family, code in known:
        counts = kinds[family] == code
        if family not in OF_WORDS:
            counts &= of_pair
        elif (family, code) in common:
            counts &= ~of_pair
        columns.append(counts.astype(np.float64))
    return np.column_stack(columns)


def log_odds(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = np.clip(probability, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(inside / (1 - inside)), dtype=np.float64)


def _chance(value: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-np.clip(value, -30, 30))), dtype=np.float64)
