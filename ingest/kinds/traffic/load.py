"""An import of traffic from start to finish."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.cells.periods import TooLong, parse_period
from ingest.errors import FileError
from ingest.kinds.base import shrinks
from ingest.kinds.project_pages import find_pages
from ingest.kinds.traffic import stage
from ingest.kinds.traffic.fields import traffic_source
from ingest.kinds.traffic.merge import merge_traffic
from ingest.kinds.traffic.parse import TrafficParser
from linker.storage.background import BackgroundCopy
from linker.storage.copy import analyze
from linker.storage.locks import lock_pages

if TYPE_CHECKING:
    from ingest.cells.periods import Period
    from ingest.kinds.base import Counts, ImportTask


def load_traffic(task: ImportTask) -> Counts:
    """Adds clicks, impressions, positions or hits to the pages that the rows mean.

    The period is what the user says, else what the source says, else the span of the days in the rows, else unknown.
    What was imported of the same source and period is replaced.
    """
    rows, project = task.rows, task.project
    wanted = read_period(task.source.name, rows.options.get("period", ""))
    pages = find_pages(project, task.source.name, first=task.rows.kind.pages_first)
    parser = TrafficParser(rows.header, rows.mapping, pages, task.skipped)
    report: Counts = {**_stage(task, parser), **_accounts(parser)}
    if not parser.rows["on_pages"]:
        raise task.stop_without_rows("traffic of a page", report)
    period = wanted or task.source.period() or parser.period
    if period is not None and period.fault:
        raise task.stop(f"{task.source.name}: {period.fault}", report)
    task.note_stage("Saving traffic")
    lock_pages(project.pk)
    source = traffic_source(rows.mapping)
    rows_with_numbers = stage.sum_traffic()
    counts = merge_traffic(project, source.value, period, task.seen_at, replaces=True, loose=())
    stage.drop_traffic_stage()
    report |= {"traffic_source": source.value, "period": str(period or ""), "traffic": counts.pop("pages"), **counts}
    report["rows_added"] = rows_with_numbers - report["traffic"]
    before = report["traffic"] - report["new"] + report["gone"]
    if shrinks(before, report["traffic"]):
        report["traffic_before"] = before
    if report["set"]:
        analyze("linker_page", texts=False)
    task.note_done()
    return report | task.skipped.report() | {"mapping": rows.mapping}


def _stage(task: ImportTask, parser: TrafficParser) -> Counts:
    """Reads all rows into the stage. Returns what the report says of the source, and how many rows there were."""
    stage.create_traffic_stage()
    rows = 0
    with BackgroundCopy() as background:
        for records in task.source.chunks():
            rows += len(records)
            traffic = parser.parse_all(records)
            background.wait()
            stage.stage_traffic(background, traffic)
            task.note_reading()
    return {**task.source.describe(), "rows": rows}


def _accounts(parser: TrafficParser) -> Counts:
    """Where each number of the file went, so that the parts add up to the whole."""
    aside = {"rows_moved": parser.moved, "total_rows": parser.totals, "other_tables": parser.other_tables}
    accounts: Counts = {name: count for name, count in aside.items() if count}
    for name in parser.counted:
        parts = {where: sums[name] for where, sums in parser.sums.items()}
        accounts[name] = {"in_file": sum(parts.values()), **parts}
    accounts["rows_of"] = {where: parser.rows[where] for where in parser.sums}
    return accounts


def read_period(name: str, text: str) -> Period | None:
    """The period that a user wrote; None where nothing is written. Raises FileError where it is none, or too long."""
    try:
        return parse_period(text) if text.strip() else None
    except TooLong as error:
        raise FileError(name, str(error)) from None
    except ValueError:
        raise FileError(
            name,
            f"“{text.strip()[:100]}” is not a period. Write a month (2026-01), a day, a year, or the first and the "
            "last day (2026-01-01 to 2026-03-31).",
        ) from None
