"""Words lead to a page from other texts only if they are its own."""

from __future__ import annotations

import numpy as np
import pytest

from linker.engine.anchors.choice import anchor_choices, span_finder
from linker.engine.anchors.features import SPAN_FEATURES, WORD_FEATURES
from linker.engine.anchors.ownership import borrowed, holds_owned, names_another, owned
from linker.engine.anchors.spans import CandidateSpans, text_blocks
from linker.engine.blocks import CategoryTree
from linker.engine.evidence import Evidence, build_evidence
from linker.engine.index import build_index
from linker.engine.ranking.approval import shipped
from linker.engine.site import Links, Site, checked
from linker.engine.text.fold import fold
from linker.engine.text.generic import only_points

OTHERS = [f"Notes on subject {number}" for number in range(6)]


def evidence_of(titles: list[str], bodies: list[str], links: list[tuple[int, int, str]] | None = None) -> Evidence:
    """Pages in English, without categories; `links`: source, target and words."""
    links = links or []
    pages = len(titles)
    anyone = np.ones(pages, dtype=bool)
    site = Site(
        urls=[f"https://mill.example/p{page}" for page in range(pages)],
        titles=titles,
        h1s=titles,
        bodies=bodies,
        languages=["en"] * pages,
        unit=np.eye(pages, dtype=np.float32),
        nodes=np.zeros(pages, dtype=np.int64),
        tree=CategoryTree(np.zeros(1, dtype=np.int64)),
        links=Links(
            np.array([link[0] for link in links], dtype=np.int64),
            np.array([link[1] for link in links], dtype=np.int64),
            [link[2] for link in links],
        ),
        source=anyone,
        target=anyone,
    )
    return build_evidence(build_index(checked(site)), np.arange(len(links)))


def offered(evidence: Evidence, source: int, target: int) -> list[str]:
    (choices,) = anchor_choices(evidence, np.array([source]), np.array([target]), shipped())
    return [choice.text for choice in choices]


def another(evidence: Evidence, source: int, target: int, words: str) -> bool:
    """Whether words of a text, where they first stand, belong to another name than the target's."""
    finder = span_finder(evidence, None)
    (texts,) = text_blocks(finder.reader, np.array([source]))
    place = fold(evidence.index.site.bodies[source]).index(fold(words))
    first = int(np.searchsorted(texts.start, place))
    last = int(np.searchsorted(texts.start, place + len(words)))
    return bool(names_another(finder, texts, np.array([target]), np.array([first]), np.array([last]))[0])


def table(names: tuple[str, ...], **values: float) -> np.ndarray:
    return np.array([[values.get(name, 0.0) for name in names]], dtype=np.float32)


@pytest.mark.parametrize(
    ("words", "language"),
    [
        ("our last post", "en"),
        ("the latest release", "en"),
        ("guides", "en"),
        ("use cases", "en"),
        ("Getting started", "en"),
        ("Anwendungsfälle", "de"),
        ("here", "nl"),
        ("wir berichteten", "de"),
        ("unser letzter Beitrag", "de"),
        ("notre dernier article", "fr"),
        ("nuestra última entrada", "es"),
        ("il nostro ultimo articolo", "it"),
        ("a nossa última publicação", "pt"),
        ("ons vorige bericht", "nl"),
    ],
)
def test_words_that_only_point_say_no_page(words: str, language: str) -> None:
    assert only_points(words, language)


@pytest.mark.parametrize(("words", "language"), [("the mill guide", "en"), ("Mühlenbericht", "de"), ("", "")])
def test_a_word_that_says_what_the_page_is_about_is_enough(words: str, language: str) -> None:
    assert only_points(words, language) == (not words)


def test_words_that_point_are_offered_in_no_text() -> None:
    bodies = ["Our last post told how the wheel was mended.", *["Nothing of note."] * 6, "The wheel is mended."]
    links = [(1, 7, "our last post"), (2, 7, "our last post")]
    bodies[1] = bodies[2] = "We said so in our last post, and it is true."
    evidence = evidence_of(["Wheel diary", *OTHERS, "How the wheel was mended"], bodies, links)
    assert not [words for words in offered(evidence, 0, 7) if "last post" in words.lower() and "wheel" not in words]


def test_an_anchor_used_once_is_not_the_pages_own_where_its_title_does_not_share_it() -> None:
    once = {"links": np.log1p(1), "share": 1.0, "keyness": 1.0}
    assert borrowed(table(SPAN_FEATURES, **once))[0]
    assert not borrowed(table(SPAN_FEATURES, **once, title_share=0.5))[0]
    assert not borrowed(table(SPAN_FEATURES, **once | {"links": np.log1p(2)}))[0]
    assert not borrowed(table(SPAN_FEATURES, **once, words=3))[0]


def test_an_anchor_that_means_another_page_as_often_is_borrowed_whatever_the_title_says() -> None:
    assert borrowed(table(SPAN_FEATURES, links=np.log1p(4), share=0.4, keyness=0.8, title_share=0.6))[0]


def test_an_anchor_that_hardly_any_page_links_is_borrowed() -> None:
    assert borrowed(table(SPAN_FEATURES, links=np.log1p(4), share=1.0, keyness=0.04))[0]


