"""The browser's Back and Forward lead through the cards that were open. What they wait for is told by
tests/js/seen.test.js."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from review.models import Decision, Verb
from review.rulings import Ruling
from tests.browser.queue.screen import card, expect_left, expect_open, expect_saved, press, reload, said, statuses
from tests.factories import make_member

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_back_shows_the_card_before_with_its_decision_and_the_way_to_take_it_back(at_row, row, queue_url):
    press(at_row, "aj")
    expect_open(at_row, row[2])
    at_row.go_back()
    expect_open(at_row, row[1])
    at_row.go_back()
    expect_open(at_row, row[0])
    expect(card(at_row)).to_contain_text("Accepted by editor")
    expect_saved(at_row)
    assert Decision.objects.count() == 1
    press(at_row, "x")  # it is decided: no key decides it, or another
    expect(said(at_row)).to_contain_text("decided already")
    card(at_row).get_by_role("button", name="Undo").click()
    expect(card(at_row).locator("[data-do=accept]")).to_be_visible()
    expect_saved(at_row)
    expect_left(at_row, 18)
    assert (statuses(row[:1]), at_row.url) == (["suggested"], queue_url)
    at_row.go_forward()
    expect_open(at_row, row[1])
    at_row.go_forward()
    expect_open(at_row, row[2])
    for _ in range(2):
        at_row.go_back()
    expect_open(at_row, row[0])
    at_row.go_back()
    assert at_row.url == "about:blank"


def test_what_another_window_decided_is_shown_as_it_stands_with_who_it_was(at_row, row, project):
    from review.decisions import decide_edges

    maria = make_member(project, username="maria")
    press(at_row, "s")
    expect_saved(at_row)
    decide_edges(project, [row[0].pk], Verb.REJECT, maria, Ruling())
    at_row.go_back()
    expect_open(at_row, row[0])
    expect(card(at_row)).to_contain_text("Rejected by maria")
    press(at_row, "j")
    expect_open(at_row, row[1])


def test_who_comes_back_from_another_page_finds_the_card_they_left_and_the_way_through_those_before(at_row, row):
    press(at_row, "aj")
    expect_open(at_row, row[2])
    expect_saved(at_row)
    at_row.get_by_role("link", name="Pages", exact=True).click()
    at_row.wait_for_url("**/pages/")
    at_row.go_back()
    expect_open(at_row, row[2])
    at_row.go_back()
    expect_open(at_row, row[1])
    reload(at_row)
    expect_open(at_row, row[1])
    at_row.go_back()
    expect_open(at_row, row[0])
    expect(card(at_row)).to_contain_text("Accepted by editor")


def test_in_a_list_of_acceptors_the_card_comes_back_under_its_acceptor(at_row, row, queue_url):
    at_row.goto(f"{queue_url}?order=target")
    expect_open(at_row, row[0])
    press(at_row, "a")
    expect_open(at_row, row[1])
    at_row.go_back()
    expect_open(at_row, row[0])
    expect(at_row.locator("[data-donor-place]")).to_contain_text("Target 0")
