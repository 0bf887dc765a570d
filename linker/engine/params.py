"""The parameters of a match run, frozen with it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from enum import StrEnum
from math import ceil
from typing import Any, Self

from linker.engine.candidates.registry import GENERATORS
from linker.engine.ranking.rankers.registry import ranker_of


class Mode(StrEnum):
    """How links are allocated under the caps."""

    BEST = "best"  # the highest scores first
    EQUAL = "equal"  # in rounds, so that no page holds a second link before others had the chance of a first
    OPTIMAL = "optimal"  # the highest total score that the caps allow


class Ranking(StrEnum):
    """The rankings that code speaks of by name; a run may name any of linker.engine.ranking.rankers.registry."""

    AUTO = "auto"  # learned where there are links enough to learn from, else shipped; see linker.matching.start
    COSINE = "cosine"
    FORMULA = "formula"
    LEARNED = "learned"
    SHIPPED = "shipped"


class Scope(StrEnum):
    """Which acceptors a donor may link to."""

    AUTO = "auto"  # what is usual with the ranking: `levels_up` of the category tree by cosine, else the whole site
    LEVELS = "levels"  # those of its own category and so many levels above it, however the run is ranked
    SITE = "site"  # those of the whole site


MIN_TARGET_CAP = 20  # links that a target may receive in a run of any size, whatever its largest share


@dataclass(frozen=True)
class PageFilter:
    """Which pages take part on one side of a run. Empty fields do not restrict; bounds are inclusive.

    `categories` are ids, each with its subtree. `url_pattern` is an RE2 expression searched in the address.
    `page_list` is the id of a list of pages, linker.models.PageList. A page without a number (clicks, inlinks) counts
    as 0.
    """

    categories: tuple[int, ...] = ()
    url_pattern: str = ""
    indexable_only: bool = True
    min_clicks: int | None = None
    max_clicks: int | None = None
    min_inlinks: int | None = None
    max_inlinks: int | None = None
    page_list: int | None = None


@dataclass(frozen=True)
class Sample:
    """Which of a run's donors a pilot takes: `pages` of them drawn by chance, 0 for all, among those of `categories`
    (ids, each with its subtree; none: all). `spread`: each top category gives its share. `seed`: another one
    draws other pages."""

    pages: int = 200
    categories: tuple[int, ...] = ()
    spread: bool = True
    seed: int = 1

    def __post_init__(self) -> None:
        """Raises ValueError where it is no sample, or a number is out of range."""
        if self.pages < 0 or self.seed < 0:
            raise ValueError("a pilot's number of pages and its seed must be 0 or more")
        if not self.pages and not self.categories:
            raise ValueError("a pilot needs a number of pages, or a category whose pages it takes")


@dataclass(frozen=True)
class MatchParams:
    """What a match run does.

    ranking            name of a ranker, or "auto", see Ranking
    generators         names of those switched on; none: all. Cosine has one, "category"
    scope              see Scope
    levels_up          how many levels above its own category a donor looks for targets where the scope is one of levels
                       (0: its own category only; a level above the top of the tree is the whole site)
    level_penalty      cosine: taken off for each level
    threshold          lowest score kept; None: the ranker's own
    inline_per_donor   most new links in a donor's text
    related_per_donor  most new links beside it
    inline_in_all      most links in a donor's text with those it has already; 0 for no cap
    related_in_all     most links beside it with those it has already; 0 for no cap
    per_1000_words     most links in a donor's text, with those it has already, for each thousand words; 0 for no cap
    per_target         most new links a target receives; 0 for no cap
    target_share       largest share of the run's links that one target receives, but MIN_TARGET_CAP at least
    reciprocal         most of a donor's links whose target links back or is to link back; None for no limit
    pool               best targets of a donor kept for the allocation; at least per_donor
    mode               see Mode
    weights            of the formula, where they differ from linker.engine.ranking.formula_score.FormulaWeights
    pilot              over which of the donors the run goes first, see Sample; None: over all of them
    """

    ranking: str = Ranking.AUTO
    generators: tuple[str, ...] = ()
    scope: Scope = Scope.AUTO
    levels_up: int = 2
    level_penalty: float = 0.02
    threshold: float | None = None
    inline_per_donor: int = 5
    related_per_donor: int = 10
    inline_in_all: int = 100
    related_in_all: int = 50
    per_1000_words: int = 0
    per_target: int = 200
    target_share: float = 0.02
    reciprocal: int | None = None
    pool: int = 40
    mode: Mode = Mode.BEST
    weights: dict[str, float] = field(default_factory=dict)
    donors: PageFilter = field(default_factory=PageFilter)
    acceptors: PageFilter = field(default_factory=PageFilter)
    pilot: Sample | None = None

    def __post_init__(self) -> None:
        """Raises ValueError, naming the field, where a value is out of range."""
        if self.ranking != Ranking.AUTO:
            ranker_of(self.ranking)
        if not 0 <= self.levels_up <= 20:
            raise ValueError(f"levels_up is {self.levels_up}; it must be between 0 and 20")
        if not 0.0 <= self.level_penalty <= 1.0:
            raise ValueError(f"level_penalty is {self.level_penalty}; it must be between 0 and 1")
        if self.threshold is not None and not -1.0 <= self.threshold <= 1.0:
            raise ValueError(f"threshold is {self.threshold}; it must be between -1 and 1")
        if self.inline_per_donor < 0 or self.related_per_donor < 0 or not 1 <= self.per_donor <= 1000:
            raise ValueError(
                f"a donor gives {self.inline_per_donor} links in its text and {self.related_per_donor} beside it; "
                "neither may be negative, and together they must be between 1 and 1000"
            )
        for name in ("inline_in_all", "related_in_all", "per_1000_words"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be 0 (no cap) or more")
        if self.per_target < 0:
            raise ValueError(f"per_target is {self.per_target}; it must be 0 (no cap) or more")
        if not 0.0 < self.target_share <= 1.0:
            raise ValueError(f"target_share is {self.target_share}; it must be above 0 and at most 1")
        if self.reciprocal is not None and self.reciprocal < 0:
            raise ValueError(f"reciprocal is {self.reciprocal}; it must be 0 or more")
        if self.pool < self.per_donor:
            raise ValueError(f"pool is {self.pool}; it must be at least per_donor ({self.per_donor})")
        unknown = sorted(set(self.generators) - set(GENERATORS))
        if unknown:
            raise ValueError(f"there is no generator {', '.join(unknown)}; there are {', '.join(GENERATORS)}")

    @property
    def per_donor(self) -> int:
        """Most new links a donor gives, in its text and beside it."""
        return self.inline_per_donor + self.related_per_donor

    @property
    def is_of_whole_site(self) -> bool:
        """Whether it takes all donors and acceptors that there are."""
        return self.donors == self.acceptors == PageFilter() and self.pilot is None

    def levels(self, ranking: str) -> int | None:
        """How many levels above its own category a donor looks where the run is ranked so; None for the whole site."""
        if self.scope is Scope.SITE or (self.scope is Scope.AUTO and ranker_of(ranking).whole_site):
            return None
        return self.levels_up

    @property
    def without_links(self) -> str:
        """How a run ranks whose site has too few links to learn from: by the ranker that ships with the product, or by
        the formula, for which weights of one's own ask."""
        return Ranking.FORMULA if self.weights else Ranking.SHIPPED

    def floor(self, ranking: str) -> float:
        """The lowest score kept where the run is ranked so."""
        return ranker_of(ranking).threshold if self.threshold is None else self.threshold

    def target_cap(self, links: int) -> int:
        """Most links a target receives in a run of so many, 0 for no cap."""
        by_share = max(MIN_TARGET_CAP, ceil(self.target_share * links)) if self.target_share < 1 else 0
        caps = [cap for cap in (self.per_target, by_share) if cap]
        return min(caps) if caps else 0

    def to_dict(self) -> dict[str, Any]:
        """For the run's JSON column."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The inverse of to_dict; fields left out take their defaults. Raises TypeError on unknown fields."""
        values = dict(values)
        for side in ("donors", "acceptors"):
            if side in values:
                chosen = dict(values[side])
                chosen["categories"] = tuple(chosen.get("categories", ()))
                values[side] = PageFilter(**chosen)
        if values.get("pilot") is not None:
            chosen = dict(values["pilot"])
            values["pilot"] = Sample(**chosen | {"categories": tuple(chosen.get("categories", ()))})
        values["generators"] = tuple(values.get("generators", ()))
        if "mode" in values:
            values["mode"] = Mode(values["mode"])
        if "scope" in values:
            values["scope"] = Scope(values["scope"])
        return cls(**values)
