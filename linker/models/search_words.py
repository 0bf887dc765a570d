"""The words of a text as the queue searches them: without punctuation, case and accents.

The database makes them, by a function of its own that the indexes use (migrations 0003 and 0061), so that a text and
what is searched for in it are read alike. It takes Latin, Greek and Cyrillic accents away, as linker.engine.text.fold
does, and "ø", "ł", "đ", "ħ" and "ı" for their plain letters; "æ" and "œ" stay one letter each. Where in a text a word
stands is not known of every text, so nothing may ask for phrases.
"""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.search import SearchVectorField
from django.db.models import BooleanField, Func, Value

WORDS = "anchorline_words"  # the function: texts to a tsvector
PATTERN = "anchorline_word_starts"  # the function: a text to a tsquery for all its words, each as the start of one


class SearchWords(Func):
    """The words of one or more columns."""

    function = WORDS
    output_field = SearchVectorField()


class Holds(Func):
    """Whether the words of columns hold each word of `text`, as the start of one of theirs."""

    output_field = BooleanField()
    template = "%(expressions)s"
    arg_joiner = " @@ "

    def __init__(self, *columns: str, text: str, **extra: Any) -> None:
        super().__init__(SearchWords(*columns), Func(Value(text), function=PATTERN), **extra)
