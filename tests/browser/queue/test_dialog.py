"""Accepting a donor's group in a dialog."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from linker.models import CandidateEdge
from review.models import Decision
from tests.browser.queue.screen import card, expect_left, expect_open, expect_saved, open_queue, press, statuses, until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_shift_a_shows_a_group_that_is_left_accepted_and_undone_as_one(at_queue, edges):
    dialog = at_queue.get_by_role("dialog")

    def open_it() -> None:
        at_queue.keyboard.press("Shift+A")
        expect(at_queue.get_by_role("heading", name="Accept 2 suggestions on this page?")).to_be_visible()
        expect(at_queue.get_by_role("button", name="Accept checked")).to_be_focused()

    open_it()
    press(at_queue, ("a", "x", "1", "s", "n", "j", "u", "/"))  # nothing happens to the card behind it
    expect(card(at_queue)).to_have_id(f"edge-{edges[0].pk}")
    expect_left(at_queue, 4)
    assert dialog.evaluate("dialog => dialog.matches(':modal')")
    for _ in range(12):
        at_queue.keyboard.press("Tab")
        assert at_queue.evaluate("!document.activeElement.closest('[data-bar], .review__main, .side')")
    at_queue.get_by_role("link", name="Cancel").click()
    expect(at_queue.locator("[data-accept-group]")).to_be_hidden()
    open_it()
    at_queue.keyboard.press("Escape")
    expect(at_queue.locator("[data-accept-group]")).to_be_hidden()
    expect_open(at_queue, edges[0])
    press(at_queue, "jk")
    expect_open(at_queue, edges[0])
    assert not Decision.objects.exists()

    open_it()
    at_queue.keyboard.press("Enter")
    expect_open(at_queue, edges[2])
    assert statuses(edges) == ["accepted", "accepted", "suggested", "suggested"]
    expect(at_queue.locator("#messages")).to_contain_text("Accepted: 2 links, undone as one.")
    at_queue.keyboard.press("u")
    expect_saved(at_queue)
    expect(at_queue.locator("#messages")).to_be_empty()
    expect(at_queue.locator("[data-said]")).to_have_text("Undone: the decisions on 2 links.")
    assert set(statuses(edges)) == {"suggested"}
    expect_left(at_queue, 4)
    for edge in edges[:3]:  # in its order
        expect_open(at_queue, edge)
        at_queue.keyboard.press("j")


def test_behind_a_group_comes_the_next_card_and_those_passed_over_come_at_the_end(at_row, row):
    press(at_row, "jj")
    expect_open(at_row, row[2])
    at_row.keyboard.press("Shift+A")
    for edge in (*row[:2], *row[5:]):
        at_row.locator(f"[name=edge][value^='{edge.pk}:']").uncheck()
    at_row.keyboard.press("Enter")
    expect_open(at_row, row[5])
    assert statuses(row[:6]) == ["suggested"] * 2 + ["accepted"] * 3 + ["suggested"]
    press(at_row, "s" * 13)
    expect_open(at_row, row[0])
    press(at_row, "ss")
    expect(at_row.get_by_role("heading", name="Nothing left to review")).to_be_visible()
    expect_saved(at_row)


@pytest.fixture
def sensitive(edges) -> None:
    """The second card needs human review, for a long reason."""
    reason = "The acceptor is medical (Magazine › Health and safety in the mountains)"
    CandidateEdge.objects.filter(pk=edges[1].pk).update(sensitive=reason)


@pytest.mark.nightly
def test_keys_before_the_preview_do_nothing_and_one_that_is_left_while_it_waits_accepts_nothing(
    sensitive, at_queue, edges
):
    at_queue.set_viewport_size({"width": 390, "height": 844})
    previews: list = []
    operations: list = []
    at_queue.route("**/queue/group/**", lambda route: previews.append(route))
    press(at_queue, ("Shift+A", "a", "Enter"))
    until(at_queue, lambda: previews)
    expect(card(at_queue)).to_have_id(f"edge-{edges[0].pk}")
    at_queue.keyboard.press("Escape")
    previews.pop().abort()
    at_queue.route(
        "**/queue/operations/", lambda route: operations.append(route) if not operations else route.continue_()
    )
    press(at_queue, ("a", "Shift+A"))
    until(at_queue, lambda: previews and operations)
    previews[0].continue_()
    dialog = at_queue.get_by_role("dialog")
    expect(dialog).to_be_visible()
    expect(at_queue.get_by_role("heading", name="Accept 2 suggestions on this page?")).to_be_visible()
    assert at_queue.locator(".preview__list").evaluate("list => list.scrollWidth <= list.clientWidth"), "on a phone"
    press(at_queue, ("Enter", "Enter"))
    expect(dialog.get_by_role("status")).to_contain_text("Your other decisions are saved first")
    at_queue.keyboard.press("Escape")
    operations[0].continue_()
    expect_saved(at_queue)
    expect_open(at_queue, edges[1])
    assert Decision.objects.count() == 1


@pytest.mark.nightly
def test_where_none_of_a_group_is_ticked_the_dialog_says_so_and_accepts_nothing(sensitive, at_queue, edges):
    CandidateEdge.objects.filter(pk=edges[0].pk).update(sensitive="The donor is medical")
    at_queue.keyboard.press("Shift+A")
    dialog, button = at_queue.get_by_role("dialog"), at_queue.get_by_role("button", name="Accept checked")
    expect(dialog).to_contain_text("None is ticked, since each needs its own look.")
    expect(button).to_be_disabled()
    at_queue.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    assert not Decision.objects.exists()
    expect(dialog.get_by_role("checkbox").first).to_be_focused()
    at_queue.keyboard.press("Space")
    expect(button).to_be_enabled()
    expect(dialog.get_by_text("None is ticked")).to_be_hidden()
    at_queue.keyboard.press("Enter")
    expect(at_queue.locator("#messages")).to_contain_text("Accepted: “warm boots”")
    assert statuses(edges)[:2] == ["accepted", "suggested"]


@pytest.mark.nightly
def test_acceptor_by_acceptor_the_head_is_the_acceptors_and_its_group_is_accepted(
    page, edges, editor, sign_in, queue_url
):
    CandidateEdge.objects.filter(pk=edges[2].pk).update(target=edges[0].target_id)
    CandidateEdge.objects.filter(target=edges[0].target_id).update(need=0.9)
    sign_in(editor)
    open_queue(page, f"{queue_url}?order=target")
    head = page.locator("[data-donor-place]")
    expect(head).to_contain_text("Target 0")
    page.keyboard.press("j")
    expect_open(page, edges[2])
    expect(head).to_contain_text("Target 0")
    expect(card(page)).to_contain_text("Donor 2")
    page.keyboard.press("Shift+A")
    expect(page.get_by_role("heading", name="Accept 2 suggestions to this page?")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#messages")).to_contain_text("Accepted: 2 links, undone as one.")
    assert statuses(edges) == ["accepted", "suggested", "accepted", "suggested"]
    expect(head).not_to_contain_text("Target 0")
