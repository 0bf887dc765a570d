"""Texts as arrays of token numbers: what phrases are looked up in, and what lexical similarity counts.

A token is a run of word characters, one character of a script that is written without spaces, a punctuation mark, or
a line break. Tokens are compared folded (`linker.engine.text.fold`) or, more loosely, by their stem.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linker.engine.text.fold import fold_chars
from linker.engine.text.generic import primary_language, stop_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_IN_WORD = re.compile(rf"[^\W{_UNSPACED}]")
NEW_LINE = "\n"
MAX_TEXT = 1_000_000  # characters of one text that are read


def stem(word: str, language: str = "en") -> str:
    """A folded word without its plural or case ending; words of up to three letters stay as they are.

    Light on purpose: it joins "cartes" to "carte" and "policies" to "policy" and never reaches into the word. English
    rules after Harman's S-stemmer, French, German and Spanish ones after Savoy's light stemmers' first steps. A
    language without rules is left alone.
    """
    if len(word) < 4 or not word.isalpha():
        return word
    return _RULES.get(primary_language(language), _keep)(word)


def _keep(word: str) -> str:
    return word


def _english(word: str) -> str:
    if word.endswith("ies") and len(word) > 4 and word[-4] not in "ae":
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and word[-2] not in "us" and not word.endswith("is"):
        return word[:-1]
    return word


def _french(word: str) -> str:
    if word.endswith("eaux"):
        return word[:-1]
    if word.endswith("aux") and len(word) > 4:
        return word[:-2] + "l"
    if word.endswith(("s", "x")) and word[-2] != "s":
        word = word[:-1]
    if word.endswith("ee") and len(word) > 4:
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def _german(word: str) -> str:
    for ending in ("ern", "em", "en", "er", "es", "e", "n", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _spanish(word: str) -> str:
    if word.endswith("ces") and len(word) > 4:
        return word[:-3] + "z"
    if word.endswith("es") and len(word) > 4 and word[-3] not in "aeiou":
        return word[:-2]
    if word.endswith("s"):
        word = word[:-1]
    return word


_RULES = {"en": _english, "fr": _french, "de": _german, "es": _spanish}


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
    """Numbers for words, given as words are met; number 0 is the line break. Words and stems share the numbers."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {NEW_LINE: 0}
        self._stem: dict[str, NDArray[np.int32]] = {}
        self._is_word = [False]
        self._word = [NEW_LINE]
        self._table = _Table()

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
        """The numbers of those of the folded `words` that were met, in ascending order."""
        return np.array(sorted(self._number[word] for word in words if word in self._number), dtype=np.int32)

    def word_mask(self) -> NDArray[np.bool_]:
        """Whether each number stands for a word and not for punctuation, bool [len(self)]."""
        return np.array(self._is_word, dtype=bool)

    def number_mask(self) -> NDArray[np.bool_]:
        """Whether each number stands for a word with a digit in it, bool [len(self)]."""
        return np.array([any(map(str.isdigit, word)) for word in self._word], dtype=bool)

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
        """The tokens of `texts`; `languages` [len(texts)] chooses how each is stemmed. Reads MAX_TEXT characters."""
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
        """Words, stems, starts, lengths of a few texts at once, and how many tokens each has."""
        code, kind, sizes = _folded([text[:MAX_TEXT] for text in texts])
        begin = np.cumsum(sizes) - sizes
        in_word = kind == _WORD
        alone = kind == _ALONE
        start, end = alone.copy(), alone
        start[:1] |= in_word[:1]
        start[1:] |= in_word[1:] & ~in_word[:-1]
        end[-1:] |= in_word[-1:]
        end[:-1] |= in_word[:-1] & ~in_word[1:]
        starts, ends = np.flatnonzero(start), np.flatnonzero(end) + 1
        keys = _keys(code, starts, ends)
        words = self._table.find(keys)
        missing = np.flatnonzero(words < 0)
        if len(missing):
            unknown, place = np.unique(keys[missing], return_index=True)
            at = missing[place]
            folded = code.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
            found = [folded[first:last] for first, last in zip(starts[at].tolist(), ends[at].tolist(), strict=True)]
            order = sorted(range(len(found)), key=found.__getitem__)
            self._table.add(unknown[order], np.array([self._add(found[place]) for place in order]))
            words[missing] = self._table.find(keys[missing])
        counts = np.diff(np.searchsorted(starts, np.append(begin, len(code))))
        stems = words.copy()
        tongues = [primary_language(language) for language in languages]
        for language in sorted(set(tongues) & _RULES.keys()):
            own = (
                np.repeat([tongue == language for tongue in tongues], counts) if len(set(tongues)) > 1 else slice(None)
            )
            stems[own] = self._stems(words[own], language)
        starts_in_text = starts - np.repeat(begin, counts)
        return words, stems, starts_in_text.astype(np.int32), (ends - starts).astype(np.int32), counts

    def _stems(self, words: NDArray[np.int32], language: str) -> NDArray[np.int32]:
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


