"""The anchor in the donor's own words, and where the link goes."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from linker.models import CandidateEdge, Page
from review.models import Decision
from tests.browser.queue.screen import (
    BODY,
    card,
    expect_look,
    expect_open,
    expect_saved,
    press,
    reload,
    stored,
)
from tests.factories import make_edge, make_page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

START = BODY.index("warm boots")
FAR = "\nFeet\nElsewhere warm boots for men stand by.\n"


@pytest.fixture
def placed(project, edges) -> CandidateEdge:
    """A suggestion with a place in the text and two more anchors, one of which is in the text."""
    others = [
        {"text": "Dry them", "source": "h1", "raw": "", "start": BODY.index("Dry"), "end": BODY.index("Dry") + 8},
        {"text": "woollen hats", "source": "title", "raw": ""},
    ]
    return make_edge(
        project, make_page(project, body=BODY + FAR), make_page(project, title="Warm boots"), anchor="warm boots",
        span_start=START, span_end=START + 10, anchor_alternatives=others, evidence={"share": 0.8}, score=0.99,
        donor_best=0.99, placement="inline",
    )  # fmt: skip


@pytest.fixture
def at_placed(placed, at_queue):
    expect_open(at_queue, placed)
    return at_queue


def expect_anchor(page, words: str) -> None:
    """The field, the marks in the text and the characters that are sent all say these words."""
    expect(card(page).locator("[data-anchor]")).to_have_value(words)
    marks = card(page).locator("[data-excerpt]:visible .is-anchor")
    assert "".join(marks.all_text_contents()) == words
    start, end = (card(page).locator(f"input[data-{name}]").input_value() for name in ("start", "end"))
    assert BODY[int(start) : int(end)] == words


def expect_marks(page, words: str) -> None:
    marks = card(page).locator("[data-excerpt]:visible .is-anchor")
    assert "".join(marks.all_text_contents()) == words


def test_words_that_are_moved_selected_picked_and_typed_are_marked_where_they_stand(at_placed, placed):
    for key, words in (
        ("ArrowRight", "warm boots on"),
        ("Shift+ArrowLeft", "Wear warm boots on"),
        ("ArrowLeft", "Wear warm boots"),
    ):
        at_placed.keyboard.press(key)
        expect_anchor(at_placed, words)

    found = card(at_placed).locator("[data-excerpt]:visible [data-from]")
    first, last = (found.get_by_text(word, exact=True).bounding_box() for word in ("boots", "snow"))
    at_placed.mouse.move(first["x"] + first["width"] / 2, first["y"] + first["height"] / 2)
    at_placed.mouse.down()
    at_placed.mouse.move(last["x"] + last["width"] / 2, last["y"] + last["height"] / 2, steps=4)
    at_placed.mouse.up()
    expect(card(at_placed).locator("[data-anchor]")).to_have_value("boots on snow")
    expect_anchor(at_placed, "boots on snow")

    at_placed.keyboard.press("1")
    expect_anchor(at_placed, "Dry them")
    at_placed.keyboard.press("2")  # not in the text
    expect(card(at_placed).locator("[data-anchor]")).to_have_value("woollen hats")
    press(at_placed, ("1", "e", "Escape"))
    expect_marks(at_placed, "warm boots")

    at_placed.keyboard.press("e")
    at_placed.keyboard.type("boots for men")
    shown = card(at_placed).locator("[data-excerpt]:visible")
    expect(shown).to_contain_text("Elsewhere warm boots for men stand by.")
    expect_marks(at_placed, "boots for men")
    at_placed.keyboard.press("Escape")
    expect(card(at_placed).locator("[data-found]")).to_have_count(0)
    expect_marks(at_placed, "warm boots")

    numbers = card(at_placed).locator(".edge__numbers")
    expect(numbers.get_by_text("of the phrase's links lead here")).to_be_hidden()
    numbers.get_by_text("Numbers").click()
    expect(numbers.get_by_text("of the phrase's links lead here")).to_be_visible()

    at_placed.keyboard.press("e")
    at_placed.keyboard.type("Boots on SNO")
    marked = "[...document.querySelectorAll('[data-edge] .is-anchor')].map((one) => one.textContent).join('')"
    assert at_placed.evaluate(marked) == "boots on snow"  # within the frame, before any answer
    at_placed.keyboard.type("W")
    expect(card(at_placed).locator("[data-do=accept]")).to_contain_text("in the text")
    at_placed.keyboard.press("Enter")
    expect_saved(at_placed)
    edge = CandidateEdge.objects.get(pk=placed.pk)
    assert (edge.anchor, edge.span_start) == ("Boots on SNOW", BODY.index("boots on snow"))


@pytest.mark.nightly
def test_warnings_come_while_the_words_are_changed_and_y_overrules_just_these(at_placed, placed):
    press(at_placed, ("Shift+ArrowLeft", "ArrowLeft", "ArrowLeft"))
    doubt = card(at_placed).locator("[data-warnings]")
    expect_anchor(at_placed, "Wear")
    expect(doubt).to_contain_text("None of these words is in the name")
    expect(card(at_placed).get_by_role("button", name="Accept anyway")).to_be_visible()
    at_placed.keyboard.press("ArrowRight")
    expect(doubt).to_be_empty()
    expect(card(at_placed).locator("[data-do=anyway]")).to_be_hidden()
    at_placed.keyboard.press("ArrowLeft")
    expect(doubt).to_contain_text("None of these words is in the name")
    at_placed.keyboard.press("y")
    expect_saved(at_placed)
    edge = CandidateEdge.objects.get(pk=placed.pk)
    assert (edge.status, edge.anchor, edge.span_start) == ("accepted", "Wear", BODY.index("Wear"))
    assert [one["code"] for one in Decision.objects.get().overruled] == ["unrelated"]


@pytest.mark.nightly
def test_w_moves_the_link_the_button_says_where_and_a_line_is_opened_by_the_pointer(at_placed, placed, edges):
    button = card(at_placed).locator("[data-do=accept]")
    chosen = card(at_placed).locator("[data-where]:checked")
    for where, words in (("text", "in the text"), ("beside", "in the list at the end"), ("gap", "content gap")):
        expect(chosen).to_have_value(where)
        expect(button).to_contain_text(f"{words}, follow")
        at_placed.keyboard.press("w")
    expect(chosen).to_have_value("text")
    press(at_placed, ("w", "a"))
    expect_open(at_placed, edges[0])
    at_placed.locator("[data-line] a").nth(1).click()
    expect(card(at_placed)).to_have_id(f"edge-{edges[2].pk}")
    at_placed.keyboard.press("a")
    expect_saved(at_placed)
    assert CandidateEdge.objects.get(pk=placed.pk).placement == "related"
    assert stored(edges[2])[0] == "accepted"


@pytest.fixture
def gap(project, edges) -> CandidateEdge:
    """A content gap; of its other anchors one stands in the text, where a link the site has takes its place, and one is
    free. A sentence about it could follow the paragraph."""
    others = [
        {"text": words, "source": "title", "raw": "", "start": BODY.index(words), "end": BODY.index(words) + len(words)}
        for words in ("warm boots", "Dry them")
    ]
    donor = make_page(project, body=BODY)
    donor.refresh_from_db()  # with the hash of its text
    return make_edge(
        project, donor, make_page(project, title="Boots for snow"), anchor="Boots for snow",
        anchor_alternatives=others, placement="related", content_gap=True, score=0.99, donor_best=0.99,
        paragraph_start=0, paragraph_end=len(BODY), paragraph_hash=donor.body_hash,
    )  # fmt: skip


def chosen_place(page) -> str:
    return card(page).locator("[data-where]:checked").get_attribute("value")


@pytest.mark.nightly
def test_the_button_says_where_the_words_will_go_and_the_paragraph_is_shown_once(gap, at_queue):
    expect_open(at_queue, gap)
    button = card(at_queue).locator("[data-do=accept]")
    expect(button).to_contain_text("in the list at the end")
    follows = card(at_queue).get_by_text("could follow this paragraph")
    expect(follows).to_be_hidden()
    press(at_queue, "w")
    expect(button).to_contain_text("content gap")
    says_gap = card(at_queue).get_by_text("Content gap: no words of the text fit well")
    expect(follows).to_be_visible()
    expect(says_gap).to_be_visible()
    press(at_queue, ("e", "Escape", "2"))
    expect(button).to_contain_text("in the text")
    expect(follows).to_be_hidden()
    expect(says_gap).to_be_hidden()
    expect(card(at_queue).locator(".excerpt:visible")).to_have_count(1)
    assert chosen_place(at_queue) == "text"
    press(at_queue, "b")  # what the editor says holds, whatever words follow
    assert chosen_place(at_queue) == "beside"
    expect(follows).to_be_hidden()
    press(at_queue, "1")
    assert chosen_place(at_queue) == "beside"
    press(at_queue, ("e", "Escape", "2"))
    assert chosen_place(at_queue) == "text"
    press(at_queue, "a")
    expect_saved(at_queue)
    edge = CandidateEdge.objects.get(pk=gap.pk)
    assert (edge.anchor, edge.placement, edge.content_gap) == ("Dry them", "inline", False)
    press(at_queue, "u")  # and the card is as it came
    expect_open(at_queue, gap)
    expect(card(at_queue).locator("[data-anchor]")).to_have_value("Boots for snow")
    assert chosen_place(at_queue) == "beside"


@pytest.mark.nightly
def test_words_whose_place_is_taken_stay_where_they_were_and_the_button_says_so(at_queue, gap):
    make_edge(
        gap.project, gap.source, status="accepted", anchor="warm boots", span_start=START, span_end=START + 10,
        placement="inline",
    )  # fmt: skip
    reload(at_queue)
    expect_open(at_queue, gap)
    at_queue.keyboard.press("2")  # after those that have a place
    expect(card(at_queue).locator("[data-do=accept]")).to_contain_text("in the list at the end")
    expect(card(at_queue).locator("[data-warnings]")).to_contain_text("holds these words only in a link")
    press(at_queue, "ww")
    expect(card(at_queue).locator("[data-warnings]")).to_contain_text("does not hold “warm boots” where a link may")


@pytest.mark.nightly
def test_a_card_that_comes_back_for_its_words_says_where_they_will_go(gap, at_queue):
    expect_open(at_queue, gap)
    at_queue.keyboard.press("e")
    at_queue.keyboard.type("Wear")
    at_queue.keyboard.press("Enter")
    expect_look(at_queue, 1)
    at_queue.keyboard.press("r")
    expect_open(at_queue, gap)
    expect(card(at_queue).locator("[data-anchor]")).to_have_value("Wear")
    expect(card(at_queue).locator("[data-do=accept]")).to_contain_text("in the text")


def test_what_the_card_marks_is_stored_and_no_link_is_marked(project, edges, at_queue):
    """The words of the first other anchor are twice in the text, first in a link to another site."""
    linked = "how to create a batch source"
    more = "More is said of it below, in many words. " * 8
    body = f"Read {linked} first. {more}\nThis ends our talk of a batch source (BS) here."
    donor = make_page(project, body=body)
    donor.refresh_from_db()
    start = body.index(linked)
    Page.objects.filter(pk=donor.pk).update(
        linked_elsewhere=[start, start + len(linked)], linked_elsewhere_hash=donor.body_hash
    )
    own = body.index("Read")
    edge = make_edge(
        project, donor, make_page(project, title="A batch source"), anchor="Read", span_start=own, span_end=own + 4,
        anchor_alternatives=[{"text": "batch source", "source": "title", "raw": ""}], score=0.99, donor_best=0.99,
        placement="inline",
    )  # fmt: skip
    reload(at_queue)
    expect_open(at_queue, edge)
    press(at_queue, ("ArrowRight",))
    expect(at_queue.locator("[data-said]")).to_contain_text("in a link already")
    expect_marks(at_queue, "Read")
    press(at_queue, "1")
    shown = card(at_queue).locator("[data-excerpt]:visible")
    expect(shown).to_contain_text("This ends our talk")
    expect_marks(at_queue, "batch source")
    press(at_queue, ("ArrowRight",))
    expect_marks(at_queue, "batch source (BS)")
    press(at_queue, ("ArrowLeft", "ArrowRight", "ArrowLeft"))
    expect_marks(at_queue, "batch source")
    expect(shown.locator(".is-anchor.is-linked")).to_have_count(0)
    press(at_queue, "a")
    expect_saved(at_queue)
    stored_edge = CandidateEdge.objects.get(pk=edge.pk)
    assert (stored_edge.anchor, stored_edge.span_start) == ("batch source", body.rindex("batch source"))
    assert stored_edge.sentence == "This ends our talk of a batch source (BS) here."
