"""What a change of tiers moved, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.matching.report_types import RetierReport, TierCount
from linker.reports.table import Table
from linker.runs.reports import ReportKind

if TYPE_CHECKING:
    from linker.runs.reports import Row

BELOW = "below every tier"
TABLE = Table(
    labels={"below_before": f"Before: {BELOW}", "below_after": f"After: {BELOW}"},
    values=dict.fromkeys(("before", "after"), lambda tiers: tier_rows(tiers)),
)


def tier_rows(tiers: tuple[TierCount, ...]) -> list[Row]:
    return [(tier.name.lower(), f"{tier.links:,}") for tier in tiers]


def _by_name(tiers: tuple[TierCount, ...], below: int | None) -> dict[str, int]:
    return {tier.name: tier.links for tier in tiers} | ({} if below is None else {BELOW: below})


def sentences(report: RetierReport) -> list[str]:
    before = _by_name(report.before, report.below_before)
    after = _by_name(report.after, report.below_after)
    moved = [
        f"{name} {before.get(name, 0):,} \N{RIGHTWARDS ARROW} {after.get(name, 0):,}"
        for name in {**after, **before}
        if before.get(name, 0) != after.get(name, 0)
    ]
    return [f"Open suggestions by tier: {', '.join(moved)}." if moved else "No suggestion changed its tier."]


RETIER = ReportKind(RetierReport, sentences, TABLE.rows)
