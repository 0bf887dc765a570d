"""What is done is painted at once and saved behind it, over slow, broken and lost connections, windows and sessions.

What the scripts decide on the way is told by tests/js/saving.test.js, leaving.test.js and undo.test.js.
"""

from __future__ import annotations

import contextlib
import random
import re

import pytest
from django.db import OperationalError
from playwright.sync_api import Error, expect

from review.decisions import decide_edges
from review.models import Decision, SetAside, Verb
from review.rulings import Ruling
from review.web.views import deciding
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
    open_queue,
    press,
    recent,
    reload,
    said,
    statuses,
    stored,
    until,
)
from tests.factories import make_member

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# As after the seconds in which a window that is gone could still be there.
GONE = """Object.keys(localStorage).filter((name) => name.startsWith("anchorline:alive:"))
  .forEach((name) => localStorage.removeItem(name))"""
# What is done to a card, and what the database says of it then: status, rel, whether it is set aside.
WORK = {
    "a": (("a",), ("accepted", "follow", False)),
    "n": (("n",), ("accepted", "nofollow", False)),
    "x": (("x", "1"), ("rejected", None, False)),
    "s": (("s",), ("suggested", None, True)),
    "undone": (("a", "u", "n"), ("accepted", "nofollow", False)),
}


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


def test_decisions_and_undos_are_painted_before_the_server_answers_and_arrive_in_order(at_queue, edges):
    held: list = []
    answer_operations(at_queue, lambda route: held.append(route) if not held else route.continue_())
    at_queue.keyboard.press("a")
    expect_open(at_queue, edges[1])
    expect_left(at_queue, 3)
    expect(recent(at_queue).first).to_have_attribute("data-result", "unsaved")
    expect(at_queue.locator("[data-saved]")).to_have_text("Saving 1…")
    press(at_queue, "au")  # the second is never sent
    expect_open(at_queue, edges[1])
    press(at_queue, "u")  # the first is under way
    expect_open(at_queue, edges[0])
    expect_left(at_queue, 4)
    press(at_queue, "nx2")
    until(at_queue, lambda: held)
    assert not Decision.objects.exists()
    held[0].continue_()
    expect_saved(at_queue)
    expect_open(at_queue, edges[2])
    assert list(Decision.objects.order_by("pk").values_list("edge", "verb")) == [
        (edges[0].pk, "accept"), (edges[0].pk, "undo"), (edges[0].pk, "accept"), (edges[1].pk, "reject"),
    ]  # fmt: skip
    assert [stored(edge)[::2] for edge in edges[:2]] == [("accepted", "nofollow"), ("rejected", "follow")]
    at_queue.locator("[data-undo-last]").get_by_role("button").click()
    recent(at_queue).first.get_by_role("button", name="Undo").click()
    expect_saved(at_queue)
    assert set(statuses(edges)) == {"suggested"}


@pytest.mark.nightly
@pytest.mark.parametrize("count", [40, pytest.param(60, marks=pytest.mark.nightly)])
def test_no_decision_is_lost_or_hits_another_card_over_a_bad_connection(
    page, queue_url, project, many, editor, sign_in, count
):
    luck = random.Random(7)
    maria = make_member(project, username="maria")
    taken = set(luck.sample(range(26, count), 3))
    plan = luck.choices(list(WORK), weights=(8, 4, 4, 3, 2), k=count)

    def bad_connection(route) -> None:
        """At times what is sent never arrives, and at times its answer does not."""
        drawn = luck.random()
        if drawn < 0.1:
            route.abort()
        elif drawn < 0.2:
            route.fetch()
            route.abort()
        else:
            route.continue_()

    sign_in(editor)
    open_queue(page, queue_url)
    answer_operations(page, bad_connection)
    expect(page.locator("[data-next] > li")).to_have_count(8)  # the next cards have come
    elements = "document.querySelectorAll('*').length"
    tops = []
    few = page.evaluate(elements)
    for n in range(count):
        if n + 15 in taken:  # Maria decides a card that this browser has fetched already
            decide_edges(project, [many[n + 15].pk], Verb.REJECT, maria, Ruling(reason="outdated"))
        press(page, WORK[plan[n]][0])
        if n % 10 == 0:
            tops.append(card(page).bounding_box()["y"])
    until(page, lambda: page.evaluate(UNSAVED) == 0)
    expect_saved(page)
    aside = set(SetAside.objects.filter(user=editor).values_list("edge", flat=True))
    for n, edge in enumerate(many[:count]):
        status, rel, is_aside = WORK[plan[n]][1]
        if n in taken:
            status, rel = "rejected", None
        found = stored(edge)
        assert (n, found[0], edge.pk in aside) == (n, status, is_aside)
        assert rel in (None, found[2]), n
    assert Decision.objects.filter(user=maria).count() == len(taken)
    expect_look(page, len([n for n in taken if WORK[plan[n]][1][0] != "suggested"]))
    assert max(tops) - min(tops) <= 1, "the card stays where it is"
    assert page.evaluate(elements) < few * 1.3, "what was decided leaves the page"


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


# The session


def sign_in_as(page, live_server, user) -> None:
    page.goto(f"{live_server.url}/login/")
    page.get_by_label("Username").fill(user.username)
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(re.compile(r"(?<!login)/$"))


