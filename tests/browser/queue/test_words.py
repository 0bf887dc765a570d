"""The anchor in the donor's own words, and where the link goes."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from linker.models import CandidateEdge
from review.models import Decision
from tests.browser.queue.screen import BODY, card, expect_left, expect_open, expect_saved, press, reload, stored
from tests.factories import make_edge, make_page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

START = BODY.index("warm boots")


@pytest.fixture
def placed(project) -> CandidateEdge:
    """A suggestion with a place in the text and two more anchors, one of which is in the text."""
    others = [
        {"text": "Dry them", "source": "h1", "raw": "", "start": BODY.index("Dry"), "end": BODY.index("Dry") + 8},
        {"text": "woollen hats", "source": "title", "raw": ""},
    ]
    return make_edge(
        project, make_page(project, body=BODY), make_page(project, title="Warm boots"), anchor="warm boots",
        span_start=START, span_end=START + 10, anchor_alternatives=others, evidence={"share": 0.8}, score=0.99,
        donor_best=0.99, placement="inline",
    )  # fmt: skip


@pytest.fixture
def at_placed(at_queue, placed):
    reload(at_queue)
    expect_open(at_queue, placed)
    return at_queue


def expect_anchor(page, words: str) -> None:
    """The field, the marks in the text and the characters that are sent all say these words."""
    expect(card(page).locator("[data-anchor]")).to_have_value(words)
    marks = card(page).locator("[data-excerpt]:visible .is-anchor")
    assert "".join(marks.all_text_contents()) == words
    start, end = (card(page).locator(f"input[data-{name}]").input_value() for name in ("start", "end"))
    assert BODY[int(start) : int(end)] == words


def test_the_arrows_move_the_ends_of_the_anchor_by_words(at_placed, placed):
    at_placed.keyboard.press("ArrowRight")
    expect_anchor(at_placed, "warm boots on")
    at_placed.keyboard.press("Shift+ArrowLeft")
    expect_anchor(at_placed, "Wear warm boots on")
    press(at_placed, ("ArrowLeft", "ArrowLeft"))
    expect_anchor(at_placed, "Wear warm")
    at_placed.keyboard.press("Shift+ArrowRight")
    expect_anchor(at_placed, "warm")
    at_placed.keyboard.press("ArrowLeft")  # an anchor keeps a word
    expect_anchor(at_placed, "warm")
    press(at_placed, ("ArrowRight", "ArrowRight", "a"))
    expect_saved(at_placed)
    edge = CandidateEdge.objects.get(pk=placed.pk)
    assert (edge.anchor, edge.span_start, edge.span_end) == ("warm boots on", START, START + 13)


def test_words_that_are_selected_become_the_anchor_whole(at_placed):
    words = card(at_placed).locator("[data-excerpt]:visible [data-from]")
    first, last = (words.get_by_text(word, exact=True).bounding_box() for word in ("boots", "snow"))
    at_placed.mouse.move(first["x"] + first["width"] / 2, first["y"] + first["height"] / 2)
    at_placed.mouse.down()
    at_placed.mouse.move(last["x"] + last["width"] / 2, last["y"] + last["height"] / 2, steps=4)
    at_placed.mouse.up()
    expect(card(at_placed).locator("[data-anchor]")).to_have_value("boots on snow")
    expect_anchor(at_placed, "boots on snow")


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
    assert stored(placed)[:2] == ("accepted", "Wear")
    assert [one["code"] for one in Decision.objects.get().overruled] == ["unrelated"]


def test_a_picked_anchor_is_marked_where_it_is_and_escape_goes_back(at_placed, placed):
    at_placed.keyboard.press("1")
    expect_anchor(at_placed, "Dry them")
    at_placed.keyboard.press("2")  # not in the text
    expect(card(at_placed).locator("[data-anchor]")).to_have_value("woollen hats")
    press(at_placed, ("1", "e", "Escape"))
    marks = card(at_placed).locator("[data-excerpt]:visible .is-anchor")
    assert "".join(marks.all_text_contents()) == "warm boots"
    at_placed.keyboard.press("a")
    expect_saved(at_placed)
    assert stored(placed)[1] == "warm boots"


def test_w_moves_the_link_and_the_button_says_where(at_placed, placed):
    button = card(at_placed).locator("[data-do=accept]")
    chosen = card(at_placed).locator("[data-where]:checked")
    for where, words in (("text", "in the text"), ("beside", "beside the text"), ("gap", "content gap")):
        expect(chosen).to_have_value(where)
        expect(button).to_contain_text(f"{words}, follow")
        at_placed.keyboard.press("w")
    expect(chosen).to_have_value("text")
    press(at_placed, ("w", "a"))
    expect_saved(at_placed)
    assert CandidateEdge.objects.get(pk=placed.pk).placement == "related"


def test_arrows_in_the_field_move_its_caret(at_placed):
    press(at_placed, ("e", "ArrowRight", "ArrowLeft"))
    expect(card(at_placed).locator("[data-anchor]")).to_have_value("warm boots")


def test_the_numbers_unfold(at_placed):
    numbers = card(at_placed).locator(".edge__numbers")
    expect(numbers.get_by_text("of the phrase's links lead here")).to_be_hidden()
    numbers.get_by_text("Numbers").click()
    expect(numbers.get_by_text("of the phrase's links lead here")).to_be_visible()


def test_a_line_is_opened_by_the_pointer(at_queue, edges):
    at_queue.locator("[data-line] a").nth(1).click()
    expect(card(at_queue)).to_have_id(f"edge-{edges[2].pk}")
    at_queue.keyboard.press("a")
    expect_saved(at_queue)
    expect_left(at_queue, 3)
    assert stored(edges[2])[0] == "accepted"
