"""Parts of titles: "planning course" means "How to run your own planning course" where no other title says both.

People seldom write a title as it stands. Words that it begins or ends with, or that stand in it in a row, mean the page
nearly as surely as the whole does, if no other title has all of them.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linker.engine.anchors.features import SPAN_FEATURES
from linker.engine.arrays.ranges import distinct, expand_ranges
from linker.engine.text.fold import fold
from linker.engine.text.generic import primary_language
from linker.engine.text.stems import stem
from linker.engine.text.tokens import A_NUMBER
from linker.engine.text.words import NUMBER_WORDS, ORDINAL_WORDS

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from linker.engine.anchors.spans import CandidateSpans, SpanFinder
    from linker.engine.anchors.tokenized import SpanReader, TokenizedTexts
    from linker.engine.index import TextIndex

MANY = 40  # titles with one word; which of them have others too is no longer counted
ENOUGH = 0.35  # of a title's weight
PART_OF_TITLE = 2.0  # log-odds
COMMON, FEW = 0.05, 10  # share of the texts, or texts, that hold both of two words: a subject, and no page
KEPT = 20_000  # pages whose titles are kept as words
PARTING = ":|–—,;()[]/"  # marks between what are no words of one name
NEAR = 3  # tokens beyond a span that may go on with the title


class Title(NamedTuple):
    """A title or H1 as stems: its words in order, function words left out; those of all its words that count it among
    others, as "second", "two" and "2.0" do; and the places of words behind a mark that parts a title."""

    words: list[int]
    counted: set[int]
    parted: set[int]

    def has_in_a_row(self, words: list[int]) -> bool:
        """Whether words stand in it one after the other, with no mark between them."""
        size = len(words)
        return any(
            self.words[first : first + size] == words and self.parted.isdisjoint(range(first + 1, first + size))
            for first in range(len(self.words) - size + 1)
        )


class TitleWords:
    """Which words titles have, and in which order."""

    def __init__(self, index: TextIndex, reader: SpanReader) -> None:
        self._index, self._size = index, index.title.shape[1]
        self._is_content, self._numbers = reader.is_word & ~reader.is_stop, reader.numbers
        self._parts = set(index.vocabulary.numbers(PARTING).tolist())
        self._titles: dict[int, list[Title]] = {}
        title = index.title
        self._key = np.repeat(np.arange(title.shape[0], dtype=np.int64), np.diff(title.indptr)) * self._size
        self._key += title.indices
        order = np.argsort(title.indices, kind="stable")
        self._page = self._key[order] // self._size
        self._first = np.searchsorted(title.indices[order], np.arange(self._size + 1))

    def count(self, row: NDArray[np.int64], stem: NDArray[np.int64], rows: int) -> NDArray[np.int64]:
        """How many titles have all words of each of so many `rows`, int64 [rows]; `row`, `stem` [k]: the words, by row,
        each once. Of rows without words 0, of those whose words all stand in MANY titles and more MANY."""
        titles = np.diff(self._first)
        order = np.lexsort((titles[stem], row))
        first = order[np.flatnonzero(np.concatenate([[True], row[order][1:] != row[order][:-1]])[: len(order)])]
        few = titles[stem[first]] < MANY
        found = np.zeros(rows, dtype=np.int64)
        found[row[first[~few]]] = MANY
        first = first[few]
        asked, place = expand_ranges(self._first[stem[first]], titles[stem[first]])
        owner, page = row[first][asked], self._page[place]
        low = np.searchsorted(row, owner)
        pair, word = expand_ranges(low, np.searchsorted(row, owner, side="right") - low)
        wanted = page[pair] * self._size + stem[word]
        at = np.minimum(np.searchsorted(self._key, wanted), max(len(self._key) - 1, 0))
        lacks = np.bincount(pair, self._key[at] != wanted, minlength=len(owner))
        return found + np.bincount(owner[lacks == 0], minlength=rows)

    def of(self, page: int) -> list[Title]:
        """The title and the H1 of a page, once where they are the same."""
        if page not in self._titles:
            if len(self._titles) >= KEPT:
                self._titles.clear()
            site, template = self._index.site, self._index.template
            names = [template.strip(text) for text in dict.fromkeys((site.titles[page], site.h1s[page])) if text]
            language = site.languages[page]
            tokens = self._index.vocabulary.read(names, [language] * len(names))
            counting = set(self._index.vocabulary.numbers(_counting_words(language)).tolist())
            self._titles[page] = [
                self._title(tokens.stems[low:high].tolist(), counting)
                for low, high in zip(tokens.bounds[:-1], tokens.bounds[1:], strict=True)
            ]
        return self._titles[page]

    def _title(self, stems: list[int], counting: set[int]) -> Title:
        title = Title([], {one for one in stems if one in counting or self._numbers[one] == A_NUMBER}, set())
        for one in stems:
            if self._is_content[one]:
                title.words.append(one)
            elif one in self._parts:
                title.parted.add(len(title.words))
        return title


@cache
def _counting_words(language: str) -> frozenset[str]:
    """The stems of number words and ordinals of a language, folded."""
    primary = primary_language(language)
    words = f"{NUMBER_WORDS.get(primary, '')} {ORDINAL_WORDS.get(primary, '')}".split()
    return frozenset(stem(fold(word), language) for word in words)


def parts_of_titles(
    finder: SpanFinder, texts: TokenizedTexts, target: NDArray[np.int64], found: CandidateSpans
) -> NDArray[np.bool_]:
    """Whether spans are a part of their target's title that means it and nothing else, bool [m]; `target` int64 [m].

    - They are ENOUGH of the title, in its order, with no punctuation between words: two words besides function words,
      one of them not COMMON on the site, or more.
    - They are whole: they begin and end with such a word, the first no number, and neither the title nor a name in
      capitals goes on beyond them.
    - They are the page's own: they are not the whole name of another one, do not leave out which of several it is
      ("second", "two"), and no other title has all of them, or one other, where the title begins or ends with them.
    """
    size, count = finder.reader.terms, len(found.first)
    row, token = texts.content_words(found.first, found.last)
    key = distinct(row * size + texts.stems[token])
    words = np.bincount(key // size, minlength=count)
    rarest = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(rarest, key // size, finder.evidence.index.in_texts[key % size])
    is_common = rarest > max(COMMON * len(finder.evidence.index.site), FEW)
    asked = (words > 2) | (words == 2) & ~is_common
    asked &= (_column(found, "title_part") > 0.999) & (_column(found, "title_share") >= ENOUGH)
    asked &= texts.is_content[found.first] & texts.is_content[found.last - 1] & ~texts.is_number[found.first]
    asked &= ~_has_marks(texts, found) & ~capital_follows(texts, found) & ~_is_name(finder, texts, found)
    key = key[asked[key // size]]
    titles = finder.titles.count(key // size, key % size, count)
    part = np.zeros(count, dtype=bool)
    for span in np.flatnonzero((titles == 1) | (titles == 2)).tolist():  # few
        said, before, after = _words_around(texts, int(found.first[span]), int(found.last[span]))
        part[span] = any(
            title.counted <= set(said) and _is_part(title.words, said, before, after, inner=titles[span] == 1)
            for title in finder.titles.of(int(target[span]))
        )
    return part


def _is_part(title: list[int], said: list[int], before: set[int], after: set[int], *, inner: bool) -> bool:
    """Whether words stand in a title in this order and do not leave out the word that it goes on with; if not `inner`,
    at its beginning or end."""
    for first in range(len(title) - len(said) + 1):
        last = first + len(said)
        if title[first:last] != said or not (inner or first == 0 or last == len(title)):
            continue
        if not (first and title[first - 1] in before) and not (last < len(title) and title[last] in after):
            return True
    return False


def _words_around(texts: TokenizedTexts, first: int, last: int) -> tuple[list[int], set[int], set[int]]:
    """The words of a span but for function words, and those up to NEAR tokens before and after it, as stems."""
    said = texts.stems[first:last][texts.is_content[first:last]].tolist()
    low, high = max(int(texts.clause_first[first]), first - NEAR), min(int(texts.clause_last[last - 1]), last + NEAR)
    return said, set(texts.stems[low:first].tolist()), set(texts.stems[last:high].tolist())


def _has_marks(texts: TokenizedTexts, found: CandidateSpans) -> NDArray[np.bool_]:
    """Whether spans have punctuation with space before or after it, which does not stand within a word; bool [m]."""
    apart = np.zeros(len(texts.words) + 1, dtype=np.int64)
    space = np.concatenate([[True], texts.start[1:] != texts.stop[:-1], [True]])
    apart[1:] = np.cumsum(~texts.is_word & (space[:-1] | space[1:]))[: len(texts.words)]
    return np.asarray(apart[found.last] != apart[found.first])


def capital_follows(texts: TokenizedTexts, found: CandidateSpans) -> NDArray[np.bool_]:
    """Whether a capitalised word follows spans that end with one, bool [m]: "Mill Dam" of "Mill Dam Treaty"."""
    after = np.minimum(found.last, len(texts.words) - 1)
    inside = found.last < texts.clause_last[found.last - 1]
    return np.asarray(inside & texts.capital[found.last - 1] & texts.capital[after] & texts.is_word[after])


def _is_name(finder: SpanFinder, texts: TokenizedTexts, found: CandidateSpans) -> NDArray[np.bool_]:
    """Whether spans are the whole title, or H1, of a page, bool [m]."""
    phrases = finder.phrases.find(texts.hashes(found.first, found.last), np.zeros(len(found.first), dtype=np.int64))
    return np.asarray(phrases.known & (finder.phrases.whole[phrases.phrase] > 0))


def _column(found: CandidateSpans, name: str) -> NDArray[Any]:
    return found.features[:, SPAN_FEATURES.index(name)]
