"""Text as a person would read it: without characters that are invisible, steer the writing direction or break files.

Titles and texts of a crawl are hostile input: a NUL cannot be stored, a lone surrogate cannot be encoded, a
right-to-left override makes an anchor read as something else.
"""

from __future__ import annotations

import html
import re
import unicodedata
from functools import lru_cache

# The two joiners are format characters that change how a word or an emoji is written; every other one is dropped.
_KEPT_FORMAT = {"\u200c", "\u200d"}
_DROPPED_CATEGORIES = {"Cc", "Cf", "Co", "Cs"}
_WORD_CHARACTER = re.compile(r"[^\W_]")  # what str.isalnum says of a character
# What may stand in a title for its looks. A title can speak of markup as well: "The <b> element".
_LOOKS = re.compile(r"<(/?)(a|abbr|b|em|font|h[1-6]|i|mark|p|small|span|strong|sub|sup|u)\b[^<>]*>", re.IGNORECASE)
_NONCHARACTERS = {"\ufffe", "\uffff"}


class _Visible(dict[int, str]):
    """Code point -> what is left of it; filled as characters are met, and only for the basic plane."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if char.isspace():
            shown = " "
        elif char in _NONCHARACTERS or (unicodedata.category(char) in _DROPPED_CATEGORIES and char not in _KEPT_FORMAT):
            shown = ""
        else:
            shown = char
        if code < 0x10000:
            self[code] = shown
        return shown


_VISIBLE = _Visible()


def visible(text: str) -> str:
    """`text` without control, format, private and surrogate characters; each whitespace character becomes a space."""
    if text.isprintable():  # nothing of the kind in it, as in nearly all texts
        return text
    return text.translate(_VISIBLE)


def collapse(text: str) -> str:
    """`text` with runs of whitespace as one space, none at the ends."""
    return " ".join(text.split())


@lru_cache(maxsize=1024)  # a page's few texts are asked about again and again
def clean(text: str) -> str:
    """A crawled title or heading as it reads: HTML entities decoded, markup, invisible characters and extra space gone.

    Entities are decoded twice, since many sites escape what is escaped already (`&amp;#8211;`).
    """
    return collapse(visible(_without_looks(_unescaped(_unescaped(text)))))


def _without_looks(text: str) -> str:
    """`text` without the elements that are closed in it (`<b>now</b>`)."""
    if "</" not in text:
        return text
    closed = {found[2].lower() for found in _LOOKS.finditer(text) if found[1]}
    return _LOOKS.sub(lambda found: "" if found[2].lower() in closed else found[0], text)


def _unescaped(text: str) -> str:
    try:
        return html.unescape(text)
    except ValueError:  # the number of a character with thousands of digits
        return text


def has_word(text: str) -> bool:
    """Whether a letter or digit of any script is in `text`."""
    return _WORD_CHARACTER.search(text) is not None
