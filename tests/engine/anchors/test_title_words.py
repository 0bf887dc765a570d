"""Parts of a title that no other title has mean its page nearly as surely as the whole."""

from __future__ import annotations

import numpy as np
import pytest

from linker.engine.anchors.choice import anchor_choices, span_finder
from linker.engine.anchors.span_features import span_features
from linker.engine.anchors.spans import CandidateSpans, Spans, text_blocks
from linker.engine.anchors.target_words import TargetWords
from linker.engine.anchors.title_words import MANY, TitleWords, parts_of_titles
from linker.engine.anchors.tokenized import SpanReader
from linker.engine.ranking.approval import shipped
from linker.engine.text.fold import fold
from tests.engine.anchors.test_ownership import OTHERS, evidence_of

TITLE = "How to run your own dam building course"


def is_part(body: str, words: str, title: str = TITLE, *others: str) -> bool:
    """Whether words, where they first stand in a text, are a part of a title that means it and nothing else."""
    titles = ["Diary", *OTHERS, title, *others]
    finder = span_finder(evidence_of(titles, [body, *[""] * (len(titles) - 1)]), None)
    (texts,) = text_blocks(finder.reader, np.array([0]))
    place = fold(body).index(fold(words))
    first = np.array([np.searchsorted(texts.start, place)])
    last = np.array([np.searchsorted(texts.start, place + len(words))])
    target, one = np.array([7]), np.zeros(1, dtype=np.int64)
    known = TargetWords(finder.evidence, finder.anchors, target)
    numbers = span_features(finder, texts, known, target, Spans(one, first, last, one), one[:0])
    return bool(parts_of_titles(finder, texts, target, CandidateSpans(one, first, last, numbers))[0])


@pytest.mark.parametrize(
    ("body", "words", "title"),
    [
        ("We held a dam building course in the old hall.", "dam building course", TITLE),
        ("We held two building courses in the old hall.", "building courses", TITLE),
        ("The weir of Oakmill broke in spring.", "weir of Oakmill", "The Weir of Oakmill and its Keepers"),
        ("We read the oak-timber tables again.", "oak-timber tables", "Notes: the Oak-Timber Tables, new edition"),
    ],
)
def test_a_part_of_a_title_is_its_own(body: str, words: str, title: str) -> None:
    assert is_part(body, words, title)


@pytest.mark.parametrize(
    ("body", "words", "title"),
    [
        ("We held a course in the old hall.", "course", TITLE),
        ("We held a course on building a dam.", "course on building a dam", TITLE),
        ("We held a dam, building course in the hall.", "dam, building course", TITLE),
        ("We held the dam building course here.", "the dam building course", TITLE),
        ("We held a dam building course in the old hall.", "dam building", TITLE),
        ("The Oakmill Weir Treaty was signed.", "Oakmill Weir", "Keepers of Oakmill Weir"),
        ("They signed it in 1768 and the Oakmill Pact followed.", "1768 and the Oakmill Pact",
         "Weirs, 1768 and the Oakmill Pact"),
        ("The keepers of the weir met.", "keepers of the weir",
         "A very long list of all known keepers of the weir since records began in upper Oakmill county, old and new"),
    ],
)  # fmt: skip
def test_what_is_cut_short_or_out_of_order_is_no_part(body: str, words: str, title: str) -> None:
    assert not is_part(body, words, title)


def test_words_of_several_titles_belong_to_none() -> None:
    body, words, others = "We held a building course in May.", "building course", ["Mill building course"]
    assert is_part(body, words)
    assert is_part(body, words, TITLE, *others)
    assert not is_part(body, words, TITLE, *others, "Every building course of last year")


def test_of_two_titles_with_the_words_one_has_to_begin_or_end_with_them() -> None:
    body, words = "We held a dam building course in May.", "dam building"
    body = body.replace(" course", " week")
    assert is_part(body, words)
    assert not is_part(body, words, TITLE, "Dam building for beavers")


@pytest.mark.parametrize("name", ["Second dam building course", "Two dam building courses", "Dam building course 2.0"])
def test_which_of_several_a_page_is_may_not_be_left_out(name: str) -> None:
    assert not is_part("We held a dam building course in May.", "dam building course", name)


def test_two_words_that_many_texts_have_are_a_subject() -> None:
    titles = ["Diary", *OTHERS, "Join the course keepers", *[f"Page {number}" for number in range(12)]]
    rare = ["We met the course keepers in May.", *["Nothing."] * (len(titles) - 1)]
    common = [rare[0], *["The course of the keepers."] * (len(titles) - 1)]

    def weight(bodies: list[str]) -> float:
        (choices,) = anchor_choices(evidence_of(titles, bodies), np.array([0]), np.array([7]), shipped(), 9)
        return max(choice.weight for choice in choices if choice.text == "course keepers")

    assert weight(rare) > weight(common) + 1


def test_titles_with_all_words_are_counted() -> None:
    titles = ["mill dam", "mill dam weir", "weir", *["mill pond"] * MANY]
    index = evidence_of(titles, [""] * len(titles)).index
    number = {word: int(index.vocabulary.numbers([word])[0]) for word in ("mill", "dam", "weir", "pond")}
    asked = [["dam", "mill"], ["weir"], ["mill", "pond"], [], ["dam", "pond"]]
    row = np.array([place for place, words in enumerate(asked) for _ in words])
    stem = np.array([number[word] for words in asked for word in words])
    words = TitleWords(index, SpanReader(index))
    assert words.count(row, stem, len(asked)).tolist() == [2, 2, MANY, 0, 0]


def test_a_part_of_a_title_is_likelier_all_right_than_words_of_many_titles() -> None:
    body = "We held a building course in May."

    def weight(*others: str) -> float:
        titles = ["Diary", *OTHERS, TITLE, *others]
        evidence = evidence_of(titles, [body, *[""] * (len(titles) - 1)])
        (choices,) = anchor_choices(evidence, np.array([0]), np.array([7]), shipped(), 9)
        return max(choice.weight for choice in choices if choice.text == "building course")

    assert weight() > weight("Mill building course", "Weir building course") + 1


def test_the_whole_name_of_another_page_is_no_part() -> None:
    assert is_part("The weir of Oakmill broke in spring.", "weir of Oakmill", "The dam and the weir of Oakmill")
    assert not is_part(
        "The weir of Oakmill broke in spring.", "weir of Oakmill", "The dam and the weir of Oakmill", "Weir of Oakmill"
    )
