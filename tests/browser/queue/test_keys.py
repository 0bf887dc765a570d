"""The keys of the queue: one test a key."""

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
    until,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_accepts_and_the_next_card_opens(at_queue, edges):
    at_queue.keyboard.press("a")
    expect_open(at_queue, edges[1])
    expect_saved(at_queue)
    assert stored(edges[0]) == ("accepted", "warm boots", "follow")
    expect_left(at_queue, 3)
    expect(at_queue.locator("[data-today]")).to_have_text("1")
    expect(at_queue.get_by_text("1 accepted of 2")).to_be_visible()
    expect(recent(at_queue).first).to_contain_text("Accepted, in the text: warm boots → Target 0")


@pytest.mark.parametrize(("key", "rel"), [("f", "follow"), ("n", "nofollow"), ("g", "ugc")])
def test_f_n_and_g_accept_with_that_rel(at_queue, edges, key, rel):
    at_queue.keyboard.press(key)
    expect_saved(at_queue)
    assert stored(edges[0]) == ("accepted", "warm boots", rel)


@pytest.mark.parametrize("second", ["x", "Enter"])
def test_x_twice_or_with_enter_rejects_without_a_reason(at_queue, edges, second):
    at_queue.keyboard.press("x")
    assert stored(edges[0])[0] == "suggested"
    at_queue.keyboard.press(second)
    expect_open(at_queue, edges[1])
    expect_saved(at_queue)
    assert stored(edges[0])[0] == "rejected"
    assert Decision.objects.get().reason == ""


@pytest.mark.parametrize(("key", "reason"), [("1", "irrelevant"), ("3", "bad_anchor"), ("9", "better_there")])
def test_x_and_a_digit_reject_with_that_reason(at_queue, edges, key, reason):
    press(at_queue, ("x", key))
    expect_open(at_queue, edges[1])
    expect_saved(at_queue)
    assert stored(edges[0])[0] == "rejected"
    assert Decision.objects.get().reason == reason


@pytest.mark.parametrize("save", ["Enter", "Control+Enter"])
def test_a_note_is_written_among_the_reasons_and_saved_by_enter(at_queue, edges, save):
    at_queue.keyboard.press("x")
    card(at_queue).get_by_label("Note").fill("out of date since May, and axe")
    at_queue.keyboard.press(save)
    expect_open(at_queue, edges[1])
    expect_saved(at_queue)
    assert Decision.objects.get().note == "out of date since May, and axe"


def test_escape_leaves_the_reasons(at_queue, edges):
    at_queue.keyboard.press("x")
    expect(card(at_queue).locator("[data-reason]").first).to_be_visible()
    at_queue.keyboard.press("Escape")
    expect(card(at_queue).locator("[data-reason]").first).to_be_hidden()
    expect_open(at_queue, edges[0])


def test_s_sets_aside_for_this_editor_alone_and_decides_nothing(at_queue, edges, editor):
    at_queue.keyboard.press("s")
    expect_open(at_queue, edges[1])
    expect_saved(at_queue)
    assert not Decision.objects.exists()
    assert SetAside.objects.get().user == editor
    expect_left(at_queue, 3)
    reload(at_queue)
    expect_open(at_queue, edges[1])


def test_s_takes_a_card_that_was_set_aside_back_to_the_queue(at_queue, edges, queue_url):
    at_queue.keyboard.press("s")
    expect_saved(at_queue)
    at_queue.goto(f"{queue_url}?later=1")
    expect_open(at_queue, edges[0])
    at_queue.keyboard.press("s")
    expect_saved(at_queue)
    assert not SetAside.objects.exists()


def test_j_and_k_move_and_decide_nothing(at_queue, edges):
    for key, place in (("j", 1), ("j", 2), ("k", 1), ("k", 0), ("k", 0)):
        at_queue.keyboard.press(key)
        expect_open(at_queue, edges[place])
    assert not Decision.objects.exists()


@pytest.mark.parametrize("save", ["Control+Enter", "Enter"])
def test_e_edits_the_anchor_and_saving_accepts_it(at_queue, edges, save):
    at_queue.keyboard.press("e")
    at_queue.keyboard.type("axe target")
    assert stored(edges[0])[0] == "suggested"
    at_queue.keyboard.press(save)
    expect_open(at_queue, edges[1])
    expect_saved(at_queue)
    assert stored(edges[0])[1] == "axe target"
    assert Decision.objects.get().verb == "edit"


def test_escape_leaves_the_field_and_forgets_what_was_typed(at_queue, edges):
    at_queue.keyboard.press("e")
    at_queue.keyboard.type("nonsense")
    at_queue.keyboard.press("Escape")
    expect_open(at_queue, edges[0])
    at_queue.keyboard.press("a")
    expect_saved(at_queue)
    assert stored(edges[0])[1] == "warm boots"


