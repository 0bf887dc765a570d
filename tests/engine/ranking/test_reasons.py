"""A reason names words of the text only where these say which page is meant."""

from __future__ import annotations

import pytest

from linker.engine.ranking.reasons import phrase_in, why, without_words
from linker.engine.text.names import says_only_in_names

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


def test_the_name_of_the_page_that_gives_the_link_is_no_reason_where_its_text_says_nothing_else_of_it():
    named = LINKED | {"anchor_links": 0.0}
    assert phrase_in(why(named, "Ridge").sentence) == "Ridge"
    assert why(named, "Ridge", is_own=True).sentence == ALIKE


@pytest.mark.parametrize(
    ("text", "phrase", "is_own"),
    [
        ("The Ridge 2 Tent weighs 2 kg. ridge 2 tent owners like it.", "Ridge 2 Tent", True),
        ("The Ridge 2 Tent weighs 2 kg.", "ridge", True),
        ("The Ridge 2 Tent is for the ridge.", "ridge", False),
        ("The Ridge 2 Tent is for ridges.", "ridge", True),
        ("It weighs 2 kg.", "ridge", False),  # the text says it in another form
        ("Warm socks for the Ridge 2 Tent.", "warm socks", False),
    ],
)
def test_words_are_the_pages_own_name_where_the_text_says_them_nowhere_else(text, phrase, is_own):
    assert says_only_in_names(text, phrase, ["Ridge 2 Tent", "Ridge 2 Tent: our lightest", ""]) is is_own


@pytest.mark.parametrize(
    ("features", "said"),
    [
        (
            LINKED,
            "2 other links to this page have the words “wool, and socks”, "
            "and the two pages are alike in meaning (0.50).",
        ),
        ({"share": 0.5, "anchor_links": 0.7}, "1 other link to this page has the words “wool, and socks”."),
        ({"named": 4.0, "cosine": 0.5}, ALIKE),
        (
            {"named": 1.0, "cosine": 0.5, "links_back": 1.0},
            f"It links to the donor already, and {ALIKE[0].lower()}{ALIKE[1:]}",
        ),
        ({"named": 4.0}, ""),
        ({"cosine": 0.5}, ALIKE),
    ],
    ids=["links", "a link", "name", "mention", "name alone", "no words"],
)
def test_a_link_that_does_not_take_the_words_is_not_proposed_for_them(features, said):
    phrase = "wool, and socks" if len(features) > 1 or "named" in features else ""
    sentence = why(features, phrase).sentence
    assert phrase_in(sentence) == phrase
    assert without_words(sentence) == said


def test_a_sentence_that_is_no_reason_is_left_as_it_is():
    old = "The text says “wool socks” and nothing else that anybody knew then."
    assert without_words(old) == old
