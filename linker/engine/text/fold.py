"""Folding: texts that differ only in case, diacritics, width or typographic quotes and dashes fold to the same string.

Folding works character by character, so that positions in the folded text lead back to the text as written.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import accumulate

_LINE_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
# Letters that Unicode does not decompose, and typography that writers vary.
_SPECIAL = {
    "ı": "i", "ø": "o", "ł": "l", "đ": "d", "ħ": "h", "æ": "ae", "œ": "oe",
    "‘": "'", "’": "'", "ʼ": "'", "‚": "'", "`": "'", "´": "'",
    "“": '"', "”": '"', "„": '"', "«": '"', "»": '"',
    "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-",
}  # fmt: skip
# Written without spaces between words, so every position may be a word boundary: Han, Hiragana, Thai, Lao, Khmer,
# Myanmar.
_UNSPACED = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3041, 0x309F), (0x3400, 0x4DBF), (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF), (0x20000, 0x3FFFF),
)  # fmt: skip


def _is_diacritic(char: str) -> bool:
    """Accents, and Hebrew and Arabic vowel points; not the marks that make another letter (nukta, dakuten, virama)."""
    combining = unicodedata.combining(char)
    return combining >= 200 or 10 <= combining <= 36


def _fold_char(char: str) -> str:
    if char.isspace():
        return "\n" if char in _LINE_BREAKS else " "
    if char in _SPECIAL:
        return _SPECIAL[char]
    folded = []
    for part in unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", char).casefold()):
        if _is_diacritic(part) or unicodedata.category(part) in {"Cc", "Cf", "Cs"}:
            continue
        folded.append(" " if part.isspace() else _SPECIAL.get(part, part))
    return "".join(folded)


class _Table(dict[int, str]):
    """Code point -> folded text; filled as characters are met, and only for the basic plane."""

    def __missing__(self, code: int) -> str:
        folded = _fold_char(chr(code))
        if code < 0x10000:
            self[code] = folded
        return folded


_TABLE = _Table()


def fold_chars(text: str) -> str:
    """`text` folded character by character: line breaks are line feeds, other whitespace spaces; not collapsed."""
    if text.isascii() and text.isprintable() and "`" not in text:  # no line break, nothing special
        return text.lower()
    return text.translate(_TABLE)


def fold(text: str) -> str:
    """The key two texts share when a reader would call them the same: folded, whitespace collapsed."""
    return " ".join(fold_chars(text).split())


def fold_lengths(text: str) -> Iterator[int]:
    """How many characters each character of `text` folds to, in order; they sum to `len(fold_chars(text))`."""
    return (len(_TABLE[ord(char)]) for char in text)


def fold_offsets(text: str) -> list[int]:
    """Where each character of `text` starts in `fold_chars(text)`, and as a last item where the last one ends."""
    return list(accumulate(fold_lengths(text), initial=0))


def is_word_char(char: str) -> bool:
    """Whether `char` belongs to a word in a script that separates words (marks belong to their letter)."""
    code = ord(char)
    if code >= 0x0E00 and any(low <= code <= high for low, high in _UNSPACED):
        return False
    return char.isalnum() or char == "_" or unicodedata.category(char).startswith("M")


def is_boundary(text: str, position: int) -> bool:
    """Whether a word may start or end at `position` of `text`: not between two characters of a word."""
    if position <= 0 or position >= len(text):
        return True
    if unicodedata.category(text[position]).startswith("M"):
        return False
    return not (is_word_char(text[position - 1]) and is_word_char(text[position]))