# ------------------------------------------------------------------------------------------- many characters at once

BATCH = 2**16  # characters read together: what is made of them stays in a core's cache
# What a character is: between tokens, a token by itself, of a word, one that does not fold to one character, not met.
_SPACE_KIND, _ALONE, _WORD, _NOT_ONE, _UNKNOWN = range(5)
_kind = np.full(0x110000, _UNKNOWN, dtype=np.uint8)


_fold = np.arange(0x110000)  # what a character folds to, of those whose kind is known


def _folded(texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.int64]]:
    """The folded texts, a line break after each: the code points, the kind of each, and how many a text has."""
    code, sizes = _codes(texts)
    kind = _kinds(code)
    if kind.max(initial=0) == _NOT_ONE:
        odd = np.unique(np.searchsorted(np.cumsum(sizes), np.flatnonzero(kind == _NOT_ONE), side="right"))
        texts = list(texts)
        for place in odd.tolist():
            texts[place] = fold_chars(texts[place])
        code, sizes = _codes(texts)
        kind = _kinds(code)
    return _fold[code], kind, sizes  # a character is of the kind of what it folds to


def _codes(texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    joined = "\n".join([*texts, ""])
    # Numbers of the machine's own size: looking up by others takes twice as long.
    code = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)
    return code, np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)) + 1


def _meet(char: str) -> None:
    """Finds out about a character, which kind it is and what it folds to."""
    folded = fold_chars(char)
    number = ord(char)
    _fold[number] = ord(folded) if len(folded) == 1 else number
    if len(folded) != 1:
        _kind[number] = _NOT_ONE
    elif folded != NEW_LINE and folded.isspace():
        _kind[number] = _SPACE_KIND
    else:
        _kind[number] = _WORD if _IN_WORD.match(folded) else _ALONE


