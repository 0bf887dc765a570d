"""The days that numbers were counted on, as users and files write them."""

from __future__ import annotations

import re
from calendar import monthrange
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

from django.utils.translation import gettext

from linker.wording import number

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_DAYS = 2_000  # of a period: more than any export covers
MAX_CELL = 60  # characters; no period is longer
_NUMERIC = re.compile(r"(?<!\d)(\d{4})(?:([-/.]?)(\d{2})(?:\2(\d{2}))?)?(?!\d)")
_DAY_FIRST = re.compile(r"(?<![\d.])(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\d)")
_TIME = re.compile(r"[T ]\d{2}:\d{2}.*$")
_BETWEEN = re.compile(r"\s*(?:-|–|—|/|\.\.\.?|until|bis|au|à|até|tot|to|do|al|a)\s*", re.IGNORECASE)
_WRITTEN = ("%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y")
_WRITTEN_MONTHS = ("%b %Y", "%B %Y")


class TooLong(ValueError):
    """A period of more than MAX_DAYS; its text is a sentence for the user."""


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
        if days <= MAX_DAYS:
            return ""
        said = gettext(
            "The period %(period)s has %(days)s days, and %(most)s are the most. Look for a wrong year and write the "
            "first and the last day, or export fewer years."
        )
        return said % {"period": in_words(str(self)), "days": number(days), "most": number(MAX_DAYS)}

    @classmethod
    def spanning(cls, periods: Iterable[Period]) -> Period | None:
        """From the first day of all of them to the last; None of none."""
        found = list(periods)
        return cls(min(one.starts for one in found), max(one.ends for one in found)) if found else None


def in_words(stored: str) -> str:
    """A period as reports store it, in the reader's language."""
    starts, to, ends = stored.partition(" to ")
    return gettext("%(starts)s to %(ends)s") % {"starts": starts, "ends": ends} if to else gettext(stored)


def parse_period(text: str) -> Period:
    """A day, a month, a year or two of them: `2026-01-05`, `20260105`, `2026-01`, `2026-01-01 to 2026-03-31`,
    `5.1.2026`, `Jan 5, 2026`.

    Raises ValueError where the text is something else, or ends before it begins, and TooLong.
    """
    text = text.strip()
    if len(text) > MAX_CELL:
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
