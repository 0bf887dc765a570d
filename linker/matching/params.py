"""The parameters of a match run, frozen with it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self


class Mode(StrEnum):
    """How links are given out under the caps."""

    BEST = "best"  # the highest scores first
    EQUAL = "equal"  # in rounds, so that no page holds a second link before others had the chance of a first


class Ranking(StrEnum):
    """How candidates are found and ranked."""

    COSINE = "cosine"  # in category blocks, by cosine less a penalty for the level
    LEARNED = "learned"  # over the whole site, by a ranker learned from the site's own links, or by the formula


# A probability below which a suggestion is not worth keeping, whatever the tiers.
LEARNED_THRESHOLD = 0.01


@dataclass(frozen=True)
class PageFilter:
    """Which pages take part on one side of a run. Empty fields do not restrict; bounds are inclusive.

    `categories` are ids, each standing for its subtree. `url_pattern` is an RE2 expression searched in the address.
    A page without a number (clicks, inlinks) counts as 0.
    """

    categories: tuple[int, ...] = ()
    url_pattern: str = ""
    indexable_only: bool = True
    min_clicks: int | None = None
    max_clicks: int | None = None
    min_inlinks: int | None = None
    max_inlinks: int | None = None


@dataclass(frozen=True)
class MatchParams:
    """What a match run does.

    levels_up      how many levels above its own category a donor looks for targets (0: its own category only; a
                   level above the top of the tree is the whole site)
    level_penalty  taken off the cosine for each level
    threshold      lowest score (cosine less penalty) kept, in [-1, 1]
    per_donor      most links a donor gives
    per_target     most links a target receives; 0 for no cap
    pool           best targets of a donor kept for the allocation; at least per_donor
    mode           see Mode
    ranking        see Ranking; `learned` looks over the whole site: levels and their penalty do not matter to it, and
                   its score is a probability
    """

    levels_up: int = 2
    level_penalty: float = 0.02
    threshold: float = 0.5
    per_donor: int = 10
    per_target: int = 50
    pool: int = 40
    mode: Mode = Mode.BEST
    ranking: Ranking = Ranking.COSINE
    donors: PageFilter = field(default_factory=PageFilter)
    acceptors: PageFilter = field(default_factory=PageFilter)

    def __post_init__(self) -> None:
        """Raises ValueError, naming the field, where a value is out of range."""
        if not 0 <= self.levels_up <= 20:
            raise ValueError(f"levels_up is {self.levels_up}; it must be between 0 and 20")
        if not 0.0 <= self.level_penalty <= 1.0:
            raise ValueError(f"level_penalty is {self.level_penalty}; it must be between 0 and 1")
        if not -1.0 <= self.threshold <= 1.0:
            raise ValueError(f"threshold is {self.threshold}; it must be between -1 and 1")
        if not 1 <= self.per_donor <= 1000:
            raise ValueError(f"per_donor is {self.per_donor}; it must be between 1 and 1000")
        if self.per_target < 0:
            raise ValueError(f"per_target is {self.per_target}; it must be 0 (no cap) or more")
        if self.pool < self.per_donor:
            raise ValueError(f"pool is {self.pool}; it must be at least per_donor ({self.per_donor})")

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
        if "mode" in values:
            values["mode"] = Mode(values["mode"])
        if "ranking" in values:
            values["ranking"] = Ranking(values["ranking"])
        return cls(**values)
