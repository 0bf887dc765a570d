"""What an import of traffic counted, and how that is said."""

from __future__ import annotations

from dataclasses import dataclass

from ingest.import_report import LEFT_OUT, READING, ImportReport, cut_off, import_table, left_out_sentence, source
from linker.models import TrafficSource
from linker.runs.reports import ReportKind
from linker.wording import count, was


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
        "traffic": "Pages with traffic",
        "traffic_before": "Pages with traffic of this period before",
        "traffic_source": "Read as",
        "in_file": "in the file",
        "on_pages": "on pages",
        "on_unknown": "on addresses that are not pages of the project",
        "rows_of": "Rows",
        "rows_added": "Rows added to another row for the same page",
        "total_rows": "Rows with totals, not added",
        "other_tables": "Rows of other tables below the first, not read",
        "gone": "No longer in this period",
        "set": "Pages whose own numbers changed",
    },
    order=(
        *("file", "rows", "traffic", "traffic_before", "traffic_source", "period", "clicks", "impressions", "hits"),
        *("rows_of", "rows_added", "rows_moved", "total_rows", "other_tables"),
        *("new", "updated", "unchanged", "gone", "set", *LEFT_OUT),
    ),
    values={"traffic_source": lambda source: str(TrafficSource(source).label)},
)


def _of_traffic(report: TrafficReport) -> list[str]:
    pages, gone, before = report.traffic or 0, report.gone or 0, report.traffic_before or 0
    days = f"for {report.period}" if report.period else "for an unknown period"
    return [
        f"{count(pages, 'page')} {was(pages)} given numbers{source(report)} {days}. Nothing else about them changed.",
        _accounted(report),
        f"{count(gone, 'page')} had numbers for this period before and no longer {'has' if gone == 1 else 'have'} them."
        if gone
        else "",
        f"Before this import, {before:,} pages had numbers for this period; now {pages:,} have. The file may be only "
        "part of an export, or cut off. If so, import the complete file, which replaces these numbers."
        if before
        else "",
        cut_off(report),
        left_out_sentence(report),
    ]


def _accounted(report: TrafficReport) -> str:
    """Where every click of the file went."""
    counted = {"clicks": report.clicks, "hits": report.hits, "impressions": report.impressions}
    for name, account in counted.items():
        if account is not None:
            places = [f"{number:,} {words}" for words, number in _places(account).items() if number]
            return f"Of {account.in_file or 0:,} {name} in the file, {', '.join(places)}." if places else ""
    return ""


def _places(account: Account) -> dict[str, int]:
    return {
        "went to pages": account.on_pages,
        "belong to addresses that are not pages of the project": account.on_unknown,
        "are in rows that could not be used": account.skipped,
    }


TRAFFIC = ReportKind(TrafficReport, _of_traffic, TABLE.rows, READING.rows)
