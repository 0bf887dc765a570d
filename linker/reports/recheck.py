"""What verifying a twentieth of the suggestions took out of the queue, in words."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from linker.matching.recheck import RecheckReport
from linker.reports.table import Table
from linker.runs.reports import ReportKind
from linker.wording import number

TABLE = Table(
    labels={
        "checked": _("Open suggestions verified"),
        "pages": _("Left: a page is gone, redirects, is not indexable or is excluded"),
        "linked": _("Left: the site has the link"),
        "words": _("Left: the text no longer has the words"),
    }
)


def sentences(report: RecheckReport) -> list[str]:
    checked = ngettext(
        "%(links)s open suggestion was verified, of those for which that was longest ago.",
        "%(links)s open suggestions were verified: the twentieth for which that was longest ago.",
        report.checked,
    )
    left = ngettext(
        "%(links)s no longer holds and has left the queue.",
        "%(links)s no longer hold and have left the queue.",
        report.left,
    )
    return [checked % {"links": number(report.checked)}, left % {"links": number(report.left)} if report.left else ""]


RECHECK = ReportKind(RecheckReport, sentences, TABLE.rows)
