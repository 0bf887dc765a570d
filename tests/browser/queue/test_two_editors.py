"""Two editors at once."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from review.models import Decision
from tests.browser.queue.screen import expect_look, expect_open, expect_saved, open_queue, press, stored
from tests.factories import make_member

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_two_browsers_on_one_card_leave_one_decision(at_queue, edges, project, queue_url, context_of):
    maria = make_member(project, username="maria")
    second = open_queue(context_of(maria).new_page(), queue_url)
    expect_open(second, edges[0])
    press(at_queue, "a")
    press(second, "xx")
    for page in (at_queue, second):
        expect_saved(page)
        expect_open(page, edges[1])
    assert Decision.objects.count() == 1
    by = Decision.objects.get().user
    for page, user in ((at_queue, "editor"), (second, "maria")):
        expect_look(page, 0 if by.username.startswith(user) else 1)


def test_what_one_set_aside_is_open_for_the_other(at_queue, edges, project, queue_url, context_of):
    press(at_queue, "s")
    expect_saved(at_queue)
    second = open_queue(context_of(make_member(project)).new_page(), queue_url)
    expect_open(second, edges[0])


def test_the_same_editor_in_two_windows_decides_nothing_twice(at_queue, edges, queue_url):
    second = open_queue(at_queue.context.new_page(), queue_url)
    press(at_queue, "a")
    expect_saved(at_queue)
    press(second, "a")
    expect_saved(second)
    expect_look(second, 0)
    assert Decision.objects.count() == 1
    assert stored(edges[0])[0] == "accepted"


def test_a_viewer_reads_and_decides_nothing(at_queue, edges, project, queue_url, context_of):
    page = context_of(make_member(project, "viewer")).new_page()
    page.goto(queue_url)
    expect_open(page, edges[0])
    press(page, ("a", "x", "1", "s", "u", "y", "j"))
    expect_open(page, edges[1])
    expect(page.get_by_role("button", name="Accept")).to_have_count(0)
    assert not Decision.objects.exists()
