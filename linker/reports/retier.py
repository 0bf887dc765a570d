"""What a change of tiers moved, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from linker.matching.report_types import RetierReport, TierCount
from linker.reports.table import Table
from linker.runs.reports import ReportKind
from linker.wording import number, within

if TYPE_CHECKING:
    from linker.runs.reports import Row

BELOW = gettext_noop("below every tier")
TABLE = Table(
    labels={
        "before": gettext_lazy("Before"),
        "below_before": gettext_lazy("Before: below every tier"),
        "after": gettext_lazy("After"),
        "below_after": gettext_lazy("After: below every tier"),
    },
    values=dict.fromkeys(("before", "after"), lambda tiers: tier_rows(tiers)),
)


def tier_rows(tiers: tuple[TierCount, ...]) -> list[Row]:
    return [(within(tier.name), number(tier.links)) for tier in tiers]


def _by_name(tiers: tuple[TierCount, ...], below: int | None) -> dict[str, int]:
    return {tier.name: tier.links for tier in tiers} | ({} if below is None else {_(BELOW): below})


def sentences(report: RetierReport) -> list[str]:
    before = _by_name(report.before, report.below_before)
    after = _by_name(report.after, report.below_after)
    moved = [
        f"{name} {number(before.get(name, 0))} \N{RIGHTWARDS ARROW} {number(after.get(name, 0))}"
        for name in {**after, **before}
        if before.get(name, 0) != after.get(name, 0)
    ]
    if not moved:
        return [_("No suggestion changed its tier.")]
    return [_("Open suggestions by tier: %(moves)s.") % {"moves": ", ".join(moved)}]


RETIER = ReportKind(RetierReport, sentences, TABLE.rows)
