"""The part of a text that a card shows, word by word."""

from __future__ import annotations

import html
import itertools
import re
import sys
import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from linker.engine.text.clean import visible
from linker.engine.text.fold import is_word_char
from linker.engine.text.sentences import find_phrase
from review.queue.excerpt import LENGTH, MARKED, Excerpt, excerpt_around

PARTS = (
    "warm", "boots", "Dr.", "e.g.", "don’t", "well-known", "Stra\u00adße", "cafe\u0301",
    "雪の上のブーツ。", "हिन्दी में", "ไทย",
    "שָׁלוֹם", "\u200fمرحبا\u200e", "\u202eevil\u202c", "🥾", "👩\u200d🚀", "<b>&amp;", "ﬁsh", "½", "…", "!", "? ", ". ",
    " ", "  ", "\t", "\u00a0", "\n", "\n\n", "\r\n", "\u2028", "\0", "\ufeff", "Heading\n",
)  # fmt: skip
MARKS = "".join(char for char in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(char).startswith("M"))
TEXTS = st.lists(st.one_of(st.sampled_from(PARTS), st.text(max_size=8)), min_size=1, max_size=60).map("".join)


@st.composite
def spans(draw: st.DrawFn) -> tuple[str, int, int]:
    """A text, and a part of it that is not empty."""
    body = draw(TEXTS.filter(bool)) * draw(st.sampled_from((1, 1, 1, 40)))
    start = draw(st.integers(0, len(body) - 1))
    return body, start, draw(st.integers(start + 1, min(len(body), start + 200)))


def check(body: str, start: int, end: int, linked: tuple[str, ...] = ()) -> Excerpt:
    """The excerpt, which holds what every excerpt does."""
    found = excerpt_around(body, start, end, linked)
    pieces = found.pieces
    assert pieces[0].start <= start
    assert end <= pieces[-1].end
    assert pieces[0].start >= 0
    assert pieces[-1].end <= len(body)
    assert all(one.end == other.start for one, other in itertools.pairwise(pieces))
    assert all(piece.text == visible(body[piece.start : piece.end]) for piece in pieces)
    assert "".join(piece.text for piece in pieces) == visible(body[pieces[0].start : pieces[-1].end])
    anchor = [piece for piece in pieces if piece.in_anchor]
    assert "".join(piece.text for piece in anchor) == visible(body[start:end])
    shown = pieces[-1].end - pieces[0].start
    assert shown <= 2 * LENGTH + (end - start)
    assert found.holds(start, end)
    assert not found.holds(start, pieces[-1].end + 1)
    return found


@given(spans(), st.lists(st.sampled_from(PARTS), max_size=3))
@example(("warm boots", 0, 4), [])
@example(("\n\nboots\n", 2, 7), ["boots"])
@example(("\n", 0, 1), [])
@example(("a\n\nb", 0, 4), [])
def test_the_pieces_give_the_text_and_those_of_the_anchor_the_anchor(span, linked):
    check(*span, linked=tuple(linked))


@given(spans())
@example(("0\U00011d3a0", 0, 1))  # a vowel sign beyond the basic plane
def test_no_letter_is_cut_from_its_marks(span):
    body, start, end = span
    found = check(*span)
    for piece in found.pieces:
        at = piece.start
        if at not in (0, start, end, found.pieces[0].start) and piece.is_word:
            letter = body[:at].rstrip(MARKS)[-1:]  # a mark may stand on what is no letter
            assert not (letter and is_word_char(letter) and is_word_char(body[at])), (body, at)


@pytest.mark.parametrize("before", [False, True])
def test_a_word_that_is_too_long_to_be_shown_is_cut_between_letters(before):
    """Each letter has three marks; the word has no end within what is shown."""
    word = "a\u0301\u0302\u0303" * 1000
    body = f"boots {word}" if not before else f"{word} boots"
    start = body.index("boots")
    pieces = check(body, start, start + 5).pieces
    first, last = pieces[0].start, pieces[-1].end
    assert body[first] in "ab"
    assert last == len(body) or body[last] == "a"


