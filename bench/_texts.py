"""A made-up site with texts for the benches, as the engine reads one: seeded, of any size.

Page k of n belongs to one of n/50 categories, whose sizes fall as 1/r (Zipf). A category has 200 words of its own. A
title has two of them and two rare words, so that most titles differ. A text has some 180 words in four lines: half of
them of the whole language (60,000 words, frequencies as 1/r), half of the category's; seven of its category's titles
stand in it, five as links, and three more links lead anywhere. An anchor is the title or its last two words. Vectors
are of 384 dimensions, as in _site.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from _site import DIMENSIONS, PAGES_A_CATEGORY, SUBTOPIC, sizes

from linker.engine.arrays.vectors import unit_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

LANGUAGE, OF_CATEGORY, RARE = 60_000, 200, 400_000
WORDS, LINES = 140, 4
NEAR_LINKS, FAR_LINKS, UNLINKED = 5, 3, 2
CHUNK = 2000  # pages made at a time


@dataclass(frozen=True)
class TextSite:
    """`titles`, `bodies` [n]; `category` int64 [n], from 0; `unit` float32 [n, 384]; links with their anchors."""

    titles: list[str]
    bodies: list[str]
    category: NDArray[np.int64]
    unit: NDArray[np.float32]
    src: NDArray[np.int64]
    dst: NDArray[np.int64]
    anchors: list[str]


def make_texts(pages: int, seed: int = 7) -> TextSite:
    """The site of so many pages."""
    random = np.random.default_rng(seed)
    size = sizes(pages, max(1, pages // PAGES_A_CATEGORY))
    category = np.repeat(np.arange(len(size)), size)
    words = _words(LANGUAGE + RARE, random)
    frequency = np.cumsum(1 / np.arange(1, LANGUAGE + 1))
    own = LANGUAGE - 1 - (random.integers(0, LANGUAGE * 9 // 10, (len(size), OF_CATEGORY)))
    titles = _titles(category, own, words, random)
    starts = (np.cumsum(size) - size)[category]
    near = starts[:, None] + random.integers(0, size[category][:, None], (pages, NEAR_LINKS + UNLINKED))
    said = np.concatenate([near, random.integers(0, pages, (pages, FAR_LINKS))], axis=1)
    is_link = (said != np.arange(pages)[:, None]) & ~np.isin(np.arange(said.shape[1]), range(NEAR_LINKS, near.shape[1]))
    phrases = [[titles[other] for other in row] for row in said.tolist()]
    for page, row in enumerate(phrases):
        for place in range(-page % 3, len(row), 3):
            row[place] = " ".join(row[place].split()[2:])
    bodies: list[str] = []
    for first in range(0, pages, CHUNK):
        bodies += _bodies(
            phrases[first : first + CHUNK], own[category[first : first + CHUNK]], words, frequency, random
        )
    source, place = np.nonzero(is_link)
    target = said[is_link]
    _, once = np.unique(source * pages + target, return_index=True)
    source, place, target = source[once], place[once], target[once]
    anchors = [phrases[page][column] for page, column in zip(source.tolist(), place.tolist(), strict=True)]
    return TextSite(titles, bodies, category, _vectors(size, random), source, target, anchors)


def _bodies(
    phrases: list[list[str]],
    own: NDArray[np.int64],
    words: NDArray[np.object_],
    frequency: NDArray[np.float64],
    random: np.random.Generator,
) -> list[str]:
    pages, half = len(phrases), WORDS // 2
    drawn = np.searchsorted(frequency, random.random((pages, half)) * frequency[-1])
    topical = np.take_along_axis(own, random.integers(0, OF_CATEGORY, (pages, half)), axis=1)
    text = words[random.permuted(np.concatenate([drawn, topical], axis=1), axis=1)]
    for place in range(len(phrases[0])):
        text[:, (place + 1) * WORDS // (len(phrases[0]) + 1)] = [row[place] for row in phrases]
    step = WORDS // LINES
    return ["\n".join(" ".join(row[at : at + step]) + "." for at in range(0, WORDS, step)) for row in text.tolist()]


def _words(count: int, random: np.random.Generator) -> NDArray[np.object_]:
    """Made-up words of two to four syllables, most of them different."""
    syllables = np.array([left + right for left in "bdfgklmnprstvz" for right in ("a", "e", "i", "o", "u", "an", "er")])
    made = syllables[random.integers(0, len(syllables), (count, 4))]
    length = random.integers(2, 5, count)
    found = np.empty(count, dtype=object)
    for number, (row, many) in enumerate(zip(made.tolist(), length.tolist(), strict=True)):
        found[number] = "".join(row[:many])
    return found


def _titles(
    category: NDArray[np.int64], own: NDArray[np.int64], words: NDArray[np.object_], random: np.random.Generator
) -> list[str]:
    pages = len(category)
    of_category = words[own[category[:, None], random.integers(0, OF_CATEGORY, (pages, 2))]]
    rare = words[LANGUAGE + random.integers(0, RARE, (pages, 2))]
    return [" ".join([first.title(), *rest]) for first, *rest in np.hstack([of_category, rare]).tolist()]


def _vectors(size: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.float32]:
    parts = []
    for many in size.tolist():
        around = unit_rows(random.standard_normal((-(-many // SUBTOPIC), DIMENSIONS), dtype=np.float32))
        centre = unit_rows(random.standard_normal((1, DIMENSIONS), dtype=np.float32))
        alone = unit_rows(random.standard_normal((many, DIMENSIONS), dtype=np.float32))
        parts.append(0.65 * centre + 0.45 * around[np.arange(many) // SUBTOPIC] + 0.61 * alone)
    return unit_rows(np.concatenate(parts))
