"""Keys that meet an answer: none is lost, and none decides another card than the one it was meant for."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from linker.models import CandidateEdge
from review.decisions import decide_edges
from review.models import Decision, Verb
from tests.browser.queue.screen import (
    OPERATIONS,
    answer_operations,
    card,
    expect_fetched,
    expect_left,
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
from tests.factories import make_link, make_member, make_page, make_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def hold(page) -> list:
    """From now on what the queue sends waits in the list."""
    held: list = []
    answer_operations(page, lambda route: held.append(route) if not held else route.continue_())
    return held


def said(page):
    return page.locator("[data-said]")


def test_reasons_that_are_open_stay_open_when_the_answer_to_an_undo_brings_another_run(at_queue, edges, project):
    held = hold(at_queue)
    expect_fetched(at_queue)  # or "u" waits with the next card, and takes up what was refused by then
    press(at_queue, "aux")
    until(at_queue, lambda: held)
    CandidateEdge.objects.filter(pk=edges[0].pk).update(run=make_run(project))
    held[0].continue_()
    expect_saved(at_queue)
    expect(card(at_queue).locator("[data-reject]")).to_have_attribute("open", "")
    at_queue.keyboard.press("1")
    expect_open(at_queue, edges[1])
    expect_look(at_queue, 1)  # the run is newer than what was looked at


def test_the_second_half_of_a_double_click_decides_on_no_card(at_queue, edges):
    def accept(edge: CandidateEdge) -> Locator:
        return at_queue.locator(f"button[form=accept-{edge.pk}][value^=accept]").first

    accept(edges[0]).click()
    accept(edges[1]).hover()
    at_queue.mouse.down(click_count=2)
    at_queue.mouse.up(click_count=2)
    expect_saved(at_queue)
    assert statuses(edges) == ["accepted", "suggested", "suggested", "suggested"]
    accept(edges[1]).click()
    expect(card(at_queue)).to_have_id(f"edge-{edges[2].pk}")


def test_on_a_card_that_is_decided_already_a_key_says_so_and_decides_nothing(at_queue, edges, project):
    decide_edges(project, [edges[0].pk], Verb.REJECT, make_member(project, username="maria"))
    press(at_queue, "a")
    expect_look(at_queue, 1)
    press(at_queue, "u")
    expect_open(at_queue, edges[0])
    press(at_queue, "n1")
    expect(said(at_queue)).to_have_text(
        "This suggestion is decided already, so the key did nothing. “j” goes to the next one."
    )
    expect(said(at_queue)).not_to_have_class("visually-hidden")
    expect_open(at_queue, edges[0])
    press(at_queue, "jn")
    expect_saved(at_queue)
    assert statuses(edges) == ["rejected", "accepted", "suggested", "suggested"]


def test_a_key_after_an_undo_that_is_refused_does_not_decide_the_next_card(at_queue, edges):
    press(at_queue, "a")
    expect_saved(at_queue)
    reload(at_queue)
    expect_open(at_queue, edges[1])
    CandidateEdge.objects.filter(pk=edges[0].pk).update(status="exported")
    press(at_queue, "un")
    expect_open(at_queue, edges[0])
    expect(card(at_queue)).to_have_attribute("data-state", "exported")
    expect(said(at_queue)).to_contain_text("the key did nothing")
    expect_saved(at_queue)
    assert statuses(edges) == ["exported", "suggested", "suggested", "suggested"]


def test_without_a_connection_esc_leaves_a_card_that_does_not_come_back(at_queue, edges):
    press(at_queue, "a")
    expect_saved(at_queue)
    reload(at_queue)
    at_queue.wait_for_load_state("networkidle")
    at_queue.context.set_offline(True)
    press(at_queue, "un")
    expect(said(at_queue)).to_contain_text("Esc goes on without it")
    at_queue.keyboard.press("Escape")
    expect(said(at_queue)).to_contain_text("dropped")
    expect_open(at_queue, edges[1])
    press(at_queue, "a")
    expect_open(at_queue, edges[2])
    at_queue.context.set_offline(False)
    expect_saved(at_queue)
    assert statuses(edges) == ["suggested", "accepted", "suggested", "suggested"]
    press(at_queue, "j")
    expect_open(at_queue, edges[0])


def test_who_writes_in_a_card_is_not_thrown_out_of_the_field_by_an_undo_that_is_refused(at_queue, edges):
    press(at_queue, "a")
    expect_saved(at_queue)
    CandidateEdge.objects.filter(pk=edges[0].pk).update(status="exported")
    held: list = []
    at_queue.route(OPERATIONS, lambda route: held.append(route), times=1)
    press(at_queue, "ue")
    at_queue.keyboard.type("a ")
    until(at_queue, lambda: held)
    held[0].continue_()
    expect_saved(at_queue)
    at_queue.keyboard.type("jacket")
    expect(card(at_queue).locator("[data-anchor]")).to_have_value("a jacket")
    assert statuses(edges) == ["exported", "suggested", "suggested", "suggested"]


def test_two_old_decisions_that_are_undone_at_once_both_come_back(at_queue, edges):
    press(at_queue, "aa")
    expect_saved(at_queue)
    reload(at_queue)
    at_queue.evaluate("document.querySelectorAll('[data-recent] button').forEach((button) => button.click())")
    expect(recent(at_queue)).to_have_count(0)
    expect_left(at_queue, 4)
    expect_saved(at_queue)
    expect_open(at_queue, edges[0])
    press(at_queue, "j")
    expect_open(at_queue, edges[1])


def test_what_was_taken_back_before_a_reload_is_open_after_it(at_queue, edges):
    at_queue.route(OPERATIONS, lambda route: route.abort())
    reload(at_queue)
    press(at_queue, "asuu")
    expect_open(at_queue, edges[0])
    reload(at_queue)
    expect_open(at_queue, edges[0])
    expect(recent(at_queue)).to_have_count(0)
    expect_left(at_queue, 4)


def test_what_is_typed_behind_a_key_that_waits_goes_into_its_field_and_enter_saves_it(
    page, queue_url, edges, editor, sign_in
):
    sign_in(editor)
    held: list = []
    page.route("**/queue/deck/**", lambda route: held.append(route))
    page.goto(queue_url)
    expect_open(page, edges[0])
    press(page, "ae")
    page.keyboard.type("my qualm")
    press(page, ("Enter", "x", "Enter"))
    until(page, lambda: held)
    held[0].continue_()
    expect_open(page, edges[3])
    expect_saved(page)
    assert statuses(edges) == ["accepted", "suggested", "rejected", "suggested"]
    expect_look(page, 1)  # these words are not in the name of the page


def test_keys_between_shift_a_and_its_preview_do_nothing_to_the_card(at_queue, edges):
    held: list = []
    at_queue.route("**/queue/group/**", lambda route: held.append(route))
    press(at_queue, ("Shift+A", "a", "Enter"))
    until(at_queue, lambda: held)
    held[0].continue_()
    expect(at_queue.get_by_role("dialog")).to_be_visible()
    expect(card(at_queue)).to_have_id(f"edge-{edges[0].pk}")
    assert not Decision.objects.exists()


def test_a_preview_that_is_left_while_it_waits_for_what_is_unsaved_accepts_nothing(at_queue, edges):
    held = hold(at_queue)
    press(at_queue, ("a", "Shift+A"))
    dialog = at_queue.get_by_role("dialog")
    expect(dialog).to_be_visible()
    press(at_queue, ("Enter", "Enter"))
    expect(dialog.get_by_role("status")).to_contain_text("Your other decisions are saved first")
    at_queue.keyboard.press("Escape")
    held[0].continue_()
    expect_saved(at_queue)
    expect_open(at_queue, edges[1])
    assert Decision.objects.count() == 1


def test_escape_brings_back_the_warning_that_the_card_came_with(project, at_queue, edges):
    for _ in range(3):
        make_link(make_page(project), edges[0].target, edges[0].anchor)
    reload(at_queue)
    warnings = card(at_queue).locator("[data-warnings]")
    expect(warnings).to_contain_text(f"3 other links to “{edges[0].target.title}” say “{edges[0].anchor}”.")
    press(at_queue, "e")
    at_queue.keyboard.type("my target")
    expect(warnings).to_be_empty()
    press(at_queue, ("Escape", "y"))
    expect_open(at_queue, edges[1])
    expect_saved(at_queue)
    assert stored(edges[0])[:2] == ("accepted", "warm boots")


def test_the_note_of_a_rejection_that_was_undone_is_not_that_of_the_next(at_queue, edges):
    at_queue.keyboard.press("x")
    card(at_queue).get_by_label("Note").fill("out of date")
    at_queue.keyboard.press("Enter")
    press(at_queue, "uxx")
    expect_open(at_queue, edges[1])
    expect_saved(at_queue)
    assert Decision.objects.filter(verb="reject").latest("pk").note == ""


def test_a_line_that_is_opened_while_its_card_is_fetched_takes_the_keys(page, queue_url, edges, editor, sign_in):
    sign_in(editor)
    held: list = []
    page.route("**/queue/deck/**", lambda route: held.append(route))
    open_queue(page, queue_url)
    page.locator("[data-line] a").nth(1).click()
    press(page, "n")
    until(page, lambda: held)
    held[0].continue_()
    expect(recent(page)).to_have_count(1)
    expect_saved(page)
    assert statuses(edges) == ["suggested", "suggested", "accepted", "suggested"]


def test_an_address_of_a_decided_card_opens_that_card_and_no_key_decides_another(at_queue, queue_url, edges, project):
    decide_edges(project, [edges[0].pk], Verb.REJECT, make_member(project, username="maria"))
    at_queue.goto(f"{queue_url}?at={edges[0].pk}")
    expect_open(at_queue, edges[0])
    expect(card(at_queue)).to_contain_text("Rejected")
    press(at_queue, "a")
    expect(said(at_queue)).not_to_be_empty()
    press(at_queue, "j")
    expect_open(at_queue, edges[1])
    assert statuses(edges) == ["rejected", "suggested", "suggested", "suggested"]


def test_an_address_of_a_card_that_is_gone_says_so_above_the_first_of_the_list(at_queue, queue_url, edges):
    at_queue.goto(f"{queue_url}?at={edges[3].pk + 1000}")
    expect(at_queue.get_by_role("alert")).to_contain_text("not here any more")
    expect_open(at_queue, edges[0])


def test_a_page_that_was_made_while_a_decision_was_saved_does_not_show_its_card_as_open(at_queue, queue_url, edges):
    held = hold(at_queue)

    def overtaken(route) -> None:
        """The page is made before the decision is saved, and comes after."""
        page = route.fetch()
        held[0].continue_()
        at_queue.wait_for_timeout(1000)
        route.fulfill(response=page)

    press(at_queue, "a")
    until(at_queue, lambda: held)
    at_queue.route(lambda url: url.endswith("/queue/"), overtaken)
    at_queue.reload()
    expect_open(at_queue, edges[1])
    assert stored(edges[0])[0] == "accepted"
