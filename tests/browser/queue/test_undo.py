"""Undo: painted at once, whichever decision it is."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from review.models import Decision
from tests.browser.queue.screen import (
    answer_operations,
    card,
    expect_left,
    expect_open,
    expect_saved,
    press,
    recent,
    reload,
    statuses,
    stored,
    until,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_what_was_not_sent_yet_is_never_sent(at_queue, edges):
    held: list = []
    answer_operations(at_queue, lambda route: held.append(route) if not held else route.continue_())
    press(at_queue, "aau")
    expect_open(at_queue, edges[1])
    until(at_queue, lambda: held)
    held[0].continue_()
    expect_saved(at_queue)
    assert list(Decision.objects.values_list("edge", "verb")) == [(edges[0].pk, "accept")]


def test_what_is_under_way_is_taken_back_after_it(at_queue, edges):
    held: list = []
    answer_operations(at_queue, lambda route: held.append(route) if not held else route.continue_())
    press(at_queue, "au")
    expect_open(at_queue, edges[0])
    expect_left(at_queue, 4)
    until(at_queue, lambda: held)
    held[0].continue_()
    expect_saved(at_queue)
    assert list(Decision.objects.order_by("pk").values_list("verb", flat=True)) == ["accept", "undo"]
    expect_open(at_queue, edges[0])
    press(at_queue, "n")
    expect_saved(at_queue)
    assert stored(edges[0]) == ("accepted", "warm boots", "nofollow")


def test_an_undo_is_painted_before_the_server_answers(at_queue, edges):
    press(at_queue, "a")
    expect_saved(at_queue)
    held: list = []
    answer_operations(at_queue, lambda route: held.append(route))
    press(at_queue, "n")
    until(at_queue, lambda: held)
    press(at_queue, "u")
    expect_open(at_queue, edges[1])
    expect(recent(at_queue)).to_have_count(1)
    assert len(held) == 1


def test_what_was_decided_before_the_page_was_loaded_comes_back_and_later_keys_wait_for_it(at_queue, edges):
    press(at_queue, "a")
    expect_saved(at_queue)
    reload(at_queue)
    expect_open(at_queue, edges[1])
    press(at_queue, "un")
    expect_open(at_queue, edges[1])
    expect_saved(at_queue)
    assert stored(edges[0]) == ("accepted", "warm boots", "nofollow")
    assert stored(edges[1])[0] == "suggested"
    assert Decision.objects.count() == 3


def test_the_donor_comes_back_with_the_card(at_queue, edges):
    press(at_queue, "aa")
    expect_saved(at_queue)
    reload(at_queue)
    expect(at_queue.locator("[data-donor-place]")).to_contain_text("Donor 2")
    press(at_queue, "u")
    expect_open(at_queue, edges[1])
    expect(at_queue.locator("[data-donor-place]")).to_contain_text("Donor 1")


def test_any_of_the_last_decisions_can_be_taken_back(at_many, many):
    for edge in many[:5]:
        expect_open(at_many, edge)
        at_many.keyboard.press("a")
    expect_saved(at_many)
    recent(at_many).nth(3).get_by_role("button", name="Undo").click()
    expect(card(at_many)).to_have_id(f"edge-{many[1].pk}")
    expect_saved(at_many)
    assert statuses(many[:6]) == ["accepted", "suggested", "accepted", "accepted", "accepted", "suggested"]
    reload(at_many)
    expect(recent(at_many)).to_have_count(4)
    recent(at_many).nth(2).get_by_role("button", name="Undo").click()
    expect(card(at_many)).to_have_id(f"edge-{many[2].pk}")
    expect_saved(at_many)
    assert statuses(many[:5]) == ["accepted", "suggested", "suggested", "accepted", "accepted"]


def test_the_last_ten_are_shown_and_all_of_this_page_can_be_undone(at_many, many):
    for edge in many[:15]:
        expect_open(at_many, edge)
        at_many.keyboard.press("a")
    expect(recent(at_many)).to_have_count(10)
    expect_saved(at_many)
    for edge in reversed(many[:15]):
        at_many.keyboard.press("u")
        expect_open(at_many, edge)
    expect_saved(at_many)
    assert set(statuses(many)) == {"suggested"}


def test_the_button_of_the_bar_undoes_as_u_does(at_queue, edges):
    press(at_queue, "a")
    at_queue.locator("[data-undo-last]").get_by_role("button").click()
    expect(card(at_queue)).to_have_id(f"edge-{edges[0].pk}")
    expect_saved(at_queue)
    assert stored(edges[0])[0] == "suggested"


def test_with_nothing_left_to_undo_it_says_so(at_queue, edges):
    press(at_queue, "u")
    expect(at_queue.locator("[data-said]")).to_have_text("There is no decision of yours left to undo.")
    expect_open(at_queue, edges[0])


def test_after_a_reload_u_takes_back_what_was_set_aside_last(at_queue, edges):
    press(at_queue, "as")
    expect_saved(at_queue)
    reload(at_queue)
    expect(recent(at_queue).first).to_contain_text("Later: warm boots → Target 1")
    press(at_queue, "un")
    expect(recent(at_queue).first).to_contain_text("Accepted, in the text: warm boots → Target 1")
    expect_open(at_queue, edges[2])
    expect_saved(at_queue)
    assert stored(edges[1]) == ("accepted", "warm boots", "nofollow")
    press(at_queue, "uu")
    expect_open(at_queue, edges[0])
    expect_saved(at_queue)
    assert set(statuses(edges)) == {"suggested"}


def test_after_a_reload_more_can_be_undone_than_the_list_of_the_last_shows(at_many, many):
    press(at_many, "a" * 12)
    expect_open(at_many, many[12])
    expect_saved(at_many)
    reload(at_many)
    expect(recent(at_many)).to_have_count(10)
    press(at_many, "u" * 12)
    expect(card(at_many)).to_have_id(f"edge-{many[0].pk}", timeout=20_000)
    expect_saved(at_many)
    assert set(statuses(many)) == {"suggested"}


def test_a_group_comes_back_in_its_order(at_many, many):
    at_many.keyboard.press("Shift+A")
    expect(at_many.get_by_role("button", name="Accept checked")).to_be_focused()
    at_many.keyboard.press("Enter")
    expect_open(at_many, many[30])
    at_many.keyboard.press("u")
    for edge in many[:3]:
        expect_open(at_many, edge)
        at_many.keyboard.press("j")


def test_the_last_decisions_and_the_menu_say_what_was_done_without_a_reload(at_queue, edges):
    press(at_queue, ("e", *"my target", "Enter"))
    expect(recent(at_queue).first).to_contain_text("Accepted with an edit, in the text: my target")
    expect_saved(at_queue)
    press(at_queue, "s")
    expect_saved(at_queue)
    counts = {
        name: at_queue.locator(f"[data-count={name}]").text_content() for name in ("suggested", "accepted", "later")
    }
    assert counts == {"suggested": "2", "accepted": "1", "later": "1"}
