"""The days that a file's numbers were counted on: as users write them, and as exports tell them."""

from __future__ import annotations

import csv
import io
import re
from calendar import monthrange
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import islice
from typing import TYPE_CHECKING

from ingest.errors import FileError
from ingest.files.peek import DAMAGED, Start
from ingest.files.table import Table
from ingest.files.unpack import open_archive, open_member

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_OF_A_MEMBER = 2**18  # bytes of a table beside the one that is imported; sixteen months of days take 20 KB
MOST_MEMBERS = 30  # Search Console packs seven
MOST_DAYS = 2_000  # of a period, and rows of a table of days: more than any export covers
MOST_OF_A_CELL = 60  # characters; no period is longer
_NUMERIC = re.compile(r"(?<!\d)(\d{4})(?:([-/.]?)(\d{2})(?:\2(\d{2}))?)?(?!\d)")
_DAY_FIRST = re.compile(r"(?<![\d.])(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\d)")
_TIME = re.compile(r"[T ]\d{2}:\d{2}.*$")
_BETWEEN = re.compile(r"\s*(?:-|–|—|/|\.\.\.?|until|bis|au|à|até|tot|to|do|al|a)\s*", re.IGNORECASE)
_WRITTEN = ("%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y")
_WRITTEN_MONTHS = ("%b %Y", "%B %Y")
_COMMENT = re.compile(r"#[^:]*:\s*(\d{8}|\d{4}-\d{2}-\d{2})(?:\s*-\s*(\d{8}|\d{4}-\d{2}-\d{2}))?\s*$")


class TooLong(ValueError):
    """A period of more than MOST_DAYS; its text is a sentence for the user."""


@dataclass(frozen=True)
class Period:
    """Days from `starts` to `ends`, both included."""

    starts: date
    ends: date

    def __str__(self) -> str:
        return f"{self.starts} to {self.ends}"

    @property
    def fault(self) -> str:
        """Why no file is of this period, in words for the user; empty where one may be.

        Of two periods the one that ends last is read: one wrong year would hide all that is imported later.
        """
        days = (self.ends - self.starts).days + 1
        if days <= MOST_DAYS:
            return ""
        return (
            f"The period {self} has {days:,} days, and {MOST_DAYS:,} are the most. Look for a wrong year and write the "
            "first and the last day, or export fewer years."
        )

    @classmethod
    def spanning(cls, periods: Iterable[Period]) -> Period | None:
        """From the first day of all of them to the last; None of none."""
        found = list(periods)
        return cls(min(one.starts for one in found), max(one.ends for one in found)) if found else None


def parse_period(text: str) -> Period:
    """A day, a month, a year or two of them: `2026-01-05`, `20260105`, `2026-01`, `2026-01-01 to 2026-03-31`,
    `5.1.2026`, `Jan 5, 2026`.

    Raises ValueError where the text is something else, or ends before it begins, and TooLong.
    """
    text = text.strip()
    if len(text) > MOST_OF_A_CELL:
        raise ValueError("too long for a period")
    text = _TIME.sub("", text)
    for form in _WRITTEN:
        with suppress(ValueError):
            day = datetime.strptime(text, form).date()
            return Period(day, day)
    for form in _WRITTEN_MONTHS:
        with suppress(ValueError):
            day = datetime.strptime(text, form).date()
            return _of(day.year, day.month)
    text = _DAY_FIRST.sub(lambda match: f"{match[3]}-{int(match[2]):02}-{int(match[1]):02}", text)
    first = _NUMERIC.match(text)
    if first is None:
        raise ValueError("not a day, a month or a year")
    period, rest = _of_match(first), text[first.end() :]
    if not rest:
        return period
    between = _BETWEEN.match(rest)
    last = _NUMERIC.fullmatch(rest, between.end()) if between else None
    if last is None:
        raise ValueError("not two days, months or years")
    period = Period(period.starts, _of_match(last).ends)
    if period.ends < period.starts:
        raise ValueError("ends before it begins")
    if period.fault:
        raise TooLong(period.fault)
    return period


def _of_match(match: re.Match[str]) -> Period:
    return _of(int(match[1]), int(match[3] or 0), int(match[4] or 0))


def _of(year: int, month: int, day: int = 0) -> Period:
    """The day, month or year. Raises ValueError where there is no such."""
    if not month:
        return Period(date(year, 1, 1), date(year, 12, 31))
    first = date(year, month, day or 1)
    return Period(first, first if day else date(year, month, monthrange(year, month)[1]))


def told_by_file(table: Table) -> Period | None:
    """The period that a file tells beside its rows; None where it tells none.

    Search Console packs the days with their clicks (Chart.csv) beside its pages; Google Analytics writes the first and
    the last day into the comments above the header.
    """
    return _told_by_chart(table) or _told_by_comments(table)


def _told_by_comments(table: Table) -> Period | None:
    whole = Table(table.path, table.name, replace(table.format, header_records=0), table.preferred)
    days = []
    with suppress(FileError):
        for _, cells in islice(whole, table.format.header_records - 1):
            found = _COMMENT.match(",".join(cells).rstrip(",; \t"))
            for text in found.groups() if found else ():
                with suppress(ValueError):
                    days.append(parse_period(text or ""))
    return Period.spanning(days)


def _told_by_chart(table: Table) -> Period | None:
    """The span of the first table beside the one imported whose first cells are days, all of them."""
    if table.format.compression != "zip":
        return None
    with suppress(*DAMAGED), open_archive(table.path) as archive:
        for info in archive.infolist()[:MOST_MEMBERS]:
            if info.filename == table.format.member or not info.filename.lower().endswith(".csv"):
                continue
            with suppress(*DAMAGED), open_member(archive, info, table.name) as member:
                period = _span_of_days(Start(info.filename, member.read(MOST_OF_A_MEMBER)).text)
                if period is not None:
                    return period
    return None


def _span_of_days(text: str) -> Period | None:
    delimiter = max(",;\t", key=text[:1000].count)
    days = []
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        next(rows, None)
        for row in islice(rows, MOST_DAYS):
            if row:
                days.append(parse_period(row[0]))
        if next(rows, None) is not None:
            return None
    except (ValueError, csv.Error):
        return None
    return Period.spanning(day for day in days if day.starts == day.ends) if days else None
