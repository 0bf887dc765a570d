"""A link stands on a phrase of the text, never in a heading, code, quote, caption or another link."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.anchors.placement import Folded, LinkableText, StemPositions, Verdict, occurrences, unsuitable
from linker.engine.text.fold import fold_chars, is_boundary
from tests.engine.strategies import hostile_text
from tests.examples import tried


@given(hostile_text, st.sampled_from(["tent", "é", "a b", "x", "漢", "½", "ß"]))
@tried(300)
def test_spans_fold_to_the_phrase_and_stand_between_words(text: str, phrase: str) -> None:
    for start, end in occurrences(Folded(text), phrase):
        assert 0 <= start < end <= len(text)
        assert fold_chars(text[start:end]).split() == fold_chars(phrase).split()


@given(st.lists(st.sampled_from(["tent", "Tént", "ten", " ", "\n", ".", "tents"]), max_size=20).map("".join))
def test_every_mention_is_found(text: str) -> None:
    folded = fold_chars(text)
    expected = [
        place
        for place in range(len(folded))
        if folded.startswith("tent", place) and is_boundary(folded, place) and is_boundary(folded, place + 4)
    ]
    assert [start for start, _ in occurrences(Folded(text), "tent")] == expected


@given(
    st.lists(st.sampled_from(["a", "red", "tent", "red tent", " ", "  ", "\t", "\n", ".", "tents"]), max_size=25).map(
        "".join
    ),
    st.sampled_from(["red tent", "a red  tent", "tent tent", "a a", "tent a red"]),
)
@tried(400)
def test_words_of_a_phrase_are_found_where_a_regular_expression_finds_them(parts: list[str], phrase: str) -> None:
    text = "".join(parts)
    pattern = re.compile(" +".join(map(re.escape, phrase.split())))
    folded = fold_chars(text)
    starts = [place for place in range(len(folded)) if pattern.match(folded, place) and is_boundary(folded, place)]
    ends = {start: pattern.match(folded, start).end() for start in starts}  # type: ignore[union-attr]
    expected = [(start, ends[start]) for start in starts if is_boundary(folded, ends[start])]
    assert occurrences(Folded(text), phrase) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "Choosing a tent\nA tent keeps the rain out, and there is a great deal more to say about it than that.",
            "heading",
        ),
        ("const tent = make({size: 2});", "code"),
        ("> he said that a tent is best", "quote"),
        ("Figure 3: a tent in the rain", "caption"),
        ('The page <a title="Our tent" href="/x">here</a> has it all.', "code"),
        ("Choose Gear > tent > New to add one of your own.", "path"),
        ("Choose tent › New to add one of your own.", "path"),
        ("Choose Gear → “tent” and add one of your own.", "path"),
        ("A tent with more than 3 poles (>3) is heavy.", ""),
        ("As 3 < 5, a tent is better than 2 of them.", ""),
        ("A tent keeps the rain out.", ""),
        ("tent\nstove\nlamp", ""),
    ],
)
def test_where_a_link_must_not_stand(text: str, reason: str) -> None:
    start = text.index("tent")
    assert unsuitable(text, start, start + 4) == reason


def test_a_link_is_not_laid_over_another() -> None:
    page = LinkableText("The red tent is here. A tent is there.", linked=["red tent"])
    placement = page.take([("tent", "title", 1.0)], ("Tent", "h1"))
    assert placement.verdict is Verdict.INLINE
    assert placement.place is not None
    assert placement.place.start == 24
    again = page.take([("tent", "title", 1.0)], ("Tent", "h1"))
    assert again.verdict is Verdict.GAP
    assert again.anchor == "Tent"
    assert page.take([], ("Tent", "h1"), inline=False).verdict is Verdict.RELATED


@pytest.mark.parametrize("links", [1, 2, 3, 7, 8])
def test_as_many_mentions_are_taken_as_there_are_links_on_them(links: int) -> None:
    page = LinkableText("a tent, " * 7, linked=["tent"] * links)
    assert page.existing == [(2 + 8 * number, 6 + 8 * number) for number in range(min(links, 7))]
    found = page.take([("tent", "title", 1.0)], ("", "")).place
    assert (found and found.start) == (2 + 8 * links if links < 7 else None)


def test_a_link_on_a_word_is_not_looked_for_inside_longer_links() -> None:
    page = LinkableText("red tent, " * 6 + "tent, tent", linked=["tent", *["red tent"] * 6])
    assert page.existing[-1] == (60, 64)
    found = page.take([("tent", "title", 1.0)], ("", "")).place
    assert found is not None
    assert found.start == 66


@pytest.mark.parametrize("heading", ["Tent", "  TÉNT "])
def test_a_line_that_reads_like_a_heading_of_the_page_carries_no_link(heading: str) -> None:
    text = "tent\nstove\nOne tent."
    page = LinkableText(text, headings=["Lamps", heading, ""])
    found = page.take([("tent", "title", 1.0)], ("", "")).place
    assert found is not None
    assert found.start == 15
    assert page.take([("tent", "title", 1.0)], ("", "")).verdict is Verdict.GAP
    assert page.take([("stove", "title", 1.0)], ("", "")).anchor == "stove"


def test_links_are_spread_over_the_lines_and_others_are_offered() -> None:
    page = LinkableText("A tent and a stove.\nAnother tent and a lamp.")
    assert page.take([("stove", "title", 1.0)], ("", "")).anchor == "stove"
    placement = page.take([("tent", "anchor", 2.0), ("lamp", "title", 1.0)], ("", ""))
    assert placement.place is not None
    assert placement.place.start == 28
    assert [other.anchor for other in placement.others] == ["lamp"]


def test_the_best_place_of_words_comes_first_unless_its_line_has_many_links() -> None:
    text = "A tent, a stove and a lamp.\nAnother tent, a stove, a lamp and a map."
    best = text.rindex("tent")
    for links, expected in ((0, best), (1, best), (2, best), (3, 2)):
        second = [text.rindex(words) for words in ("stove", "lamp", "map")[:links]]
        page = LinkableText(text, taken=[(start, start + 3) for start in second])
        place = page.take([("tent", "title", 1.0)], ("", ""), best={"tent": best}).place
        assert place is not None
        assert place.start == expected
    assert LinkableText(text).places([("tent", "title", 1.0)])[0].start == 2


def test_parts_of_a_name_that_stand_close_together() -> None:
    words = StemPositions(Folded("We learned lessons. Lessons from mobile testing, and a tent."), "en")
    span = words.nearest_to("Mobile Web Lessons From Testing", frozenset({"from"}))
    assert span is not None
    assert words.text.text[span[0] : span[1]] == "Lessons from mobile testing"
    assert words.nearest_to("Kayak", frozenset()) is None
    assert words.nearest_to("tent learned", frozenset()) is None


@given(hostile_text, hostile_text)
@tried(150)
def test_any_text_and_name(text: str, name: str) -> None:
    span = StemPositions(Folded(text), "en").nearest_to(name, frozenset())
    assert span is None or 0 <= span[0] < span[1] <= len(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Text before it.\nplt.subplot(143)\nplt.title('watershed segmentation')\nplt.subplot(144)", "watershed"),
        ("plt.axes([0, 0, 1, 1])\n# A convex function\nplt.plot(x, f(x), linewidth=2)", "convex function"),
    ],
)
def test_a_line_among_lines_of_a_program_is_code(text: str, words: str) -> None:
    start = text.index(words)
    assert unsuitable(text, start, start + len(words)) == "code"


def test_a_line_of_prose_with_a_call_in_it_is_none() -> None:
    text = "Plots are easy to make.\nCall plt.plot(x) for a convex function\nRead on about watershed segmentation."
    start = text.index("convex")
    assert unsuitable(text, start, start + 6) == ""
