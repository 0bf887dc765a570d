"""What the work after a result has changed, in words."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from linker.matching.follow_up_work import FollowUpReport
from linker.reports.table import Table
from linker.runs.reports import ReportKind
from linker.wording import number

TABLE = Table(
    labels={
        "sections": gettext_lazy("Filed under the new category of their donor"),
        "ruled_out": gettext_lazy("Left the queue: ruled out"),
        "moved": gettext_lazy("Followed their pages, or closed with them"),
        "left": gettext_lazy("Left the queue: a page may no longer be linked"),
        "back": gettext_lazy("Back in the queue: their pages may be linked again"),
        "allowed": gettext_lazy("Back in the queue: no longer ruled out"),
        "reread": gettext_lazy("Verified for another tier"),
        "paragraphs": gettext_lazy("Content gaps with a paragraph"),
    }
)


def sentences(report: FollowUpReport) -> list[str]:
    left = (report.ruled_out or 0) + (report.left or 0)
    out = ngettext(
        "%(links)s suggestion has left the queue.", "%(links)s suggestions have left the queue.", left
    ) % {"links": number(left)}  # fmt: skip
    returned = (report.back or 0) + (report.allowed or 0)
    back = ngettext(
        "%(links)s suggestion is back in it.", "%(links)s suggestions are back in it.", returned
    ) % {"links": number(returned)}  # fmt: skip
    moved = ngettext(
        "%(links)s suggestion has followed its pages, or was closed with them.",
        "%(links)s suggestions have followed their pages, or were closed with them.",
        report.moved or 0,
    ) % {"links": number(report.moved or 0)}  # fmt: skip
    found = ((moved, report.moved), (out, left), (back, returned))
    return [said for said, links in found if links] or [_("The queue is as it was.")]


FOLLOW_UP = ReportKind(FollowUpReport, sentences, TABLE.rows)
