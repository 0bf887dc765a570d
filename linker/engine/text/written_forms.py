"""The ways in which people write the name of a page: with figures or number words, "&" or "and", without its quotes."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from linker.engine.text.clean import collapse
from linker.engine.text.fold import fold
from linker.engine.text.generic import bare
from linker.engine.text.names import content_words
from linker.engine.text.words import AND, LEADING_WORDS, NUMBER_WORDS, TRAILING_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_FORMS = 6
_YEARS = re.compile(r",\s+(?:[^\W\d]+\s+)?(?:1\d{3}|20\d\d)(?:\s?[-–—]\s?\d{2,4})?\s*$")
_QUOTES = re.compile(r"[\"“”„«»‹›]")
_HYPHEN = re.compile(r"(?<=\w)[-‐‑](?=\w)")
_ABBREVIATION = re.compile(r"[(\[]\s*([A-Z][A-Za-z&]*[A-Z][A-Za-z]{0,2}s?)\s*[)\]]")
_WORD = re.compile(r"\w+")
_COUNTED = re.compile(r"(?<![\w.,-])(\d{1,2}|[^\W\d]+)(?=[ -][^\W\d])")  # before a word: no version, no year


def written_forms(name: str, language: str, stops: frozenset[str]) -> list[str]:
    """Other ways to write `name`, at most MOST_FORMS, none of them equal to it when folded.

    Without its quotes, a year behind a comma, and the words before and after that announce it ("Introducing ...", "...
    is out", an article); with the other of "&" and "and", of figures and number words, and a space for a hyphen; and an
    abbreviation that it puts in brackets, if that has its initials. A form keeps two words that carry a topic, but for
    the abbreviation.
    """
    found = {fold(name): name}
    for form in _forms(name, language):
        text = collapse(form).strip(" ,;:-–")
        if len(content_words([text], stops)) > 1:
            found.setdefault(fold(text), text)
    for short in _ABBREVIATION.findall(name):
        if _has_initials(short, name):
            found.setdefault(fold(short), short)
    return list(found.values())[1 : MOST_FORMS + 1]


def _forms(name: str, language: str) -> Iterator[str]:
    plain = _QUOTES.sub("", name)
    undated = _YEARS.sub("", plain)
    core = _announced(undated, language)
    yield undated
    yield core
    yield plain
    for form in dict.fromkeys((core, undated)):
        yield from _spellings(form, language)


def _announced(name: str, language: str) -> str:
    """The name without the words that announce it, before and after."""
    words = name.split()
    while len(words) > 2 and bare(words[0]) in _leading(language):
        words.pop(0)
    while len(words) > 2 and bare(words[-1]) in _trailing(language):
        words.pop()
    return " ".join(words)


def _spellings(name: str, language: str) -> Iterator[str]:
    unhyphened = _HYPHEN.sub(" ", name)
    if unhyphened != name:
        yield unhyphened
    words = name.split()
    ands = AND.get(language, "and").split()
    if "&" in words:
        for word in ands:
            yield " ".join(word if one == "&" else one for one in words)
    elif any(word in ands for word in words):
        yield " ".join("&" if word in ands else word for word in words)
    numbers = _numbers(language)
    swapped = _COUNTED.sub(lambda match: numbers.get(match[1].lower(), match[1]), name)
    if swapped != name:
        yield swapped
        yield _HYPHEN.sub(" ", swapped)


@cache
def _leading(language: str) -> frozenset[str]:
    return frozenset(map(fold, LEADING_WORDS.get(language, LEADING_WORDS["en"]).split()))


@cache
def _trailing(language: str) -> frozenset[str]:
    return frozenset(map(fold, TRAILING_WORDS.get(language, TRAILING_WORDS["en"]).split()))


@cache
def _numbers(language: str) -> dict[str, str]:
    words = NUMBER_WORDS.get(language, NUMBER_WORDS["en"]).split()
    pairs = [(str(number), word) for number, word in enumerate(words, 2)]
    return dict(pairs) | {word: number for number, word in pairs}


def _has_initials(short: str, name: str) -> bool:
    """Whether the capitals of an abbreviation begin words of the name, in order."""
    wanted = [char.lower() for char in short if char.isupper()]
    initials = iter(word[0].lower() for word in _WORD.findall(name.replace(short, " ")))
    return all(char in initials for char in wanted)
