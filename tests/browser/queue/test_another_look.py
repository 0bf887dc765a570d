"""What needs another look, and keys that meet what others did: see tests/js/refused.test.js for the rest."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from linker.models import CandidateEdge
from review.decisions import decide_edges
from review.models import Decision, Verb
from review.rulings import Ruling
from tests.browser.queue.screen import (
    card,
    expect_look,
    expect_open,
    expect_saved,
    marked,
    press,
    reload,
    rewrite,
    said,
    statuses,
    stored,
    until,
)
from tests.factories import make_link, make_member, make_page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WORDS = "warm boots and more " * 12


@pytest.mark.nightly
def test_a_conflict_is_marked_and_counted_and_r_brings_it_back_with_the_reason(at_queue, edges, project):
    maria = make_member(project, username="maria")
    decide_edges(project, [edges[0].pk], Verb.REJECT, maria, Ruling(reason="outdated"))
    press(at_queue, ("a", "e"))
    at_queue.keyboard.type("target one")
    expect(marked(at_queue)).to_contain_text("maria decided first: rejected (Page out of date)")
    expect_look(at_queue, 1)
    # Whoever is at work is not disturbed.
    expect(card(at_queue)).to_have_id(f"edge-{edges[1].pk}")
    expect(card(at_queue).locator("[data-anchor]")).to_be_focused()
    expect(card(at_queue).locator("[data-anchor]")).to_have_value("target one")
    at_queue.keyboard.press("Enter")
    expect_saved(at_queue)
    assert stored(edges[1])[:2] == ("accepted", "target one")

    at_queue.keyboard.press("r")
    expect_open(at_queue, edges[0])
    expect(card(at_queue).get_by_role("alert")).to_contain_text("maria decided first: rejected (Page out of date)")
    expect(card(at_queue)).to_have_attribute("data-state", "rejected")
    expect_look(at_queue, 0)
    expect(marked(at_queue)).to_have_count(0)
    press(at_queue, "n1")
    expect(said(at_queue)).to_have_text(
        "This suggestion is decided already, so the key did nothing. “j” goes to the next one."
    )
    expect(said(at_queue)).not_to_have_class("visually-hidden")
    expect_open(at_queue, edges[0])
    press(at_queue, "ja")
    expect_saved(at_queue)
    assert statuses(edges)[0] == "rejected"

    CandidateEdge.objects.filter(pk=edges[1].pk).update(status="exported")
    press(at_queue, "uu")  # the second undo is refused, and its card closes where it is
    expect_saved(at_queue)
    expect(marked(at_queue)).to_have_count(1)
    expect_open(at_queue, edges[1])
    expect(card(at_queue)).to_have_attribute("data-state", "exported")
    expect(card(at_queue).get_by_role("alert")).to_be_visible()


@pytest.mark.nightly
def test_words_that_cannot_be_used_come_back_with_the_reason_until_their_card_is_put_back_as_it_came(at_queue, edges):
    rewrite(at_queue, "")
    expect(marked(at_queue)).to_contain_text("The anchor is empty")
    press(at_queue, "r")
    expect_open(at_queue, edges[0])
    expect(card(at_queue).get_by_role("alert")).to_contain_text("The anchor is empty")
    rewrite(at_queue, WORDS)
    expect(marked(at_queue)).to_contain_text("characters")
    reload(at_queue)
    expect_look(at_queue, 1)
    expect(marked(at_queue)).to_contain_text("characters")
    expect_open(at_queue, edges[1])
    press(at_queue, "r")
    expect_open(at_queue, edges[0])
    expect(card(at_queue).locator("[data-anchor]")).to_have_value(WORDS)
    expect(card(at_queue).locator("[data-warnings]")).to_contain_text("no link may have more than")
    press(at_queue, ("e", "Escape"))
    assert at_queue.evaluate("Object.keys(localStorage).filter((name) => name.includes('refused')).length") == 0
    at_queue.keyboard.press("a")
    expect_saved(at_queue)
    assert stored(edges[0])[:2] == ("accepted", "warm boots")


def test_words_that_are_warned_of_need_another_look_and_y_accepts_them_anyway(at_queue, edges):
    for words, reason in (("cheap loans", "None of these words is in the name"), ("click here", "says nothing")):
        rewrite(at_queue, words)
        expect(marked(at_queue)).to_contain_text(reason)
        assert stored(edges[0])[0] == "suggested"
        press(at_queue, "r")
        expect_open(at_queue, edges[0])
    expect(card(at_queue).get_by_role("alert")).to_contain_text("Not accepted yet.")
    expect(card(at_queue).locator("[data-doubt]")).to_contain_text("says nothing about the page")
    expect(card(at_queue).locator("[data-anchor]")).to_have_value("click here")
    press(at_queue, "a")  # stops
    expect(at_queue.locator("[data-said]")).to_contain_text("Not accepted: “click here” says nothing about the page")
    expect_open(at_queue, edges[0])
    expect_look(at_queue, 0)
    press(at_queue, "y")
    expect_open(at_queue, edges[1])
    expect_saved(at_queue)
    assert stored(edges[0])[:2] == ("accepted", "click here")
    assert [one["code"] for one in Decision.objects.get().overruled] == ["generic"]


@pytest.fixture
def warned(project, edges) -> None:
    """The first card comes with a warning: the project asks."""
    project.anchor_repeats = "names"
    project.save()
    for _ in range(3):
        make_link(make_page(project), edges[0].target, edges[0].anchor)


@pytest.mark.nightly
def test_a_card_warns_before_the_decision_and_y_accepts_at_once(warned, at_queue, edges):
    warnings = card(at_queue).locator("[data-warnings]")
    says = f"3 other links to “{edges[0].target.title}” say “{edges[0].anchor}”."
    expect(warnings).to_contain_text(says)
    press(at_queue, "a")
    expect(at_queue.locator("[data-said]")).to_contain_text(f"Not accepted: {says}")
    expect_open(at_queue, edges[0])
    expect_look(at_queue, 0)
    press(at_queue, "e")
    at_queue.keyboard.type("my target")
    expect(warnings).not_to_contain_text(says)
    expect(warnings).to_contain_text("The text does not hold these words")
    at_queue.keyboard.press("Escape")
    expect(warnings).to_contain_text(says)
    press(at_queue, "y")
    expect_open(at_queue, edges[1])
    expect_saved(at_queue)
    assert stored(edges[0])[:2] == ("accepted", "warm boots")
    assert [one["code"] for one in Decision.objects.get().overruled] == ["identical"]


@pytest.mark.nightly
def test_the_second_half_of_a_double_click_decides_on_no_card(at_queue, edges):
    def accept(edge: CandidateEdge):
        return at_queue.locator(f"button[form=accept-{edge.pk}][value^=accept]").first

    accept(edges[0]).click()
    accept(edges[1]).hover()
    at_queue.mouse.down(click_count=2)
    at_queue.mouse.up(click_count=2)
    expect_saved(at_queue)
    assert statuses(edges) == ["accepted", "suggested", "suggested", "suggested"]
    accept(edges[1]).click()
    expect(card(at_queue)).to_have_id(f"edge-{edges[2].pk}")


@pytest.mark.nightly
def test_what_is_typed_behind_a_key_that_waits_goes_into_its_field_and_enter_saves_it(
    page, queue_url, edges, editor, sign_in
):
    sign_in(editor)
    held: list = []
    page.route("**/queue/deck/**", lambda route: held.append(route))
    page.goto(queue_url)
    expect_open(page, edges[0])
    press(page, "ae")
    expect(page.get_by_text("Fetching the next suggestions…")).to_be_visible()
    page.keyboard.type("my qualm")
    press(page, ("Enter", "x", "Enter"))
    until(page, lambda: held)
    held[0].continue_()
    expect_open(page, edges[3])
    expect_saved(page)
    assert statuses(edges) == ["accepted", "suggested", "rejected", "suggested"]
    expect_look(page, 1)  # these words are not in the name of the page


@pytest.mark.nightly
def test_an_address_opens_a_card_that_is_decided_and_says_where_one_is_gone(at_queue, queue_url, edges, project):
    decide_edges(project, [edges[0].pk], Verb.REJECT, make_member(project, username="maria"))
    at_queue.goto(f"{queue_url}?at={edges[0].pk}")
    expect_open(at_queue, edges[0])
    expect(card(at_queue)).to_contain_text("Rejected")
    press(at_queue, "a")
    expect(said(at_queue)).not_to_be_empty()
    press(at_queue, "j")
    expect_open(at_queue, edges[1])
    at_queue.goto(f"{queue_url}?at={edges[3].pk + 1000}")
    expect(at_queue.get_by_role("alert")).to_contain_text("not here any more")
    expect_open(at_queue, edges[1])
    assert statuses(edges) == ["rejected", "suggested", "suggested", "suggested"]
