"""What safety classes took out of the queue, in words."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from linker.matching.safety_run import SafetyReport
from linker.reports.table import Table
from linker.runs.reports import ReportKind
from linker.wording import number

TABLE = Table(
    labels={
        "taken_out": _("Taken out of the queue"),
        "back": _("Back in the queue"),
        "waiting": _("Waiting for a second person"),
    }
)


def sentences(report: SafetyReport) -> list[str]:
    out = ngettext(
        "%(links)s suggestion may not be linked and has left the queue.",
        "%(links)s suggestions may not be linked and have left the queue.",
        report.taken_out,
    )
    back = ngettext(
        "%(links)s suggestion may be linked again and is back in it.",
        "%(links)s suggestions may be linked again and are back in it.",
        report.back,
    )
    return [out % {"links": number(report.taken_out)}, back % {"links": number(report.back)} if report.back else ""]


SAFETY = ReportKind(SafetyReport, sentences, TABLE.rows)
