"""An Excel workbook: the columns of the CSV. What does not fit on a sheet goes on to the next."""

from __future__ import annotations

from datetime import UTC
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, ClassVar

import xlsxwriter
from django.utils.translation import gettext_lazy as _

from review.releases.formats.base import PIECE, Format, kept_rows
from review.releases.formats.cells import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from xlsxwriter.worksheet import Worksheet

    from review.models import Release
    from review.releases.formats.base import Row

MAX_CELL = 32_767  # characters of a cell


class Workbook(Format):
    name = "xlsx"
    label = _("Excel workbook")
    help = _("the columns of the CSV")
    suffix = ".xlsx"
    content_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    needs_all = False
    most = 50_000  # some twenty seconds
    sheet_rows: ClassVar[int] = 2**20 - 1  # of links, below the header

    def pieces(self, release: Release) -> Iterator[bytes]:
        with TemporaryFile() as file:
            # Texts are written as texts, so that none is taken for a formula, a number or a link.
            book = xlsxwriter.Workbook(file, {"constant_memory": True})
            book.set_properties({"created": release.created_at.astimezone(UTC).replace(tzinfo=None)})
            self._write(book, kept_rows(release))
            book.close()
            file.seek(0)
            yield from iter(lambda: file.read(PIECE), b"")

    def _write(self, book: xlsxwriter.Workbook, rows: Iterable[Row]) -> None:
        sheet: Worksheet | None = None
        for number, row in enumerate(rows):
            place = number % self.sheet_rows
            if place == 0:
                sheet = _sheet(book, f"Links {number // self.sheet_rows + 1}" if number else "Links", list(row))
            assert sheet is not None
            for column, (name, cell) in enumerate(row.items()):
                if cell and name in NUMBERS:
                    sheet.write_number(place + 1, column, float(cell))
                elif cell:
                    sheet.write_string(place + 1, column, cell[:MAX_CELL])


def _sheet(book: xlsxwriter.Workbook, name: str, header: list[str]) -> Worksheet:
    sheet = book.add_worksheet(name)
    sheet.freeze_panes(1, 0)
    for column, title in enumerate(header):
        sheet.write_string(0, column, title)
    return sheet
