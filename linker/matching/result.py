"""What a match run found, before any of it becomes a link."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linker.engine.ranking.rankers.registry import ranker_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.matching.known_answers import KnownPairs
    from linker.matching.page_marks import PageMarks
    from linker.matching.placing import Phrases
    from linker.matching.replacing import StandingLinks
    from linker.matching.report_types import MatchReport
    from linker.models import Ranker

# A pair that a run found: block -1 is the whole site, `probability` that an editor approves it at its best and `beside`
# that one does beside the text, NaN in a run by cosine; `found` bits of the generators, `place` its position for
# MatchResult.why, -1 where that does not ask for it.
FOUND = np.dtype(
    [
        *(("source", "i8"), ("target", "i8"), ("block", "i4"), ("level", "i2"), ("similarity", "f8"), ("score", "f8")),
        *(("probability", "f8"), ("beside", "f8"), ("found", "i4"), ("place", "i4")),
    ]
)


@dataclass(frozen=True)
class StayingLinks:
    """Open suggestions of donors that a run did not look at: arrays [k] of ids, int64, and of scores, float64. They
    fill the caps of their targets, and are among the links that a quantile is of."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    score: NDArray[np.float64]


@dataclass(frozen=True)
class MatchResult:
    """What a run found: `rows` of FOUND; `ranking` that ranked them; `why`: one sentence and its numbers for a row as a
    dict; `phrases`: words that mean a target; `ranker`: what to keep of it; `report`: what its report says already.
    `known`: what it says of links that the site has; None where it was not asked, which leaves the sample before.
    `standing`: released links that better candidates may replace, as the run scored them; None where it scored none.
    `marks`: what to keep of the pages that it read; `staying`: open links of donors that it did not look at.
    `acceptors`: ids of the pages that may receive a link, ascending: the report says what the under-linked among them
    got. `expand_candidates`, where donors with `pool` candidates may have more, gives all candidates of some donors.
    """

    rows: NDArray[Any]
    ranking: str
    why: Callable[[dict[str, Any]], tuple[str, dict[str, float]]]
    phrases: Phrases | None
    ranker: Ranker | None
    report: MatchReport
    acceptors: NDArray[np.int64]
    pool: int = 0
    expand_candidates: Callable[[NDArray[np.int64]], NDArray[Any]] | None = None
    known: KnownPairs | None = None
    marks: PageMarks | None = None
    staying: StayingLinks | None = None
    standing: StandingLinks | None = None

    @property
    def ranked_by(self) -> str:
        """Which of the kinds of ranker that the database knows the links carry."""
        return ranker_of(self.ranking).ranked_by
