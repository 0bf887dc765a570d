"""The word lists, read from `words/`, and words that a project adds to them.

words/en.txt says how a list is written.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from linker.engine.text.fold import fold
from linker.engine.text.generic import stop_words

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = ("medical", "legal", "financial")
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")
_FOLDER = Path(__file__).parent / "words"
_SECTION = re.compile(r"\[(medical|legal|financial)(, here)?\]")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
TOKEN = re.compile(r"[^\W_]+|[/|:;.!?]")


@dataclass(frozen=True)
class Entry:
    """A word of a list. `forms` are folded, as tuples of tokens; a star at an end stands for any letters.

    `word` is how it is shown, `key` what tells it from others of its kind. `language` is set where it counts on pages
    of that language alone. `is_other`: phrases in which the words mean something else; they hide what they cover.
    """

    kind: str
    word: str
    forms: tuple[tuple[str, ...], ...]
    language: str | None = None
    is_other: bool = False

    @property
    def key(self) -> str:
        """The same for all ways to write the word, see `word_key`."""
        return word_key(self.word)


def word_key(word: str) -> str:
    """What two ways to write a word share."""
    return " ".join(tokens(word))


def tokens(text: str) -> list[str]:
    """The folded words of a text, and the signs that no phrase goes across."""
    return TOKEN.findall(fold(text))


def own_entry(kind: str, word: str) -> Entry:
    """A word that a project adds: its forms apart by commas, the first is shown."""
    forms = [form for form in map(_form, _spellings(word)) if form]
    return Entry(kind, word.split(",")[0].strip(), tuple(dict.fromkeys(forms)))


@cache
def entries() -> tuple[Entry, ...]:
    """Every list's words, language by language, in the order of their files."""
    return tuple(entry for language in LANGUAGES for entry in _read(language))


def listed(kind: str, word: str) -> str | None:
    """The word under which a list of the kind has this one, or has it as another form; None where no list has it."""
    key = word_key(word)
    words = [entry for entry in entries() if entry.kind == kind and not entry.is_other]
    same = (entry.word for entry in words if entry.key == key)
    other = (entry.word for entry in words if key in {" ".join(form).replace("*", "") for form in entry.forms})
    return next(same, None) or next(other, None)


def _read(language: str) -> Iterator[Entry]:
    kind, here = "", None
    for line in (_FOLDER / f"{language}.txt").read_text(encoding="utf-8").splitlines():
        section = _SECTION.fullmatch(line.strip())
        if section is not None:
            kind, here = section[1], language if section[2] else None
        elif line.strip() and not line.startswith("#"):
            is_other = line.startswith("!")
            entry = own_entry(kind, line.lstrip("! "))
            yield Entry(kind, entry.word, entry.forms, here, is_other)


def _spellings(words: str) -> Iterator[str]:
    """Each form, and as German addresses write it."""
    for form in words.split(","):
        yield form
        plain = form.lower().translate(_UMLAUTS)
        if plain != form.lower():
            yield plain


def _form(text: str) -> tuple[str, ...]:
    text = text.strip()
    found = tuple(tokens(text))
    if not found:
        return ()
    first = f"*{found[0]}" if text.startswith("*") else found[0]
    found = (first, *found[1:])
    return (*found[:-1], f"{found[-1]}*") if text.endswith("*") else found


def likely_language(text: str) -> str | None:
    """The language most of whose function words are in the text; None where no language has ten there."""
    found = Counter(tokens(text))
    counts = {language: sum(found[word] for word in stop_words(language)) for language in LANGUAGES}
    language = max(counts, key=lambda one: counts[one])
    return language if counts[language] >= 10 else None
