"""Two editors at once."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from review.models import Decision
from tests.browser.queue.screen import expect_look, expect_open, expect_saved, open_queue, press, stored
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
