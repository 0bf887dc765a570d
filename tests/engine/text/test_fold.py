"""Folding: what a reader would call the same text has the same key, and positions lead back."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given

from linker.engine.text.clean import clean, visible
from linker.engine.text.fold import fold, fold_chars, fold_offsets
from tests.engine.strategies import hostile_text
from tests.examples import tried


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café", "CAFE\u0301"),
        ("Straße", "STRASSE"),
        ("ISPARTA", "ısparta"),
        ("İstanbul", "istanbul"),
        ("Łódź", "lodz"),
        ("œuvre", "OEUVRE"),
        ("don’t", "don't"),
        ("a – b", "a - b"),
        ("ﬁn", "fin"),
        ("ＡＢＣ", "abc"),
        ("a\u00a0\t\nb ", "a b"),
        ("so\u00adft", "soft"),
        ("كَتَبَ", "كتب"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
    ],
)
def test_texts_a_reader_calls_the_same_fold_to_the_same_key(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(("one", "other"), [("か", "が"), ("कि", "की"), ("ที่", "ทา"), ("a b", "ab"), ("rest", "resto")])
def test_marks_that_make_another_letter_are_kept(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@given(hostile_text)
@tried(100)
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(hostile_text)
@tried(100)
def test_offsets_cut_the_folded_text_into_the_folded_characters(text: str) -> None:
    folded, offsets = fold_chars(text), fold_offsets(text)
    pieces = [folded[start:end] for start, end in pairwise(offsets)]
    assert pieces == [fold_chars(char) for char in text]
    assert offsets[-1] == len(folded)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("IRS &#8211; Usability", "IRS – Usability"),
        ("Fish &amp;amp; Chips", "Fish & Chips"),
        ("Sale <b>now</b> &lt;EM class=x&gt;on</em>", "Sale now on"),
        ("The <b> element", "The <b> element"),
        ("pay\u202egnihton\u202c now", "paygnihton now"),
        ("a\x00b\ud800c\ue001", "abc"),
        ("  two\n\tlines\u2028here ", "two lines here"),
        ("👩\u200d👧 & co", "👩\u200d👧 & co"),
    ],
)
def test_clean_text_reads_as_written_and_can_be_stored(raw: str, shown: str) -> None:
    assert clean(raw) == shown


@given(hostile_text)
@tried(100)
def test_visible_text_can_be_encoded_and_holds_no_control_character(text: str) -> None:
    shown = visible(text)
    shown.encode()
    assert not any(ord(char) < 32 or "\u202a" <= char <= "\u202e" or "\u2066" <= char <= "\u2069" for char in shown)


@pytest.mark.parametrize("char", [chr(code) for code in range(128)])
def test_a_character_reads_the_same_alone_and_beside_a_letter_that_ascii_lacks(char: str) -> None:
    assert fold_chars(char + "é") == fold_chars(char) + "e"
    assert visible(char + "\u200b") == visible(char)
