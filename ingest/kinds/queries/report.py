"""What an import of search queries counted, and how that is said."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext_lazy, ngettext

from ingest.import_report import LEFT_OUT, READING, ImportReport, cut_off, import_table, left_out_sentence
from linker.models import QuerySource
from linker.runs.reports import ReportKind
from linker.wording import number


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
        "queries": gettext_lazy("Queries of pages"),
        "query_pages": gettext_lazy("Pages with queries"),
        "query_source": gettext_lazy("Read as"),
        "rows_summed": gettext_lazy("Rows added to another row for the same page and query"),
    },
    order=(
        *("file", "rows", "queries", "query_pages", "query_source", "rows_summed", "rows_moved"),
        *("new", "seen_before", *LEFT_OUT),
    ),
    values={"query_source": lambda source: str(QuerySource(source).label)},
)


def _of_queries(report: QueriesReport) -> list[str]:
    return [_read(report), cut_off(report), left_out_sentence(report)]


def _read(report: QueriesReport) -> str:
    queries, pages = report.queries or 0, report.query_pages or 0
    named = ngettext(
        "%(queries)s search query of %(pages)s was read from %(file)s. The next match can use them as anchors.",
        "%(queries)s search queries of %(pages)s were read from %(file)s. The next match can use them as anchors.",
        queries,
    )
    unnamed = ngettext(
        "%(queries)s search query of %(pages)s was read. The next match can use them as anchors.",
        "%(queries)s search queries of %(pages)s were read. The next match can use them as anchors.",
        queries,
    )
    of = ngettext("%(pages)s page", "%(pages)s pages", pages) % {"pages": number(pages)}
    return (named if report.file else unnamed) % {"queries": number(queries), "pages": of, "file": report.file}


QUERIES = ReportKind(QueriesReport, _of_queries, TABLE.rows, READING.rows, TABLE.labels)
