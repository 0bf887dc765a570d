"""What the reports of all imports share: the file, how it was read, what was left out of it, and how that is said."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from ingest.fields.skipped import FORMER_REASONS, REASONS, reason_in_words
from linker.reports.table import Table
from linker.runs.reports import Report, ReportKind
from linker.wording import number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from linker.runs.reports import Row


@dataclass(frozen=True, kw_only=True)
class ImportReport(Report, ABC):
    """The file, how it was read, and what was left out of it; each kind adds what became of its rows.

    `skipped` counts rows and cells by their reason, a key of ingest.fields.skipped.REASONS or, in earlier reports, of
    FORMER_REASONS there; `skipped_file` says whether there is a list of them, `skipped_lost` that the disk had no room
    for it. `open_line` is the last line where it has no line end. `shrank`: nothing was imported, because the file held
    far fewer than the project.
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
    shrank: bool | None = None

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
FIELD_LABELS = {"body": _("Main text"), "url": _("Address"), "alt": _("Alt text"), "target": _("Destination")}
# How a file was read, as against what it held.
READING = Table(
    labels={
        "encoding": _("Encoding"),
        "delimiter": _("Delimiter"),
        "packed": _("Compressed"),
        "header_line": _("Line of the header"),
        "open_line": _("Last line, which has no line break"),
        "mapping": _("Columns"),
    },
    keys={"mapping": lambda name: str(FIELD_LABELS.get(name) or gettext(name.replace("_", " ")))},
    values={"encoding": gettext, "delimiter": gettext, "packed": gettext},
    only=("encoding", "delimiter", "packed", "header_line", "open_line", "mapping"),
)
LEFT_OUT = ("skipped_rows", "skipped_cells", "skipped", "skipped_listed", "skipped_lost")


def import_table(
    labels: Mapping[str, Any],
    order: tuple[str, ...],
    keys: Mapping[str, Callable[[Any], str]] | None = None,
    values: Mapping[str, Callable[[Any], str | list[Row]]] | None = None,
) -> Table:
    """The table of a kind of import: its own labels and those that all have, rows in `order`."""
    return Table(
        labels={
            "file": _("File"),
            "rows": _("Rows"),
            "pages": _("Pages"),
            "links": _("Links"),
            "new": _("New"),
            "updated": _("Updated"),
            "unchanged": _("Unchanged"),
            "seen_before": _("Already known"),
            "missing": _("No longer in the file"),
            "duplicates": _("Repeated rows for a page that another row provides"),
            "skipped": _("Skipped"),
            "skipped_rows": _("Rows left out"),
            "skipped_cells": _("Cells left out"),
            "skipped_listed": _("Entries in the list of what was left out"),
            "skipped_lost": _("No disk space on the server for the list of what was left out"),
            "rows_moved": _("Rows of pages that redirect or name a canonical, added to the pages they lead to"),
            **labels,
        },
        keys={"skipped": reason_in_words, **(keys or {})},
        values=values or {},
        only=order,
    )


def cut_off(report: ImportReport) -> str:
    """A warning where the file ends in the middle of a line."""
    said = gettext("The last line (%(line)s) has no line break, so the file may have been cut off there.")
    return said % {"line": number(report.open_line)} if report.open_line else ""


def left_out(report: ImportReport) -> str:
    """What an import could not use, such as "2 rows, 1 cell"; empty where that is nothing."""
    if report.skipped_rows is None:  # of older versions, which did not tell them apart
        both = sum((report.skipped or {}).values())
        said = ngettext("%(number)s row or cell", "%(number)s rows or cells", both)
        return said % {"number": number(both)} if both else ""
    rows, repeated, cells = report.skipped_rows, report.duplicates or 0, report.skipped_cells or 0
    named = [
        (rows, ngettext("%(number)s row", "%(number)s rows", rows)),
        (repeated, ngettext("%(number)s repeated row", "%(number)s repeated rows", repeated)),
        (cells, ngettext("%(number)s cell", "%(number)s cells", cells)),
    ]
    return ", ".join(words % {"number": number(counted)} for counted, words in named if counted)


def left_out_sentence(report: ImportReport) -> str:
    if report.skipped_rows is None:
        left = left_out(report)
        why = gettext("%(rows_or_cells)s could not be used; the list of skipped rows says why.")
        return why % {"rows_or_cells": left} if left else ""
    rows, repeated, cells = report.skipped_rows, report.duplicates or 0, report.skipped_cells or 0
    counted = [
        (rows, ngettext("%(number)s row could not be used.", "%(number)s rows could not be used.", rows)),
        (
            repeated,
            ngettext(
                "%(number)s row repeats a page that another row already provides.",
                "%(number)s rows repeat a page that another row already provides.",
                repeated,
            ),
        ),
        (
            cells,
            ngettext(
                "%(number)s cell could not be used, or only in part; the rest of its row was used.",
                "%(number)s cells could not be used, or only in part; the rest of their rows was used.",
                cells,
            ),
        ),
    ]
    said = [words % {"number": number(amount)} for amount, words in counted if amount]
    if report.skipped_file:
        said.append(gettext("The list of what was left out gives the reason for each line."))
    return " ".join(said)


def import_words(
    type: type[R], sentences: Callable[[R], list[str]], labels: Mapping[str, Any] | None = None
) -> ReportKind[R]:
    """The words for a kind of import that says no more of its counts than their labels: those of its own fields, then
    what all imports count."""
    shared = [field.name for field in fields(ImportReport)]
    own = [field.name for field in fields(type) if field.name not in shared]
    counts = ("new", "updated", "unchanged", "seen_before", "missing", "duplicates")
    table = import_table(labels or {}, order=("file", "rows", *own, *counts, *LEFT_OUT))
    return ReportKind(
        type,
        lambda report: [*sentences(report), cut_off(report), left_out_sentence(report)],
        table.rows,
        READING.rows,
        table.labels,
    )
