"""How numbers are put into words, and words into sentences, in the reader's language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.formats import date_format, number_format
from django.utils.translation import get_language, gettext, ngettext, override

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date


class AtLeast(int):
    """A number that counting stopped at: there may be more."""


def number(value: int) -> str:
    """Such as "1,200", and "1,200+" where counting stopped."""
    return number_format(value, force_grouping=True) + ("+" if isinstance(value, AtLeast) else "")


def decimal(value: float, places: int) -> str:
    """Such as "0.125" and "1,200.5"."""
    return number_format(f"{value:.{places}f}", force_grouping=True)


def percent(share: float, places: int = 0) -> str:
    """Such as "12%" for 0.12."""
    return gettext("%(number)s%%") % {"number": decimal(100 * share, places)}


def days(value: float) -> str:
    """Such as "2.5 days", of a time in days; below one, "less than a day"."""
    if value < 1:
        return gettext("less than a day")
    shown = decimal(value, 0 if value >= 10 or round(value, 1).is_integer() else 1)
    return ngettext("%(days)s day", "%(days)s days", 1 if shown == "1" else 2) % {"days": shown}


def day_in_words(day: date) -> str:
    """Such as "3 Nov 2026"."""
    return date_format(day, gettext("j M Y"))


def within(label: Any) -> str:
    """A label in the middle of a sentence: English begins it small, and German keeps its nouns large. What begins with
    several capitals, such as "URL", stays as it is, and so do names further on, such as "Search Console"."""
    text = str(label)
    if text[1:2].isupper() or not (get_language() or "en").startswith("en"):
        return text
    return text[:1].lower() + text[1:]


def in_english(label: Any) -> str:
    """A label as it is stored, whoever reads the page that stores it."""
    with override(settings.LANGUAGE_CODE):
        return str(label)


def joined(parts: Sequence[str]) -> str:
    """Such as "a", "a and b" and "a, b and c"."""
    if len(parts) < 2:
        return "".join(parts)
    return gettext("%(some)s and %(last)s") % {"some": ", ".join(parts[:-1]), "last": parts[-1]}


def listed(parts: list[str]) -> str:
    """What follows a colon; empty where there is nothing to list."""
    return f": {', '.join(parts)}" if parts else ""
