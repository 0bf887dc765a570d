"""What is still English among words that a German reader is shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_ENGLISH = re.compile(r"\b(?:the|and|is|are|were|has|have|its|it|not|of|with|from|without|to|no|pages?|rows?|links)\b")
_GIVEN = re.compile(r"https?://\S+|„[^“]*“|\b\S+\.(?:csv|zip)\b|--\S+|\([^)]*\.html[^)]*\)")
_WORDS = re.compile(r"[A-Za-z]{2,}")


def english_in(texts: Iterable[str]) -> list[str]:
    """The texts that have a word which only English has, apart from what they quote."""
    return [text for text in texts if _ENGLISH.search(_GIVEN.sub("", text))]


def untranslated(english: Iterable[str], german: Iterable[str], same: str = "") -> list[str]:
    """The texts that are the same in both languages, but for what `same`, a regular expression, says is no word of
    ours."""
    alike = re.compile(same or r"(?!)")
    return sorted({text for text in {*english} & {*german} if _WORDS.search(alike.sub("", text))})
