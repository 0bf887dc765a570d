"""What the pages of a site are called and how their texts begin, known by hashes: the words of a teaser are told from
an editor's by what its page says, whatever the mark-up and the language.

Of each page some 40 to 60 bytes are kept, so that those of 1,000,000 pages fit in memory.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from hashlib import blake2b
from typing import TYPE_CHECKING
from urllib.parse import unquote
from zlib import crc32

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

BYTES_AN_OPENING = 2
OPENING = 24  # letters and digits from which a text is known
_READ = 4 * OPENING  # characters that they are looked for in
_MORE = 2  # lines after the first at which an opening may begin
_PROSE = 80  # characters of a line that is running text
SEPARATORS = re.compile(r"(?<!\s)\s+[|–—·•»«:-]+\s+")
_WORD = re.compile(r"[^\W_]+")
_NO_WORD = re.compile(r"[\W_]+")


def folded(text: str) -> str:
    """Letters and digits alone."""
    return _NO_WORD.sub("", text).casefold()


def page_key(url: str) -> str:
    """The same for addresses that differ by scheme, fragment, last slash or escapes alone."""
    key = url.partition("#")[0].partition("://")[2].rstrip("/")
    return unquote(key) if "%" in key else key


def page_number(url: str) -> int:
    """Of 32 bits, the same for addresses of one `page_key`: where millions of pages are remembered."""
    return crc32(page_key(url).encode("utf-8", "replace"))


class SiteNames:
    """The names and openings of a site's pages, each with the page it belongs to."""

    def __init__(self, hashes: array[int], begun: bytearray) -> None:
        self.hashes = hashes
        self.begun = begun  # a bit for each opening, by which most words are passed over at once

    @classmethod
    def of(cls, pages: Iterable[tuple[str, str, str, str, str]]) -> SiteNames:
        """Of pages as (address, title, H1, description, beginning of the text)."""
        found, begun = array("Q"), array("L")
        for url, title, h1, description, text in pages:
            key = page_key(url)
            openings = _openings(description, text)
            found.extend({*_names(key, title, h1), *(_hash(key, "o", words) for words in openings)})
            begun.extend(crc32(words.encode("utf-8", "replace")) for words in openings)
        if found:
            np.frombuffer(found, dtype=np.uint64).sort()
        bits = bytearray(max(1, BYTES_AN_OPENING * len(begun)))
        for number in begun:
            bits[(number >> 3) % len(bits)] |= 1 << (number & 7)
        return cls(found, bits)

    def is_name(self, key: str, words: str) -> bool:
        """Whether folded words are a page's name."""
        return bool(words) and self._has(_hash(key, "n", words))

    def beginnings(self, text: str, most: int = 1) -> list[str]:
        """What a text may begin with that is an opening of some page; before one of `most` words, for the site's own
        words and a date may come first."""
        words = _WORD.findall(text.casefold())
        letters, at, found = "".join(words), 0, []
        for word in words[:most]:
            beginning = letters[at : at + OPENING]
            if len(beginning) < OPENING:
                break
            number = crc32(beginning.encode("utf-8", "replace"))
            if self.begun[(number >> 3) % len(self.begun)] >> (number & 7) & 1:
                found.append(beginning)
            at += len(word)
        return found

    def opens(self, key: str, beginnings: Iterable[str]) -> bool:
        """Whether one of these is how a page's own text begins, or its description."""
        return any(self._has(_hash(key, "o", beginning)) for beginning in beginnings)

    def _has(self, number: int) -> bool:
        at = bisect_left(self.hashes, number)
        return at < len(self.hashes) and self.hashes[at] == number


def _names(key: str, title: str, h1: str) -> Iterable[int]:
    parts = SEPARATORS.split(title)
    for name in {folded(text) for text in (h1, title, parts[0], SEPARATORS.sub(" ", title[: -len(parts[-1])]))}:
        if name:
            yield _hash(key, "n", name)


def _openings(description: str, text: str) -> set[str]:
    """The description, and the text from each of its first lines on, and from the first that is running text."""
    found, place = {_beginning(description, 0)}, 0
    for number, line in enumerate(text.split("\n")):
        if number <= _MORE or len(line) >= _PROSE:
            found.add(_beginning(text, place))
        if len(line) >= _PROSE:
            break
        place += len(line) + 1
    return found - {""}


def _beginning(text: str, at: int) -> str:
    """The first letters of a text, empty where there are too few."""
    words = folded(text[at : at + _READ])
    return words[:OPENING] if len(words) >= OPENING else ""


def _hash(key: str, kind: str, words: str) -> int:
    said = f"{key}\n{kind}{words}".encode("utf-8", "replace")
    return int.from_bytes(blake2b(said, digest_size=8).digest(), "little")
