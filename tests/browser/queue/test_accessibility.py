"""The queue for those who use a screen reader, the keyboard alone, a phone or a dark screen."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from review import undoing
from review.decisions import decide_edges
from review.models import Verb
from tests.browser.queue.screen import card, expect_open, expect_saved, open_queue, press
from tests.factories import make_edge, make_page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SMALL = """(least) => {
  const found = [];
  for (const control of document.querySelectorAll("main :is(button, summary, .button, input, select, .line > a)")) {
    if (!control.checkVisibility({ visibilityProperty: true }) || control.closest(".visually-hidden")) continue;
    const shown = control.matches("[type=radio], [type=checkbox]") ? control.closest("label") || control : control;
    const { width, height } = shown.getBoundingClientRect();
    if (width && (width < least || height < least)) found.push(`${height} ${shown.className} ${shown.innerText}`);
  }
  return found;
}"""
PHONE = {"width": 390, "height": 800}


def test_every_target_can_be_hit(at_queue):
    at_queue.keyboard.press("x")
    assert at_queue.evaluate(SMALL, 24) == []


def test_the_actions_can_be_hit_with_a_thumb(at_queue):
    at_queue.set_viewport_size(PHONE)
    bar = card(at_queue).locator(".edge__actions").bounding_box()
    assert bar["y"] + bar["height"] == PHONE["height"]
    buttons = card(at_queue).locator(".edge__actions :is(.button, summary)").filter(visible=True)
    assert len({round(button.bounding_box()["y"]) for button in buttons.all()}) == 2
    card(at_queue).get_by_role("button", name="More…").click()
    expect(card(at_queue).get_by_role("link", name="Read the pages")).to_be_visible()
    for button in buttons.all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 44, button.inner_text()
    at_queue.keyboard.press("Escape")
    expect(card(at_queue).get_by_role("link", name="Read the pages")).to_be_hidden()


def test_the_live_regions_are_the_same_before_and_after_decisions(at_queue, edges):
    regions = "[...document.querySelectorAll('main [role=status], main [aria-live]')]"
    assert at_queue.evaluate(f"(window.before = {regions}).length") >= 3
    press(at_queue, "anus")
    expect_saved(at_queue)
    assert at_queue.evaluate(f"{regions}.every((region, at) => region === window.before[at])")
    expect(at_queue.locator("[data-said]")).to_have_text("Later: warm boots")


def test_what_was_done_is_announced(at_queue, edges):
    said = at_queue.locator("[data-said]")
    for key, words in (("a", "Accepted: warm boots"), ("u", "Undone: warm boots"), ("s", "Later: warm boots")):
        at_queue.keyboard.press(key)
        expect(said).to_have_text(words)


def test_the_card_is_named_after_its_pages(at_queue, edges):
    expect(at_queue.get_by_role("article", name="Link from Donor 1 to Target 0")).to_be_focused()


def test_tab_reaches_the_cards_controls_within_a_few_stops(at_queue, edges):
    expect_open(at_queue, edges[0])
    stops = []
    for _ in range(4):
        at_queue.keyboard.press("Tab")
        stops.append(at_queue.evaluate("Boolean(document.activeElement.closest('[data-card]'))"))
    assert stops == [True] * 4
    at_queue.locator(".skip").focus()
    at_queue.keyboard.press("Enter")
    for _ in range(20):
        at_queue.keyboard.press("Tab")
        if at_queue.evaluate("Boolean(document.activeElement.closest('[data-card]'))"):
            return
    raise AssertionError("twenty stops from the head of the page and no control of the card")


def test_the_queue_breaks_no_content_policy(live_server, page, project, editor, sign_in, edges):
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: refused.append(str(error)))
    sign_in(editor)
    for path in (
        "queue/",
        f"queue/{edges[0].pk}/",
        f"queue/group/?donor={edges[0].source_id}",
        "queue/?status=all",
        "queue/keys/",
    ):
        page.goto(f"{live_server.url}/p/shop/{path}")
    assert refused == []


@pytest.mark.parametrize("query", ["", "?order=score&status=all"])
def test_the_queue_fits_a_phone(page, project, editor, sign_in, edges, queue_url, query):
    word = "x" * 300
    edge = make_edge(
        project, make_page(project, "/" + word, title=word), make_page(project, title=word), anchor=word,
        score=0.99, donor_best=0.99,
    )  # fmt: skip
    decide_edges(project, [edges[0].pk], Verb.ACCEPT, editor)
    undoing.undo(project, editor)
    page.set_viewport_size(PHONE)
    sign_in(editor)
    page.goto(queue_url + query)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert page.locator(f"#edge-{edge.pk}").count() == 1


def test_on_a_phone_the_card_is_decided_by_its_buttons(page, queue_url, editor, edges, sign_in):
    page.set_viewport_size(PHONE)
    sign_in(editor)
    open_queue(page, queue_url)
    page.locator("[data-do=accept]").click()
    expect_open(page, edges[1])
    page.get_by_text("Reject…").click()
    page.get_by_role("button", name="Poor anchor").click()
    expect_open(page, edges[2])
    expect_saved(page)
