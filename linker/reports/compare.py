"""What the comparison of two match runs found, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from linker.matching.report_types import CompareReport, Distance
from linker.reports.table import Table
from linker.runs.reports import ReportKind
from linker.wording import decimal, number

if TYPE_CHECKING:
    from linker.matching.report_types import TierMove
    from linker.runs.reports import Row


def sentences(report: CompareReport) -> list[str]:
    if report.run is None or report.before is None:
        return []
    found = _(
        "Run %(run)d compared with run %(before)d: %(both)s links are in both, %(new)s are new, %(gone)s are gone, and "
        "%(decided)s have been decided on since."
    ) % {
        "run": report.run,
        "before": report.before,
        "both": number(report.both),
        "new": number(report.new),
        "gone": number(report.gone),
        "decided": number(report.decided),
    }
    return [found, order_sentence(report)]


def order_sentence(report: CompareReport) -> str:
    """How far the two runs agree on the order of the links of both; empty where nothing can be said."""
    if report.rho is None:
        return ""
    return _("Of the links in both, the order agrees with a rank correlation of %(rho)s (1 is the same order).") % {
        "rho": decimal(report.rho, 2)
    }


def _distance_rows(distance: Distance) -> list[Row]:
    return [
        (_("Jensen–Shannon distance"), decimal(distance.divergence, 3)),
        (_("mean shift of the value"), decimal(distance.shift, 3)),
    ]


def tier_name(name: str | None) -> str:
    return name or _("below every tier")


def _move_rows(moves: tuple[TierMove, ...]) -> list[Row]:
    arrow = " \N{RIGHTWARDS ARROW} "
    return [(arrow.join(map(tier_name, (move.before, move.after))), number(move.links)) for move in moves]


TABLE = Table(
    labels={
        "run": gettext_lazy("Later run"),
        "before": gettext_lazy("Earlier run"),
        "links_before": gettext_lazy("Links of the earlier run"),
        "links": gettext_lazy("Links of the later run"),
        "both": gettext_lazy("In both"),
        "new": gettext_lazy("New"),
        "gone": gettext_lazy("Gone"),
        "decided": gettext_lazy("Decided since"),
        "moved": gettext_lazy("Moved in rank"),
        "tier": gettext_lazy("Another tier"),
        "words": gettext_lazy("Other words"),
        "rho": gettext_lazy("Order of all links in both (Spearman’s ρ)"),
        "tau": gettext_lazy("Order within each donor (Kendall’s τ)"),
        "within": gettext_lazy("Values within a category"),
        "across": gettext_lazy("Values between categories"),
        "tier_moves": gettext_lazy("From tier to tier"),
    },
    values={"within": _distance_rows, "across": _distance_rows, "tier_moves": _move_rows},
)
COMPARE = ReportKind(CompareReport, sentences, TABLE.rows)
