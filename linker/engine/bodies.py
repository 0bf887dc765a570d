"""The texts of a site, read once: the phrases that they mention, and their terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linker.engine.arrays.disk import evict_pages, to_memmap
from linker.engine.text.terms import TermCounts, count_terms
from linker.engine.text.tokens import BATCH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from linker.engine.site import Site
    from linker.engine.text.mentions import Mentions, PhraseBook
    from linker.engine.text.tokens import Tokens, Vocabulary


@dataclass(frozen=True)
class Occurrences:
    """Mentions of the site's phrases in its texts, by page and place; arrays [m].

    As `linker.engine.text.mentions.Mentions`, with `at` and `line` counted over all texts of the site. The arrays are
    mapped from files: they are read when evidence is made and when anchors are chosen, and not in between.
    """

    page: NDArray[np.int32]
    phrase: NDArray[np.int32]
    group: NDArray[np.int32]
    at: NDArray[np.integer[Any]]
    size: NDArray[np.int8]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    line: NDArray[np.int32]
    alone: NDArray[np.bool_]
    leads: NDArray[np.bool_]

    def evict_pages(self) -> None:
        """Drops the mentions from memory until they are read again."""
        evict_pages(*vars(self).values())


@dataclass(frozen=True)
class Bodies:
    """What n texts hold: `occurrences` of phrases, the `terms` of chunks of them, and the lengths of each, `tokens`
    and `lines` int64 [n]."""

    occurrences: Occurrences
    terms: list[TermCounts]
    tokens: NDArray[np.int64]
    lines: NDArray[np.int64]


def read_bodies(site: Site, vocabulary: Vocabulary, book: PhraseBook, characters: int) -> Bodies:
    """Reads the texts of a site, about so many characters at a time."""
    found: list[tuple[NDArray[np.generic], ...]] = []
    terms: list[TermCounts] = []
    token_counts, line_counts = [], []
    tokens_before = lines_before = 0
    for first, stop in chunks(site.bodies, characters):
        tokens = vocabulary.read(site.bodies[first:stop], site.languages[first:stop])
        found.append(_columns(book.find(tokens), tokens, first, tokens_before, lines_before))
        terms.append(count_terms(tokens, vocabulary))
        token_counts.append(np.diff(tokens.bounds))
        line_counts.append(np.add.reduceat((tokens.words == 0).astype(np.int64), tokens.bounds[:-1]))
        tokens_before += len(tokens.words)
        lines_before += int(line_counts[-1].sum())
    columns = [to_memmap(np.concatenate(column)) for column in zip(*found, strict=True)]
    return Bodies(Occurrences(*columns), terms, np.concatenate(token_counts), np.concatenate(line_counts))


def _columns(
    mentions: Mentions, tokens: Tokens, pages_before: int, tokens_before: int, lines_before: int
) -> tuple[NDArray[np.generic], ...]:
    """The columns of Occurrences for a chunk of texts, counted on from the texts before."""
    line = np.cumsum(tokens.words == 0)
    return (
        mentions.page + np.int32(pages_before),
        mentions.phrase,
        mentions.group,
        _narrow(mentions.token + tokens_before),
        mentions.size,
        mentions.start,
        mentions.end,
        (line[mentions.token] + lines_before).astype(np.int32),
        mentions.alone,
        mentions.leads,
    )


def _narrow(places: NDArray[np.int64]) -> NDArray[np.integer[Any]]:
    """Ascending places in half the memory, where they fit."""
    return places.astype(np.int32) if not len(places) or places[-1] < 2**31 else places


def chunks(bodies: Sequence[str], characters: int) -> list[tuple[int, int]]:
    """Slices of texts, of so many characters or little more, as (first, stop).

    They end where the vocabulary ends a batch, so that the numbers that words get do not depend on the slices.
    """
    found, first, size, batch = [], 0, 0, 0
    for page, body in enumerate(bodies, 1):
        size, batch = size + len(body), batch + len(body)
        if batch >= BATCH:
            batch = 0
            if size >= characters:
                found.append((first, page))
                first, size = page, 0
    return found if found and first == len(bodies) else [*found, (first, len(bodies))]