def test_what_three_links_say_of_one_page_alone_is_not_borrowed_where_pages_link_it_now_and_then() -> None:
    steady = {"share": 1.0, "keyness": 0.1}
    assert not borrowed(table(SPAN_FEATURES, links=np.log1p(3), **steady))[0]
    assert borrowed(table(SPAN_FEATURES, links=np.log1p(2), **steady))[0]


def test_a_name_is_never_borrowed() -> None:
    assert not borrowed(table(SPAN_FEATURES, links=np.log1p(1), share=0.1, keyness=0.01, named=3))[0]


def test_words_are_owned_as_a_name_of_two_words_or_as_a_steady_anchor_that_the_title_shares() -> None:
    assert owned(table(WORD_FEATURES, named=3, words=2))[0]
    assert not owned(table(WORD_FEATURES, named=3, words=1))[0]
    steady = {"links": np.log1p(3), "share": 0.9, "keyness": 0.3, "words": 2}
    assert owned(table(WORD_FEATURES, **steady, title_share=0.4))[0]
    assert not owned(table(WORD_FEATURES, **steady))[0]
    assert owned(table(WORD_FEATURES, **steady | {"keyness": 0.5, "words": 1}))[0]


@pytest.mark.parametrize(
    ("body", "title", "words"),
    [
        ("Lintel 8.10 Red Fox Release 1 is out today.", "Lintel 8.04 Blue Heron Release 1", "Release 1"),
        ("Many lost their homes in the Valley flood in 1938 alone.", "Valley flood, 1968", "Valley flood"),
        ("The Valley flood (1938) was worse.", "Valley flood, 1968", "Valley flood"),
    ],
)
def test_a_version_or_a_year_that_differs_is_another_thing(body: str, title: str, words: str) -> None:
    evidence = evidence_of(["Diary", *OTHERS, title], [body, *[""] * 7])
    assert another(evidence, 0, 7, words)
    assert words not in offered(evidence, 0, 7)


@pytest.mark.parametrize(
    ("body", "title", "words"),
    [
        ("The Valley flood in 1968 took the bridge.", "Valley flood, 1968", "Valley flood"),
        ("The Mill Congress in 1775 met twice.", "Mill Congress, 1774–1781", "Mill Congress"),
        ("It ended in 1938. The Valley flood was forgotten.", "Valley flood, 1968", "Valley flood"),
        ("The Valley flood took 300 sheep.", "Valley flood, 1968", "Valley flood"),
        ("The Valley flood in 1938 was bad.", "Valley flood", "Valley flood"),
    ],
)
def test_a_number_of_another_sentence_or_of_another_kind_is_not(body: str, title: str, words: str) -> None:
    assert not another(evidence_of(["Diary", *OTHERS, title], [body, *[""] * 7]), 0, 7, words)


def test_a_year_that_many_titles_have_tells_none_apart() -> None:
    titles = ["Diary", *[f"Mills by country, since 1776: Land {number}" for number in "ABCDEFGH"]]
    evidence = evidence_of(titles, ["Then Land C in 1867 joined.", *[""] * 8])
    assert not another(evidence, 0, 3, "Land C")


def test_a_short_form_that_several_pages_share_names_none_of_them() -> None:
    titles = ["Diary", *OTHERS, "Oakmill Foundation: rules", "Oakmill Foundation: money", "Oakmill Foundation: people"]
    evidence = evidence_of(titles, ["Ask the Oakmill Foundation for help.", *[""] * 9])
    assert "Oakmill Foundation" not in offered(evidence, 0, 7)


def test_nor_does_one_that_is_the_whole_title_of_another_page() -> None:
    titles = ["Diary", *OTHERS, "Oakmill Foundation: rules", "Oakmill Foundation"]
    evidence = evidence_of(titles, ["Ask the Oakmill Foundation for help.", *[""] * 8])
    assert "Oakmill Foundation" not in offered(evidence, 0, 7)
    assert offered(evidence, 0, 8)[0] == "Oakmill Foundation"


def test_a_shared_short_form_stays_the_name_of_the_page_that_its_links_mean() -> None:
    titles = ["Diary", *OTHERS, "Oakmill Foundation: rules", "Oakmill Foundation: money", "Oakmill Foundation: people"]
    bodies = ["Ask the Oakmill Foundation for help.", *["The Oakmill Foundation said so."] * 6, *[""] * 3]
    links = [(page, 7, "Oakmill Foundation") for page in range(1, 5)]
    evidence = evidence_of(titles, bodies, links)
    assert "Oakmill Foundation" in offered(evidence, 0, 7)
    assert "Oakmill Foundation" not in offered(evidence, 0, 8)


def test_words_around_the_own_ones_count_as_own_only_if_the_trees_like_them_no_less() -> None:
    spans = CandidateSpans(
        np.zeros(3, np.int64), np.array([2, 0, 2]), np.array([5, 5, 7]), np.empty((3, 0), np.float32)
    )
    held = holds_owned(spans, np.array([True, False, False]), np.array([1.0, 0.4, 1.2]))
    assert held.tolist() == [False, False, True]
