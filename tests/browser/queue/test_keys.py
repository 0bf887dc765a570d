"""The keys of the queue, each on a real card. When keys rest is told by tests/js/keys.test.js."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from linker.models import CandidateEdge, Suppression
from review.models import Decision, SetAside
from tests.browser.queue.screen import (
    card,
    expect_left,
    expect_open,
    expect_saved,
    press,
    recent,
    reload,
    statuses,
    stored,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NOTE = "out of date since May, and axe"
# What is pressed, and what the database says of the card then: its status, anchor and rel, the reason and the note.
ACCEPTED, REJECTED = ("accepted", "warm boots", "follow"), ("rejected", "warm boots", "follow")
DECIDES = [
    (("a",), ACCEPTED, "", ""),
    (("f",), ACCEPTED, "", ""),
    (("n",), ("accepted", "warm boots", "nofollow"), "", ""),
    (("g",), ("accepted", "warm boots", "ugc"), "", ""),
    (("x", "x"), REJECTED, "", ""),
    (("x", "Enter"), REJECTED, "", ""),
    (("x", "1"), REJECTED, "irrelevant", ""),
    (("x", "9"), REJECTED, "better_there", ""),
    (("x", NOTE, "Enter"), REJECTED, "", NOTE),
    (("e", *"axe target", "Enter"), ("accepted", "axe target", "follow"), "", ""),
    (("e", *"my target", "Control+Enter"), ("accepted", "my target", "follow"), "", ""),
    (("1", "a"), ("accepted", "snow boots", "follow"), "", ""),
    (("2", "a"), ("accepted", "dry boots", "follow"), "", ""),
    (("s",), ("suggested", "warm boots", "follow"), None, None),
    (("b", "a"), ACCEPTED, "", ""),
]


def test_each_key_decides_its_card_and_the_next_one_opens(at_row, row, editor):
    for at, (keys, *_) in enumerate(DECIDES):
        expect_open(at_row, row[at])
        for key in keys:
            if key == NOTE:
                card(at_row).get_by_label("Note").fill(NOTE)
            else:
                at_row.keyboard.press(key)
    expect_saved(at_row)
    made = {decision.edge_id: decision for decision in Decision.objects.all()}
    for edge, (keys, is_now, reason, note) in zip(row, DECIDES, strict=False):
        assert (keys, stored(edge)) == (keys, is_now)
        decision = made.get(edge.pk)
        assert (keys, decision and (decision.reason, decision.note)) == (
            keys,
            None if reason is None else (reason, note),
        )
    assert [made[row[at].pk].verb for at in (0, 9, 11)] == ["accept", "edit", "edit"]
    assert SetAside.objects.get().user == editor
    assert CandidateEdge.objects.get(pk=row[14].pk).placement == "related"
    expect_left(at_row, 3)
    expect(at_row.locator("[data-today]")).to_have_text("14")
    expect(at_row.locator("[data-accepted]")).to_have_text("9")
    expect(recent(at_row).first).to_contain_text("Accepted, in the list at the end: warm boots → Target 14")
    expect(recent(at_row).nth(4)).to_contain_text("Accepted with an edit, in the text: my target")
    counts = {
        name: at_row.locator(f"[data-count={name}]").text_content() for name in ("suggested", "accepted", "later")
    }
    assert counts == {"suggested": "3", "accepted": "9", "later": "1"}


@pytest.mark.nightly
def test_keys_that_move_read_open_search_and_leave_decide_nothing(at_queue, edges):
    at_queue.context.route("https://shop.example/**", lambda route: route.fulfill(body="there"))
    press(at_queue, ("Control+a", "Meta+a"))
    for key, place in (("j", 1), ("j", 2), ("k", 1), ("k", 0), ("k", 0)):
        at_queue.keyboard.press(key)
        expect_open(at_queue, edges[place])
    for key, read in (("o", edges[0].source), ("t", edges[0].target)):
        with at_queue.context.expect_page() as opened:
            at_queue.keyboard.press(key)
        assert opened.value.url == read.url
        opened.value.close()
    text = at_queue.locator("[data-page-text-place]")
    at_queue.keyboard.press("p")
    expect(text).to_contain_text("Target 0")
    at_queue.keyboard.press("p")
    expect(text).to_contain_text("Wear warm boots on snow.")
    expect(text.locator("mark")).to_have_text("warm boots")
    at_queue.keyboard.press("p")
    expect(text).to_be_hidden()
    press(at_queue, "pj")
    expect_open(at_queue, edges[1])
    expect(text).to_be_hidden()
    at_queue.keyboard.press("k")
    at_queue.keyboard.press("x")
    expect(card(at_queue).locator("[data-reason]").first).to_be_visible()
    at_queue.keyboard.press("Escape")
    expect(card(at_queue).locator("[data-reason]").first).to_be_hidden()
    at_queue.keyboard.press("e")
    at_queue.keyboard.type("nonsense")
    press(at_queue, ("ArrowRight", "Escape"))
    expect(card(at_queue).locator("[data-anchor]")).to_have_value("warm boots")
    expect_open(at_queue, edges[0])
    at_queue.keyboard.press("?")
    named = set(at_queue.locator(".keys__list kbd").all_inner_texts())
    assert named == {*"afngyxewbsmurjkpot/?13←→", "⇧A", "Shift+A", "Shift"}, "a key without a test"
    at_queue.keyboard.press("Escape")
    expect(at_queue.locator(".keys__list")).to_be_hidden()
    at_queue.keyboard.press("/")
    at_queue.keyboard.type("target 3 xau")
    expect(at_queue.locator("[data-search]")).to_have_value("target 3 xau")
    at_queue.locator("[data-search]").fill(edges[3].target.url.rpartition("/")[2])
    at_queue.keyboard.press("Enter")
    expect_open(at_queue, edges[3])
    expect(at_queue.locator("[data-line]")).to_have_count(0)
    assert not Decision.objects.exists()


@pytest.mark.nightly
def test_s_sets_aside_until_it_is_pressed_again_among_those_or_taken_back(at_queue, edges, queue_url):
    press(at_queue, "su")
    expect_open(at_queue, edges[0])
    press(at_queue, "s")
    expect_open(at_queue, edges[1])
    expect_saved(at_queue)
    assert SetAside.objects.get().edge == edges[0]
    reload(at_queue)
    expect_open(at_queue, edges[1])
    at_queue.goto(f"{queue_url}?later=1")
    expect_open(at_queue, edges[0])
    at_queue.keyboard.press("s")
    expect_saved(at_queue)
    assert not SetAside.objects.exists()
    assert not Decision.objects.exists()


def test_keys_that_are_pressed_before_the_script_has_come_are_kept(page, queue_url, edges, editor, sign_in):
    sign_in(editor)
    held: list = []
    page.route("**/queue/main.js", lambda route: held.append(route))
    page.goto(queue_url, wait_until="commit")
    expect(card(page)).to_be_visible()
    press(page, ("a", "x", "1"))
    assert not Decision.objects.exists()
    held[0].continue_()
    expect_open(page, edges[2])
    expect_saved(page)
    assert statuses(edges) == ["accepted", "rejected", "suggested", "suggested"]


@pytest.mark.nightly
def test_a_reason_that_closes_the_donor_takes_its_cards_away_for_as_long_as_was_chosen_until_it_is_undone(
    at_queue, edges
):
    at_queue.keyboard.press("x")
    at_queue.locator("[name=reach][value=days]").first.check()
    at_queue.keyboard.press("5")
    expect_open(at_queue, edges[2])
    expect_left(at_queue, 2)
    expect_saved(at_queue)
    row = Suppression.objects.get()
    assert (row.kind, row.reach, CandidateEdge.objects.get(pk=edges[1].pk).suppressed_by_id) == ("page", "days", row.pk)
    press(at_queue, "x")
    expect(card(at_queue).locator("[name=reach][value=days]")).to_be_checked()
    press(at_queue, ("Escape", "u"))
    expect_open(at_queue, edges[0])
    at_queue.keyboard.press("j")
    expect_open(at_queue, edges[1])
    expect_saved(at_queue)
    expect_left(at_queue, 4)
    assert not CandidateEdge.objects.filter(stale=True).exists()
