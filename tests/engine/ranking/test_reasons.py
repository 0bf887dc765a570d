"""A reason names words of the text only where these say which page is meant."""

from __future__ import annotations

import pytest

from linker.engine.ranking.reasons import phrase_in, why

LINKED = {"share": 0.5, "anchor_links": 1.1, "keyness": 0.4, "named": 4.0, "title_in_text": 1.0, "cosine": 0.5}
ALIKE = "The two pages are alike in meaning (0.50)."


@pytest.mark.parametrize(
    ("phrase", "language"),
    [
        ("Examples", "en"),
        ("the latest guides", "en-GB"),
        ("read more", "de"),
        ("Beispiele", "de"),
        ("here", ""),
        ("2.1", ""),
    ],
)
def test_words_that_fit_any_page_are_no_reason(phrase, language):
    assert why(LINKED, phrase, language=language).sentence == ALIKE


@pytest.mark.parametrize(
    ("phrase", "language"), [("Examples of tents", "en"), ("warm socks", ""), ("Beispiele für Zelte", "de")]
)
def test_words_that_say_which_page_are_one(phrase, language):
    assert phrase_in(why(LINKED, phrase, language=language).sentence) == phrase
    named = {"named": 4.0}
    assert why(named, phrase, language=language).sentence == f"The text names this page: “{phrase}”."
