"""A sentence about another page finds the paragraph that speaks of what the page is about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.anchors.paragraphs import SiteWords, SourceParagraphs, TargetContent, TargetQuery, names_of
from linker.engine.text.template import find_template
from tests.engine.strategies import hostile_text
from tests.examples import tried

WALKING = "Long walks in the hills ask for good shoes, a warm jacket and a little patience with the weather."
BLISTERS = "Whoever walks far on rough ground gets sore feet sooner or later, and wet skin tears more easily."
NIGHT = "At night the tent keeps the wind out, and a thick sleeping mat keeps the cold of the ground away."
ROUTES = "Many routes through the mountains begin at a railway station and end at another, a day later."
NOTICE = "Subscribe to our monthly newsletter and never miss the newest offers of our shop for walkers."
OTHERS = [f"{ROUTES}\n{NOTICE}", f"{NIGHT} Page two.\n{NOTICE}", f"{WALKING} Page three.\n{NOTICE}"]


def about(name: str = "Sore feet and blisters", text: str = "", anchors: tuple[str, ...] = ()) -> TargetContent:
    return TargetContent([name], text, anchors, "en")


def best(body: str, page: TargetContent, **of_donor: object) -> str:
    """The paragraph of a text chosen for a page, as text; "" for none."""
    words = SiteWords([body, *OTHERS], ["en"] * (1 + len(OTHERS)))
    source = SourceParagraphs(words, body, words.read([body], ["en"])[0], **of_donor)  # type: ignore[arg-type]
    found = source.best(TargetQuery(words, page))
    return "" if found is None else body[found.start : found.end]


def test_the_paragraph_that_says_the_pages_name_is_chosen():
    assert best(f"{WALKING}\n{BLISTERS}\n{NIGHT}", about()) == BLISTERS


def test_what_the_page_says_at_its_beginning_counts_where_its_name_says_nothing():
    page = about("Part seven", "A sleeping mat made of wool against the cold of the night.")
    assert best(f"{WALKING}\n{BLISTERS}\n{NIGHT}", page) == NIGHT


def test_what_other_pages_call_it_counts_as_well():
    assert best(f"{WALKING}\n{BLISTERS}\n{NIGHT}", about("Part seven", anchors=("good shoes",))) == WALKING


def test_of_equals_the_first_is_chosen():
    other = BLISTERS.replace("Whoever", "Everyone who")
    assert best(f"{BLISTERS}\n{other}", about("Sore feet")) == BLISTERS


def test_nothing_in_common_is_no_place():
    assert best(f"{WALKING}\n{NIGHT}", about("Tax returns", "How to file them in spring.")) == ""


@pytest.mark.parametrize(
    "line",
    [
        "All about sore feet and blisters on long walks through rough ground",  # a heading
        "const feet = sore({blisters: 2, ground: rough, walks: long, skin: wet});",
        "Fig. 3: Sore feet and blisters after a long walk over rough and wet ground.",
        "- Sore feet, blisters, wet skin and torn socks after long walks on rough ground.",
        "Sore feet\tblisters\trough ground\tlong walks\twet skin\ttorn socks.",
        "| Sore feet | blisters | rough ground | long walks | wet skin | torn socks |.",
        "Against sore feet and blisters on long walks over rough ground, this is what helps:",
        "Sore feet and blisters.",
    ],
)
def test_a_line_that_no_sentence_can_follow_is_never_chosen(line: str):
    assert best(f"{line}\n{BLISTERS}", about()) == BLISTERS


def test_what_stands_on_many_pages_is_never_chosen():
    assert best(f"{NOTICE}\n{ROUTES}", about("The shop's monthly newsletter for walkers")) != NOTICE


def test_a_known_heading_is_never_chosen():
    heading = "What can be done about sore feet and blisters on long walks over rough ground?"
    assert best(f"{heading}\n{BLISTERS}", about(), headings=[heading]) == BLISTERS


def test_a_list_of_links_is_never_chosen():
    links = ["Sore feet and blisters on walks", "Wet skin on rough ground", "Torn socks and what to do"]
    assert best(f"{', '.join(links)}.\n{BLISTERS}", about(), anchors=links) == BLISTERS


def test_the_heading_above_comes_with_the_paragraph():
    body = f"Feet first\n{BLISTERS}\n{BLISTERS.replace('Whoever', 'She who')}"
    words = SiteWords([body, *OTHERS], ["en"] * (1 + len(OTHERS)))
    found = SourceParagraphs(words, body, words.read([body], ["en"])[0]).best(TargetQuery(words, about()))
    assert found is not None
    assert found.heading == "Feet first"


def test_names_are_those_of_the_page_without_the_sites_own():
    template = find_template([f"Page {word} | Shop" for word in ("one", "two", "three", "four", "five", "six")])
    assert names_of("Sore feet (and more) | Shop", "Sore feet", template, "en") == ["Sore feet (and more)", "Sore feet"]


@pytest.mark.nightly
@given(hostile_text, st.lists(hostile_text, max_size=3))
@tried(200)
def test_whatever_a_text_holds_a_paragraph_is_a_line_of_it(body: str, others: list[str]):
    words = SiteWords([body, *others], [""] * (1 + len(others)))
    source = SourceParagraphs(words, body, words.read([body], [""])[0])
    question = TargetQuery(words, TargetContent(others, body, others, ""))
    found = source.best(question)
    assert len(source.scores(question)) == len(source.spans)
    if found is not None:
        assert body[found.start : found.end] in body.split("\n")
