"""Parts of lists: their later pages, and the months and years of an archive. Nobody means them by a link."""

from __future__ import annotations

import re

from linker.engine.roles import words
from linker.engine.roles.words import keys, plain

_LATER = re.compile(r"/(?:p|pg|page|seite|pagina|pagine)[-_]?(?:[2-9]|\d{2,4})(?:/|\.html?)?$", re.IGNORECASE)
_PAGE = re.compile(r"\b(?:page|seite|pagina) (?:[2-9]|\d{2,4})\b")
_SEPARATORS = re.compile(r"(?<!\s)\s+[|–—·•»«:-]+\s+")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_MONTHS = frozenset(name for names in words.MONTHS for name in plain(names).split())
_AROUND = keys(words.AROUND_DATES)


def is_part_of_list(url: str, *names: str) -> bool:
    """Whether a list, by its address, its title or its H1, is a later page of one ("Tents – Page 3"), or the month, the
    year or the day of an archive ("April 2018")."""
    if _LATER.search(url.partition("?")[0].partition("#")[0]):
        return True
    return any(_PAGE.search(plain(name)) or any(map(_is_date, _SEPARATORS.split(name))) for name in names)


def _is_date(name: str) -> bool:
    """Whether it is nothing but a year, or years, with a month, a day, or words such as "Archive"."""
    said = plain(name).split()
    return any(map(_YEAR.fullmatch, said)) and all(
        word in _MONTHS or word in _AROUND or (word.isdigit() and len(word) <= 2) or _YEAR.fullmatch(word)
        for word in said
    )