@pytest.mark.parametrize(("key", "anchor"), [("1", "snow boots"), ("2", "dry boots")])
def test_a_digit_picks_another_anchor_for_the_accept(at_queue, edges, key, anchor):
    at_queue.keyboard.press(key)
    expect(card(at_queue).locator("[data-anchor]")).to_have_value(anchor)
    at_queue.keyboard.press("a")
    expect_saved(at_queue)
    assert stored(edges[0])[1] == anchor


def test_u_undoes_one_after_another(at_queue, edges):
    press(at_queue, ("a", "x", "2"))
    expect_open(at_queue, edges[2])
    at_queue.keyboard.press("u")
    expect_open(at_queue, edges[1])
    at_queue.keyboard.press("u")
    expect_open(at_queue, edges[0])
    expect_saved(at_queue)
    assert set(statuses(edges)) == {"suggested"}
    expect_left(at_queue, 4)
    expect(recent(at_queue)).to_have_count(0)


def test_u_takes_back_what_was_set_aside(at_queue, edges):
    press(at_queue, ("s", "u"))
    expect_open(at_queue, edges[0])
    expect_saved(at_queue)
    assert not SetAside.objects.exists()


@pytest.mark.parametrize(("key", "page_of"), [("o", "source"), ("t", "target")])
def test_o_and_t_open_the_pages(at_queue, edges, key, page_of):
    at_queue.context.route("https://shop.example/**", lambda route: route.fulfill(body="there"))
    with at_queue.context.expect_page() as opened:
        at_queue.keyboard.press(key)
    assert opened.value.url == getattr(edges[0], page_of).url


def test_p_reads_the_acceptor_then_the_donor_then_neither(at_queue, edges):
    text = at_queue.locator("[data-page-text-place]")
    at_queue.keyboard.press("p")
    expect(text).to_contain_text("Target 0")
    at_queue.keyboard.press("p")
    expect(text).to_contain_text("Wear warm boots on snow.")
    expect(text.locator("mark")).to_have_text("warm boots")
    at_queue.keyboard.press("p")
    expect(text).to_be_hidden()
    expect_open(at_queue, edges[0])


def test_slash_searches_and_letters_rest_in_the_field(at_queue, edges):
    at_queue.keyboard.press("/")
    at_queue.keyboard.type("target 3 xau")
    expect(at_queue.locator("[data-search]")).to_have_value("target 3 xau")
    assert not Decision.objects.exists()
    at_queue.locator("[data-search]").fill(edges[3].target.url.rpartition("/")[2])
    at_queue.keyboard.press("Enter")
    expect_open(at_queue, edges[3])
    expect(at_queue.locator("[data-line]")).to_have_count(0)


def test_question_mark_shows_the_keys(at_queue):
    at_queue.keyboard.press("?")
    expect(at_queue.locator(".keys__list")).to_be_visible()
    at_queue.keyboard.press("Escape")
    expect(at_queue.locator(".keys__list")).to_be_hidden()


def test_every_key_that_the_list_names_is_on_a_button_or_in_these_tests(at_queue):
    at_queue.keyboard.press("?")
    named = set(at_queue.locator(".keys__list kbd").all_inner_texts())
    assert named == {*"afngyxewbsmurjkpot/?13←→", "⇧A", "Shift+A", "Shift"}


def test_a_key_that_is_held_down_decides_one_card(at_queue, edges):
    for _ in range(5):
        at_queue.keyboard.down("a")
    at_queue.keyboard.up("a")
    expect_open(at_queue, edges[1])
    expect_saved(at_queue)
    assert Decision.objects.count() == 1


@pytest.mark.parametrize("key", ["Control+a", "Meta+a", "Alt+a"])
def test_a_letter_with_control_is_the_browsers(at_queue, edges, key):
    at_queue.keyboard.press(key)
    expect_open(at_queue, edges[0])
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


def test_j_waits_for_a_card_that_is_on_its_way(page, queue_url, edges, editor, sign_in):
    sign_in(editor)
    held: list = []
    page.route("**/queue/deck/**", lambda route: held.append(route))
    page.goto(queue_url)
    expect_open(page, edges[0])
    press(page, ("j", "a"))
    until(page, lambda: held)
    expect_open(page, edges[0])
    held[0].continue_()
    expect_open(page, edges[2])
    expect_saved(page)
    assert statuses(edges) == ["suggested", "accepted", "suggested", "suggested"]


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
    at_queue.keyboard.press("x")
    expect(card(at_queue).locator("[name=reach][value=days]")).to_be_checked()
    at_queue.keyboard.press("Escape")
    at_queue.keyboard.press("u")
    expect_open(at_queue, edges[0])
    at_queue.keyboard.press("j")
    expect_open(at_queue, edges[1])
    expect_saved(at_queue)
    expect_left(at_queue, 4)
    assert not CandidateEdge.objects.filter(stale=True).exists()
