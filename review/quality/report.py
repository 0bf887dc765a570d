"""What the runs of quality did, counted and in words."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from linker.reports.table import Table
from linker.runs.reports import Report, ReportKind
from linker.wording import number


@dataclass(frozen=True, kw_only=True)
class AuditReport(Report):
    """Links drawn: `approved` by people and `unreviewed`; of these `twice` by two people, and `for_nobody`."""

    approved: int = 0
    unreviewed: int = 0
    twice: int = 0
    for_nobody: int = 0


AUDIT_TABLE = Table(
    labels={
        "approved": gettext_lazy("Links approved by a person"),
        "unreviewed": gettext_lazy("Links released unreviewed"),
        "twice": gettext_lazy("Judged by two people"),
        "for_nobody": gettext_lazy("For nobody"),
    }
)


def audit_sentences(report: AuditReport) -> list[str]:
    drawn = report.approved + report.unreviewed
    if not drawn:
        return [_("Nothing was approved or released unreviewed since the last audit.")]
    said = ngettext("%(links)s link is to be judged.", "%(links)s links are to be judged.", drawn)
    nobody = ngettext(
        "%(links)s link waits for somebody who did not decide on it: invite a second editor.",
        "%(links)s links wait for somebody who did not decide on them: invite a second editor.",
        report.for_nobody,
    )
    return [
        said % {"links": number(drawn)},
        nobody % {"links": number(report.for_nobody)} if report.for_nobody else "",
    ]


@dataclass(frozen=True, kw_only=True)
class CalibrationReport(Report):
    """Links drawn of so many bands of probability; `twice` to be labelled by two people, and `for_nobody`."""

    links: int = 0
    bands: int = 0
    twice: int = 0
    for_nobody: int = 0


CALIBRATION_TABLE = Table(
    labels={
        "links": gettext_lazy("Links to be judged"),
        "bands": gettext_lazy("Bands of probability"),
        "twice": gettext_lazy("Judged by two people"),
        "for_nobody": gettext_lazy("For nobody"),
    }
)


def calibration_sentences(report: CalibrationReport) -> list[str]:
    said = ngettext("%(links)s link is to be judged.", "%(links)s links are to be judged.", report.links)
    return [said % {"links": number(report.links)}]


@dataclass(frozen=True, kw_only=True)
class AlertsReport(Report):
    """How many things are beyond their limits, and how many alerts were raised for those not known yet."""

    found: int = 0
    raised: int = 0


ALERTS_TABLE = Table(labels={"found": gettext_lazy("Beyond their limits"), "raised": gettext_lazy("New alerts")})


def alerts_sentences(report: AlertsReport) -> list[str]:
    said = ngettext("%(alerts)s alert was raised.", "%(alerts)s alerts were raised.", report.raised)
    return [said % {"alerts": number(report.raised)} if report.raised else _("No alert was raised.")]


ALERTS = ReportKind(AlertsReport, alerts_sentences, ALERTS_TABLE.rows)
CALIBRATION = ReportKind(CalibrationReport, calibration_sentences, CALIBRATION_TABLE.rows)
AUDIT = ReportKind(AuditReport, audit_sentences, AUDIT_TABLE.rows)
