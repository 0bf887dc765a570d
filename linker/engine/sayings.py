"""Sentences that are stored in English and shown in every language.

Who writes one fills a `Saying` in. Who shows it reads from the sentence which saying it is and what was filled in, and
says it again in the reader's language. So a sentence is said in German however long ago it was stored, as long as its
saying is still here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

_PLACEHOLDER = re.compile(r"%\((\w+)\)s")


@dataclass(frozen=True)
class Blank:
    """What fills a placeholder: `pattern` is a regular expression for it.

    `number`: a number as English writes it. `words`: one of these, which the catalogue has. `parts`: one of these
    sayings. `listed`: some of these sayings with commas between them. None of these: a text that is the same in every
    language.
    """

    pattern: str = ".+?"
    number: bool = False
    words: tuple[str, ...] = ()
    parts: tuple[Saying, ...] = ()
    listed: tuple[Saying, ...] = ()


TEXT = Blank()
NUMBER = Blank(r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?%?", number=True)


def one_of(*words: str) -> Blank:
    return Blank("|".join(map(re.escape, words)), words=words)


def part_of(*sayings: Saying) -> Blank:
    return Blank("|".join(saying.pattern for saying in sayings), parts=sayings)


def list_of(*sayings: Saying) -> Blank:
    return Blank(".+", listed=sayings)


@dataclass(frozen=True)
class Saying:
    """`text` is a message of the catalogue with named placeholders; `blanks` says what fills those that are no TEXT."""

    text: str
    blanks: Mapping[str, Blank] = field(default_factory=dict)

    def said(self, **values: object) -> str:
        """In English, as it is stored."""
        return self.text % values

    def said_in_sql(self, **expressions: str) -> str:
        """The same as SQL, with an expression of a text for each placeholder."""
        pieces = _PLACEHOLDER.split(self.text)  # in turn what stands there, and the name of a placeholder
        quoted = ["'" + piece.replace("'", "''") + "'" for piece in pieces[::2]]
        filled = [expressions[name] for name in pieces[1::2]]
        joined = [quoted[0], *(one for pair in zip(filled, quoted[1:], strict=True) for one in pair)]
        return "(" + " || ".join(one for one in joined if one != "''") + ")"

    def values(self, sentence: str) -> dict[str, str] | None:
        """What was filled in to make a sentence; None where it is not this saying."""
        found = self._reader.fullmatch(sentence)
        return found.groupdict() if found else None

    def blank(self, name: str) -> Blank:
        return self.blanks.get(name, TEXT)

    @property
    def pattern(self) -> str:
        """A regular expression without groups."""
        return self._with("(?:{pattern})")

    @cached_property
    def _reader(self) -> re.Pattern[str]:
        return re.compile(self._with("(?P<{name}>{pattern})"), re.DOTALL)

    def _with(self, group: str) -> str:
        pieces = _PLACEHOLDER.split(self.text)
        return "".join(
            group.format(name=piece, pattern=self.blank(piece).pattern) if place % 2 else re.escape(piece)
            for place, piece in enumerate(pieces)
        )
