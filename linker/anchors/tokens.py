"""Texts as arrays of token numbers: what phrases are looked up in, and what lexical similarity counts.

A token is a run of word characters, one character of a script that is written without spaces, a punctuation mark, or
a line break. Tokens are compared folded (`linker.anchors.fold`) or, more loosely, by their stem.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linker.anchors.fold import fold_chars
from linker.anchors.generic import primary_language, stop_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_PIECE = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+|\n|[^\S\n]+|[^\w\s]")
_SPACE, NEW_LINE = " ", "\n"
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
        self._stem: dict[str, dict[int, int]] = {}
        self._is_word = [False]

    def __len__(self) -> int:
        return len(self._number)

    def _add(self, word: str) -> int:
        number = self._number.get(word)
        if number is None:
            number = self._number[word] = len(self._number)
            self._is_word.append(word[0].isalnum() or word[0] == "_")
        return number

    def numbers(self, words: Iterable[str]) -> NDArray[np.int32]:
        """The numbers of those of the folded `words` that were met, in ascending order."""
        return np.array(sorted(self._number[word] for word in words if word in self._number), dtype=np.int32)

    def word_mask(self) -> NDArray[np.bool_]:
        """Whether each number stands for a word and not for punctuation, bool [len(self)]."""
        return np.array(self._is_word, dtype=bool)

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
        words, stems, starts, lengths, bounds = [], [], [], [], [0]
        for text, language in zip(texts, languages, strict=True):
            word, start, length = self._read(text)
            words.append(word)
            stems.append(self._stems(word, language))
            starts.append(start)
            lengths.append(length)
            bounds.append(bounds[-1] + len(word))
        nothing = [np.empty(0, dtype=np.int32)]
        return Tokens(
            np.concatenate(words or nothing),
            np.concatenate(stems or nothing),
            np.concatenate(starts or nothing),
            np.concatenate(lengths or nothing),
            np.array(bounds, dtype=np.int64),
        )

    def _read(self, text: str) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        pieces = _PIECE.findall(fold_chars(text[:MAX_TEXT]))
        pieces.append(NEW_LINE)
        length = np.fromiter(map(len, pieces), dtype=np.int32, count=len(pieces))
        start = np.cumsum(length, dtype=np.int32) - length
        number = self._number
        missing = set(pieces).difference(number)
        for piece in sorted(missing):
            if not piece.isspace():
                self._add(piece)
        get = number.get
        ids = np.fromiter((get(piece, -1) for piece in pieces), dtype=np.int32, count=len(pieces))
        seen = ids >= 0
        return ids[seen], start[seen], length[seen]

    def _stems(self, words: NDArray[np.int32], language: str) -> NDArray[np.int32]:
        language = primary_language(language)
        if language not in _RULES:
            return words
        cache = self._stem.setdefault(language, {0: 0})
        distinct, place = np.unique(words, return_inverse=True)
        missing = [number for number in distinct.tolist() if number not in cache]
        if missing:
            names = self._names()
            for number in missing:
                cache[number] = self._add(stem(names[number], language))
        return np.fromiter((cache[number] for number in distinct.tolist()), dtype=np.int32, count=len(distinct))[place]

    def _names(self) -> list[str]:
        if not hasattr(self, "_listed"):
            self._listed: list[str] = []
        if len(self._listed) < len(self._number):
            self._listed.extend(list(self._number)[len(self._listed) :])
        return self._listed
