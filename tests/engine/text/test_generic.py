"""Anchors that say nothing are known in every language the product speaks."""

from __future__ import annotations

import pytest
from hypothesis import given

from linker.engine.text.fold import fold
from linker.engine.text.generic import is_generic, primary_language
from linker.engine.text.words import GENERIC_PHRASES, STOP_WORDS
from tests.engine.strategies import hostile_text
from tests.examples import tried


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Click here", "en"),
        ("READ MORE »", "en-GB"),
        ("here.", "en"),
        ("Home", "en_US"),
        ("En savoir plus…", "fr-FR"),
        ("A propos", "fr"),
        ("Weiterlesen →", "de"),
        ("uber uns", "de-AT"),
        ("Leer más", "es-MX"),
        ("Scopri di più", "it"),
        ("Lees meer", "nl-BE"),
        ("Saiba mais", "pt-BR"),
        ("read more", "fr"),
        ("Weiterlesen", ""),
        ("Weiterlesen", "fi"),
        ("the", "en"),
        ("über", "de"),
        ("", "en"),
        ("…!?", "en"),
        ("\u200b\u202e", "en"),
        ("2024", "en"),
        ("€ 12,50", "en"),
        ("٣٤", "ar"),
        ("x", "en"),
        ("https://example.com/tents", "en"),
        ("www.example.com", "en"),
        ("example.com/tents/", "en"),
        ("mail@example.com", "en"),
    ],
)
def test_these_say_nothing(text: str, language: str) -> None:
    assert is_generic(text, language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Trail shoes", "en"),
        ("Read more about trail shoes", "en"),
        ("Weiterlesen", "en"),
        ("Zelte", "de"),
        ("Node.js", "en"),
        ("Set.prototype.entries()", "en"),
        ("Digital.gov", "en"),
        ("TCP/IP", "en"),
        ("<a>", "en"),
        ("C++", "en"),
        ("18F", "en"),
        ("漢", "ja"),
        ("שלום", "he"),
    ],
)
def test_these_say_something(text: str, language: str) -> None:
    assert not is_generic(text, language)


def test_a_projects_own_words_are_banned_whatever_their_case() -> None:
    assert is_generic("Our Shop!", "en", banned=["our shop"])
    assert not is_generic("Our Shop", "en", banned=["shop", ""])


@pytest.mark.parametrize("language", sorted(GENERIC_PHRASES))
def test_every_listed_phrase_is_generic_in_its_language_and_in_an_unknown_one(language: str) -> None:
    listed = [*GENERIC_PHRASES[language].split(";"), *STOP_WORDS[language].split()]
    assert [text for text in listed if not (is_generic(text, language) and is_generic(text))] == []


def test_languages_are_known_by_their_first_part() -> None:
    assert [primary_language(tag) for tag in ("en-GB", "pt_BR", " DE ", "")] == ["en", "pt", "de", ""]


@given(hostile_text)
@tried(200)
def test_what_is_not_generic_holds_a_letter(text: str) -> None:
    assert is_generic(text) or any(char.isalpha() for char in fold(text))
