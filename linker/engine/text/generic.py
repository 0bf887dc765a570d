"""Anchors that say nothing about the page they lead to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from linker.engine.text.clean import clean, has_word
from linker.engine.text.fold import fold
from linker.engine.text.words import GENERIC_PHRASES, POINTING_WORDS, STOP_WORDS

_URL = re.compile(r"(?:[a-z][a-z0-9+.-]*://|www\.|mailto:|tel:)\S*|[^\s@]+@[^\s@]+\.[^\s@.]+")
_HOST_WITH_PATH = re.compile(r"(?:[a-z0-9-]+\.)+(?:com|org|net|info|edu|gov|io|co|eu|[a-z]{2})(?::\d+)?/\S*")
_EDGE = ".,;:!?…\"'()[]"


@lru_cache(maxsize=1024)  # asked for word by word
def primary_language(tag: str) -> str:
    """The language of a tag, without region or script: "en-GB" and "EN_us" are "en"; "" stays ""."""
    return re.split(r"[-_]", tag.strip().lower(), maxsplit=1)[0]


@cache
def stop_words(language: str) -> frozenset[str]:
    """Folded function words of a primary language; of all languages together if it is unknown or ""."""
    lists = [STOP_WORDS[language]] if language in STOP_WORDS else STOP_WORDS.values()
    return frozenset(fold(word) for text in lists for word in text.split())


@cache
def _phrases(language: str) -> frozenset[str]:
    """Folded generic link texts of a primary language and of English, which is met on every site."""
    languages = {language, "en"} if language in GENERIC_PHRASES else set(GENERIC_PHRASES)
    return frozenset(bare(phrase) for key in languages for phrase in GENERIC_PHRASES[key].split(";"))


@lru_cache(maxsize=4096)  # a target's few texts are asked about again and again
def bare(text: str) -> str:
    """Folded, without words that are mere punctuation, and without punctuation at the edges of words."""
    folded = fold(text)
    if folded.replace(" ", "").isalnum():  # no punctuation
        return folded
    return " ".join(word.strip(_EDGE) for word in folded.split() if has_word(word))


def is_address(text: str) -> bool:
    """Whether a text is the address of a page or a mailbox. "acme.com" may be a name, and is none."""
    words = bare(clean(text))
    return bool(_URL.fullmatch(words) or _HOST_WITH_PATH.fullmatch(words))


def is_generic(text: str, language: str = "", banned: Iterable[str] = ()) -> bool:
    """Whether `text` tells a reader nothing about the page behind it.

    That is: no letter in it (empty, punctuation, numbers), a single Latin letter, a bare URL or mail address, a single
    function word, a link text such as "read more" of the language (English ones count everywhere; an unknown language
    is judged by all lists), or one of `banned`. Case, diacritics and punctuation at the edges do not matter.
    """
    words = bare(clean(text))
    if not any(char.isalpha() for char in words) or (len(words) == 1 and words.isascii()):
        return True
    if is_address(text):
        return True
    language = primary_language(language)
    if words in stop_words(language) or words in _phrases(language):
        return True
    return any(words == bare(clean(phrase)) for phrase in banned)


def only_points(text: str, language: str = "") -> bool:
    """Whether words of a text point at a page and do not say which: "our last post", "the latest release", "guides".

    That is: every word is a function word of the language or one that points, English ones everywhere. As the name of
    a page such words may stand beside a text.
    """
    language = primary_language(language)
    return all(word in stop_words(language) or word in _pointing(language) for word in bare(clean(text)).split())


@cache
def _pointing(language: str) -> frozenset[str]:
    """Folded words that point, of a primary language and of English; of all of them if it is unknown."""
    languages = {language, "en"} if language in POINTING_WORDS else set(POINTING_WORDS)
    return frozenset(fold(word) for key in languages for word in POINTING_WORDS[key].split())
