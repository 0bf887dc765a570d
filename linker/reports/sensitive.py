"""What a look for sensitive pages found, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from linker.pages.report import SensitiveReport
from linker.reports.table import Table
from linker.runs.reports import ReportKind
from linker.wording import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from linker.models.policy import Sensitivity

LABELS = {
    "sensitive_pages": gettext_lazy("Pages that count as sensitive"),
    "sensitive_proposed": gettext_lazy("New rules for sensitive pages, still to check"),
}
KEYS = {"sensitive_proposed": lambda kind: str(kind.label)}


def sensitive_sentence(pages: int, proposed: Mapping[Sensitivity, int]) -> str:
    """How many pages count as sensitive, and how many rules are new, in plain words."""
    new = sum(proposed.values())
    if not (pages or new):
        return _("No page is about medicine, law or money.")
    said = ngettext(
        "%(pages)s page counts as sensitive, so every link from or to it needs human review.",
        "%(pages)s pages count as sensitive, so every link from or to them needs human review.",
        pages,
    ) % {"pages": number(pages)}
    rules = ngettext("%(rules)s new rule waits for a manager.", "%(rules)s new rules wait for a manager.", new)
    return f"{said} {rules % {'rules': number(new)}}" if new else said


def sentences(report: SensitiveReport) -> list[str]:
    return [sensitive_sentence(report.sensitive_pages, report.sensitive_proposed)]


SENSITIVE = ReportKind(SensitiveReport, sentences, Table(LABELS, KEYS).rows)
