"""What cannot be saved: it is kept and tried again, or marked, and it never takes the focus."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from linker.models import CandidateEdge
from review.decisions import decide_edges
from review.models import Decision, Verb
from review.rulings import Ruling
from tests.browser.queue.screen import (
    OPERATIONS,
    UNSAVED,
    answer_operations,
    card,
    expect_fetched,
    expect_left,
    expect_look,
    expect_open,
    expect_saved,
    expect_state,
    press,
    recent,
    reload,
    statuses,
    stored,
    until,
)
from tests.factories import make_link, make_member, make_page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def rewrite(page, words: str) -> None:
    page.keyboard.press("e")
    page.keyboard.type(words)
    page.keyboard.press("Enter")


def marked(page):
    """The entries of the last decisions that could not be saved."""
    return page.locator("[data-recent] > :is([data-result=refused], [data-result=asks])")


# The server and the connection


def test_an_answer_of_500_is_tried_again(at_queue, edges):
    answers: list = []
    at_queue.route(OPERATIONS, lambda route: (answers.append(route), route.fulfill(status=500, body="no")), times=1)
    reload(at_queue)
    press(at_queue, "a")
    expect_state(at_queue, "offline")
    expect(at_queue.locator("[data-saved]")).to_have_text("1 not saved: no connection")
    expect_open(at_queue, edges[1])
    expect_saved(at_queue)
    assert len(answers) == 1
    assert stored(edges[0])[0] == "accepted"


def test_without_a_connection_work_goes_on_and_is_saved_when_it_is_back(at_queue, edges):
    expect_fetched(at_queue)
    at_queue.context.set_offline(True)
    press(at_queue, ("a", "x", "1"))
    expect_state(at_queue, "offline")
    expect(at_queue.locator("[data-saved]")).to_have_text("2 not saved: no connection")
    expect_open(at_queue, edges[2])
    expect_look(at_queue, 0)
    assert not Decision.objects.exists()
    at_queue.context.set_offline(False)
    expect_saved(at_queue)
    assert statuses(edges) == ["accepted", "rejected", "suggested", "suggested"]


def test_an_answer_that_is_lost_is_asked_for_again_and_nothing_is_done_twice(at_queue, edges):
    at_queue.route(OPERATIONS, lambda route: (route.fetch(), route.abort()), times=1)
    reload(at_queue)
    press(at_queue, "a")
    expect_state(at_queue, "offline")
    assert Decision.objects.count() == 1
    press(at_queue, "u")
    expect_open(at_queue, edges[0])
    expect_saved(at_queue)
    assert list(Decision.objects.order_by("pk").values_list("verb", flat=True)) == ["accept", "undo"]
    expect_look(at_queue, 0)


def test_an_operation_that_the_server_cannot_read_is_found_and_marked_and_the_others_are_saved(at_queue, edges):
    held: list = []
    answer_operations(at_queue, lambda route: held.append(route) if not held else route.continue_())
    press(at_queue, "a")
    card(at_queue).locator("[name=shown]").first.evaluate(
        "(field) => { for (const run of field.form.querySelectorAll('[name=run]')) run.value = 'none'; }"
    )
    press(at_queue, "aa")
    expect_open(at_queue, edges[3])
    until(at_queue, lambda: held)
    held[0].continue_()
    expect_saved(at_queue)
    assert statuses(edges) == ["accepted", "suggested", "accepted", "suggested"]
    expect(marked(at_queue)).to_have_count(1)
    expect(marked(at_queue)).to_contain_text("Target 1")
    expect_look(at_queue, 1)
    expect_open(at_queue, edges[3])


# A conflict


def test_a_conflict_is_marked_and_counted_and_r_brings_it_back_with_the_reason(at_queue, edges, project):
    decide_edges(project, [edges[0].pk], Verb.REJECT, make_member(project, username="maria"), Ruling(reason="outdated"))
    press(at_queue, ("a", "e"))
    at_queue.keyboard.type("target one")
    expect(marked(at_queue)).to_contain_text("maria decided first: rejected (Page out of date)")
    expect_look(at_queue, 1)
    # Whoever is at work is not disturbed.
    expect(card(at_queue)).to_have_id(f"edge-{edges[1].pk}")
    expect(card(at_queue).locator("[data-anchor]")).to_be_focused()
    expect(card(at_queue).locator("[data-anchor]")).to_have_value("target one")
    at_queue.keyboard.press("Enter")
    expect_saved(at_queue)
    assert stored(edges[1])[:2] == ("accepted", "target one")

    at_queue.keyboard.press("r")
    expect_open(at_queue, edges[0])
    expect(card(at_queue).get_by_role("alert")).to_contain_text("maria decided first: rejected (Page out of date)")
    expect(card(at_queue)).to_have_attribute("data-state", "rejected")
    expect_look(at_queue, 0)
    expect(marked(at_queue)).to_have_count(0)
    at_queue.keyboard.press("a")
    expect_saved(at_queue)
    assert stored(edges[0])[0] == "rejected"


def test_the_button_of_the_bar_and_the_entry_bring_it_back_as_well(at_queue, edges, project):
    other = make_member(project, username="maria")
    for way in (
        lambda: at_queue.locator("[data-look]").click(),
        lambda: marked(at_queue).get_by_role("button").click(),
    ):
        edge = edges.pop(0)
        decide_edges(project, [edge.pk], Verb.REJECT, other)
        press(at_queue, "a")
        expect_look(at_queue, 1)
        way()
        expect_open(at_queue, edge)
        expect_look(at_queue, 0)
        press(at_queue, "j")
        expect_open(at_queue, edges[0])


def test_what_was_looked_at_and_is_decided_already_leaves_the_list(at_queue, edges, project):
    decide_edges(project, [edges[0].pk], Verb.REJECT, make_member(project, username="maria"))
    press(at_queue, "a")
    expect_look(at_queue, 1)
    press(at_queue, ("r", "j", "a", "a", "a"))
    expect(at_queue.get_by_text("Nothing left to review for this filter")).to_be_visible()
    expect_saved(at_queue)
    expect_left(at_queue, 0)
    assert statuses(edges) == ["rejected", "accepted", "accepted", "accepted"]


def test_an_undo_that_is_refused_is_marked_and_its_card_closes_where_it_is(at_queue, edges):
    press(at_queue, "a")
    expect_saved(at_queue)
    CandidateEdge.objects.filter(pk=edges[0].pk).update(status="exported")
    press(at_queue, "u")
    expect_saved(at_queue)
    expect(marked(at_queue)).to_have_count(1)
    expect_open(at_queue, edges[0])
    expect(card(at_queue)).to_have_attribute("data-state", "exported")
    expect(card(at_queue).get_by_role("alert")).to_be_visible()
    press(at_queue, "aja")
    expect_open(at_queue, edges[2])
    expect_saved(at_queue)
    assert statuses(edges) == ["exported", "accepted", "suggested", "suggested"]


# Words that are warned of, or cannot be used


def test_a_refused_anchor_is_marked_with_its_reason(at_queue, edges):
    press(at_queue, ("e", "Delete", "Control+Enter"))
    expect_open(at_queue, edges[1])
    expect(marked(at_queue)).to_contain_text("The anchor is empty")
    assert stored(edges[0])[0] == "suggested"
    press(at_queue, "r")
    expect_open(at_queue, edges[0])
    expect(card(at_queue).get_by_role("alert")).to_contain_text("The anchor is empty")
    press(at_queue, "a")
    expect_saved(at_queue)
    assert stored(edges[0])[:2] == ("accepted", "warm boots")


def test_words_that_are_refused_come_back_with_the_card(at_queue, edges):
    words = "warm boots and more " * 12
    rewrite(at_queue, words)
    expect(marked(at_queue)).to_contain_text("characters")
    press(at_queue, "r")
    expect_open(at_queue, edges[0])
    expect(card(at_queue).locator("[data-anchor]")).to_have_value(words)
    expect(card(at_queue).locator("[data-warnings]")).to_contain_text("no link may have more than")


def test_words_that_say_nothing_of_the_page_need_another_look_and_y_accepts_them_anyway(at_queue, edges):
    rewrite(at_queue, "click here")
    expect_open(at_queue, edges[1])
    expect(marked(at_queue)).to_contain_text("says nothing about the page")
    assert stored(edges[0])[0] == "suggested"
    press(at_queue, "r")
    expect_open(at_queue, edges[0])
    expect(card(at_queue).get_by_role("alert")).to_contain_text("Not accepted yet.")
    expect(card(at_queue).locator("[data-doubt]")).to_contain_text("says nothing about the page")
    expect(card(at_queue).locator("[data-anchor]")).to_have_value("click here")
    press(at_queue, "a")  # asks again
    expect_look(at_queue, 1)
    expect_open(at_queue, edges[1])
    press(at_queue, ("r", "y"))
    expect_open(at_queue, edges[1])
    expect_saved(at_queue)
    assert stored(edges[0])[:2] == ("accepted", "click here")
    assert [one["code"] for one in Decision.objects.get().overruled] == ["generic"]


def test_a_card_warns_before_the_decision_and_y_accepts_at_once(project, at_queue, edges):
    for _ in range(3):
        make_link(make_page(project), edges[0].target, edges[0].anchor)
    reload(at_queue)
    expect(card(at_queue).locator("[data-warnings]")).to_contain_text(
        f"3 other links to “{edges[0].target.title}” say “{edges[0].anchor}”."
    )
    press(at_queue, "y")
    expect_open(at_queue, edges[1])
    expect_saved(at_queue)
    assert [one["code"] for one in Decision.objects.get().overruled] == ["identical"]
    press(at_queue, "y")  # the next card has no such word, and none that asks
    expect_open(at_queue, edges[1])
    assert stored(edges[1])[0] == "suggested"


def test_other_words_after_a_warning_are_looked_at_anew(at_queue, edges):
    for words, reason in (("click here", "says nothing"), ("cheap loans", "None of these words is in the name")):
        rewrite(at_queue, words)
        expect(marked(at_queue)).to_contain_text(reason)
        press(at_queue, "r")
        expect_open(at_queue, edges[0])
    rewrite(at_queue, "my target")
    expect_saved(at_queue)
    assert stored(edges[0])[:2] == ("accepted", "my target")
    assert Decision.objects.get().overruled == []


def test_no_key_is_lost_to_a_warning_that_comes_while_work_goes_on(at_queue, edges):
    answer_operations(at_queue, lambda route: (at_queue.wait_for_timeout(150), route.continue_()))
    rewrite(at_queue, "click here")
    press(at_queue, "aaa")
    expect_saved(at_queue)
    assert statuses(edges) == ["suggested", "accepted", "accepted", "accepted"]
    expect_look(at_queue, 1)
    press(at_queue, ("r", "y"))
    expect_saved(at_queue)
    assert stored(edges[0])[:2] == ("accepted", "click here")


def test_u_brings_back_a_card_whose_words_were_asked_about(at_queue, edges, project):
    for _ in range(3):
        make_link(make_page(project), edges[0].target, edges[0].anchor)
    reload(at_queue)
    press(at_queue, "a")
    expect_open(at_queue, edges[1])
    expect_look(at_queue, 1)
    press(at_queue, "u")
    expect_open(at_queue, edges[0])
    expect_look(at_queue, 0)


# The session


def sign_in_as(page, live_server, user) -> None:
    page.goto(f"{live_server.url}/login/")
    page.get_by_label("Username").fill(user.username)
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(re.compile(r"(?<!login)/$"))


def test_a_session_that_ends_loses_nothing_and_takes_no_focus(at_queue, edges, live_server, editor, client_for):
    expect_fetched(at_queue)
    at_queue.context.clear_cookies(name="sessionid")
    press(at_queue, ("a", "n", "e"))
    expect_state(at_queue, "signed out")
    expect(at_queue.locator("[data-saved]")).to_contain_text("2 not saved: signed out")
    expect(card(at_queue).locator("[data-anchor]")).to_be_focused()
    assert not Decision.objects.exists()

    at_queue.locator("[data-saved]").get_by_role("link", name="Sign in").click()
    at_queue.wait_for_url("**/login/**")
    assert at_queue.evaluate(UNSAVED) == 1
    at_queue.get_by_label("Username").fill(editor.username)
    at_queue.get_by_label("Password").fill("correct horse battery")
    at_queue.get_by_role("button", name="Sign in").click()
    expect_open(at_queue, edges[2])
    expect_saved(at_queue)
    assert [stored(edge)[::2] for edge in edges[:2]] == [("accepted", "follow"), ("accepted", "nofollow")]


def test_signing_in_in_another_window_is_enough(at_queue, edges, live_server, editor):
    expect_fetched(at_queue)
    at_queue.context.clear_cookies(name="sessionid")
    press(at_queue, "a")
    expect_state(at_queue, "signed out")
    sign_in_as(at_queue.context.new_page(), live_server, editor)
    expect_saved(at_queue)
    expect_open(at_queue, edges[1])
    assert stored(edges[0])[0] == "accepted"
    expect(recent(at_queue)).to_have_count(1)


def test_who_was_removed_from_the_project_learns_it_and_saves_when_they_are_back(at_queue, edges, project, editor):
    expect_fetched(at_queue)
    membership = project.memberships.get(user=editor)
    membership.delete()
    press(at_queue, "a")
    expect_state(at_queue, "removed")
    expect(at_queue.locator("[data-saved]")).to_contain_text("you are no longer a member of this project")
    membership.save()
    expect_saved(at_queue)
    assert stored(edges[0])[0] == "accepted"


def test_what_one_person_has_decided_is_not_saved_under_the_name_of_who_signs_in_next(
    at_queue, edges, live_server, project, editor
):
    expect_fetched(at_queue)
    at_queue.context.clear_cookies(name="sessionid")
    press(at_queue, "a")
    expect_state(at_queue, "signed out")
    other = at_queue.context.new_page()
    sign_in_as(other, live_server, make_member(project, username="mona"))
    expect_state(at_queue, "another")
    expect(at_queue.locator("[data-saved]")).to_contain_text(f"They are kept until {editor.username} signs in again.")
    press(at_queue, "x1")
    expect(at_queue.locator("[data-saved]")).to_contain_text("2 not saved")
    assert not Decision.objects.exists()

    at_queue.context.clear_cookies(name="sessionid")
    sign_in_as(other, live_server, editor)
    expect_saved(at_queue)
    assert set(Decision.objects.values_list("user", flat=True)) == {editor.pk}
    assert statuses(edges[:2]) == ["accepted", "rejected"]


def test_undo_brings_back_the_newest_where_it_could_not_be_saved(at_queue, edges):
    press(at_queue, "a")
    expect_saved(at_queue)
    CandidateEdge.objects.filter(pk=edges[1].pk).update(status="rejected")
    press(at_queue, "a")
    expect_look(at_queue, 1)
    press(at_queue, "u")
    expect_open(at_queue, edges[1])
    assert statuses(edges)[0] == "accepted"
