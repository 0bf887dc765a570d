"""Leaving the page with work that is not saved: it is there when the editor comes back."""

from __future__ import annotations

import contextlib

import pytest
from django.db import OperationalError
from playwright.sync_api import Error, expect

from review.models import Decision
from review.web.views import deciding
from tests.browser.queue.screen import (
    UNSAVED,
    card,
    expect_look,
    expect_open,
    expect_saved,
    expect_state,
    open_queue,
    press,
    recent,
    statuses,
    stored,
    until,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# As after the seconds in which a window that is gone could still be there.
GONE = """Object.keys(localStorage).filter((name) => name.startsWith("anchorline:alive:"))
  .forEach((name) => localStorage.removeItem(name))"""


@pytest.fixture
def connect(monkeypatch):
    """Until it is called, the server fails whatever is sent, even by a page that is being left."""

    def fail(*_: object) -> None:
        raise OperationalError("the server closed the connection unexpectedly")

    with monkeypatch.context() as patch:
        patch.setattr(deciding, "carry_out", fail)
        yield patch.undo


@pytest.fixture
def cut_off(at_queue, edges, connect):
    """The queue, when nothing reaches the database: two decisions have been made, and neither is saved."""
    press(at_queue, ("a", "x", "1"))
    expect_open(at_queue, edges[2])
    expect_state(at_queue, "offline")
    return at_queue


def expect_both_saved(edges) -> None:
    assert statuses(edges) == ["accepted", "rejected", "suggested", "suggested"]
    assert Decision.objects.count() == 2


def test_reloading_the_page_loses_nothing(cut_off, connect, edges):
    cut_off.reload()
    expect_open(cut_off, edges[2])
    expect(recent(cut_off)).to_have_count(2)
    assert not Decision.objects.exists()
    connect()
    cut_off.reload()
    expect_open(cut_off, edges[2])
    expect_saved(cut_off)
    expect_both_saved(edges)


def test_after_a_reload_u_takes_back_the_newest_and_later_keys_are_for_its_card(cut_off, connect, edges):
    cut_off.reload()
    expect_open(cut_off, edges[2])
    press(cut_off, "u")
    connect()
    expect_open(cut_off, edges[1])
    press(cut_off, "n")
    expect_saved(cut_off)
    assert stored(edges[0])[::2] == ("accepted", "follow")
    assert stored(edges[1])[::2] == ("accepted", "nofollow")
    assert stored(edges[2])[0] == "suggested"


def test_of_more_than_go_in_one_request_the_newest_comes_back_at_once_after_a_reload(at_many, connect, many):
    press(at_many, "a" * 42)
    expect_open(at_many, many[42])
    at_many.reload()
    expect_open(at_many, many[42])
    press(at_many, "u")
    expect_open(at_many, many[41])
    connect()
    expect_saved(at_many)
    assert statuses(many[:43]) == ["accepted"] * 41 + ["suggested"] * 2


def test_going_to_another_page_and_back_loses_nothing(cut_off, connect, edges, live_server):
    cut_off.goto(f"{live_server.url}/p/shop/")
    connect()
    cut_off.go_back()
    expect_open(cut_off, edges[2])
    expect_saved(cut_off)
    expect_both_saved(edges)


def test_a_filter_chosen_meanwhile_loses_nothing(cut_off, connect, edges, queue_url):
    connect()
    cut_off.goto(f"{queue_url}?text={edges[3].target.url.rpartition('/')[2]}")
    expect_open(cut_off, edges[3])
    expect_saved(cut_off)
    expect_both_saved(edges)


def test_what_was_decided_just_before_leaving_is_sent(at_queue, edges, live_server):
    press(at_queue, "aa")
    expect_open(at_queue, edges[2])  # a key whose card has not come yet has painted nothing
    at_queue.goto(f"{live_server.url}/p/shop/")
    at_queue.wait_for_load_state()
    until(at_queue, lambda: Decision.objects.count() == 2)
    assert statuses(edges)[:2] == ["accepted", "accepted"]


def test_what_a_closed_window_has_left_is_offered_and_saved(cut_off, connect, edges, queue_url):
    context = cut_off.context
    cut_off.close()
    other = open_queue(context.new_page(), queue_url)
    other.evaluate(GONE)
    expect(other.get_by_text("2 decisions of yours in another window were never saved.")).to_be_visible()
    assert not Decision.objects.exists()
    connect()
    other.get_by_role("button", name="Save them").click()
    expect_saved(other)
    expect_both_saved(edges)
    expect(other.get_by_role("button", name="Save them")).to_be_hidden()


def test_after_they_are_saved_their_cards_are_not_open_any_more(cut_off, connect, edges, queue_url):
    context = cut_off.context
    cut_off.close()
    other = open_queue(context.new_page(), queue_url)
    expect_open(other, edges[0])
    other.evaluate(GONE)
    connect()
    other.get_by_role("button", name="Save them").click()
    expect_saved(other)
    expect(card(other)).to_have_id(f"edge-{edges[2].pk}")
    expect(recent(other)).to_have_count(2)
    expect_look(other, 0)


def test_what_a_closed_window_has_left_can_be_discarded(cut_off, edges, queue_url):
    context = cut_off.context
    cut_off.close()
    other = open_queue(context.new_page(), queue_url)
    other.evaluate(GONE)
    other.get_by_role("button", name="Discard them").click()
    expect(other.get_by_role("button", name="Discard them")).to_be_hidden()
    assert other.evaluate(UNSAVED) == 0
    expect(card(other)).to_have_id(f"edge-{edges[0].pk}")
    assert not Decision.objects.exists()


def test_a_window_that_is_still_open_is_left_alone(cut_off, edges, queue_url):
    other = open_queue(cut_off.context.new_page(), queue_url)
    expect_open(other, edges[0])
    expect(other.locator("[data-offer]")).to_be_hidden()
    assert other.evaluate(UNSAVED) == 1


def test_what_another_editor_has_left_is_not_offered(cut_off, edges, queue_url, manager, sign_in, client_for):
    context = cut_off.context
    cut_off.close()
    context.clear_cookies(name="sessionid")
    cookie = client_for(manager).cookies["sessionid"]
    context.add_cookies([{"name": "sessionid", "value": cookie.value, "url": queue_url}])
    other = open_queue(context.new_page(), queue_url)
    expect_open(other, edges[0])
    expect(other.locator("[data-offer]")).to_be_hidden()


def test_a_browser_that_crashes_loses_nothing(cut_off, connect, edges, queue_url):
    context = cut_off.context
    with contextlib.suppress(Error):
        cut_off.goto("chrome://crash", timeout=5000)
    other = open_queue(context.new_page(), queue_url)
    assert other.evaluate(UNSAVED) == 1
    other.evaluate(GONE)
    connect()
    other.get_by_role("button", name="Save them").click()
    expect_saved(other)
    expect_both_saved(edges)


def test_what_is_kept_outlives_the_whole_browser(cut_off, connect, edges, queue_url, browser):
    kept = cut_off.context.storage_state()
    cut_off.context.close()
    context = browser.new_context(storage_state=kept)
    page = open_queue(context.new_page(), queue_url)
    page.evaluate(GONE)
    connect()
    page.get_by_role("button", name="Save them").click()
    expect_saved(page)
    expect_both_saved(edges)
    context.close()
