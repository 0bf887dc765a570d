"""The sentences that cards store in English, in the reader's language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.engine import worth
from linker.engine.ranking import reasons
from linker.pages import sensitive_sayings
from linker.reports import sentences

if TYPE_CHECKING:
    from collections.abc import Iterable

    from linker.engine.sayings import Saying

OF_CARDS: tuple[Saying, ...] = (*reasons.SENTENCES, *worth.SENTENCES, *sensitive_sayings.SENTENCES)


def in_words(stored: str, sayings: Iterable[Saying] = OF_CARDS) -> str:
    """A stored sentence in the reader's language; as it is stored where it is none of these sayings."""
    return sentences.in_words(stored, sayings)
