"""Words of a text without the marks around them: quotation marks, the stop of their sentence, the dash of a list."""

from __future__ import annotations

from linker.engine.text.words import ABBREVIATIONS

_DOUBLE = '"“”„«»'
_SINGLE = "'‘’‚‹›"
_PAIRS = {
    *('""', "“”", "„“", "„”", "””", "«»", "»«"),
    *("''", "‘’", "‚‘", "‚’", "’’", "‹›", "›‹"),
}
_ENDS = ".,;:"
_BULLETS = "-–—•·*"
_ABBREVIATIONS = frozenset(ABBREVIATIONS.split())


def without_edges(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the words text[start:end] begin and end, in characters: without a pair of quotation marks around all of
    them and the stop before the closing one, without a single mark at an edge whose partner is elsewhere, and without
    the dash or dot before the words of a list."""
    low, high = start, end
    while text[low] in _BULLETS and text[low + 1 : low + 2].isspace() and low + 2 < high:
        low, high = _stripped(text, low + 1, high)
    if high - low > 2 and text[low] + text[high - 1] in _PAIRS and not _quotes(text[low + 1 : high - 1], text[low]):
        low, high = _stripped(text, low + 1, high - 1)
        if text[high - 1] in _ENDS and not _is_abbreviation(text[low:high]):
            low, high = _stripped(text, low, high - 1)
    elif text[low] in _SINGLE and not _closes_single(text[low + 1 : high]) and text[low + 1].isalpha():
        low += 1
    return (low, high) if high > low else (start, end)


def _quotes(inside: str, mark: str) -> bool:
    """Whether a quotation mark of the same width stands between others, but for apostrophes within words."""
    if mark in _DOUBLE:
        return any(one in _DOUBLE for one in inside)
    return _closes_single(inside) or any(f" {one}" in inside for one in _SINGLE)


def _closes_single(inside: str) -> bool:
    """Whether a single quotation mark stands behind a word, with none of its letters after it."""
    return any(
        char in _SINGLE and not inside[place + 1 : place + 2].isalnum() for place, char in enumerate(inside) if place
    )


def _is_abbreviation(words: str) -> bool:
    last = words.split()[-1].rstrip(".").casefold()
    return words.endswith("..") or len(last) < 2 or "." in last or last in _ABBREVIATIONS


def _stripped(text: str, low: int, high: int) -> tuple[int, int]:
    """Without the space at the edges."""
    words = text[low:high]
    return low + len(words) - len(words.lstrip()), high - (len(words) - len(words.rstrip()))
