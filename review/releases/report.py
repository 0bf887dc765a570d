"""What a release held, counted and in words."""

from __future__ import annotations

from dataclasses import dataclass

from linker.reports.table import Table
from linker.runs.reports import Report, ReportKind
from linker.wording import listed


@dataclass(frozen=True, kw_only=True)
class ReleaseReport(Report):
    """`release` is its number in the project; `links` are those in its file: `added`, `changed` and `removed`."""

    links: int = 0
    added: int = 0
    bytes: int = 0
    changed: int = 0
    held: int = 0
    release: int = 0
    removed: int = 0


TABLE = Table(
    labels={"added": "Links added", "changed": "Links changed", "removed": "Links removed", "held": "Held back"}
)


def sentences(report: ReleaseReport) -> list[str]:
    held = report.held
    counts = {"added": report.added, "changed": report.changed, "removed": report.removed}
    parts = [f"{number:,} {name}" for name, number in counts.items() if number]
    links = "link was" if held == 1 else "links were"
    return [
        f"Release {report.release} was made{listed(parts)}.",
        f"{held:,} approved {links} held back; the page of the release says why." if held else "",
    ]


RELEASE = ReportKind(ReleaseReport, sentences, TABLE.rows)
