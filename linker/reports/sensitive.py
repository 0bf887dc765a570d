"""What a look for sensitive pages found, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.pages.report import SensitiveReport
from linker.reports.table import Table
from linker.runs.reports import ReportKind
from linker.wording import count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from linker.models.policy import Sensitivity

LABELS = {
    "sensitive_pages": "Pages that count as sensitive",
    "sensitive_proposed": "New rules for sensitive pages, still to check",
}


def sensitive_sentence(pages: int, proposed: Mapping[Sensitivity, int]) -> str:
    """How many pages count as sensitive, and how many rules are new, in plain words."""
    new = sum(proposed.values())
    if not (pages or new):
        return "No page is about medicine, law or money."
    counted = (
        f"{count(pages, 'page')} {'counts' if pages == 1 else 'count'} as sensitive, so every link from or to "
        f"{'it' if pages == 1 else 'them'} needs human review."
    )
    return counted + (f" {count(new, 'new rule')} {'waits' if new == 1 else 'wait'} for a manager." if new else "")


def sentences(report: SensitiveReport) -> list[str]:
    return [sensitive_sentence(report.sensitive_pages, report.sensitive_proposed)]


SENSITIVE = ReportKind(SensitiveReport, sentences, Table(LABELS).rows)
