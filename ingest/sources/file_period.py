"""The days that the numbers of a file were counted on, as exports name them outside their rows."""

from __future__ import annotations

import csv
import io
import re
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from ingest.cells.periods import MAX_DAYS, Period, parse_period
from ingest.errors import FileError
from ingest.files.peek import DAMAGED, Start
from ingest.files.table import Table
from linker.storage.archives import open_archive, open_member

MAX_MEMBER_BYTES = 2**18  # of a table that comes with the imported one; sixteen months of days take 20 KB
MAX_MEMBERS = 30  # Search Console packs seven
_COMMENT = re.compile(r"#[^:]*:\s*(\d{8}|\d{4}-\d{2}-\d{2})(?:\s*-\s*(\d{8}|\d{4}-\d{2}-\d{2}))?\s*$")


def period_of(table: Table) -> Period | None:
    """The period that a file names outside its rows; None if it names none.

    Search Console packs the days with their clicks (Chart.csv) next to its pages; Google Analytics writes the first and
    the last day into the comments above the header.
    """
    return _from_chart(table) or _from_comments(table)


def _from_comments(table: Table) -> Period | None:
    whole = Table(table.path, table.name, replace(table.format, header_records=0), table.preferred)
    days = []
    with suppress(FileError):
        for _, cells in islice(whole, table.format.header_records - 1):
            found = _COMMENT.match(",".join(cells).rstrip(",; \t"))
            for text in found.groups() if found else ():
                with suppress(ValueError):
                    days.append(parse_period(text or ""))
    return Period.spanning(days)


def _from_chart(table: Table) -> Period | None:
    """The span of the first table, other than the imported one, whose first cells are all days."""
    if table.format.compression != "zip":
        return None
    with suppress(*DAMAGED), open_archive(table.path) as archive:
        for info in archive.infolist()[:MAX_MEMBERS]:
            if info.filename == table.format.member or not info.filename.lower().endswith(".csv"):
                continue
            with suppress(*DAMAGED), open_member(archive, info) as member:
                period = _span_of_days(Start(info.filename, member.read(MAX_MEMBER_BYTES)).text)
                if period is not None:
                    return period
    return None


def _span_of_days(text: str) -> Period | None:
    delimiter = max(",;\t", key=text[:1000].count)
    days = []
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        next(rows, None)
        for row in islice(rows, MAX_DAYS):
            if row:
                days.append(parse_period(row[0]))
        if next(rows, None) is not None:
            return None
    except (ValueError, csv.Error):
        return None
    return Period.spanning(day for day in days if day.starts == day.ends) if days else None
