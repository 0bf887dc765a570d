"""What an import left out, rows and cells: counted by reason, and listed in a CSV for download."""

from __future__ import annotations

import csv
from collections import Counter
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self, TextIO

import structlog
from django.utils.translation import gettext, gettext_noop

from ingest.addresses.normalise import MAX_DEPTH
from ingest.errors import FileError, ImportStopped
from linker.storage.cells import safe_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

log = structlog.get_logger(__name__)

MAX_LISTED = 200_000  # rows listed for one reason; the counts go on
MAX_CELL = 2_000
COLUMNS = ("line", "column", "reason", "address", "value")

# Why a row is not imported.
OF_ROWS = {
    "no_address": gettext_noop("The row has no address"),
    "bad_address": gettext_noop("The address is not an http or https URL"),
    "another_site": gettext_noop("The address belongs to another site"),
    "bad_width": gettext_noop("The row has more or fewer cells than the header"),
    "page_unknown": gettext_noop("The address is not a page of the project"),
    "no_title": gettext_noop("The address is not a page of the project, and the file has no title for a new page"),
    "no_query": gettext_noop("The row has no query, because Search Console hides rare ones"),
    "event_late": gettext_noop("Something newer is known of the page"),
    "unknown_source": gettext_noop("The link's source is not a page of the project"),
    "unknown_target": gettext_noop("The link's target is not a page of the project"),
}
# Why a row is no page of its own, though nothing is wrong with it.
OF_REPEATED_ROWS = {"duplicate": gettext_noop("Another row of the file is for the same page, and that row was used")}
# Why a cell is not imported, or not as it stands; the rest of its row is.
OF_CELLS = {
    "bad_cell": gettext_noop("The cell was not understood, so it was left empty"),
    "out_of_range": gettext_noop("The number or time is out of range, so the cell was left empty"),
    "deep_category": f"The category is more than {MAX_DEPTH} levels deep, so the page was put into level {MAX_DEPTH}",
    "bad_vector": gettext_noop("The embedding vector was not understood"),
    "vector_length": gettext_noop("The embedding vector is not as long as most of the others"),
}
REASONS = OF_ROWS | OF_REPEATED_ROWS | OF_CELLS
# Reasons that no import gives any more, and that reports of earlier ones count.
FORMER_REASONS = {
    "unknown_page": OF_ROWS["no_title"],
    "page_of_query_unknown": gettext_noop("The query's address is not a page of the project"),
    "page_of_traffic_unknown": gettext_noop(
        "The address is not a page of the project, so its numbers appear in the report only"
    ),
}


def reason_in_words(reason: str) -> str:
    """A reason in the reader's language; what REASONS and FORMER_REASONS do not know as it is."""
    if reason == "deep_category":
        said = gettext("The category is more than %(levels)d levels deep, so the page was put into level %(levels)d")
        return said % {"levels": MAX_DEPTH}
    return gettext((FORMER_REASONS | REASONS).get(reason, reason))


class Skipped:
    """Collects left-out rows. With a path, lists them there; the file is made with the first one.

    A list that finds no room, or another fault of the disk, is given up, and `lost` says so: it is no reason to lose
    the import. The counts are complete all the same.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.counts: Counter[str] = Counter()
        self.listed = 0
        self.lost = False
        self._file: TextIO | None = None
        self.first: tuple[int, str, str] | None = None

    def count(self, reasons: Iterable[str]) -> int:
        """How much was left out for any of these."""
        return sum(self.counts[reason] for reason in reasons)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def report(self) -> dict[str, Any]:
        """What was left out, for an import's report; no more is listed after this."""
        self.close()
        report: dict[str, Any] = {
            "skipped": dict(self.counts.most_common()),
            "skipped_rows": self.count(OF_ROWS),
            "skipped_cells": self.count(OF_CELLS),
            "skipped_listed": self.listed,
            "skipped_file": bool(self.listed),
        }
        if self.lost:
            report["skipped_lost"] = True
        return report

    def close(self) -> None:
        """Writes what is still to be written; `lost` and `listed` are final then."""
        file, self._file = self._file, None
        try:
            if file is not None:
                file.close()
        except OSError as error:
            self._give_up(error)

    def drop(self) -> None:
        """Removes the list."""
        self.close()
        self.listed = 0
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _give_up(self, error: OSError) -> None:
        log.warning("the list of rows left out could not be kept", path=str(self.path), error=str(error))
        file, self._file = self._file, None
        self.lost, self.listed = True, 0
        with suppress(OSError):
            if file is not None:
                file.close()
        with suppress(OSError):
            if self.path is not None:
                self.path.unlink(missing_ok=True)

    def add(self, line: int, reason: str, *, column: str = "", address: str = "", value: str = "") -> None:
        """`line` is where the row begins in the file; `reason` is a key of REASONS."""
        self.counts[reason] += 1
        if self.first is None:
            self.first = (line, reason, address)
        if self.path is None or self.lost or self.counts[reason] > MAX_LISTED:
            return
        cells = (column, REASONS[reason], address, value)
        try:
            self._list([line, *(safe_cell(cell[:MAX_CELL]) for cell in cells)])
        except OSError as error:
            self._give_up(error)

    def _list(self, row: list[object]) -> None:
        if self._file is None:
            assert self.path is not None
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("a" if self.listed else "w", encoding="utf-8-sig", newline="")
            self._writer = csv.writer(self._file)
            if not self.listed:
                self._writer.writerow(COLUMNS)
        self._writer.writerow(row)
        self.listed += 1


@contextmanager
def listing(path: Path | None) -> Iterator[Skipped]:
    """Rows left out; a FileError half-way carries what has been listed until then.

    An import that ends otherwise leaves no list behind, nor does what a killed worker had listed of the same import.
    """
    with Skipped(path) as skipped:
        skipped.drop()
        try:
            yield skipped
        except FileError as error:
            error.report = skipped.report() if skipped.counts else {}
            raise
        except ImportStopped:
            raise
        except BaseException:
            skipped.drop()
            raise