def _kinds(code: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The kind of each character."""
    kind = _kind[code]
    if kind.max(initial=0) == _UNKNOWN:
        for number in np.unique(code[kind == _UNKNOWN]).tolist():
            _meet(chr(number))
        kind = _kind[code]
    return kind


# A token is known by a number of 64 bits: the sum of its characters' numbers times the powers of an odd base, mixed.
# Two of a million words share one with a chance of one in thirty million. Seeded, so that all processes agree.
_random = np.random.default_rng(2**31 - 1)
_character = _random.integers(0, 2**64, 0x400, dtype=np.uint64)
_BASE = 0x9E3779B97F4A7C15 | 1
_MIX = np.uint64(0xD6E8FEB86659FD93)


class _Powers:
    """Powers of the base and of its inverse modulo 2**64, as many as were asked for."""

    def __init__(self) -> None:
        self.up = self.down = np.ones(1, dtype=np.uint64)

    def upto(self, count: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        if count > len(self.up):
            size = max(count, 2 * BATCH)
            self.up, self.down = _powers(_BASE, size), _powers(pow(_BASE, -1, 2**64), size)
        return self.up, self.down


def _powers(base: int, count: int) -> NDArray[np.uint64]:
    powers = np.full(count, base, dtype=np.uint64)
    powers[:1] = 1
    return np.multiply.accumulate(powers)


_power = _Powers()


def _keys(code: NDArray[np.int64], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The number each token is known by."""
    up, down = _power.upto(len(code) + 1)
    number = _character[code & 0x3FF]
    if len(code) and code.max() >= 0x400:
        number = number ^ ((code >> 10).view(np.uint64) * np.uint64(0xA0761D6478BD642F))
    total = np.empty(len(code) + 1, dtype=np.uint64)
    total[0] = 0
    np.cumsum(number * up[: len(code)], out=total[1:])
    key = (total[ends] - total[starts]) * down[starts]
    key ^= key >> np.uint64(32)
    key *= _MIX
    key ^= key >> np.uint64(29)
    return key


def sums_of_sequences(numbers: NDArray[np.int32]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """`sums` uint64 [n + 1] and `inverse` uint64, n or more: `(sums[j] - sums[i]) * inverse[i]` is what
    `sum_of_sequence` makes of `numbers[i:j]`."""
    up, down = _power.upto(len(numbers))
    sums = np.zeros(len(numbers) + 1, dtype=np.uint64)
    np.cumsum(_scattered(numbers) * up[: len(numbers)], out=sums[1:])
    return sums, down


def sum_of_sequence(numbers: NDArray[np.int32]) -> NDArray[np.uint64]:
    """One number for each row of `numbers`, uint64 [n]; a row ends before its first -1. Two sequences share one with a
    chance of one in 2**64."""
    up = _power.upto(numbers.shape[1])[0]
    total = np.zeros(len(numbers), dtype=np.uint64)
    for column, power in zip(numbers.T, up, strict=False):  # one after the other: all at once take much more room
        total += np.where(column >= 0, _scattered(column) * power, np.uint64(0))
    return total


def _scattered(numbers: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
    mixed = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(_BASE)
    mixed ^= mixed >> np.uint64(32)
    mixed *= _MIX
    mixed ^= mixed >> np.uint64(29)
    return mixed


class _Table:
    """Numbers by key: open addressing, at most half full."""

    def __init__(self) -> None:
        self._bits, self._count = 16, 0
        self._empty()

    def _empty(self) -> None:
        self._key = np.zeros(1 << self._bits, dtype=np.uint64)
        self._value = np.full(1 << self._bits, -1, dtype=np.int32)

    def _slots(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        return (keys >> np.uint64(64 - self._bits)).astype(np.int64)

    def add(self, keys: NDArray[np.uint64], values: NDArray[np.int32]) -> None:
        """Distinct keys that are not there yet."""
        self._count += len(keys)
        if 2 * self._count > len(self._key):
            held = self._value >= 0
            keys, values = np.concatenate([self._key[held], keys]), np.concatenate([self._value[held], values])
            self._bits = (4 * self._count).bit_length()
            self._empty()
        at = self._slots(keys)
        while len(keys):
            free = self._value[at] < 0
            self._key[at[free]], self._value[at[free]] = keys[free], values[free]  # of two, one stays
            lost = self._value[at] != values
            keys, values, at = keys[lost], values[lost], (at[lost] + 1) & (len(self._key) - 1)

    def find(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """The number of each key, -1 where it is not there."""
        at = self._slots(keys)
        value = self._value[at]
        lost = np.flatnonzero((self._key[at] != keys) & (value >= 0))
        while len(lost):
            at[lost] = (at[lost] + 1) & (len(self._key) - 1)
            value[lost] = self._value[at[lost]]
            lost = lost[(self._key[at[lost]] != keys[lost]) & (value[lost] >= 0)]
        return value
