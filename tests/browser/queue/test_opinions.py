"""Requests for an opinion and comments in Chromium, with the keys."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from review.models import Comment, OpinionRequest
from review.queue import opinions
from tests.browser.queue.screen import card, expect_left, expect_look, expect_open, expect_saved, press
from tests.factories import make_member

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def maria(project):
    return make_member(project, username="maria")


@pytest.fixture
def at_ready(maria, at_queue):
    """The queue page, its first card open; maria can be asked."""
    return at_queue


@pytest.mark.nightly
def test_m_asks_a_colleague_u_takes_it_back_and_one_that_is_refused_needs_another_look(
    at_ready, edges, project, maria, editor
):
    at_ready.keyboard.press("m")
    expect(card(at_ready).get_by_label("What you would like to know")).to_be_focused()
    at_ready.keyboard.press("Escape")
    expect(card(at_ready).get_by_label("Whom to ask")).to_be_hidden()
    expect_open(at_ready, edges[0])
    at_ready.keyboard.press("m")
    at_ready.keyboard.type("Take it?")  # what is typed at once is the question
    at_ready.keyboard.press("Tab")
    at_ready.keyboard.type("mar")
    at_ready.keyboard.press("Enter")
    expect_open(at_ready, edges[1])
    expect_left(at_ready, 3)
    expect(at_ready.locator("[data-today]")).to_have_text("0")
    expect_saved(at_ready)
    request = OpinionRequest.objects.get()
    assert (request.edge, request.asked_of, request.comment.text) == (edges[0], maria, "Take it?")
    at_ready.keyboard.press("m")
    at_ready.keyboard.press("Enter")
    expect_open(at_ready, edges[2])
    at_ready.keyboard.press("u")
    expect_open(at_ready, edges[1])
    expect_saved(at_ready)
    assert OpinionRequest.objects.count() == 1

    opinions.ask(project, editor, edges[1].pk)  # in another window
    press(at_ready, ("m", "Tab", "Enter"))
    expect_open(at_ready, edges[2])
    expect_look(at_ready, 1)
    at_ready.keyboard.press("r")
    expect(card(at_ready).get_by_role("alert")).to_contain_text("You have asked for an opinion")
    card(at_ready).get_by_role("button", name="Take back the request").click()
    expect_saved(at_ready)
    assert OpinionRequest.objects.count() == 1


@pytest.mark.nightly
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


@pytest.mark.nightly
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
