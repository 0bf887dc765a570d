"""Requests for an opinion and comments in Chromium, with the keys and without a script."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from review.models import Comment, OpinionRequest
from review.queue import opinions
from tests.browser.queue.screen import card, expect_left, expect_look, expect_open, expect_saved
from tests.factories import make_member

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def maria(project):
    return make_member(project, username="maria")


@pytest.fixture
def at_ready(maria, at_queue):
    """The queue page, its first card open; maria can be asked."""
    return at_queue


def test_m_asks_a_colleague_and_u_takes_it_back(at_ready, edges, maria):
    at_ready.keyboard.press("m")
    at_ready.keyboard.type("mar")
    at_ready.keyboard.press("Tab")
    at_ready.keyboard.type("Take it?")
    at_ready.keyboard.press("Enter")
    expect_open(at_ready, edges[1])
    expect_left(at_ready, 3)
    expect(at_ready.locator("[data-today]")).to_have_text("0")
    expect_saved(at_ready)
    request = OpinionRequest.objects.get()
    assert (request.edge, request.asked_of, request.comment.text) == (edges[0], maria, "Take it?")
    at_ready.reload()
    expect_open(at_ready, edges[1])
    at_ready.keyboard.press("m")
    at_ready.keyboard.press("Enter")  # the list of people has the focus
    expect_open(at_ready, edges[2])
    at_ready.keyboard.press("u")
    expect_open(at_ready, edges[1])
    expect_saved(at_ready)
    assert OpinionRequest.objects.count() == 1


def test_escape_leaves_the_form_and_the_keys_go_to_the_card(at_ready, edges):
    at_ready.keyboard.press("m")
    expect(card(at_ready).get_by_label("Whom to ask")).to_be_focused()
    at_ready.keyboard.press("Escape")
    expect(card(at_ready).get_by_label("Whom to ask")).to_be_hidden()
    expect_open(at_ready, edges[0])
    at_ready.keyboard.press("j")
    expect_open(at_ready, edges[1])
    assert not OpinionRequest.objects.exists()


def test_a_request_that_is_refused_needs_another_look(at_ready, edges, project, maria, editor):
    opinions.ask(project, editor, edges[0].pk)  # in another window
    at_ready.keyboard.press("m")
    at_ready.keyboard.press("Tab")
    at_ready.keyboard.press("Enter")
    expect_open(at_ready, edges[1])
    expect_look(at_ready, 1)
    at_ready.keyboard.press("r")
    expect(card(at_ready).get_by_role("alert")).to_contain_text("You have asked for an opinion")
    card(at_ready).get_by_role("button", name="Take back the request").click()
    expect_saved(at_ready)
    assert not OpinionRequest.objects.exists()


def test_a_comment_shows_at_once_and_stays(at_ready, edges, editor, maria):
    card(at_ready).get_by_text(re.compile("^Comments")).click()
    card(at_ready).get_by_label("Comment", exact=True).fill("<b>Well</b>, @Maria?")
    at_ready.keyboard.press("Enter")
    expect(card(at_ready).locator("[data-comments] li")).to_contain_text("<b>Well</b>, @Maria?")
    expect_saved(at_ready)
    assert list(Comment.objects.get().mentions.all()) == [maria]
    expect(card(at_ready).locator("[data-comments] li .mention")).to_have_text("@Maria")
    expect(card(at_ready).locator("[data-comments] li")).to_contain_text(editor.get_username())
    at_ready.keyboard.press("j")
    expect_open(at_ready, edges[1])


def test_whoever_is_asked_sees_by_whom_and_the_decision_brings_an_answer(
    at_ready, queue_url, sign_in, edges, project, editor, maria
):
    opinions.ask(project, editor, edges[2].pk, "maria", "Take it?")
    sign_in(maria)
    at_ready.goto(f"{queue_url}?asked=1")
    expect_open(at_ready, edges[2])
    expect(card(at_ready).get_by_text(re.compile("^Opinion asked by"))).to_be_visible()
    expect(card(at_ready).get_by_text("Take it?")).to_be_visible()
    expect_left(at_ready, 1)
    at_ready.keyboard.press("a")
    expect_saved(at_ready)
    expect_left(at_ready, 0)
    assert OpinionRequest.objects.get().answered_by == maria


def test_without_a_script_a_colleague_is_asked_and_a_comment_written(context_of, queue_url, edges, maria, editor):
    page = context_of(editor, java_script_enabled=False).new_page()
    page.goto(queue_url)
    card(page).get_by_text(re.compile("^Comments")).click()
    card(page).get_by_label("Comment", exact=True).fill("Not sure.")
    card(page).get_by_role("button", name="Send").click()
    expect(card(page).get_by_text("Not sure.")).to_be_visible()
    card(page).get_by_text("Ask…").click()
    card(page).get_by_label("Whom to ask").select_option("maria")
    card(page).get_by_role("button", name="Ask for an opinion").click()
    expect(page.get_by_text("You asked maria for an opinion.")).to_be_visible()
    expect(card(page)).to_have_id(f"edge-{edges[1].pk}")


def test_a_card_says_who_else_has_it_open(at_ready, context_of, queue_url, edges, editor, maria):
    second = context_of(maria).new_page()
    second.goto(queue_url)
    sign = second.get_by_text(f"{editor.get_username()} is looking at this")
    expect(sign).to_be_visible()
    second.keyboard.press("j")
    expect_open(second, edges[1])
    expect(sign).to_be_hidden()


def test_the_queue_goes_on_where_it_cannot_learn_who_else_looks(at_ready, edges):
    at_ready.route("**/presence/", lambda route: route.abort())
    at_ready.reload()
    with at_ready.expect_event("requestfailed", lambda request: request.url.endswith("/presence/")):
        expect_open(at_ready, edges[0])
    at_ready.keyboard.press("a")
    expect_open(at_ready, edges[1])
    expect_saved(at_ready)
