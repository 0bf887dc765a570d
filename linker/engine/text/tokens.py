"""Texts as arrays of token numbers: what phrases are looked up in, and what lexical similarity counts.

A token is a run of word characters, one character of a script that is written without spaces, a punctuation mark, or
a line break. Tokens are compared folded (`linker.engine.text.fold`) or, more loosely, by their stem.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linker.engine.text.characters import ALONE, IN_WORD, NEW_LINE, fold_texts
from linker.engine.text.generic import primary_language, stop_words
from linker.engine.text.hashing import HashTable, token_hashes
from linker.engine.text.stems import STEMMED_LANGUAGES, stem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

MAX_TEXT = 1_000_000  # characters of one text that are read
A_NUMBER = 1  # stands for a word with a digit that is no year
_YEAR = re.compile(r"(?:1[0-9]|20|21)[0-9]{2}", re.ASCII)
BATCH = 2**16  # characters read together: what is made of them stays in a core's cache


@dataclass(frozen=True)
class Tokens:
    """Tokens of several texts, one after the other; each text ends in a line break of its own.

    `words`, `stems` int32 [m]: numbers of the vocabulary; `starts`, `lengths` int32 [m]: place in the folded text,
    in characters; `bounds` int64 [texts + 1]: where each text's tokens begin.
    """

    words: NDArray[np.int32]
    stems: NDArray[np.int32]
    starts: NDArray[np.int32]
    lengths: NDArray[np.int32]
    bounds: NDArray[np.int64]

    def pages(self) -> NDArray[np.int32]:
        """The text each token belongs to, int32 [m]."""
        return np.repeat(np.arange(len(self.bounds) - 1, dtype=np.int32), np.diff(self.bounds))


class Vocabulary:
    """Numbers for words, in the order in which they are met; 0 is the line break. Words and stems share the numbers."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {NEW_LINE: 0}
        self._stem: dict[str, NDArray[np.int32]] = {}
        self._is_word = [False]
        self._word = [NEW_LINE]
        self._table = HashTable()

    def __len__(self) -> int:
        return len(self._number)

    def _add(self, word: str) -> int:
        number = self._number.get(word)
        if number is None:
            number = self._number[word] = len(self._number)
            self._word.append(word)
            self._is_word.append(word[0].isalnum() or word[0] == "_")
        return number

    def numbers(self, words: Iterable[str]) -> NDArray[np.int32]:
        """The numbers of those of the folded `words` that are known, int32 [k], ascending."""
        return np.array(sorted(self._number[word] for word in words if word in self._number), dtype=np.int32)

    def word_mask(self) -> NDArray[np.bool_]:
        """Whether each number stands for a word and not for punctuation, bool [len(self)]."""
        return np.array(self._is_word, dtype=bool)

    def number_mask(self) -> NDArray[np.bool_]:
        """Whether each number stands for a word with a digit in it, bool [len(self)]."""
        return np.array([any(map(str.isdigit, word)) for word in self._word], dtype=bool)

    def number_values(self, numbers: NDArray[np.int32] | None = None) -> NDArray[np.int16]:
        """Of words that are years those, A_NUMBER for other words with a digit in them, 0 for all else, [len(self)]; or
        of some words by their `numbers`, int32 [k]: [k]."""
        words = self._word if numbers is None else [self._word[number] for number in numbers.tolist()]
        return np.array([_number_value(word) for word in words], dtype=np.int16)

    def whole_numbers(self, numbers: NDArray[np.int32]) -> NDArray[np.int64]:
        """What some words say that are digits alone, nine at most; -1 for others, [k]. `numbers` int32 [k]."""
        words = [self._word[number] for number in numbers.tolist()]
        return np.array([int(w) if w.isdecimal() and len(w) <= 9 else -1 for w in words], dtype=np.int64)

    def stop_mask(self, languages: Iterable[str]) -> NDArray[np.bool_]:
        """Whether each number stands for a function word of one of the languages, bool [len(self)]."""
        mask = np.zeros(len(self), dtype=bool)
        for language in sorted(set(languages)):
            for word in stop_words(primary_language(language)):
                for key in (word, stem(word, language)):
                    number = self._number.get(key)
                    if number is not None:
                        mask[number] = True
        return mask

    def read(self, texts: Sequence[str], languages: Sequence[str]) -> Tokens:
        """The tokens of `texts`; `languages` [len(texts)] says how each is stemmed. Reads MAX_TEXT characters of each.

        Words that are new get the next numbers, those of a batch in alphabetical order.
        """
        parts = [self._read([], [])]
        first = size = 0
        for last, text in enumerate(texts, 1):
            size += len(text)
            if size >= BATCH or last == len(texts):
                parts.append(self._read(texts[first:last], languages[first:last]))
                first, size = last, 0
        words, stems, starts, lengths, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
        return Tokens(words, stems, starts, lengths, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))

    def _read(self, texts: Sequence[str], languages: Sequence[str]) -> tuple[NDArray[np.int32], ...]:
        """Words, stems, starts and lengths of the tokens of a few texts, and how many tokens each text has."""
        code, kind, sizes = fold_texts([text[:MAX_TEXT] for text in texts])
        starts, ends = _token_bounds(kind)
        words = self._numbers_of(code, starts, ends)
        text_starts = np.cumsum(sizes) - sizes
        counts = np.diff(np.searchsorted(starts, np.append(text_starts, len(code))))
        stems = self._stems(words, languages, counts)
        starts_in_text = starts - np.repeat(text_starts, counts)
        return words, stems, starts_in_text.astype(np.int32), (ends - starts).astype(np.int32), counts

    def _numbers_of(
        self, code: NDArray[np.int64], starts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """The numbers of the tokens `code[starts[i]:ends[i]]`; adds those that are new."""
        hashes = token_hashes(code, starts, ends)
        words = self._table.find(hashes)
        missing = np.flatnonzero(words < 0)
        if len(missing):
            unknown, place = np.unique(hashes[missing], return_index=True)
            at = missing[place]
            folded = code.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
            found = [folded[first:last] for first, last in zip(starts[at].tolist(), ends[at].tolist(), strict=True)]
            order = sorted(range(len(found)), key=found.__getitem__)
            self._table.add(unknown[order], np.array([self._add(found[place]) for place in order]))
            words[missing] = self._table.find(hashes[missing])
        return words

    def _stems(
        self, words: NDArray[np.int32], languages: Sequence[str], counts: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """The stem of each word; `counts`: words of each text, whose languages are given."""
        stems = words.copy()
        primary = [primary_language(language) for language in languages]
        for language in sorted(set(primary) & STEMMED_LANGUAGES):
            own = np.repeat([one == language for one in primary], counts) if len(set(primary)) > 1 else slice(None)
            stems[own] = self._stems_in(words[own], language)
        return stems

    def _stems_in(self, words: NDArray[np.int32], language: str) -> NDArray[np.int32]:
        known = self._stem.get(language, np.zeros(1, dtype=np.int32))
        if len(known) < len(self):
            known = np.concatenate([known, np.full(2 * len(self) - len(known), -1, dtype=np.int32)])
            self._stem[language] = known
        words = words.astype(np.int64)
        stems = known[words]
        missing = np.unique(words[stems < 0])
        if len(missing):
            known[missing] = [self._add(stem(self._word[number], language)) for number in missing.tolist()]
            stems = known[words]
        return stems


def _token_bounds(kind: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First character of each token, and the one after its last, by the kinds of the characters."""
    in_word = kind == IN_WORD
    alone = kind == ALONE
    start, end = alone.copy(), alone
    start[:1] |= in_word[:1]
    start[1:] |= in_word[1:] & ~in_word[:-1]
    end[-1:] |= in_word[-1:]
    end[:-1] |= in_word[:-1] & ~in_word[1:]
    return np.flatnonzero(start), np.flatnonzero(end) + 1


def _number_value(word: str) -> int:
    if not any(map(str.isdigit, word)):
        return 0
    return int(word) if _YEAR.fullmatch(word) else A_NUMBER
