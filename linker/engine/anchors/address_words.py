"""The words of an address that say something."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from linker.engine.text.clean import clean
from linker.engine.text.generic import is_address, is_generic

_EXTENSION = re.compile(r"\.(?:html?|php\d?|aspx?|jsp|cfm)$", re.IGNORECASE)
_CODE = re.compile(r"(?=.*\d)(?=.*[a-z])[a-z0-9]{8,}", re.IGNORECASE)


def split_address(url: str) -> tuple[str, str]:
    """Host and path; a text that is not an address counts as path."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", url
    return parts.netloc, parts.path


def address_words(url: str, language: str) -> str:
    """The words of the last segments of the path of `url` that are not generic in the language; "" if all are."""
    _, path = split_address(url)
    segments = [segment_words(segment) for segment in path.split("/")]
    segments = [segment for segment in segments if len(segment) > 1 and not is_address(segment)]
    for start in range(len(segments) - 1, -1, -1):
        words = " ".join(segments[start:])
        if not is_generic(words, language):
            return words
    return ""


def segment_words(segment: str) -> str:
    """The words of one segment of a path, without a file's ending and without codes such as "a1b2c3d4"."""
    text = _EXTENSION.sub("", clean(unquote(segment)))
    return " ".join(word for word in re.split(r"[\s_+-]+", text) if word and not _CODE.fullmatch(word))
