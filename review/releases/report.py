"""What a release held, counted and in words."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from linker.reports.table import Table
from linker.runs.reports import Report, ReportKind
from linker.wording import listed, number


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
    labels={
        "added": gettext_lazy("Links added"),
        "changed": gettext_lazy("Links changed"),
        "removed": gettext_lazy("Links removed"),
        "held": gettext_lazy("Held back"),
    }
)


def sentences(report: ReleaseReport) -> list[str]:
    held = report.held
    counts = (
        (_("%(number)s added"), report.added),
        (_("%(number)s changed"), report.changed),
        (_("%(number)s removed"), report.removed),
    )
    parts = [said % {"number": number(links)} for said, links in counts if links]
    kept = ngettext(
        "%(held)s approved link was held back; the page of the release says why.",
        "%(held)s approved links were held back; the page of the release says why.",
        held,
    )
    return [
        _("Release %(number)d was made%(parts)s.") % {"number": report.release, "parts": listed(parts)},
        kept % {"held": number(held)} if held else "",
    ]


RELEASE = ReportKind(ReleaseReport, sentences, TABLE.rows)


@dataclass(frozen=True, kw_only=True)
class WithdrawReport(Report):
    """`release` is its number in the project; `links` of it will be removed."""

    release: int = 0
    links: int = 0


def withdraw_sentences(report: WithdrawReport) -> list[str]:
    said = ngettext(
        "%(n)s link of release %(release)d will be removed by the next release.",
        "%(n)s links of release %(release)d will be removed by the next release.",
        report.links,
    )
    return [said % {"n": number(report.links), "release": report.release}]


WITHDRAW = ReportKind(
    WithdrawReport,
    withdraw_sentences,
    Table(labels={"links": gettext_lazy("Links to be removed")}, hidden=["release"]).rows,
)


@dataclass(frozen=True, kw_only=True)
class DraftReport(Report):
    """How many `links` the draft holds and how many are `held` back; `draft` is its id."""

    draft: int = 0
    links: int = 0
    held: int = 0


def draft_sentences(report: DraftReport) -> list[str]:
    said = ngettext(
        "The draft holds %(links)s link to look through.",
        "The draft holds %(links)s links to look through.",
        report.links,
    )
    return [said % {"links": number(report.links)}]


DRAFT = ReportKind(
    DraftReport, draft_sentences, Table(labels={"held": gettext_lazy("Held back")}, hidden=["draft"]).rows
)
