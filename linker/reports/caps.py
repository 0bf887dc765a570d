"""What caps took out of the queue, in words."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from linker.matching.caps_run import CapsReport
from linker.reports.table import Table
from linker.runs.reports import ReportKind
from linker.wording import number

TABLE = Table(labels={"taken_out": _("Taken out of the queue"), "back": _("Back in the queue")})


def sentences(report: CapsReport) -> list[str]:
    out = ngettext(
        "%(links)s suggestion has left the queue, because its donor or acceptor is full.",
        "%(links)s suggestions have left the queue, because their donors or acceptors are full.",
        report.taken_out,
    )
    back = ngettext(
        "%(links)s suggestion is back in it, because there is room for it again.",
        "%(links)s suggestions are back in it, because there is room for them again.",
        report.back,
    )
    return [out % {"links": number(report.taken_out)}, back % {"links": number(report.back)} if report.back else ""]


CAPS = ReportKind(CapsReport, sentences, TABLE.rows)