@given(spans())
def test_the_html_reads_as_the_pieces_and_says_their_places(span):
    found = check(*span)
    markup = str(found.html)
    read = html.unescape(re.sub(r"<[^>]*>", "", markup))
    expected = "".join(piece.text for piece in found.pieces)
    # An unescape reads more than was escaped: a text may hold what looks like an entity.
    assert read == f"{'… ' * found.is_cut[0]}{html.unescape(html.escape(expected))}{' …' * found.is_cut[1]}"
    words = [piece for piece in found.pieces if piece.is_word and piece.text]
    assert re.findall(r'data-from="(\d+)" data-to="(\d+)"', markup) == [(str(w.start), str(w.end)) for w in words]


def words(body: str, phrase: str) -> list[str]:
    span = find_phrase(body, phrase)
    assert span is not None
    return [piece.text for piece in check(body, *span).pieces if piece.is_word]


@pytest.mark.parametrize(
    ("body", "phrase", "expected"),
    [
        ("Don’t wear well-known shoes.", "shoes", ["Don’t", "wear", "well-known", "shoes"]),
        ("Die Stra\u00ad\u00dfe ist lang.", "lang", ["Die", "Straße", "ist", "lang"]),
        ("Un cafe\u0301 noir.", "noir", ["Un", "cafe\u0301", "noir"]),
        ("यह हिन्दी में है।", "में", ["यह", "हिन्दी", "में", "है"]),
        ("שָׁלוֹם לכם", "לכם", ["שָׁלוֹם", "לכם"]),
        ("雪の上のブーツを買う。", "ブーツ", ["雪の上の", "ブーツ", "を買う"]),
    ],
)
def test_words_are_those_of_the_script(body, phrase, expected):
    assert words(body, phrase) == expected


def test_the_sentence_of_the_anchor_is_shown_with_its_neighbours_and_the_heading():
    body = "Boots\nOne. Two warm boots. Three.\nNext line."
    start = body.index("warm")
    found = check(body, start, start + 10)
    assert found.heading == "Boots"
    assert "".join(piece.text for piece in found.pieces) == "One. Two warm boots. Three."
    assert found.is_cut == (False, False)


def test_of_a_long_paragraph_whole_sentences_around_the_anchor_are_shown():
    sentence = "This one says nothing about it at all. "
    body = sentence * 40 + "Here are warm boots. " + sentence * 40
    start = body.index("warm boots")
    found = check(body, start, start + 10)
    shown = "".join(piece.text for piece in found.pieces)
    assert found.is_cut == (True, True)
    assert LENGTH - 2 * len(sentence) < len(shown) <= LENGTH
    assert shown.strip().startswith("This one")
    assert shown.endswith(".")
    assert str(found.html).startswith("… ")
    assert str(found.html).endswith(" …")


@pytest.mark.parametrize("filler", ["word ", "雪の上を歩く", "x", "a\u0301", "\u200f", ". ", "...", " ", "Dr. "])
def test_a_huge_line_is_shown_in_part_and_quickly(filler):
    body = filler * (100_000 // len(filler)) + " warm boots " + filler * (100_000 // len(filler))
    start = body.index("warm boots")
    began = time.perf_counter()
    found = check(body, start, start + 10, ("walking shoes", "boots") * 100)
    assert time.perf_counter() - began < 2
    assert found.pieces[-1].end - found.pieces[0].start <= 2 * LENGTH + 10


@pytest.mark.parametrize("filler", ["雪の上を歩く", "x"])
def test_around_an_anchor_in_a_line_without_spaces_there_is_something_to_read(filler):
    body = filler * 1000 + "ブーツ" + filler * 1000
    start = body.index("ブーツ")
    found = check(body, start, start + 3)
    assert found.pieces[0].start < start - LENGTH // 2
    assert found.pieces[-1].end > start + LENGTH // 2


def test_links_that_the_text_has_already_are_marked_in_their_first_place():
    body = "Warm boots and socks, and boots again."
    start = body.index("socks")
    found = check(body, start, start + 5, ("boots", "hats", ""))
    assert [(piece.text, piece.start) for piece in found.pieces if piece.is_linked] == [("boots", 5)]
    assert 'class="is-linked">boots</span>' in str(found.html)


def test_marks_are_looked_for_wherever_unicode_has_some():
    assert set(map(ord, MARKS)) <= set(MARKED)
