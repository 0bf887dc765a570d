"""What became of the suggestions when an earlier match run was taken again, in words."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from linker.matching.report_types import StandReport
from linker.reports.table import Table
from linker.runs.reports import ReportKind
from linker.wording import number


def sentences(report: StandReport) -> list[str]:
    if report.run is None:
        return []
    found = [
        _(
            "Run %(run)d stands again: %(opened)s suggestions are open again, %(refreshed)s were open and are as it "
            "had them, and %(closed)s that it did not have are closed."
        )
        % {
            "run": report.run,
            "opened": number(report.opened),
            "refreshed": number(report.refreshed),
            "closed": number(report.closed),
        }
    ]
    if report.before is not None:
        found.append(_("To undo this, take run %(before)d again.") % {"before": report.before})
    return found


STAND = ReportKind(
    StandReport,
    sentences,
    Table(
        {
            "run": gettext_lazy("Run that stands"),
            "before": gettext_lazy("Run that stood before"),
            "opened": gettext_lazy("Opened again"),
            "refreshed": gettext_lazy("As the run had them"),
            "closed": gettext_lazy("Closed"),
            "decided": gettext_lazy("Decided since, and left as they are"),
            "kept_out": gettext_lazy("Not opened, because a page may not be linked now"),
            "linked": gettext_lazy("On the site by now, or ruled out"),
        }
    ).rows,
)
