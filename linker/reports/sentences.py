"""Sentences that runs and releases stored in English, in the reader's language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.formats import number_format
from django.utils.translation import gettext

if TYPE_CHECKING:
    from collections.abc import Iterable

    from linker.engine.sayings import Blank, Saying


def in_words(stored: str, sayings: Iterable[Saying]) -> str:
    """A stored sentence in the reader's language; as it is stored where it is none of these sayings."""
    told = _told(stored, sayings)
    if told is None and stored[:1].isupper():  # the sayings of a reason begin small, in the middle of a sentence
        told = _told(stored[0].lower() + stored[1:], sayings)
        told = told[:1].upper() + told[1:] if told else told
    return stored if told is None else told


def _told(stored: str, sayings: Iterable[Saying]) -> str | None:
    for saying in sayings:
        values = saying.values(stored)
        if values is not None:
            return gettext(saying.text) % {name: _filled(saying.blank(name), value) for name, value in values.items()}
    return None


def _filled(blank: Blank, value: str) -> str:
    if blank.number:
        return _number(value)
    if blank.words:
        return gettext(value)
    if blank.listed:
        return ", ".join(_told(part, blank.listed) or part for part in value.split(", "))
    return _told(value, blank.parts) or value


def _number(value: str) -> str:
    """The digits are kept as they are: "1,240.5" and "35%" are "1.240,5" and "35 %" in German."""
    digits = number_format(value.rstrip("%").replace(",", ""), force_grouping="," in value)
    return gettext("%(number)s%%") % {"number": digits} if value.endswith("%") else digits
