"""A phrase is found where a reader would find it, and shown with the sentence it stands in."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from linker.engine.text.clean import collapse, visible
from linker.engine.text.fold import fold, fold_chars, is_boundary
from linker.engine.text.sentences import SIDE, Context, find_phrase, sentence_and_heading, sentence_around
from tests.engine.strategies import hostile_text, words
from tests.examples import tried


def found(text: str, phrase: str) -> str | None:
    span = find_phrase(text, phrase)
    return None if span is None else text[slice(*span)]


@pytest.mark.parametrize(
    ("text", "phrase", "match"),
    [
        ("Our Trail Shoes last.", "trail shoes", "Trail Shoes"),
        ("Our trail \t\u00a0shoes last.", "trail shoes", "trail \t\u00a0shoes"),
        ("Le CAFÉ noir", "café noir", "CAFÉ noir"),
        ("Le cafe\u0301 noir", "cafe", "cafe\u0301"),
        ("In ISPARTA: Roses", "ısparta", "ISPARTA"),
        ("Die Straße lang", "STRASSE", "Straße"),
        ("It’s the user’s manual", "user's manual", "user’s manual"),
        ("so\u00adlar panels", "solar", "so\u00adlar"),
        ("entirely tents, tent", "tent", "tent"),
        ("use <set> here", "<set>", "<set>"),
        ("we write C++ code", "c++", "C++"),
        ("日本語の漢字です", "漢字", "漢字"),
        ("זה ספר טוב", "סֵפֶר", "ספר"),
        ("a 👩‍👧 family", "👩‍👧 family", "👩‍👧 family"),
    ],
)
def test_case_accents_and_spaces_do_not_matter(text: str, phrase: str, match: str) -> None:
    assert found(text, phrase) == match


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("entirely contents", "tent"),
        ("tents", "tent"),
        ("x_tent", "tent"),
        ("a ½ cup", "1"),
        ("हिन्दी", "हि"),
        ("End of trail\nshoes begin", "trail shoes"),
        ("anything", ""),
        ("anything", " \u200b "),
        ("", "tent"),
    ],
)
def test_parts_of_words_and_of_characters_and_paragraph_breaks_do_not_match(text: str, phrase: str) -> None:
    assert find_phrase(text, phrase) is None


def test_the_first_whole_word_is_found_behind_parts_of_words() -> None:
    assert find_phrase("stents, tents, tent; tent", "tent") == (15, 19)


def slowly(text: str, phrase: str) -> tuple[int, int] | None:
    """Every span of the text, tried one by one, in the folded alphabet."""
    key = fold(phrase)
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            piece = fold_chars(text[start:end])
            if (
                key
                and fold_chars(text[start])
                and "\n" not in piece
                and piece == piece.strip()
                and fold(piece) == key
                and is_boundary(fold_chars(text), len(fold_chars(text[:start])))
                and is_boundary(fold_chars(text), len(fold_chars(text[:end])))
            ):
                return start, end
    return None


texts = st.tuples(words, st.sampled_from([" ", "  ", "\n", "-", "", "\u0301", "\u00ad"])).map(lambda x: x[1].join(x[0]))


@given(texts | hostile_text, words.map(" ".join) | st.text(max_size=3))
@example("½ 1 x", "1 x")
@example("te\u0301nt \u0301tent", "tent")
@example("漢字\u0301tent", "漢字")
@tried(300)
def test_it_finds_what_trying_every_span_finds(text: str, phrase: str) -> None:
    span, expected = find_phrase(text, phrase), slowly(text, phrase)
    if expected is None:
        assert span is None
    else:
        assert span is not None
        assert span[0] == expected[0]
        assert fold(text[slice(*span)]) == fold(phrase)


TEXT = (
    "Choosing a tent\n"
    "A tent keeps you dry. Dr. Berg of the U.S. survey tried e.g. dome tents in the Alps. They held!\n"
    "Care\n"
    "Dry the tent before you pack it.\n"
)


def around(text: str, phrase: str) -> Context:
    span = find_phrase(text, phrase)
    assert span is not None
    return sentence_around(text, *span)


def test_the_sentence_its_neighbours_and_its_heading_are_shown() -> None:
    assert around(TEXT, "dome tents") == Context(
        before="A tent keeps you dry.",
        sentence_before="Dr. Berg of the U.S. survey tried e.g. ",
        match="dome tents",
        sentence_after=" in the Alps.",
        after="They held!",
        heading="Choosing a tent",
    )


def test_headings_are_no_neighbouring_sentences() -> None:
    context = around(TEXT, "before you pack")
    assert (context.before, context.after, context.heading) == ("", "", "Care")


def test_paragraphs_next_to_each_other_are_neighbours() -> None:
    context = around("One ends. Two ends.\nThree is here.\nFour ends. Five ends.", "three")
    assert (context.before, context.after) == ("Two ends.", "Four ends.")


def test_of_two_short_lines_the_lower_is_the_heading_and_of_a_list_the_first() -> None:
    prose = "Here is a sentence with the word zebra in it."
    assert around(f"Guide\nTents\n{prose}", "zebra").heading == "Tents"
    assert around(f"Materials\nNylon\nCotton\nPolyester\n{prose}", "zebra").heading == "Materials"
    assert around("Some prose first.\nMaterials\nNylon\nPolyester fleece", "fleece").heading == "Materials"
    assert around(f"Prose goes first.\n- item\n{prose}", "zebra").heading == ""


def test_long_sentences_are_cut_between_words() -> None:
    context = around("word " * 300 + "zebra" + " tail" * 300, "zebra")
    assert context.sentence_before.startswith("…word ")
    assert context.sentence_before.endswith(" word ")
    assert context.sentence_after.endswith(" tail…")
    assert max(len(context.sentence_before), len(context.sentence_after)) <= SIDE + 1


def test_invisible_characters_are_not_shown() -> None:
    context = sentence_around("Pay \u202eevil\u202c\x00 here.", 4, 10)
    assert context.match == "evil"
    assert context.sentence_after == " here."


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (3, 2), (0, 5)])
def test_a_span_outside_of_the_text_is_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="outside"):
        sentence_around("tent", start, end)


@given(hostile_text, st.data())
@tried(300)
def test_any_span_of_any_text_has_a_context_of_bounded_length(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    context = sentence_around(text, start, end)
    assert collapse(context.match) == collapse(visible(text[start:end]))
    for part in (context.before, context.sentence_before, context.sentence_after, context.after):
        assert len(part) <= SIDE + 1
        assert "\x00" not in part
        assert "\u202e" not in part


def test_a_megabyte_without_breaks_is_searched_and_shown() -> None:
    text = "a. " * 333_000 + "zebra" + "!" * 10_000
    assert around(text, "zebra").match == "zebra"
    assert find_phrase("a " * 500_000, "a a a b") is None


@given(st.data())
def test_the_sentence_that_is_kept_is_the_one_that_is_shown(data):
    text = data.draw(hostile_text)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    shown = sentence_around(text, start, end)
    sentence = shown.sentence_before + shown.match + shown.sentence_after
    assert sentence_and_heading(text, start, end) == (sentence, shown.heading)
