"""Decisions at speed: no key is lost, and none decides another card than the one it was meant for."""

from __future__ import annotations

import random
import time

import pytest
from playwright.sync_api import expect

from linker.engine.params import MatchParams
from linker.models import CandidateEdge
from review.decisions import decide_edges
from review.models import Decision, SetAside, Verb
from review.rulings import Ruling
from tests.browser.queue.screen import (
    BODY,
    UNSAVED,
    answer_operations,
    card,
    expect_left,
    expect_look,
    expect_open,
    expect_saved,
    open_queue,
    press,
    recent,
    statuses,
    stored,
    until,
)
from tests.factories import make_edge, make_member, make_page, make_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

KEYS_A_SECOND = 10
# What is done to a card, and what the database says of it then: status, rel, whether it is set aside.
WORK = {
    "a": (("a",), ("accepted", "follow", False)),
    "n": (("n",), ("accepted", "nofollow", False)),
    "x": (("x", "1"), ("rejected", None, False)),
    "s": (("s",), ("suggested", None, True)),
    "undone": (("a", "u", "n"), ("accepted", "nofollow", False)),
}


@pytest.mark.slow
def test_five_hundred_decisions_at_ten_keys_a_second_over_a_bad_connection(page, queue_url, project, editor, sign_in):
    rng = random.Random(7)
    make_run(project, params=MatchParams(inline_per_donor=20).to_dict())  # a donor has room for all of its links
    donors = [make_page(project, title=f"Donor {n}", body=BODY) for n in range(50)]
    edges = [
        make_edge(
            project, donors[n // 10], make_page(project, title=f"Target {n}"), anchor=f"target {n}",
            score=0.97 - n / 8000, donor_best=0.97 - n // 10 / 800,
        )
        for n in range(500)
    ]  # fmt: skip
    maria = make_member(project, username="maria")
    taken = dict.fromkeys(rng.sample(range(40, 500), 20), "rejected")
    plan = rng.choices(list(WORK), weights=(8, 4, 4, 3, 2), k=500)
    luck_of = random.Random(8)  # of its own, so that the plan is the same however often the page asks

    def bad_connection(route) -> None:
        """Slow; at times what is sent never arrives, and at times its answer does not."""
        luck = luck_of.random()
        page.wait_for_timeout(luck_of.uniform(0, 400))
        if luck < 0.1:
            route.abort()
        elif luck < 0.2:
            route.fetch()
            route.abort()
        else:
            route.continue_()

    def slowly(route) -> None:
        page.wait_for_timeout(luck_of.uniform(0, 300))
        route.continue_()

    sign_in(editor)
    open_queue(page, queue_url)
    page.route("**/queue/deck/**", slowly)
    answer_operations(page, bad_connection)
    expect_open(page, edges[0])
    expect(page.locator("[data-next] > li")).to_have_count(8)  # the next cards have come
    refusals = "[data-recent] > :is([data-result=refused], [data-result=asks])"  # these stay until they are looked at
    elements = f"document.querySelectorAll('*').length - document.querySelectorAll('{refusals}, {refusals} *').length"
    few = many = 0
    began, pressed = time.monotonic(), 0
    for n in range(500):
        if n + 15 in taken:  # Maria decides a card that this browser has fetched already
            decide_edges(project, [edges[n + 15].pk], Verb.REJECT, maria, Ruling(reason="outdated"))
        for key in WORK[plan[n]][0]:
            page.keyboard.press(key)
            pressed += 1
            page.wait_for_timeout(max(0.0, 1000 * (began + pressed / KEYS_A_SECOND - time.monotonic())))
        if n == 11:  # the strip of the last decisions is full
            few = page.evaluate(elements)
        elif n == 480:
            many = page.evaluate(elements)

    expect(page.get_by_text("Nothing left to review for this filter")).to_be_visible(timeout=20_000)
    until(page, lambda: page.evaluate(UNSAVED) == 0)
    expect_saved(page)
    aside = set(SetAside.objects.filter(user=editor).values_list("edge", flat=True))
    now = {edge.pk: edge for edge in CandidateEdge.objects.filter(project=project)}
    for n, edge in enumerate(edges):
        status, rel, is_aside = WORK[plan[n]][1]
        if n in taken and status != "suggested":
            status, rel = taken[n], None
        elif n in taken:
            status = taken[n]
        found = now[edge.pk]
        assert (n, found.status, edge.pk in aside) == (n, status, is_aside)
        assert rel in (None, found.rel), n
    assert Decision.objects.filter(user=maria).count() == len(taken)
    refused = [n for n in taken if WORK[plan[n]][1][0] != "suggested"]  # Maria's rejection has another reason
    expect_look(page, len(refused))
    assert 0 < many < few * 1.05
    assert page.evaluate(elements) < few * 1.05
    assert page.evaluate(UNSAVED) == 0


def test_a_decision_is_painted_before_the_server_answers(at_queue, edges):
    held: list = []
    answer_operations(at_queue, lambda route: held.append(route))
    at_queue.keyboard.press("a")
    expect_open(at_queue, edges[1])
    expect_left(at_queue, 3)
    expect(recent(at_queue).first).to_have_attribute("data-result", "unsaved")
    expect(at_queue.locator("[data-saved]")).to_have_text("Saving 1…")
    assert stored(edges[0])[0] == "suggested"
    until(at_queue, lambda: held)
    held[0].continue_()
    expect_saved(at_queue)
    expect(recent(at_queue).first).to_have_attribute("data-result", "saved")
    expect_open(at_queue, edges[1])
    assert stored(edges[0])[0] == "accepted"


def test_what_is_decided_while_a_request_is_under_way_goes_together_in_the_next(at_many, many):
    held: list = []
    answer_operations(at_many, lambda route: held.append(route))
    press(at_many, "aaaaa")
    expect_open(at_many, many[5])
    until(at_many, lambda: held)
    held[0].continue_()
    until(at_many, lambda: len(held) == 2)
    assert [len(route.request.post_data_json["operations"]) for route in held] == [1, 4]
    held[1].continue_()
    expect_saved(at_many)
    assert statuses(many[:6]) == ["accepted"] * 5 + ["suggested"]


def test_u_and_then_a_decides_the_card_that_came_back(at_queue, edges):
    press(at_queue, ("a", "n", "u", "x", "2"))
    expect_open(at_queue, edges[2])
    expect_saved(at_queue)
    assert statuses(edges) == ["accepted", "rejected", "suggested", "suggested"]


def test_x_and_a_digit_after_u_reject_the_card_that_came_back(at_queue, edges):
    press(at_queue, ("x", "1", "u", "x", "3"))
    expect_saved(at_queue)
    expect_open(at_queue, edges[1])
    assert statuses(edges)[:2] == ["rejected", "suggested"]
    assert Decision.objects.latest("pk").reason == "bad_anchor"
    expect(card(at_queue).locator("[data-anchor]")).to_have_value("warm boots")


def test_the_order_of_what_was_done_is_kept(at_queue, edges):
    press(at_queue, "auaau")
    expect_left(at_queue, 3)
    expect_saved(at_queue)
    assert statuses(edges) == ["accepted", "suggested", "suggested", "suggested"]
    in_force = Decision.objects.filter(undone_by__isnull=True).exclude(verb="undo")
    assert [decision.edge_id for decision in in_force] == [edges[0].pk]


def test_keys_wait_while_the_next_cards_are_fetched(page, queue_url, many, editor, sign_in):
    sign_in(editor)
    held: list = []
    page.route("**/queue/deck/**", lambda route: held.append(route))
    page.goto(queue_url)
    expect_open(page, many[0])
    press(page, ("a", "n", "x", "2", "s", "a"))
    expect(page.get_by_text("Fetching the next suggestions…")).to_be_visible()
    expect(page.locator("[data-line]").first).to_have_attribute("data-line", str(many[1].pk))
    until(page, lambda: held)
    held[0].continue_()
    expect_open(page, many[5])
    expect_saved(page)
    assert [stored(edge)[::2] for edge in many[:5]] == [
        ("accepted", "follow"), ("accepted", "nofollow"), ("rejected", "follow"), ("suggested", "follow"),
        ("accepted", "follow"),
    ]  # fmt: skip


def test_the_list_is_fetched_to_its_end(at_many, many):
    for edge in many:
        expect(card(at_many)).to_have_id(f"edge-{edge.pk}")
        at_many.keyboard.press("a")
    expect(at_many.get_by_text("Nothing left to review for this filter")).to_be_visible()
    at_many.keyboard.press("a")
    expect_left(at_many, 0)
    expect_saved(at_many)
    assert Decision.objects.count() == 60


def test_a_failed_fetch_of_the_next_cards_is_tried_again(page, queue_url, many, editor, sign_in):
    failed: list = []
    page.route("**/queue/deck/**", lambda route: (failed.append(route), route.abort()), times=1)
    sign_in(editor)
    open_queue(page, queue_url)
    press(page, "aaa")
    expect_open(page, many[3])
    assert len(failed) == 1


def test_the_card_stays_where_it_is(at_many, many):
    at_many.keyboard.press("a")
    expect_open(at_many, many[1])
    tops = []
    for n, key in enumerate("aansaakjanasuajaansaa"):
        at_many.keyboard.press(key)
        if n == 10:
            decide_edges(many[0].project, [many[20].pk], Verb.REJECT, make_member(many[0].project))
        tops.append(card(at_many).bounding_box()["y"])
    assert max(tops) - min(tops) <= 1


def test_the_donors_head_counts_what_was_accepted_over_all_that_was_fetched(at_many, many):
    for n in range(1, 30):
        at_many.keyboard.press("a")
        expect(at_many.locator("[data-accepted]")).to_have_text(str(n))
    at_many.keyboard.press("u")
    expect(at_many.locator("[data-accepted]")).to_have_text("28")
    press(at_many, "saa")
    expect(card(at_many)).to_have_id(f"edge-{many[31].pk}")
    expect(at_many.locator("[data-donor-place]")).to_contain_text("Donor 2")
    expect(at_many.locator("[data-accepted]")).to_have_text("1")
