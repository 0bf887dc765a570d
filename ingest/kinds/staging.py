"""Rows of a source into a stage, some at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from ingest.files.table import Records
    from ingest.kinds.base import ImportTask

STAGE_ROWS = 20_000


def stage_rows(task: ImportTask, parse: Callable[[Records], Any], stage: Callable[[list[Any]], None]) -> int:
    """Reads all rows, and stages what `parse` makes of them STAGE_ROWS at a time; at first fewer, so that the database
    soon has something to do. Returns how many rows there were."""
    found: list[Any] = []
    rows = staged = 0
    for records in task.source.chunks():
        found.append(parse(records))
        rows += len(records)
        if rows >= staged + min(STAGE_ROWS, max(staged, 1)):
            stage(found)
            found, staged = [], rows
            task.note_reading()
    stage(found)
    return rows
