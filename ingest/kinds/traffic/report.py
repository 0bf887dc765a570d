"""What an import of traffic counted, and how that is said."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from ingest.cells.periods import in_words
from ingest.import_report import LEFT_OUT, READING, ImportReport, cut_off, import_table, left_out_sentence
from linker.models import TrafficSource
from linker.runs.reports import ReportKind
from linker.wording import number


@dataclass(frozen=True, kw_only=True)
class Account:
    """Where the numbers of a file went: `in_file` is the sum of the others."""

    in_file: int | None = None
    on_pages: int = 0
    on_unknown: int = 0
    skipped: int = 0


@dataclass(frozen=True, kw_only=True)
class TrafficReport(ImportReport):
    """An import of traffic. `gone` counts pages that had numbers for the period and have none now, `set` those whose
    own numbers changed, `traffic_before` those that had some where they are far more than now."""

    traffic: int | None = None
    traffic_before: int | None = None
    traffic_source: TrafficSource | None = None
    period: str | None = None
    clicks: Account | None = None
    impressions: Account | None = None
    hits: Account | None = None
    rows_of: Account | None = None
    rows_added: int | None = None
    rows_moved: int | None = None
    total_rows: int | None = None
    other_tables: int | None = None
    gone: int | None = None
    set: int | None = None

    @property
    def loaded(self) -> int | None:
        return self.traffic

    @property
    def brought_news(self) -> bool:
        return super().brought_news or bool(self.set)


TABLE = import_table(
    labels={
        "traffic": gettext_lazy("Pages with traffic"),
        "traffic_before": gettext_lazy("Pages with traffic of this period before"),
        "traffic_source": gettext_lazy("Read as"),
        "in_file": gettext_lazy("in the file"),
        "on_pages": gettext_lazy("on pages"),
        "on_unknown": gettext_lazy("on addresses that are not pages of the project"),
        "rows_of": gettext_lazy("Rows"),
        "rows_added": gettext_lazy("Rows added to another row for the same page"),
        "total_rows": gettext_lazy("Rows with totals, not added"),
        "other_tables": gettext_lazy("Rows of other tables below the first, not read"),
        "gone": gettext_lazy("No longer in this period"),
        "set": gettext_lazy("Pages whose own numbers changed"),
        "period": gettext_lazy("Period"),
        "clicks": gettext_lazy("Clicks"),
        "impressions": gettext_lazy("Impressions"),
        "hits": gettext_lazy("Hits"),
    },
    order=(
        *("file", "rows", "traffic", "traffic_before", "traffic_source", "period", "clicks", "impressions", "hits"),
        *("rows_of", "rows_added", "rows_moved", "total_rows", "other_tables"),
        *("new", "updated", "unchanged", "gone", "set", *LEFT_OUT),
    ),
    values={"traffic_source": lambda source: str(TrafficSource(source).label), "period": in_words},
)


def _of_traffic(report: TrafficReport) -> list[str]:
    return [
        _read(report),
        _accounted(report),
        _gone(report.gone or 0),
        _far_fewer(report),
        cut_off(report),
        left_out_sentence(report),
    ]


def _read(report: TrafficReport) -> str:
    pages = report.traffic or 0
    named = ngettext(
        "%(pages)s page was given numbers from %(file)s for %(period)s. Nothing else about them changed.",
        "%(pages)s pages were given numbers from %(file)s for %(period)s. Nothing else about them changed.",
        pages,
    )
    unnamed = ngettext(
        "%(pages)s page was given numbers for %(period)s. Nothing else about them changed.",
        "%(pages)s pages were given numbers for %(period)s. Nothing else about them changed.",
        pages,
    )
    period = in_words(report.period) if report.period else _("an unknown period")
    return (named if report.file else unnamed) % {"pages": number(pages), "file": report.file, "period": period}


def _gone(pages: int) -> str:
    said = ngettext(
        "%(pages)s page had numbers for this period before and no longer has them.",
        "%(pages)s pages had numbers for this period before and no longer have them.",
        pages,
    )
    return said % {"pages": number(pages)} if pages else ""


def _far_fewer(report: TrafficReport) -> str:
    if not report.traffic_before:
        return ""
    said = _(
        "Before this import, %(before)s pages had numbers for this period; now %(now)s have. The file may be only part "
        "of an export, or cut off. If so, import the complete file, which replaces these numbers."
    )
    return said % {"before": number(report.traffic_before), "now": number(report.traffic or 0)}


def _accounted(report: TrafficReport) -> str:
    """Where every click of the file went."""
    counted = [
        (report.clicks, _("Of %(number)s clicks in the file, %(places)s.")),
        (report.hits, _("Of %(number)s hits in the file, %(places)s.")),
        (report.impressions, _("Of %(number)s impressions in the file, %(places)s.")),
    ]
    for account, said in counted:
        if account is not None:
            places = ", ".join(_places(account))
            return said % {"number": number(account.in_file or 0), "places": places} if places else ""
    return ""


def _places(account: Account) -> list[str]:
    places = [
        (account.on_pages, _("%(number)s went to pages")),
        (account.on_unknown, _("%(number)s belong to addresses that are not pages of the project")),
        (account.skipped, _("%(number)s are in rows that could not be used")),
    ]
    return [words % {"number": number(found)} for found, words in places if found]


TRAFFIC = ReportKind(TrafficReport, _of_traffic, TABLE.rows, READING.rows, TABLE.labels)
