"""The blocks of text of a page, the path of each element, and the zones that the page itself names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

from ingest.sources.reading.document import TEXT
from ingest.sources.reading.lists import words_around
from ingest.sources.reading.types import HEADER
from ingest.sources.reading.zones import NONE, UNSEEN, zone_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ingest.sources.reading.document import Document

_INLINE_NAMES = (
    "a abbr acronym b bdi bdo big button cite code data del dfn em font i img ins kbd label mark nobr picture q s samp"
    " small span strike strong sub sup time tt u var wbr"
)
T = TypeVar("T")
INLINE = frozenset(_INLINE_NAMES.split())
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_OF_TEXT = frozenset(("main", "article", "section"))  # their header is a part of the text
# Elements that mean something by their place among their like, where they have neither class nor id.
_POSITIONAL = frozenset(["div", "section", "table", "tbody", "tr", "td", "center"])
MAX_TEASER = 300  # characters
_START = 60  # the same
_MAX_POSITION = 12
_NUMBERS = re.compile(r"\d{3,}")
_DIGIT = re.compile(r"\d")
_ROOT = 0


@dataclass(slots=True)
class Block:
    """A piece of text between the beginnings and ends of blocks. `element` holds it, `nodes` are its text nodes.

    `key` is the same for equal texts; `linked` counts the characters within links. `link` is the link that it begins
    in, 0 for none. `is_teaser`: it is short and begins with a link or follows a block that is one, as the first words
    of other pages do, and not all of it is the link; or it shares a link with the block before. `around` are the words
    beside its links, where it has any; `start` are its first characters. `is_dated`: it has a number beside its links,
    or is short and has one.
    """

    element: int
    nodes: list[int]
    size: int = 0
    linked: int = 0
    words: int = 0
    key: int = 0
    is_teaser: bool = False
    link: int = 0
    around: str = ""
    start: str = ""
    is_dated: bool = False

    @property
    def first(self) -> int:
        return self.nodes[0]


@dataclass(slots=True)
class Outline:
    """What is known of a page by itself.

    `zones` has for each node the zone it lies in, `begins` the elements that begin one.
    `paths` are numbers that are the same for the same path on all pages of a site.
    """

    document: Document
    zones: list[str]
    begins: list[int]
    paths: list[int]
    blocks: list[Block] = field(default_factory=list)

    def keys(self) -> dict[int, int]:
        """For the elements that hold text, a number that is the same for the same blocks in any order."""
        before = list(accumulate(self._at((block.key for block in self.blocks), 0), initial=0))
        ends, parents, paths = self.document.ends, self.document.parents, self.paths
        found = {}
        for place, path in enumerate(paths):
            if path and path != paths[parents[place]]:
                key = before[ends[place]] - before[place]
                if key:
                    found[place] = key
        return found

    def sums(self, weights: list[float]) -> list[float]:
        """For weights of blocks, the sums before each node: those of an element are sums[end] - sums[place]."""
        return list(accumulate(self._at(weights, 0.0), initial=0.0))

    def _at(self, values: Iterable[T], nothing: T) -> list[T]:
        at = [nothing] * len(self.document)
        for block, value in zip(self.blocks, values, strict=True):
            at[block.first] = value
        return at


def outline(document: Document) -> Outline:
    """Walks a page once."""
    names, parents, ends = document.names, document.parents, document.ends
    attributes, texts = document.attributes, document.texts
    size = len(names)
    zones, paths, begins = [NONE] * size, [_ROOT] * size, []
    block_of, in_link, in_text = list(range(size)), [0] * size, [False] * size
    runs = [0] * size  # of an element's text, between the blocks in it
    pieces: dict[tuple[int, int], list[str]] = {}
    outside: dict[tuple[int, int], list[str]] = {}
    found: dict[tuple[int, int], Block] = {}
    positions: dict[tuple[int, str], int] = {}
    place = 1
    while place < size:
        name, parent = names[place], parents[place]
        if name == TEXT:
            text = " ".join(texts[place].split())
            if text:
                element = block_of[parent]
                run = element, runs[element]
                block = found.get(run)
                if block is None:
                    block = found[run] = Block(element, [], link=in_link[parent])
                    pieces[run], outside[run] = [], []
                pieces[run].append(text)
                block.nodes.append(place)
                block.size += len(text)
                if in_link[parent]:
                    block.linked += len(text)
                else:
                    outside[run].append(text)
            place += 1
            continue
        zone = zone_of(name, attributes[place])
        if zone == UNSEEN:
            zones[place : ends[place]] = [UNSEEN] * (ends[place] - place)
            place = ends[place]
            continue
        in_text[place] = in_text[parent] or name in _OF_TEXT
        if zone and not (zone == HEADER and in_text[parent]):
            begins.append(place)
            zones[place] = zone
        else:
            zones[place] = zones[parent]
        in_link[place] = place if name == "a" else in_link[parent]
        if name in INLINE:
            block_of[place], paths[place] = block_of[parent], paths[parent]
        else:
            runs[block_of[parent]] += 1
            step = _step(name, attributes[place].get("class") or "", attributes[place].get("id") or "")
            number = 0
            if name in _POSITIONAL and step[-1:] == b".":
                number = positions[parent, name] = positions.get((parent, name), 0) + 1
            paths[place] = crc32(step, paths[parent] + min(number, _MAX_POSITION)) or 1
        place += 1
    before: Block | None = None
    for run, block in found.items():
        follows_link = before is not None and before.linked == before.size
        if block.linked < block.size:
            block.is_teaser = block.size <= MAX_TEASER and (block.link > 0 or follows_link)
        else:
            block.is_teaser = before is not None and before.link == block.link
        before = block
        text = " ".join(pieces[run])
        block.words = text.count(" ") + 1
        block.start = text[:_START]
        if block.linked:
            block.around = words_around(outside[run], text)
        block.is_dated = (block.linked > 0 or block.size <= _START) and any(map(_DIGIT.search, outside[run]))
        block.key = crc32(text.encode("utf-8", "replace")) | min(len(text), 0xFFFF) << 32
    return Outline(document, zones, begins, paths, list(found.values()))


def step_of(name: str, classes: str) -> bytes:
    """An element by its name and classes, wherever it stands."""
    return _step(name, classes, "")


@lru_cache(maxsize=8192)
def _step(name: str, classes: str, identifier: str) -> bytes:
    """An element within a path; ends with a dot where only its place tells it from its like."""
    kept = sorted(_NUMBERS.sub("#", token) for token in classes[:500].split()[:2])
    return f"{name}.{'.'.join(kept) or _NUMBERS.sub('#', identifier[:200])}".encode("utf-8", "replace")
