"""Days that a text or an address names, in the languages of linker.engine.roles.words."""

from __future__ import annotations

import re
from datetime import date

from linker.engine.roles import words
from linker.engine.roles.words import plain

_MONTHS = {plain(name): number for number, names in enumerate(words.MONTHS, 1) for name in names.split()}
_Y, _D = r"((?:19|20)\d\d)", r"(\d{1,2})"
_ISO = re.compile(rf"\b{_Y}-(\d\d)-(\d\d)\b")
_DOTTED = re.compile(rf"\b{_D}\.\s?{_D}\.\s?{_Y}\b")
_MONTH = "(" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + ")"
_DAY_FIRST = re.compile(rf"\b{_D} (?:th |st |nd |rd |de |of )?{_MONTH} (?:de |del )?{_Y}\b")
_MONTH_FIRST = re.compile(rf"\b{_MONTH} {_D}(?: {_D})? {_Y}\b")
_MONTH_ALONE = re.compile(rf"\b{_MONTH} {_Y}\b")
_IN_ADDRESS = re.compile(rf"/{_Y}[/-](\d\d)[/-](\d\d)(?:[/-]|$)")


def days_in(text: str) -> list[date]:
    """The days that a text names, in the order of the forms they are written in."""
    said = plain(text)
    found = [(y, m, d) for y, m, d in _ISO.findall(text)]
    found += [(y, m, d) for d, m, y in _DOTTED.findall(text)]
    found += [(y, str(_MONTHS[m]), d) for d, m, y in _DAY_FIRST.findall(said)]
    found += [(y, str(_MONTHS[m]), last or d) for m, d, last, y in _MONTH_FIRST.findall(said)]
    return [day for numbers in found if (day := _day(*map(int, numbers)))]


def end_of_month_in(text: str) -> date | None:
    """The end of a month that is named with its year."""
    for month, year in _MONTH_ALONE.findall(plain(text)):
        return _day(int(year) + (_MONTHS[month] == 12), _MONTHS[month] % 12 + 1, 1)
    return None


def days_in_address(url: str) -> list[date]:
    """The days that an address names as folders or before a name: /2024/05/03/ or /2024-05-03-."""
    return [day for numbers in _IN_ADDRESS.findall(url) if (day := _day(*map(int, numbers)))]


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
