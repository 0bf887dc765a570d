"""What an import of search queries counted, and how that is said."""

from __future__ import annotations

from dataclasses import dataclass

from ingest.import_report import LEFT_OUT, READING, ImportReport, cut_off, import_table, left_out_sentence, source
from linker.models import QuerySource
from linker.runs.reports import ReportKind
from linker.wording import count, was


@dataclass(frozen=True, kw_only=True)
class QueriesReport(ImportReport):
    """An import of search queries. Rows of one page and query are summed."""

    queries: int | None = None
    query_pages: int | None = None
    query_source: QuerySource | None = None
    rows_summed: int | None = None
    rows_moved: int | None = None

    @property
    def loaded(self) -> int | None:
        return self.queries


TABLE = import_table(
    labels={
        "queries": "Queries of pages",
        "query_pages": "Pages with queries",
        "query_source": "Read as",
        "rows_summed": "Rows added to another row for the same page and query",
    },
    order=(
        *("file", "rows", "queries", "query_pages", "query_source", "rows_summed", "rows_moved"),
        *("new", "seen_before", *LEFT_OUT),
    ),
    values={"query_source": lambda source: str(QuerySource(source).label)},
)


def _of_queries(report: QueriesReport) -> list[str]:
    queries = report.queries or 0
    return [
        f"{count(queries, 'search query', 'search queries')} of {count(report.query_pages or 0, 'page')} "
        f"{was(queries)} read{source(report)}. The next match can use them as anchors.",
        cut_off(report),
        left_out_sentence(report),
    ]


QUERIES = ReportKind(QueriesReport, _of_queries, TABLE.rows, READING.rows)
