"""Files that list pages, for match runs: one address a line, or a table with a column of addresses."""

from __future__ import annotations

import csv
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING

import numpy as np
from django.utils.translation import gettext

from ingest.errors import FileError, UnusableFile
from ingest.files import sniff, uploads
from ingest.files.table import Table
from ingest.kinds.pages.fields import FIELDS as PAGE_FIELDS
from ingest.kinds.project_pages import find_pages
from linker.errors import UserError
from linker.pages import page_lists
from linker.storage import workbook
from linker.storage.workbook import WorkbookError
from linker.wording import number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from django.contrib.auth.models import AbstractBaseUser
    from django.core.files.uploadedfile import UploadedFile

    from ingest.addresses.destinations import PageFinder
    from ingest.files.table import Records
    from linker.models import PageList, Project

MAX_SAMPLE_ROWS = 1000  # rows by which the column of addresses is found
MAX_UNKNOWN = 100  # unknown lines that are kept with the list
MAX_TEXT = 300  # characters of each


def take_list(project: Project, file: UploadedFile, user: AbstractBaseUser | None) -> PageList:
    """The pages of an uploaded file. Raises UserError where it cannot be read, or where no page of it is known."""
    name = file.name or "list"
    with TemporaryDirectory(prefix="list-") as folder:
        path = Path(folder) / "list"
        uploads.copy(file, name, path)
        return read_list(project, path, name, user)


def read_list(project: Project, path: Path, name: str = "", user: AbstractBaseUser | None = None) -> PageList:
    """The pages of a file, kept as a list. Addresses mean pages as those of links do: past redirects and, from pages
    that are not indexable, past canonicals.

    Raises UserError where it cannot be read, or where the project has no page for any of its lines.
    """
    try:
        return _read_list(project, path, name or path.name, user)
    except FileError as error:
        raise UserError(f"{error.said} {gettext('No list was kept.')}") from error


def _read_list(project: Project, path: Path, name: str, user: AbstractBaseUser | None) -> PageList:
    if not path.is_file():
        raise FileError(name, gettext("There is no such file."))
    finder = find_pages(project, name, first=gettext("Import the pages first."), of_links=True, hold=False)
    lines, unknown_lines = 0, 0
    unknown: list[tuple[int, str]] = []
    pages = [np.empty(0, dtype=np.int64)]
    with _table(path, name) as table:
        column, header = _column(table, finder), table.format.header
        for records in table.chunks():
            numbers, addresses = _addresses(table, records, column)
            found = finder.find_all(addresses)
            lines += len(addresses)
            pages.append(np.unique(finder.moves.ends_of(found[found != 0])))
            missing = np.flatnonzero(found == 0).tolist()
            unknown_lines += len(missing)
            unknown += [(numbers[at], addresses[at][:MAX_TEXT]) for at in missing[: MAX_UNKNOWN - len(unknown)]]
    if unknown_lines == lines:
        raise FileError(name, _nothing_known(project, lines, unknown, header))
    return page_lists.keep(
        project,
        name,
        np.concatenate(pages),
        lines=lines,
        unknown_lines=unknown_lines,
        unknown=unknown,
        user=user,
    )


def _nothing_known(project: Project, lines: int, unknown: Sequence[tuple[int, str]], header: Sequence[str]) -> str:
    if not lines:
        return gettext("The file holds no address. Give one address a line, or a table with a column of addresses.")
    line, text = unknown[0]
    if len(header) > 1 and not any(_is_address(cell) for cell in (*header, *(text for _, text in unknown))):
        columns = ", ".join(gettext("“%(label)s”") % {"label": cell} for cell in header[:10])
        said = gettext("None of its columns, %(columns)s, holds addresses. Give it one, or give one address a line.")
        return said % {"columns": columns}
    said = gettext(
        "The project has no page for any of its %(lines)s lines; line %(line)s is “%(text)s”. The addresses have to be "
        "of %(site)s, and of pages that were imported."
    )
    return said % {"lines": number(lines), "line": line, "text": text, "site": project.base_url}


@contextmanager
def _table(path: Path, name: str) -> Iterator[Table]:
    """The file, or the first sheet of a workbook, as a table. A first row that holds an address is no header,
    so that it is read like the others."""
    with TemporaryDirectory(prefix="sheet-") as folder:
        if workbook.is_workbook(path):
            sheet = Path(folder) / "sheet.csv"
            with sheet.open("w", encoding="utf-8", newline="") as out:
                _write_sheet(path, name, out)
            path = sheet
        format = sniff.inspect(path, name, known=PAGE_FIELDS.known_columns)
        if any(_is_address(cell) for cell in format.header):
            format = replace(format, header_records=0)
        yield Table(path, name, format)


def _write_sheet(path: Path, name: str, out: IO[str]) -> None:
    """The first sheet of a workbook as CSV; empty rows stay, so that lines are rows."""
    writer = csv.writer(out, lineterminator="\n")
    line = 0
    try:
        for number, cells in workbook.rows(path):
            writer.writerows([] for _ in range(line, number - 1))
            writer.writerow("" if cell == workbook.NO_RESULT else cell for cell in cells)
            line = number
    except WorkbookError as error:
        raise UnusableFile(name, str(error)) from error


def _is_address(cell: str) -> bool:
    return "/" in cell or "." in cell.strip(".")


def _column(table: Table, finder: PageFinder) -> int | None:
    """The column that most addresses of known pages are in; None where each line is one address."""
    if len(table.format.header) == 1:
        return None
    hits = np.zeros(len(table.format.header), dtype=np.int64)
    whole = 0
    for _, row in islice(table, MAX_SAMPLE_ROWS):
        whole += isinstance(finder.find(table.format.delimiter.join(row)), int)
        for at, cell in enumerate(row[: len(hits)]):
            hits[at] += isinstance(finder.find(cell), int)
    # An address may hold what would part columns in a table.
    return int(hits.argmax()) if hits.max() >= whole else None


def _addresses(table: Table, records: Records, column: int | None) -> tuple[list[int], list[str]]:
    """The addresses of some records with their lines; rows without one are left out."""
    found = [
        (line, (table.format.delimiter.join(row) if column is None else row[column]).strip().rstrip("#"))
        for line, row in zip(records.lines, records.rows, strict=True)
        if column is None or column < len(row)
    ]
    found = [(line, address) for line, address in found if address]
    return [line for line, _ in found], [address for _, address in found]
