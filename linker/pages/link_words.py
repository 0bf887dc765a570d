"""The words of a rule for links: compared whole, whatever their capitals and spaces, where * stands for any words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import re2

from linker.engine.patterns import compile_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WIDEST = 3  # letters that one becomes where capitals do not matter, such as "ss" of "ß"
_STAR = re.compile(r"(?<!\\)\*")


def fold(words: str) -> str:
    """Words as they are compared."""
    return " ".join(words.split()).casefold()


def literally(words: str) -> str:
    """What a rule says to mean these very words: a * among them stands for itself."""
    return words.replace("*", r"\*")


def says_nothing(words: str) -> bool:
    """Whether a rule with these words would take any words."""
    return not words.replace("*", "").strip() and "*" in words


def _pieces(words: str) -> list[str]:
    """What stands between the stars of a rule's words, as it is compared; one piece where there is no star."""
    return [piece.replace(r"\*", "*") for piece in _STAR.split(fold(words))]


class WordsOfRules:
    """Finds which rules have the words of an anchor, as bits: the rule at place n is 1 << n."""

    def __init__(self, words: Sequence[str]) -> None:
        """`words`: of each rule, empty where it has none."""
        self._whole: dict[str, int] = {}
        with_stars: dict[tuple[str, ...], int] = {}
        for place, said in enumerate(words):
            pieces = _pieces(said)
            if len(pieces) > 1:
                with_stars[tuple(pieces)] = with_stars.get(tuple(pieces), 0) | 1 << place
            elif said:
                self._whole[pieces[0]] = self._whole.get(pieces[0], 0) | 1 << place
        self._patterns = [(_compiled(pieces), those) for pieces, those in with_stars.items()]
        self._least = [_shortest(sum(map(len, pieces))) for pieces in with_stars]

    def __bool__(self) -> bool:
        return bool(self._whole or self._patterns)

    def lengths(self) -> list[int]:
        """Lengths that an anchor of words without a star may have, in characters. Other programs know other small
        letters, so it is only by its length that PostgreSQL can leave an anchor out."""
        return sorted({n for words in self._whole for n in range(_shortest(len(words)), len(words) + 1)})

    def least(self) -> int | None:
        """The shortest anchor that words with a star may take, in characters; None without such words."""
        return min(self._least, default=None)

    def of(self, anchor: str) -> int:
        said = fold(anchor)
        return self._whole.get(said, 0) | sum(those for pattern, those in self._patterns if pattern.search(said))


def _shortest(length: int) -> int:
    return -(-length // WIDEST)


def _compiled(pieces: Iterable[str]) -> Any:
    return compile_pattern(f"(?s)^{'.*'.join(re2.escape(piece) for piece in pieces)}$")
