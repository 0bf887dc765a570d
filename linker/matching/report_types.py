"""What a match run counted, and what a change of tiers moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linker.runs.reports import Report

BELOW_TIERS = "below every tier"  # as reports from before they were types name what is below every tier


@dataclass(frozen=True, kw_only=True)
class TierCount:
    """How many links a tier held. It is named since it may be renamed or deleted later."""

    name: str
    links: int


@dataclass(frozen=True, kw_only=True)
class RetierReport(Report):
    """Open suggestions by tier before the tiers changed and after; the fields `below` count those below every tier."""

    before: tuple[TierCount, ...] = ()
    below_before: int | None = None
    after: tuple[TierCount, ...] = ()
    below_after: int | None = None

    @classmethod
    def upgrade(cls, stored: dict[str, Any], version: int) -> dict[str, Any]:
        upgraded: dict[str, Any] = {}
        for side, below in (("before", "below_before"), ("after", "below_after")):
            counts = dict(stored.get(side, {}))
            upgraded[below] = counts.pop(BELOW_TIERS, None)
            upgraded[side] = [{"name": name, "links": links} for name, links in counts.items()]
        return super().upgrade(upgraded, version)
