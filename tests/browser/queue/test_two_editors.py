"""Two editors at once."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from review.models import Decision
from tests.browser.queue.screen import (
    card,
    expect_look,
    expect_open,
    expect_saved,
    open_queue,
    press,
    recent,
    statuses,
    stored,
)
from tests.factories import make_member

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.nightly
def test_two_browsers_and_another_window_on_one_card_leave_one_decision_and_each_its_own_later(
    at_queue, edges, project, queue_url, context_of
):
    maria = make_member(project, username="maria")
    second = open_queue(context_of(maria).new_page(), queue_url)
    expect_open(second, edges[0])
    third = open_queue(at_queue.context.new_page(), queue_url)
    expect(second.get_by_text("is looking at this")).to_be_visible()
    press(at_queue, "a")
    press(second, "xx")
    for page in (at_queue, second):
        expect_saved(page)
        expect_open(page, edges[1])
    assert Decision.objects.count() == 1
    by = Decision.objects.get().user
    for page, user in ((at_queue, "editor"), (second, "maria")):
        expect_look(page, 0 if by.username.startswith(user) else 1)
    expect(second.get_by_text("is looking at this")).to_be_visible()
    press(at_queue, "s")
    press(second, "j")
    expect_open(second, edges[2])
    expect(second.get_by_text("is looking at this")).to_be_hidden()
    expect_saved(at_queue)
    press(third, "aa")  # the same editor, who has decided on the first already and set the second aside
    expect_saved(third)
    expect_look(third, 0 if by.username.startswith("editor") else 1)
    assert stored(edges[0])[0] == ("accepted" if by.username.startswith("editor") else "rejected")


def test_a_viewer_reads_and_decides_nothing(page, sign_in, edges, project, queue_url):
    sign_in(make_member(project, "viewer"))
    page.goto(queue_url)
    expect_open(page, edges[0])
    press(page, ("a", "x", "1", "s", "u", "y", "j"))
    expect_open(page, edges[1])
    expect(page.get_by_role("button", name="Accept")).to_have_count(0)
    assert not Decision.objects.exists()


def test_two_windows_of_one_person_undo_in_one_order_and_show_one_state(at_row, row, queue_url):
    second = open_queue(at_row.context.new_page(), queue_url)
    press(second, "aa")
    expect_saved(second)
    for page in (at_row, second):
        expect(page.locator("[data-accepted]")).to_have_text("2", timeout=4000)
        expect(recent(page)).to_have_count(2)
    expect(card(at_row)).to_have_attribute("data-state", "accepted")  # it was decided in the second
    press(at_row, "jj")
    expect_open(at_row, row[2])
    press(at_row, "a")
    expect_saved(at_row)
    press(at_row, "u")
    expect_open(at_row, row[2])
    expect_saved(at_row)
    press(at_row, "u")
    expect_open(at_row, row[1])
    expect_saved(at_row)
    assert statuses(row[:3]) == ["accepted", "suggested", "suggested"]
    expect(second.locator("[data-accepted]")).to_have_text("1", timeout=4000)


def test_the_open_card_says_within_seconds_that_another_has_decided_it(at_queue, edges, project, queue_url, context_of):
    maria = make_member(project, username="maria")
    second = open_queue(context_of(maria).new_page(), queue_url)
    press(second, "a")
    expect_saved(second)
    expect(card(at_queue)).to_have_attribute("data-state", "accepted", timeout=7000)
    expect(card(at_queue)).to_contain_text("Accepted by maria")
    expect(at_queue.locator("[data-accepted]")).to_have_text("1")
    press(at_queue, "x")
    expect(at_queue.locator("[data-said]")).to_contain_text("decided already")
    assert Decision.objects.count() == 1
