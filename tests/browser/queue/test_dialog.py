"""Accepting a donor's group in a dialog."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from linker.models import CandidateEdge
from review.models import Decision
from tests.browser.queue.screen import (
    card,
    expect_left,
    expect_open,
    expect_saved,
    open_queue,
    press,
    reload,
    statuses,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def in_dialog(at_queue):
    at_queue.keyboard.press("Shift+A")
    expect(at_queue.get_by_role("heading", name="Accept 2 suggestions on this page?")).to_be_visible()
    expect(at_queue.get_by_role("button", name="Accept checked")).to_be_focused()
    return at_queue


def test_shift_a_shows_what_would_be_accepted_and_enter_accepts_it(in_dialog, edges):
    assert not Decision.objects.exists()
    in_dialog.keyboard.press("Enter")
    expect_open(in_dialog, edges[2])
    assert statuses(edges) == ["accepted", "accepted", "suggested", "suggested"]
    expect(in_dialog.locator("#messages")).to_contain_text("Accepted: 2 links, undone as one.")


def test_u_after_it_undoes_the_whole_group(in_dialog, edges):
    in_dialog.keyboard.press("Enter")
    expect_open(in_dialog, edges[2])
    in_dialog.keyboard.press("u")
    expect_saved(in_dialog)
    expect(in_dialog.locator("#messages")).to_be_empty()
    expect(in_dialog.locator("[data-said]")).to_have_text("Undone: the decisions on 2 links.")
    assert set(statuses(edges)) == {"suggested"}
    expect_left(in_dialog, 4)
    expect(card(in_dialog)).to_have_attribute("data-source", str(edges[0].source_id))


def test_keys_do_nothing_to_the_card_behind_it(in_dialog, edges):
    press(in_dialog, ("a", "x", "1", "s", "n", "j", "u", "/"))
    expect(card(in_dialog)).to_have_id(f"edge-{edges[0].pk}")
    expect_left(in_dialog, 4)
    assert not Decision.objects.exists()


def test_the_focus_stays_in_it(in_dialog):
    assert in_dialog.get_by_role("dialog").evaluate("dialog => dialog.matches(':modal')")
    behind = "document.activeElement.closest('[data-bar], .review__main, .side')"
    for _ in range(12):
        in_dialog.keyboard.press("Tab")
        assert in_dialog.evaluate(f"!{behind}")


def test_escape_closes_it_and_the_card_has_the_keys_again(in_dialog, edges):
    in_dialog.keyboard.press("Escape")
    expect(in_dialog.locator("[data-accept-group]")).to_be_hidden()
    expect_open(in_dialog, edges[0])
    in_dialog.keyboard.press("a")
    expect_open(in_dialog, edges[1])
    expect_saved(in_dialog)
    in_dialog.keyboard.press("Shift+A")
    expect(in_dialog.get_by_role("heading", name="Accept 1 suggestion on this page?")).to_be_visible()


def test_cancel_closes_it(in_dialog, edges):
    in_dialog.get_by_role("link", name="Cancel").click()
    expect(in_dialog.locator("[data-accept-group]")).to_be_hidden()
    assert not Decision.objects.exists()


def test_no_warning_of_the_preview_is_cut_off_on_a_phone(at_queue, edges):
    reason = "The acceptor is medical (Magazine \u203a Health and safety in the mountains)"
    CandidateEdge.objects.filter(pk=edges[0].pk).update(sensitive=reason)
    at_queue.set_viewport_size({"width": 390, "height": 844})
    reload(at_queue)
    at_queue.keyboard.press("Shift+A")
    expect(at_queue.locator(".preview__list .badge").first).to_be_visible()
    assert at_queue.locator(".preview__list").evaluate("list => list.scrollWidth <= list.clientWidth")


def test_acceptor_by_acceptor_the_head_is_the_acceptors_and_its_group_is_accepted(at_queue, edges, queue_url):
    CandidateEdge.objects.filter(pk=edges[2].pk).update(target=edges[0].target_id)
    CandidateEdge.objects.filter(target=edges[0].target_id).update(need=0.9)
    open_queue(at_queue, f"{queue_url}?order=target")
    head = at_queue.locator("[data-donor-place]")
    expect(head).to_contain_text("Target 0")
    at_queue.keyboard.press("j")
    expect_open(at_queue, edges[2])
    expect(head).to_contain_text("Target 0")
    expect(card(at_queue)).to_contain_text("Donor 2")
    at_queue.keyboard.press("Shift+A")
    expect(at_queue.get_by_role("heading", name="Accept 2 suggestions to this page?")).to_be_visible()
    at_queue.keyboard.press("Enter")
    expect(at_queue.locator("#messages")).to_contain_text("Accepted: 2 links, undone as one.")
    assert statuses(edges) == ["accepted", "suggested", "accepted", "suggested"]
    expect(head).not_to_contain_text("Target 0")
