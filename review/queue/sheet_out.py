"""A list of suggestions as a spreadsheet with empty columns for the decision, other words, a reason and a note."""

from __future__ import annotations

import csv
import io
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING

import xlsxwriter
from django.utils.translation import gettext as _

from linker.errors import UserError
from linker.models import Reach
from linker.storage.cells import safe_cell
from linker.wording import number
from review.models import Reason
from review.queue.selectors import lines, of_user

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from django.contrib.auth.models import User
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

    from linker.models import CandidateEdge, Project
    from review.queue.cursor import Cursor
    from review.queue.filters import QueueFilter

# The columns and, in a workbook, how many characters wide each is.
WIDTHS = {
    "suggestion": 12, "run": 8, "donor": 36, "donor_title": 36, "sentence": 70, "anchor": 30, "acceptor": 36,
    "acceptor_title": 36, "probability": 11, "sensitive": 11, "decision": 11, "new_anchor": 30, "reason": 22,
    "reach": 22, "note": 40,
}  # fmt: skip
COLUMNS = tuple(WIDTHS)
MAX_WORKBOOK = 10_000  # suggestions: made within the request, in about a second; CSV is sent as it grows
DECISIONS = ["accept", "reject"]  # those that a workbook offers; sheet_in knows more words
MAX_CELL = 32_767  # characters of a cell of a workbook
_AT_A_TIME = 500
_READ = (
    *("run", "sentence", "anchor", "probability", "sensitive"),
    *(f"{page}__{column}" for page in ("source", "target") for column in ("url", "title")),
)


def csv_pieces(project: Project, chosen: QueueFilter, user: User) -> Iterator[bytes]:
    """The list as CSV in UTF-8 with a byte-order mark, which spreadsheets want; in constant memory."""
    yield "\ufeff".encode() + _csv_line(COLUMNS)
    for edges in _edges(project, chosen, user):
        yield b"".join(_csv_line(_csv_cells(edge)) for edge in edges)


def workbook(project: Project, chosen: QueueFilter, user: User) -> IO[bytes]:
    """The list as an Excel workbook, in a file without a name; in constant memory.

    Raises UserError for a list that is longer than MAX_WORKBOOK.
    """
    _refuse_long(project, chosen, user)
    out = TemporaryFile()  # noqa: SIM115  (the response that sends it closes it)
    book = xlsxwriter.Workbook(out, {"constant_memory": True})
    sheet = book.add_worksheet(_("Review"))
    text = book.add_format({"num_format": "@", "valign": "top"})  # what is typed stays a text, also after a "="
    share = book.add_format({"num_format": "0.00", "valign": "top"})
    _write_header(sheet, book.add_format({"bold": True, "bg_color": "#E7E9EE"}), text)
    rows = 0
    for edges in _edges(project, chosen, user):
        for edge in edges:
            rows += 1
            _write_edge(sheet, rows, edge, text, share)
    if rows:
        _offer(sheet, "decision", DECISIONS, rows)
        _offer(sheet, "reason", [str(reason.label) for reason in Reason], rows)
        _offer(sheet, "reach", [str(reach.label) for reach in Reach], rows)
        sheet.autofilter(0, 0, rows, len(COLUMNS) - 1)
    book.close()
    out.seek(0)
    return out


def _refuse_long(project: Project, chosen: QueueFilter, user: User) -> None:
    parts = [of_user(project, part, chosen, user).order_by() for part in chosen.parts(project)]
    if sum(part[: MAX_WORKBOOK + 1].count() for part in parts) > MAX_WORKBOOK:
        raise UserError(
            _(
                "The list has more than %(most)s suggestions, too many for an Excel workbook. Narrow the filter, or "
                "download the list as CSV."
            )
            % {"most": number(MAX_WORKBOOK)}
        )


def _edges(project: Project, chosen: QueueFilter, user: User) -> Iterator[list[CandidateEdge]]:
    """The edges of the list in its order, some at a time."""
    after: Cursor | None = None
    while True:
        found = lines(project, chosen, user, after, _AT_A_TIME, only=_READ)
        yield [line.edge for line in found.lines]
        if not found.next:
            return
        after = found.lines[-1].cursor


def _known(edge: CandidateEdge) -> list[str]:
    """The cells of the first columns, up to the probability."""
    said = [edge.source.url, edge.source.title, edge.sentence, edge.anchor, edge.target.url, edge.target.title]
    return [str(edge.pk), str(edge.run_id), *said]


def _csv_cells(edge: CandidateEdge) -> list[str]:
    probability = f"{edge.probability:.4f}" if edge.probability is not None else ""
    known = [*map(safe_cell, _known(edge)), probability, safe_cell(edge.sensitive)]
    return known + [""] * (len(COLUMNS) - len(known))


def _csv_line(cells: Sequence[str]) -> bytes:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue().encode()


def _write_header(sheet: Worksheet, bold: Format, text: Format) -> None:
    for column, (name, width) in enumerate(WIDTHS.items()):
        sheet.set_column(column, column, width, text)
        sheet.write_string(0, column, name, bold)
    sheet.freeze_panes(1, 0)


def _write_edge(sheet: Worksheet, row: int, edge: CandidateEdge, text: Format, share: Format) -> None:
    for column, cell in enumerate(_known(edge)):
        sheet.write_string(row, column, cell[:MAX_CELL], text)
    if edge.probability is not None:
        sheet.write_number(row, COLUMNS.index("probability"), edge.probability, share)
    if edge.sensitive:
        sheet.write_string(row, COLUMNS.index("sensitive"), edge.sensitive, text)


def _offer(sheet: Worksheet, column: str, words: list[str], rows: int) -> None:
    """A drop-down list in the cells of a column. Other words may be typed: what comes back says which are known."""
    place = COLUMNS.index(column)
    sheet.data_validation(1, place, rows, place, {"validate": "list", "source": words, "show_error": False})
