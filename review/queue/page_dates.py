"""Of when a page is, as far as that is known: by its address, its last change, and the years in its name."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

if TYPE_CHECKING:
    from linker.models import CandidateEdge, Page

APART = 2  # years, from which on a card says so
_IN_ADDRESS = re.compile(r"/((?:19[89]|20[0-4])\d)[/-](0?[1-9]|1[0-2])[/-]")  # /2021/07/title, /2021-07-31-title
_YEARS = re.compile(r"(?<!\d)((?:19[89]|20[0-4])\d)(?:\s?[-–]\s?((?:19[89]|20[0-4])\d))?(?!\d)")  # 2024, 2020–2025
_MONTH, _DAY = gettext_lazy("M Y"), gettext_lazy("j M Y")


def dates_in_words(page: Page) -> list[str]:
    """What a card says of them, the oldest first."""
    said = []
    if published := _published(page):
        said.append(_("of %(month)s") % {"month": date_format(published, str(_MONTH))})
    if page.last_modified:
        said.append(_("changed %(day)s") % {"day": date_format(localtime(page.last_modified), str(_DAY))})
    return said


def years_apart(edge: CandidateEdge) -> tuple[int, int] | None:
    """The year that the acceptor's name says and the nearest that the donor's name or address says, where these are
    far apart; else None. Of the suggestions of a site of 3,000 posts, 16 of 20 such drawn by chance were of another
    year indeed. A year in the acceptor's address alone says less: what is old may well be worth a link."""
    named, own = _named(edge.target), _named(edge.source)
    if published := _published(edge.source):
        own.add(published.year)
    pairs = [(year, other) for year in named for other in own]
    if not pairs:
        return None
    nearest = min(pairs, key=lambda pair: (abs(pair[0] - pair[1]), pair))
    return nearest if abs(nearest[0] - nearest[1]) >= APART else None


def _published(page: Page) -> date | None:
    """The first of the month that the page's address names."""
    found = _IN_ADDRESS.search(page.url)
    return date(int(found[1]), int(found[2]), 1) if found else None


def _named(page: Page) -> set[int]:
    years: set[int] = set()
    for first, last in _YEARS.findall(f"{page.title} {page.h1}"):
        years.update(range(int(first), int(last or first) + 1))
    return years
