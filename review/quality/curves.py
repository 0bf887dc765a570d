"""Precision and recall above a bound, from a sample that was labelled band by band."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from review.queue.known_rates import NORMAL, wilson

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass
class Band:
    """The suggestions from `low` to below `high`: there are `links`, of which `judged` were labelled, and `right` of
    those were. A link that two people labelled otherwise is right by half."""

    low: float
    high: float
    links: int
    judged: int = 0
    right: float = 0.0

    @property
    def share(self) -> float:
        return self.right / self.judged

    @property
    def variance(self) -> float:
        """Of `share`, smoothed by one right and one wrong label, since few labels that agree do not prove certainty:
        A. Agresti, B. A. Coull (1998), Approximate is better than "exact", The American Statistician 52:119-126."""
        smooth = (self.right + 1) / (self.judged + 2)
        return smooth * (1 - smooth) / (self.judged + 2)


@dataclass(frozen=True)
class Point:
    """What a tier would be that begins at `bound`: how many `links` it would hold, which share of them is right, and
    which share of all right ones it would hold, with the bounds of 95%. None where a band lacks labels."""

    bound: float
    links: int
    precision: float | None = None
    precision_low: float = 0.0
    precision_high: float = 1.0
    recall: float | None = None
    recall_low: float = 0.0
    recall_high: float = 1.0


def curve(bands: Sequence[Band]) -> list[Point]:
    """A point for the lower bound of each band, the highest first.

    Precision is the stratified estimate sum(N p) / sum(N) over the bands above the bound, of N links and share p each:
    W. G. Cochran (1977), Sampling Techniques, 3rd edition, equation 5.1. Its interval is Wilson's with the effective
    size of the sample, sum(N)^2 / sum(N^2 / n) for n labels a band: L. Kish (1965), Survey Sampling, section 11.7;
    E. L. Korn, B. I. Graubard (1998), Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data, Survey Methodology 24:193-201. Recall is A / (A + B), the right links above and
    below the bound; its interval comes from the variances of both by the delta method (Cochran, section 6.4).
    """
    high_first = sorted(bands, key=lambda band: -band.low)
    are_known = all(band.judged for band in bands if band.links)
    points = []
    for place, band in enumerate(high_first, start=1):
        above = [one for one in high_first[:place] if one.links]
        links = sum(one.links for one in above)
        if not above or not all(one.judged for one in above):
            points.append(Point(band.low, links))
            continue
        right = sum(one.links * one.share for one in above)
        effective = links**2 / sum(one.links**2 / one.judged for one in above)
        low, high = wilson(right / links * effective, effective)
        recall = _recall(above, [one for one in high_first[place:] if one.links]) if are_known else None
        points.append(Point(band.low, links, right / links, low, high, *(recall or (None,))))
    return points


def _recall(above: Sequence[Band], below: Sequence[Band]) -> tuple[float, float, float] | None:
    right, missed = (sum(band.links * band.share for band in part) for part in (above, below))
    if not right + missed:
        return None
    of_right, of_missed = (sum(band.links**2 * band.variance for band in part) for part in (above, below))
    reach = NORMAL * sqrt(missed**2 * of_right + right**2 * of_missed) / (right + missed) ** 2
    share = right / (right + missed)
    return share, max(0.0, share - reach), min(1.0, share + reach)


def bound_for(points: Sequence[Point], wanted: float, *, sure: bool) -> Point | None:
    """The lowest bound above which precision is as wanted; `sure`: the lower end of its interval is. None where no
    bound is known to reach it."""
    found = None
    for point in points:
        reached = point.precision_low if sure else point.precision
        if point.precision is not None and point.links and reached is not None and reached >= wanted:
            found = point
    return found
