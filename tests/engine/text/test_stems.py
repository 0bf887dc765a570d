"""Stems are light: plurals meet their singular, and nothing else of a word is touched."""

from __future__ import annotations

from linker.engine.text.stems import stem


def test_stems_leave_short_words_and_unknown_languages_alone() -> None:
    assert stem("bus") == "bus"
    assert stem("glass") == "glass"
    assert stem("news", "xx") == "news"
    assert stem("chevaux", "fr") == "cheval"
