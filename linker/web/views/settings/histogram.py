"""The bars of a histogram, as whole numbers that a drawing of WIDTH times HEIGHT can be made of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linker.projects.tier_preview import Spread

BAR = 10  # the width of one
OPEN, DECIDED = 300, 100  # the heights above and below the line


@dataclass(frozen=True)
class Drawn:
    """One band: open suggestions stand on the line, and decided ones hang from it, the accepted ones first."""

    x: int
    open: int
    open_y: int
    accepted: int
    rejected: int
    rejected_y: int


@dataclass(frozen=True)
class Histogram:
    """`other_scale`: decided suggestions that are not shown, since another model stated their probabilities. `moved`:
    those of earlier runs stand where the calibration of `since` puts them."""

    bars: Sequence[Drawn]
    low: int  # the first hundredth
    width: int
    marks: Sequence[tuple[int, str]]  # bounds as they are
    open: int
    decided: int
    other_scale: int
    moved: bool
    since: datetime | None


def histogram(spread: Spread) -> Histogram:
    bars, bounds = spread.bars(), [bound for bound in spread.bounds() if bound.is_used]
    most = max(bar.open for bar in bars) or 1
    most_decided = max(bar.accepted + bar.rejected for bar in bars) or 1
    low = min([bars[0].low, *(int(100 * bound.lower) for bound in bounds)])
    drawn = []
    for bar in bars:
        tall = _height(bar.open, most, OPEN)
        accepted = _height(bar.accepted, most_decided, DECIDED)
        drawn.append(
            Drawn(
                x=(bar.low - low) * BAR, open=tall, open_y=OPEN - tall, accepted=accepted,
                rejected=_height(bar.rejected, most_decided, DECIDED), rejected_y=OPEN + accepted,
            )
        )  # fmt: skip
    return Histogram(
        bars=[bar for bar in drawn if bar.open or bar.accepted or bar.rejected],
        low=low,
        width=(100 - low) * BAR,
        marks=[(round((100 * bound.lower - low) * BAR), bound.name) for bound in bounds],
        open=sum(bar.open for bar in bars),
        decided=sum(bar.accepted + bar.rejected for bar in bars),
        other_scale=spread.other_scale,
        moved=spread.moved_decisions,
        since=spread.earlier.since,
    )


def _height(number: int, most: int, tall: int) -> int:
    """As tall as its share; a few are seen beside many."""
    return max(2, number * tall // most) if number else 0
