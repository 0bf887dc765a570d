"""Finds the words of the lists in titles and addresses: whole words, however they are written."""

from __future__ import annotations

import re
from bisect import bisect_right
from enum import StrEnum
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import re2

from linker.engine.sensitivity.words import TOKEN
from linker.engine.text.fold import fold_chars

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from linker.engine.sensitivity.words import Entry

_HUMP = re.compile(r"(?<=[a-zß-öø-ÿ0-9])(?=[A-ZÀ-ÖØ-Þ])")
MEMO = 500_000  # distinct words remembered
BOUNDARY = r"\b"
Words = tuple[str, str, str, "str | None"]  # a page's title, H1, address and language
_OPTIONS = re2.Options()
_OPTIONS.log_errors, _OPTIONS.never_capture, _OPTIONS.max_mem = False, True, 128 << 20


class Place(StrEnum):
    """Where on a page a word is; of several places the one listed first."""

    TITLE = "title"
    H1 = "h1"
    ADDRESS = "address"


class Found(NamedTuple):
    """An entry that a page has, and where."""

    entry: Entry
    place: Place


class Matcher:
    """Entries, ready to be looked for in many texts. An entry that comes earlier has its words before later ones, whole
    words have theirs before stems, and longer phrases before shorter ones."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        listed = list(entries)
        self._starts = _Starts()
        for entry in listed:
            self._starts.add(entry)
        self._starts.note_lengths()
        self._any = _any_of(form for entry in listed for form in entry.forms)

    def in_pages(self, pages: Sequence[Words]) -> Iterator[tuple[int, Found]]:
        """What in_page finds on each of many pages, with the page's place among them.

        One expression goes over all their texts at once, so that only pages with something on them are read word by
        word: a fifteenth of the time.
        """
        lines = [_line(f"{title} | {h1} | {path_words(url)}") for title, h1, url, _ in pages]
        ends = list(accumulate(len(line) for line in lines))
        for number in sorted({bisect_right(ends, match.start()) for match in self._any.finditer(b"".join(lines))}):
            for found in self.in_page(*pages[number]):
                yield number, found

    def in_page(self, title: str, h1: str, url: str, language: str | None = None) -> list[Found]:
        """Each word that the page's title, H1 or path holds, once, in the order of the places."""
        found: dict[tuple[str, str], Found] = {}
        for place, text in ((Place.TITLE, title), (Place.H1, h1), (Place.ADDRESS, path_words(url))):
            for entry in self.in_text(text, language):
                found.setdefault((entry.kind, entry.key), Found(entry, place))
        return list(found.values())

    def in_text(self, text: str, language: str | None = None) -> Iterator[Entry]:
        """The entries whose words are in the text, in the order of the words; a word may come again."""
        words = TOKEN.findall(fold_chars(text))
        taken: dict[str, int] = {}
        for place, word in enumerate(words):
            for rest, entry in self._starts[word]:
                end = place + 1 + len(rest)
                if place < taken.get(entry.kind, 0) or entry.language not in (None, language):
                    continue
                if not rest or _follows(words, place + 1, rest):
                    taken[entry.kind] = end
                    if not entry.is_other:
                        yield entry


def _line(text: str) -> bytes:
    """A text as the expression reads it: folded, on one line."""
    folded = text.lower() if text.isascii() else fold_chars(text)
    return folded.replace("\n", " ").replace("_", " ").encode() + b"\n"


def _any_of(forms: Iterable[tuple[str, ...]]) -> Any:
    """An expression that finds every form within a line, and perhaps more."""
    return re2.compile("|".join(sorted(set(map(_pattern, forms)))) or r"\z.", _OPTIONS)


def _pattern(form: tuple[str, ...]) -> str:
    words = r"[^\w\n]+".join(re2.escape(word.strip("*")) for word in form)
    if not words.isascii():  # RE2's words are ASCII's
        return words
    return f"{'' if form[0].startswith('*') else BOUNDARY}{words}{'' if form[-1].endswith('*') else BOUNDARY}"


def _follows(words: Sequence[str], start: int, rest: tuple[str, ...]) -> bool:
    end = start + len(rest)
    if end > len(words):
        return False
    return all(
        word.startswith(want[:-1]) if want.endswith("*") else word == want
        for word, want in zip(words[start:end], rest, strict=True)
    )


def path_words(url: str) -> str:
    """The path of an address as words: percent-decoded, camelCase apart; the host and what follows ? or # left out."""
    path = url.partition("?")[0].partition("#")[0]
    path = path.partition("://")[2].partition("/")[2] if "://" in path else path.removeprefix("/")
    if "%" in path:
        path = "/".join(map(_decoded, path.split("/")))
    return path if path.islower() else _HUMP.sub(" ", path)


def _decoded(part: str) -> str:
    """Percent-decoded as UTF-8; as cp1252, what older servers write, where it is none."""
    try:
        return unquote(part, errors="strict")
    except UnicodeDecodeError:
        return unquote(part, encoding="cp1252", errors="replace")


class _Starts(dict[str, "list[tuple[tuple[str, ...], Entry]]"]):
    """By a text's word: the entries that begin with it, each with the words that must follow, longest first."""

    def __init__(self) -> None:
        super().__init__()
        self._whole: dict[str, list[tuple[tuple[str, ...], Entry]]] = {}
        self._stems: dict[tuple[str, bool], list[tuple[tuple[str, ...], Entry]]] = {}
        self._lengths: list[int] = []

    def add(self, entry: Entry) -> None:
        for first, *rest in entry.forms:
            stem = first.strip("*")
            one = (tuple(rest), entry)
            if first.startswith("*"):
                self._stems.setdefault((stem, False), []).append(one)
            if first.endswith("*"):
                self._stems.setdefault((stem, True), []).append(one)
            if stem == first:
                self._whole.setdefault(stem, []).append(one)

    def note_lengths(self) -> None:
        """Once all entries are added."""
        self._lengths = sorted({len(stem) for stem, _ in self._stems})

    def __missing__(self, word: str) -> list[tuple[tuple[str, ...], Entry]]:
        found = list(self._whole.get(word, ()))
        for length in self._lengths:
            if length > len(word):
                break
            found += self._stems.get((word[:length], True), ())
            found += self._stems.get((word[-length:], False), ())
        found.sort(key=lambda one: -len(one[0]))
        if len(self) >= MEMO:
            self.clear()
        self[word] = found
        return found
