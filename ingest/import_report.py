"""What the reports of all imports share: the file, how it was read, what was left out of it, and how that is said."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from ingest.fields.skipped import FORMER_REASONS, REASONS
from linker.reports.table import Table
from linker.runs.reports import Report, ReportKind
from linker.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from linker.runs.reports import Row


@dataclass(frozen=True, kw_only=True)
class ImportReport(Report, ABC):
    """The file, how it was read, and what was left out of it; each kind adds what became of its rows.

    `skipped` counts rows and cells by their reason, a key of ingest.fields.skipped.REASONS or, in earlier reports, of
    FORMER_REASONS there; `skipped_file` says whether there is a list of them, `skipped_lost` that the disk had no room
    for it. `open_line` is the last line where it has no line end.
    """

    file: str | None = None
    rows: int | None = None
    new: int | None = None
    updated: int | None = None
    unchanged: int | None = None
    seen_before: int | None = None
    missing: int | None = None
    duplicates: int | None = None
    skipped_rows: int | None = None
    skipped_cells: int | None = None
    skipped: dict[str, int] | None = None
    skipped_listed: int | None = None
    skipped_lost: bool | None = None
    skipped_file: bool | None = None
    encoding: str | None = None
    delimiter: str | None = None
    packed: str | None = None
    header_line: int | None = None
    open_line: int | None = None
    mapping: dict[str, tuple[str, ...]] | None = None

    @property
    @abstractmethod
    def loaded(self) -> int | None:
        """What the project has of the file: pages, links or queries, or pages with traffic."""

    @property
    def has_skipped_list(self) -> bool:
        return bool(self.skipped_file)

    @property
    def brought_news(self) -> bool:
        return bool(self.new or self.updated or self.missing)

    @classmethod
    def upgrade(cls, stored: dict[str, Any], version: int) -> dict[str, Any]:
        codes = {words: code for code, words in (FORMER_REASONS | REASONS).items()}
        skipped = {codes.get(words, words): count for words, count in stored.get("skipped", {}).items()}
        return super().upgrade(stored | ({"skipped": skipped} if "skipped" in stored else {}), version)


R = TypeVar("R", bound=ImportReport)

# The fields of a mapping whose names do not speak for themselves.
FIELD_LABELS = {"body": "Main text", "url": "Address", "alt": "Alt text", "target": "Destination"}
# How a file was read, as against what it held.
READING = Table(
    labels={
        "packed": "Compressed",
        "header_line": "Line of the header",
        "open_line": "Last line, which has no line break",
        "mapping": "Columns",
    },
    keys={"mapping": lambda name: FIELD_LABELS.get(name, name.replace("_", " "))},
    only=("encoding", "delimiter", "packed", "header_line", "open_line", "mapping"),
)
LEFT_OUT = ("skipped_rows", "skipped_cells", "skipped", "skipped_listed", "skipped_lost")


def import_table(
    labels: Mapping[str, str],
    order: tuple[str, ...],
    keys: Mapping[str, Callable[[Any], str]] | None = None,
    values: Mapping[str, Callable[[Any], str | list[Row]]] | None = None,
) -> Table:
    """The table of a kind of import: its own labels and those that all have, rows in `order`."""
    return Table(
        labels={
            "seen_before": "Already known",
            "missing": "No longer in the file",
            "duplicates": "Repeated rows for a page that another row provides",
            "skipped_rows": "Rows left out",
            "skipped_cells": "Cells left out",
            "skipped_listed": "Entries in the list of what was left out",
            "skipped_lost": "No disk space on the server for the list of what was left out",
            "rows_moved": "Rows of pages that redirect or name a canonical, added to the pages they lead to",
            **labels,
        },
        keys={"skipped": lambda reason: (FORMER_REASONS | REASONS).get(reason, reason), **(keys or {})},
        values=values or {},
        only=order,
    )


def source(report: ImportReport) -> str:
    return f" from {report.file}" if report.file else ""


def cut_off(report: ImportReport) -> str:
    """A warning where the file ends in the middle of a line."""
    line = report.open_line
    return f"The last line ({line:,}) has no line break, so the file may have been cut off there." if line else ""


def left_out(report: ImportReport) -> str:
    """What an import could not use, such as "2 rows, 1 cell"; empty where that is nothing."""
    if report.skipped_rows is None:  # of older versions, which did not tell them apart
        both = sum((report.skipped or {}).values())
        return count(both, "row or cell", "rows or cells") if both else ""
    named = ((report.skipped_rows, "row"), (report.duplicates, "repeated row"), (report.skipped_cells, "cell"))
    return ", ".join(count(number, word) for number, word in named if number)


def left_out_sentence(report: ImportReport) -> str:
    if report.skipped_rows is None:
        left = left_out(report)
        return f"{left} could not be used; the list of skipped rows says why." if left else ""
    rows, repeated, cells = report.skipped_rows, report.duplicates or 0, report.skipped_cells or 0
    said = [
        f"{count(rows, 'row')} could not be used." if rows else "",
        f"{count(repeated, 'row')} {'repeats' if repeated == 1 else 'repeat'} a page that another row already provides."
        if repeated
        else "",
        f"{count(cells, 'cell')} could not be used, or only in part; "
        f"the rest of {'its row' if cells == 1 else 'their rows'} was used."
        if cells
        else "",
        "The list of what was left out gives the reason for each line." if report.skipped_file else "",
    ]
    return " ".join(filter(None, said))


def import_words(
    type: type[R], sentences: Callable[[R], list[str]], labels: Mapping[str, str] | None = None
) -> ReportKind[R]:
    """The words for a kind of import that says no more of its counts than their labels: those of its own fields, then
    what all imports count."""
    shared = [field.name for field in fields(ImportReport)]
    own = [field.name for field in fields(type) if field.name not in shared]
    counts = ("new", "updated", "unchanged", "seen_before", "missing", "duplicates")
    table = import_table(labels or {}, order=("file", "rows", *own, *counts, *LEFT_OUT))
    return ReportKind(
        type, lambda report: [*sentences(report), cut_off(report), left_out_sentence(report)], table.rows, READING.rows
    )
