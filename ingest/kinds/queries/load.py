"""An import of search queries from start to finish."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.kinds.project_pages import find_pages
from ingest.kinds.queries import stage
from ingest.kinds.queries.parse import QueryParser
from ingest.kinds.staging import stage_rows
from linker.models import QuerySource
from linker.storage.copy import analyze
from linker.storage.locks import lock_pages

if TYPE_CHECKING:
    from ingest.kinds.base import Counts, ImportTask


def load_queries(task: ImportTask) -> Counts:
    """Reads the rows into the stage and merges them with the queries of their source.

    Rows with an importance are target keywords (as JetOctopus JOIL has them), any others are Search Console's; each
    updates the queries of its own source alone. Queries that the rows lack stay as they are.
    """
    rows, name = task.rows, task.source.name
    pages = find_pages(task.project, name, first=task.rows.kind.pages_first)
    parser = QueryParser(rows.header, rows.mapping, pages, task.skipped)
    stage.create_query_stage()
    count = stage_rows(task, parser.parse_all, stage.stage_queries)
    staged = stage.count_staged_queries()
    report: Counts = {**task.source.describe(), "rows": count}
    if not staged:
        raise task.stop_without_rows("a query of a page", report)
    task.note_stage("Saving queries")
    lock_pages(task.project.pk)
    source = QuerySource.JOIL if "importance" in rows.mapping else QuerySource.SEARCH_CONSOLE
    report |= {"query_source": source.value, **stage.merge_queries(source.value, parser.filled, task.seen_at)}
    if parser.moved:
        report["rows_moved"] = parser.moved
    report["rows_summed"] = staged - report["queries"]
    stage.drop_query_stage()
    analyze("linker_searchquery")
    task.note_done()
    return report | task.skipped.report() | {"mapping": rows.mapping}
