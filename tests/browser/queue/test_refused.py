"""What needs another look is kept in the browser with the words that were typed, and offered again."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from review.decisions import decide_edges
from review.models import Verb
from tests.browser.queue.screen import (
    card,
    expect_look,
    expect_open,
    expect_saved,
    open_queue,
    press,
    recent,
    reload,
    statuses,
    stored,
    until,
)
from tests.browser.queue.test_failures import marked, rewrite
from tests.browser.queue.test_leaving import GONE
from tests.browser.queue.test_races import hold
from tests.factories import make_member

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

KEPT = "Object.keys(localStorage).filter((name) => name.startsWith('anchorline:refused:')).length"
WORDS = "warm boots and more " * 12


def test_after_a_reload_refused_words_are_offered_again_until_their_card_is_put_back_as_it_came(at_queue, edges):
    rewrite(at_queue, WORDS)
    expect(marked(at_queue)).to_contain_text("characters")
    press(at_queue, "a")
    expect_saved(at_queue)
    reload(at_queue)
    expect_look(at_queue, 1)
    expect(marked(at_queue)).to_contain_text("characters")
    expect_open(at_queue, edges[2])
    press(at_queue, "r")
    expect_open(at_queue, edges[0])
    expect(card(at_queue).locator("[data-anchor]")).to_have_value(WORDS)
    expect(card(at_queue).locator("[data-warnings]")).to_contain_text("no link may have more than")
    expect_look(at_queue, 0)
    reload(at_queue)  # it was looked at, and nothing was done about it
    press(at_queue, "r")
    expect_open(at_queue, edges[0])
    press(at_queue, ("e", "Escape"))
    assert at_queue.evaluate(KEPT) == 0
    reload(at_queue)
    expect_look(at_queue, 0)
    expect_open(at_queue, edges[0])
    expect(card(at_queue).locator("[data-anchor]")).to_have_value("warm boots")


def test_after_a_reload_u_brings_back_what_was_refused_last_and_a_decision_settles_it(at_queue, edges):
    rewrite(at_queue, "click here")
    expect(marked(at_queue)).to_contain_text("says nothing about the page")
    reload(at_queue)
    press(at_queue, "u")
    expect_open(at_queue, edges[0])
    expect(card(at_queue).locator("[data-anchor]")).to_have_value("click here")
    expect(card(at_queue).locator("[data-do=anyway]")).to_be_visible()
    press(at_queue, "y")
    expect_saved(at_queue)
    assert stored(edges[0])[:2] == ("accepted", "click here")
    assert at_queue.evaluate(KEPT) == 0


def test_a_card_that_somebody_else_decided_first_is_offered_to_be_read_once(at_queue, edges, project):
    decide_edges(project, [edges[0].pk], Verb.REJECT, make_member(project, username="maria"))
    press(at_queue, "a")
    expect(marked(at_queue)).to_contain_text("maria decided first")
    reload(at_queue)
    press(at_queue, "r")
    expect_open(at_queue, edges[0])
    expect(at_queue.locator("[data-said]")).to_contain_text("maria decided first")
    press(at_queue, "ja")
    expect_saved(at_queue)
    assert statuses(edges) == ["rejected", "accepted", "suggested", "suggested"]
    assert at_queue.evaluate(KEPT) == 0


@pytest.mark.parametrize("button", ["Save them", "Discard them"])
def test_what_a_closed_window_had_refused_is_offered_in_the_next(at_queue, edges, queue_url, button):
    rewrite(at_queue, WORDS)
    expect(marked(at_queue)).to_contain_text("characters")
    context = at_queue.context
    at_queue.close()
    other = open_queue(context.new_page(), queue_url)
    expect_open(other, edges[0])
    other.evaluate(GONE)
    other.get_by_role("button", name=button).click()
    expect_look(other, 1 if button == "Save them" else 0)
    expect(recent(other)).to_have_count(1 if button == "Save them" else 0)
    expect(other.get_by_role("button", name=button)).to_be_hidden()


def test_what_is_refused_long_after_it_was_done_is_in_the_list_too(at_many, many, project):
    held = hold(at_many)
    decide_edges(project, [many[0].pk], Verb.REJECT, make_member(project, username="maria"))
    press(at_many, "a" * 12)
    until(at_many, lambda: held)
    held[0].continue_()
    expect_saved(at_many)
    expect_look(at_many, 1)
    expect(marked(at_many)).to_have_count(1)
    assert recent(at_many).first.get_attribute("data-result") == "saved"


def test_who_looks_and_goes_on_without_deciding_still_has_it_to_look_at(at_queue, edges):
    rewrite(at_queue, WORDS)
    expect_look(at_queue, 1)
    press(at_queue, "r")
    expect_open(at_queue, edges[0])
    press(at_queue, "j")
    expect_look(at_queue, 1)
    expect(marked(at_queue)).to_have_count(1)
    press(at_queue, "r")
    expect_open(at_queue, edges[0])


def test_an_address_that_names_it_opens_it_with_the_words_that_were_refused(at_queue, queue_url, edges):
    rewrite(at_queue, WORDS)
    expect_look(at_queue, 1)
    at_queue.goto(f"{queue_url}?at={edges[0].pk}")
    expect_open(at_queue, edges[0])
    press(at_queue, "j")
    expect_open(at_queue, edges[1])
    expect_look(at_queue, 1)
