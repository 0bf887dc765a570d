"""Characters of texts, many at once: what each folds to, and whether it is part of a word."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from linker.engine.text.fold import fold_chars

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

NEW_LINE = "\n"
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD_CHARACTER = re.compile(rf"[^\W{_UNSPACED}]")
# The kinds of characters: space between tokens, a token by itself, part of a word, one that folds to none or to several
# characters, and one that no text has held so far.
SPACE, ALONE, IN_WORD, NOT_ONE, UNKNOWN = range(5)
_kind = np.full(0x110000, UNKNOWN, dtype=np.uint8)
_fold = np.arange(0x110000)  # what a character folds to, of those whose kind is known


def fold_texts(texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.int64]]:
    """The folded texts, each followed by a line break.

    Returns the code points, int64 [m], the kind of each, uint8 [m], and the length of each text, int64 [texts].
    """
    code, sizes = _codes(texts)
    kind = _kinds(code)
    if kind.max(initial=0) == NOT_ONE:
        odd = np.unique(np.searchsorted(np.cumsum(sizes), np.flatnonzero(kind == NOT_ONE), side="right"))
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


def _kinds(code: NDArray[np.int64]) -> NDArray[np.uint8]:
    kind = _kind[code]
    if kind.max(initial=0) == UNKNOWN:
        for number in np.unique(code[kind == UNKNOWN]).tolist():
            _learn(chr(number))
        kind = _kind[code]
    return kind


def _learn(char: str) -> None:
    """Notes of which kind a character is and what it folds to."""
    folded = fold_chars(char)
    number = ord(char)
    _fold[number] = ord(folded) if len(folded) == 1 else number
    if len(folded) != 1:
        _kind[number] = NOT_ONE
    elif folded != NEW_LINE and folded.isspace():
        _kind[number] = SPACE
    else:
        _kind[number] = IN_WORD if _WORD_CHARACTER.match(folded) else ALONE
