"""What a run over what changed did, in words."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from linker.matching.changes_report import ChangesReport, Whole
from linker.reports.table import Table
from linker.runs.reports import ReportKind
from linker.wording import number

WHY_WHOLE = {
    Whole.NO_RUN: gettext_lazy("No match has run yet."),
    Whole.NOT_KEPT: gettext_lazy("The standing run has kept no record of the pages that it read."),
    Whole.LIMITED: gettext_lazy("The standing run is limited to some of the pages."),
    Whole.BY_COSINE: gettext_lazy("The standing run ranked by similarity, which always goes over all pages."),
    Whole.OTHER_VECTORS: gettext_lazy("The vectors are of another model by now."),
    Whole.OTHER_RANKER: gettext_lazy("The ranker of the standing run is of another version."),
    Whole.TAKEN_AGAIN: gettext_lazy("An earlier run was taken again, and a later one has read the pages since."),
    Whole.MUCH_CHANGED: gettext_lazy("Too many pages have changed."),
    Whole.MUCH_IN_ALL: gettext_lazy("Too many pages have changed since the whole site was last matched."),
    Whole.MANY_RUNS: gettext_lazy("The whole site has not been matched for many runs."),
}


def sentences(report: ChangesReport) -> list[str]:
    if report.whole is not None:
        return [str(WHY_WHOLE[report.whole]), _("So the whole site is matched instead.")]
    if not report.changed and not report.gone:
        return [_("No page has changed since run %(run)d, so nothing was matched.") % {"run": report.run or 0}]
    return [
        ngettext(
            "%(pages)s page is new or has changed since run %(run)d.",
            "%(pages)s pages are new or have changed since run %(run)d.",
            report.changed,
        )
        % {"pages": number(report.changed), "run": report.run or 0},
        ngettext("%(pages)s page is no longer there.", "%(pages)s pages are no longer there.", report.gone)
        % {"pages": number(report.gone)}
        if report.gone
        else "",
        _(
            "Donors matched anew: %(donors)s. New suggestions: %(opened)s, refreshed: %(refreshed)s, no longer "
            "proposed: %(closed)s."
        )
        % {
            "donors": number(report.donors),
            "opened": number(report.opened),
            "refreshed": number(report.refreshed),
            "closed": number(report.closed),
        },
        _open(report),
    ]


def _open(report: ChangesReport) -> str:
    """How many suggestions were open before, and are by it; empty where an earlier version did not count."""
    if report.before is None or report.after is None:
        return ""
    said = _("Open suggestions, with those held back: %(before)s before, %(after)s after it.")
    return said % {"before": number(report.before), "after": number(report.after)}


CHANGES = ReportKind(
    ChangesReport,
    sentences,
    Table(
        {
            "run": gettext_lazy("Run that stands"),
            "whole": gettext_lazy("Why the whole site has to be matched"),
            "pages": gettext_lazy("Pages"),
            "changed": gettext_lazy("New or changed"),
            "new": gettext_lazy("New"),
            "gone": gettext_lazy("Gone"),
            "donors": gettext_lazy("Donors matched anew"),
            "links": gettext_lazy("Links found for them"),
            "opened": gettext_lazy("New suggestions"),
            "refreshed": gettext_lazy("Refreshed suggestions"),
            "back": gettext_lazy("Of these, proposed again"),
            "closed": gettext_lazy("No longer proposed"),
            "before": gettext_lazy("Open before, with those held back"),
            "after": gettext_lazy("Open after, with those held back"),
            "changes": gettext_lazy("Runs over what changed since the whole site was matched"),
            "changed_in_all": gettext_lazy("Pages that they found changed"),
            "seconds": gettext_lazy("Seconds"),
        },
        values={"whole": lambda why: str(WHY_WHOLE[why])},
    ).rows,
)
