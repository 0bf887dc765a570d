"""A match run compared with the one before it: its tiers and how its links spread over the value that tiers read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from linker.matching.report_types import MatchReport
from linker.reports.ranking import basis_of
from linker.reports.retier import BELOW
from linker.wording import decimal, number

if TYPE_CHECKING:
    from linker.models import Run


@dataclass(frozen=True)
class Bar:
    """A bin of a histogram, from `start` to `stop`; `x`, `y` and `height` are in percent of the picture."""

    start: str
    stop: str
    count: int
    x: str
    y: str
    height: str


@dataclass(frozen=True)
class Histogram:
    """How a run's links spread over the value that its tiers read; `marks` are where tiers began, in percent."""

    run: Run
    basis: str
    bars: list[Bar]
    marks: list[str]


@dataclass(frozen=True)
class TierShift:
    """A tier's links in this run and in the one before, and the bounds it had then; None where it was not there."""

    name: str
    bound: str
    bound_before: str
    count: int | None
    before: int | None

    @property
    def shift(self) -> str:
        if self.count is None or self.before is None:
            return ""
        change = self.count - self.before
        if not change:
            return "±0"
        sign = "+" if change > 0 else "\N{MINUS SIGN}"
        return f"{sign}{number(abs(change))}"


def tier_shifts(run: Run, before: Run | None) -> list[TierShift]:
    """The tiers of either run, highest bound of this one first, what is below every tier last."""
    counts, bounds = _tiers(run)
    counts_before, bounds_before = _tiers(before) if before else ({}, {})
    names = sorted(
        {**counts, **counts_before},
        key=lambda name: (name == BELOW, -bounds.get(name, bounds_before.get(name, -2)), name),
    )
    return [
        TierShift(
            _(name) if name == BELOW else name,
            _bound(bounds, name),
            _bound(bounds_before, name),
            counts.get(name),
            counts_before.get(name),
        )
        for name in names
    ]


def _tiers(run: Run) -> tuple[dict[str, int], dict[str, float]]:
    """Links by tier's name, with those below every tier, and where the tiers began."""
    report = MatchReport.from_json(run.report)
    counts = {tier.name: tier.links for tier in report.tiers or ()}
    if report.below_tiers is not None:
        counts[BELOW] = report.below_tiers
    return counts, {tier.name: tier.bound for tier in report.bounds or ()}


def _bound(bounds: dict[str, float], name: str) -> str:
    return number_format(f"{bounds[name]:g}") if name in bounds else ""


def histograms(runs: list[Run]) -> list[Histogram]:
    """One a run that kept its counts, at one scale: the tallest bar of all, as a share of its run, fills the height."""
    counts = {run.pk: MatchReport.from_json(run.report).histogram for run in runs}
    first = counts[runs[0].pk]
    if not first:
        return []
    shares = {pk: _shares(bins) for pk, bins in counts.items() if bins and len(bins) == len(first)}
    top = max(max(share) for share in shares.values()) or 1
    return [_histogram(run, shares[run.pk], top) for run in runs if run.pk in shares]


def _histogram(run: Run, shares: list[float], top: float) -> Histogram:
    report = MatchReport.from_json(run.report)
    counts, bounds = report.histogram or (), report.bounds or ()
    bins, width = len(counts), 100 / len(counts)
    return Histogram(
        run,
        str(basis_of(run).label),
        [
            _bar(place / bins, (place + 1) / bins, count, place * width, share / top if count else 0)
            for place, (count, share) in enumerate(zip(counts, shares, strict=True))
        ],
        [f"{100 * tier.bound:.2f}" for tier in bounds if 0 < tier.bound < 1],
    )


def _shares(counts: tuple[int, ...]) -> list[float]:
    total = sum(counts) or 1
    return [count / total for count in counts]


def _bar(start: float, stop: float, count: int, x: float, share: float) -> Bar:
    """Whatever is there at all is at least one percent high."""
    height = max(100 * share, 1) if count else 0
    return Bar(decimal(start, 2), decimal(stop, 2), count, f"{x:.2f}", f"{100 - height:.2f}", f"{height:.2f}")
