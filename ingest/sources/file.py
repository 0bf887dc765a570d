"""The first source of rows: a file, recognised by how it begins and by its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext, gettext_noop

from ingest.errors import UnusableFile
from ingest.files import peek
from ingest.files.header_doubt import doubtful_name
from ingest.files.sniff import inspect
from ingest.files.table import Table
from ingest.formats import recognise
from ingest.formats.known_file import KnownFileError
from ingest.formats.table_rules import narrowing
from ingest.sources.base import SAMPLES, Source
from ingest.sources.file_period import period_of
from linker.wording import number

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from ingest.cells.periods import Period
    from ingest.files.table import Records
    from ingest.formats.known_file import Known

CONSOLE_COLUMNS = 5  # page, clicks, impressions, click-through rate, position
MAX_FILTER = 300  # characters of a filter shown
NO_ROWS = gettext_noop(
    "The file has a header but no rows below it, so there is nothing to import. Export it again, and check that the "
    "crawl or report it comes from is finished and not empty."
)


class FileSource(Source):
    """The rows of a file below its header."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.name, self.header, self.size = table.name, table.format.header, table.size
        self._first_rows: list[Sequence[str]] | None = None

    @classmethod
    def open(
        cls,
        path: Path,
        name: str,
        *,
        kind: str,
        known_columns: Collection[str],
        preferred: Collection[str],
        encoding: str = "",
        delimiter: str = "",
        no_header: bool = False,
    ) -> FileSource:
        """Recognises a file that is to be imported as a kind; the other arguments are those of inspect().

        Raises UnusableFile, or KnownFileError where the file is known to be none that can be imported in any way.
        """
        by_start, table = _open_table(
            path, name, kind, known_columns, preferred, encoding=encoding, delimiter=delimiter, no_header=no_header
        )
        source = cls(table)
        samples = source.first_rows()
        source.has_no_names = no_header
        source.doubtful_name = "" if no_header else doubtful_name(source.header, known_columns)
        source.known = by_start or recognise.of_columns(peek.Columns(name, source.header, samples))
        if source.known is not None and source.known.personal:
            raise KnownFileError(name, source.known)
        if not samples and next(iter(source), None) is None:
            # A file without rows says that all the project has is gone, and so does an export that failed.
            if source.known is None or source.known.kind:
                raise UnusableFile(name, gettext(NO_ROWS))
            raise KnownFileError(name, source.known)
        return source

    @property
    def position(self) -> int:
        return self.table.position

    def first_rows(self) -> list[Sequence[str]]:
        if self._first_rows is None:
            self._first_rows = super().first_rows()
        return self._first_rows

    def chunks(self) -> Iterator[Records]:
        return self.table.chunks()

    def describe(self) -> dict[str, Any]:
        warns = self.table.open_line and not self._ends_as_its_maker_writes
        open_line = {"open_line": self.table.open_line} if warns else {}
        return {"file": self.name, **self.table.format.describe(), **open_line}

    def warnings(self) -> list[str]:
        """A cell that was cut off, such as the “9” of “99”, looks like any other: only its line shows it."""
        if self._ends_as_its_maker_writes:
            return []
        line = self.table.find_open_line()
        said = gettext("The last line (%(line)s) has no line break, so the file may have been cut off there.")
        return [said % {"line": number(line)}] if line else []

    @property
    def _ends_as_its_maker_writes(self) -> bool:
        """Search Console ends none of its tables with a line break."""
        return self.known is not None and self.known.key == "console_pages" and len(self.header) == CONSOLE_COLUMNS

    def period(self) -> Period | None:
        return period_of(self.table)

    def filters(self) -> list[str]:
        """Those of Search Console's export, by the table of filters that its archive holds."""
        for _, columns in peek.tables_of(self.table.path):
            found = recognise.of_columns(columns)
            if found is None or found.key != "console_filters":
                continue
            if filters := [f"{name} {value}"[:MAX_FILTER] for name, value in narrowing(columns.rows)]:
                return filters
        return []


def recognise_columns(
    path: Path, name: str, *, known_columns: Collection[str], preferred: Collection[str], encoding: str
) -> tuple[str, Sequence[str]]:
    """The kind of import that a file is known to be for, empty where it is not known; and its header.

    Raises UnusableFile and KnownFileError.
    """
    by_start, table = _open_table(path, name, "", known_columns, preferred, encoding=encoding)
    rows = [cells for _, (_, cells) in zip(range(SAMPLES), table, strict=False)]
    header = table.format.header
    found = by_start or recognise.of_columns(peek.Columns(name, header, rows))
    return (found.kind if found is not None else ""), header


def _open_table(
    path: Path, name: str, kind: str, known_columns: Collection[str], preferred: Collection[str], **said: Any
) -> tuple[Known | None, Table]:
    """What the beginning of a file says it is, and its table. `said` is what the user says of how it is to be read, as
    inspect() takes it."""
    by_start = _recognise_start(path, name)
    preferred = _preferred_member(path, kind) or preferred
    format = inspect(path, name, known=known_columns, preferred=preferred, **said)
    return by_start, Table(path, name, format, preferred)


def _recognise_start(path: Path, name: str) -> Known | None:
    """What the beginning of a file says it is. Raises KnownFileError where it is known and no table to import."""
    found = recognise.of_start(peek.start_of(path, name))
    if found is None or found.kind:
        return found
    inside = recognise.of_columns(peek.workbook_columns(path)) if found.key == "excel" else None
    raise KnownFileError(name, found, f"{found.text} By its columns: {inside.text}" if inside is not None else "")


def _preferred_member(path: Path, kind: str) -> frozenset[str]:
    """The name of the table to take out of an archive of several, where one is known for what it is."""
    member = recognise.member_for(kind, peek.tables_of(path))
    return frozenset({member.rpartition("/")[2].lower()} - {""})
