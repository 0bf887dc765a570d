"""Texts that are too long for an anchor, made to fit."""

from __future__ import annotations

import unicodedata

from linker.engine.text.clean import has_word
from linker.engine.text.fold import fold
from linker.engine.text.names import name_parts
from linker.engine.text.template import Template


def own_part(text: str, max_length: int, template: Template) -> str:
    """Of a text longer than `max_length`, the first part that fits and does not begin or end many of the site's titles.

    Of "A guide to relations, by country: Hungary" that is the country, not the beginning that all of them share. Where
    no part fits, the text itself.
    """
    if len(text) <= max_length:
        return text
    parts = [part.strip() for part in name_parts(text)]
    fitting = (p for p in parts if has_word(p) and len(p) <= max_length and fold(p) not in template.series)
    return next(fitting, text)


def shorten(text: str, max_length: int, stops: frozenset[str] = frozenset()) -> str:
    """`text` of at most `max_length` characters, cut between words.

    A function word of `stops`, a separator or an open bracket is not left at the end of a text that was cut; a first
    word that is too long by itself is cut inside, but not between a letter and its accents.
    """
    if len(text) <= max_length:
        return text
    space = text.rfind(" ", 0, max_length + 1)
    if space <= 0:
        return _cut_word(text, max_length)
    kept = text[:space]
    words = kept.split()
    while len(words) > 1 and (not has_word(words[-1]) or fold(words[-1]) in stops):
        words.pop()
    trimmed = " ".join(words)
    if trimmed.count("(") > trimmed.count(")"):
        trimmed = trimmed[: trimmed.rindex("(")].rstrip()
    trimmed = trimmed.rstrip(",;:")
    return trimmed if has_word(trimmed) else kept


def _cut_word(word: str, max_length: int) -> str:
    end = max_length
    while end > 1 and (unicodedata.category(word[end])[0] == "M" or "\u200d" in (word[end], word[end - 1])):
        end -= 1
    return word[:end] if end > 1 else word[:max_length]
