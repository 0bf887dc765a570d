"""Keys that a user has changed, in the browser: see tests/review/test_own_keys.py for what may be a key."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from review.models import Decision
from tests.browser.queue.screen import card, expect_open, expect_saved, open_own_keys, open_queue

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.nightly
def test_a_changed_key_decides_the_old_one_does_nothing_and_the_button_says_the_new_one(at_queue, queue_url, edges):
    open_own_keys(at_queue)
    accept = at_queue.get_by_label("Accept as the button says")
    row = at_queue.get_by_role("row").filter(has=accept)
    for key, says in (
        ("u", "already the key of “Undo your last decision”"),
        ("3", "the digits 1 to 9"),
        ("F4", "“F4” cannot be used"),
    ):
        accept.press(key)
        expect(row.get_by_role("alert")).to_contain_text(says)
    accept.press("z")
    expect(row.get_by_role("alert")).to_be_hidden()
    accept.press("Enter")
    expect(at_queue.get_by_text("Your keys are saved.")).to_be_visible()

    open_queue(at_queue, queue_url)
    expect(card(at_queue).locator("[data-do=accept] kbd")).to_have_text("z")
    at_queue.keyboard.press("a")
    at_queue.keyboard.press("z")
    expect_open(at_queue, edges[1])
    expect_saved(at_queue)
    assert [decision.edge_id for decision in Decision.objects.all()] == [edges[0].pk]
    at_queue.keyboard.press("?")
    expect(at_queue.locator(".keys__list")).to_be_visible()
    assert "a" not in at_queue.locator(".keys__list kbd").all_inner_texts()