@pytest.mark.nightly
def test_a_session_that_ends_loses_nothing_and_takes_no_focus(at_queue, edges, editor):
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


@pytest.mark.nightly
def test_what_one_person_has_decided_is_saved_when_they_sign_in_in_another_window_and_under_no_other_name(
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

    membership = project.memberships.get(user=editor)
    membership.delete()
    at_queue.context.clear_cookies(name="sessionid")
    sign_in_as(other, live_server, editor)
    expect_state(at_queue, "removed")
    expect(at_queue.locator("[data-saved]")).to_contain_text("you are no longer a member of this project")
    membership.save()
    at_queue.evaluate("dispatchEvent(new Event('online'))")  # or it would try again in a while
    expect_saved(at_queue)
    assert set(Decision.objects.values_list("user", flat=True)) == {editor.pk}
    assert statuses(edges[:2]) == ["accepted", "rejected"]


# Leaving


@pytest.mark.nightly
def test_a_reload_and_a_way_to_another_page_and_back_lose_nothing(cut_off, connect, edges, live_server):
    cut_off.reload()
    expect_open(cut_off, edges[2])
    expect(recent(cut_off)).to_have_count(2)
    cut_off.goto(f"{live_server.url}/p/shop/")
    assert not Decision.objects.exists()
    connect()
    cut_off.go_back()
    expect_open(cut_off, edges[2])
    expect_saved(cut_off)
    assert statuses(edges) == ["accepted", "rejected", "suggested", "suggested"]
    assert Decision.objects.count() == 2


@pytest.mark.nightly
def test_what_was_decided_just_before_leaving_is_sent(at_queue, edges, live_server):
    press(at_queue, "aa")
    expect_open(at_queue, edges[2])  # a key whose card has not come yet has painted nothing
    at_queue.goto(f"{live_server.url}/p/shop/")
    at_queue.wait_for_load_state()
    until(at_queue, lambda: Decision.objects.count() == 2)
    assert statuses(edges)[:2] == ["accepted", "accepted"]


@pytest.mark.nightly
@pytest.mark.parametrize("end", ["closed", "crashed", "with the whole browser"])
def test_what_a_window_has_left_that_is_gone_is_offered_and_saved(cut_off, connect, edges, queue_url, browser, end):
    context = cut_off.context
    if end == "crashed":
        with contextlib.suppress(Error):
            cut_off.goto("chrome://crash", timeout=5000)
    elif end == "closed":
        cut_off.close()
    else:
        context = browser.new_context(storage_state=context.storage_state())
    other = open_queue(context.new_page(), queue_url)
    expect_open(other, edges[0])
    other.evaluate(GONE)
    said = "2 decisions of yours in another window were never saved: Accepted, “warm boots” → Target 0; Rejected, "
    expect(other.get_by_text(said)).to_be_visible()
    assert not Decision.objects.exists()
    connect()
    other.get_by_role("button", name="Save them").click()
    expect_saved(other)
    expect(other.get_by_role("button", name="Save them")).to_be_hidden()
    expect(card(other)).to_have_id(f"edge-{edges[2].pk}")
    expect(recent(other)).to_have_count(2)
    assert statuses(edges) == ["accepted", "rejected", "suggested", "suggested"]
    assert Decision.objects.count() == 2
    if context is not cut_off.context:
        context.close()


@pytest.mark.nightly
def test_a_page_that_was_made_while_a_decision_was_saved_does_not_show_its_card_as_open(at_queue, queue_url, edges):
    held: list = []
    at_queue.route(OPERATIONS, lambda route: held.append(route) if not held else route.continue_())

    def overtaken(route) -> None:
        """The page is made before the decision is saved, and comes after."""
        page = route.fetch()
        held[0].continue_()
        until(at_queue, lambda: Decision.objects.exists())
        at_queue.wait_for_timeout(100)
        route.fulfill(response=page)

    press(at_queue, "a")
    until(at_queue, lambda: held)
    at_queue.route(lambda url: url.endswith("/queue/"), overtaken)
    at_queue.reload()
    expect_open(at_queue, edges[1])
    assert stored(edges[0])[0] == "accepted"


@pytest.mark.nightly
def test_after_a_reload_u_takes_back_the_newest_in_turn_each_with_its_donor_and_later_keys_wait(at_queue, edges):
    press(at_queue, "aas")
    expect_saved(at_queue)
    reload(at_queue)
    expect_open(at_queue, edges[3])
    expect(recent(at_queue).first).to_contain_text("Later: warm boots → Target 2")
    press(at_queue, "un")
    expect(recent(at_queue).first).to_contain_text("Accepted, in the text: warm boots → Target 2")
    expect_open(at_queue, edges[3])
    expect_saved(at_queue)
    assert stored(edges[2]) == ("accepted", "warm boots", "nofollow")
    expect(at_queue.locator("[data-donor-place]")).to_contain_text("Donor 2")
    press(at_queue, "uu")
    expect_open(at_queue, edges[1])
    expect(at_queue.locator("[data-donor-place]")).to_contain_text("Donor 1")
    press(at_queue, "uu")
    expect_open(at_queue, edges[0])
    expect(said(at_queue)).to_have_text("There is no decision of yours left to undo.")
    expect_saved(at_queue)
    assert set(statuses(edges)) == {"suggested"}
