"""The queue for those who use a screen reader, the keyboard alone, a phone or a dark screen."""

from __future__ import annotations

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from review import undoing
from review.decisions import decide_edges
from review.models import Verb
from tests.browser.queue.screen import card, expect_loaded, expect_open, expect_saved, open_queue, press
from tests.factories import make_category, make_edge, make_page

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


@pytest.mark.nightly
def test_every_target_can_be_hit_and_tab_reaches_the_cards_controls_within_a_few_stops(at_queue, edges):
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
            break
    else:
        raise AssertionError("twenty stops from the head of the page and no control of the card")
    press(at_queue, ("Escape", "x"))
    assert at_queue.evaluate(SMALL, 24) == []


def test_a_filter_that_has_no_room_in_the_bar_is_cut_with_an_ellipsis(page, editor, sign_in, edges, queue_url):
    page.set_viewport_size({"width": 1300, "height": 900})
    sign_in(editor)
    open_queue(page, queue_url + "?placement=inline&sensitive=not")
    page.evaluate("""() => {
        document.querySelector("[data-saved]").textContent = "2 came back, not saved";
        document.querySelector("[data-look]").hidden = false;
        document.querySelector("[data-look-count]").textContent = "2 need another look";
    }""")
    chips = page.locator(".queuebar__chips")
    room = chips.bounding_box()
    for chip in chips.locator(".chip").all():
        box = chip.bounding_box()
        assert room["x"] <= box["x"]
        assert box["x"] + box["width"] <= room["x"] + room["width"] + 0.5
        assert chip.get_by_text("×").is_visible()


def test_the_queue_fits_a_phone_and_is_decided_with_a_thumb(page, project, editor, sign_in, edges, queue_url):
    word = "x" * 300
    edge = make_edge(
        project, make_page(project, "/" + word, title=word), make_page(project, title=word), anchor=word,
        score=0.99, donor_best=0.99,
    )  # fmt: skip
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    undoing.undo(project, editor)
    page.set_viewport_size(PHONE)
    sign_in(editor)
    for query in ("?order=score&status=all", ""):
        page.goto(queue_url + query)
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        assert page.locator(f"#edge-{edge.pk}").count() == 1

    expect_loaded(page)
    page.keyboard.press("s")
    expect_open(page, edges[0])
    bar = card(page).locator(".edge__actions").bounding_box()
    assert bar["y"] + bar["height"] == PHONE["height"]
    buttons = card(page).locator(".edge__actions :is(.button, summary)").filter(visible=True)
    assert len({round(button.bounding_box()["y"]) for button in buttons.all()}) == 2
    card(page).get_by_role("button", name="More…").click()
    expect(card(page).get_by_role("link", name="Read the pages")).to_be_visible()
    for button in buttons.all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 44, button.inner_text()
    assert card(page).locator(".edge__actions").bounding_box()["height"] < PHONE["height"] / 3
    page.keyboard.press("Escape")
    expect(card(page).get_by_role("link", name="Read the pages")).to_be_hidden()
    page.locator("[data-do=accept]").click()
    expect_open(page, edges[1])
    page.get_by_text("Reject…").click()
    page.get_by_role("button", name="Poor anchor").click()
    expect_open(page, edges[2])
    expect_saved(page)


# What of the facts is neither whole on their first line nor below it.
CUT = """(line) => [...line.children].filter((fact) => {
  const [shown, box] = [fact.getBoundingClientRect(), line.getBoundingClientRect()];
  const beyond = Math.max(shown.right - box.right, shown.bottom - box.bottom);
  return shown.top < box.bottom - 1 && (beyond > 1 || fact.scrollWidth > fact.clientWidth + 1);
}).map((fact) => fact.textContent.trim())"""


@pytest.mark.nightly
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_the_donors_path_is_whole_no_fact_is_cut_and_no_key_is_hinted_at(
    page, queue_url, project, editor, sign_in, scheme
):
    numbers = {"clicks": 4863, "impressions": 120_000, "inlinks": 12, "outlinks": 8, "authority": 0.4}
    donor = make_page(project, "/radishes-from-seed-to-plot/", title="Radishes from seed to plot", **numbers)
    for name in ("Plum trees from seed to plot", "Pear trees from seed to plot", "Beans"):
        make_edge(project, donor, make_page(project, title=name), anchor=name, authority=0.78)
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme=scheme)
    sign_in(editor)
    page.goto(queue_url)
    expect_loaded(page)
    assert page.locator(".donor .facts-line").evaluate(CUT) == []
    assert page.locator(".donor .mono").inner_text() == "/radishes-from-seed-to-plot/"
    expect(page.locator("kbd").filter(visible=True)).to_have_count(0)


LABELS = """(fields) => {
  const rows = new Map();
  for (const field of fields) {
    const [label, control] = [...field.children].map((child) => child.getBoundingClientRect());
    const row = Math.round(control.bottom);
    rows.set(row, [...(rows.get(row) || []), Math.round(label.top)]);
  }
  return [...rows.values()];
}"""


@pytest.mark.nightly
@pytest.mark.parametrize("path", ["queue/all-filters/", "export/links/"])
def test_the_labels_of_a_row_of_filters_stand_at_one_height(page, queue_url, edges, editor, sign_in, path):
    sign_in(editor)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(queue_url.replace("queue/", path))
    rows = page.locator(".filters > .field:has(> label + :is(select, input:not([type=checkbox])))").evaluate_all(LABELS)
    assert max(map(len, rows)) > 2
    assert all(len(set(tops)) == 1 for tops in rows), rows


# Whether something else lies over the middle of what has the focus, and how far its ring is cut off.
FOCUS = """() => {
  const at = document.activeElement;
  if (at === document.body) return null;
  const box = at.getBoundingClientRect();
  const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  const style = getComputedStyle(at);
  const ring = parseFloat(style.outlineWidth) + parseFloat(style.outlineOffset);
  let cut = 0;
  for (let around = at.parentElement; around && around !== document.body; around = around.parentElement) {
    if (getComputedStyle(around).overflowX === "visible") continue;
    const edge = around.getBoundingClientRect();
    const right = edge.left + around.clientLeft + around.clientWidth;
    cut = Math.max(cut, box.right + ring - right, edge.left - box.left + ring);
  }
  const isCovered = !at.contains(top) && !top?.contains(at);
  return { what: at.textContent.trim().slice(0, 40), isCovered, cut: Math.round(cut) };
}"""


@pytest.mark.nightly
@pytest.mark.parametrize("size", [PHONE, {"width": 1440, "height": 900}], ids=["phone", "desk"])
def test_what_has_the_focus_is_not_covered_and_its_ring_is_whole(page, many, queue_url, editor, sign_in, size):
    sign_in(editor)
    page.set_viewport_size(size)
    page.goto(queue_url)
    expect_loaded(page)
    for _ in range(10):
        page.locator("[data-do=accept]").click()
    expect_saved(page)
    found = []
    for _ in range(60):
        page.keyboard.press("Tab")
        if (at := page.evaluate(FOCUS)) is None:
            break
        found.append(at)
    assert len(found) > 30
    assert [at for at in found if at["isCovered"]] == []
    assert [at for at in found if at["cut"] > 0] == []


# Of the donor's facts, how wide each is and whether it ends within the line.
FACTS = """(line) => [...line.children].map((fact) => {
  const [shown, box] = [fact.getBoundingClientRect(), line.getBoundingClientRect()];
  return { text: fact.textContent.trim(), width: Math.round(shown.width), isWithin: shown.right <= box.right + 1 };
})"""
# Of the last decisions, those whose words are below what is shown of them.
UNREAD = """(lines) => lines.filter((line) => {
  const [words, box] = [line.querySelector("[data-name]"), line.querySelector(".recent__what")];
  return words.getClientRects()[0].bottom > box.getBoundingClientRect().bottom + 1;
}).map((line) => line.textContent.trim())"""


@pytest.mark.nightly
def test_in_german_the_donors_facts_and_the_words_of_the_last_decisions_have_room(
    queue_url, project, editor, context_of
):
    numbers = {"inlinks": 12, "outlinks": 8, "last_modified": timezone.now()}
    section = make_category(project, "Werkzeug", "Gartenscheren und Astscheren")
    donor = make_page(project, "/gartenscheren-und-astscheren/", title="Gartenscheren", category=section, **numbers)
    for name in ("Pflaumenbäume beschneiden", "Birnbäume beschneiden", "Bohnen"):
        make_edge(project, donor, make_page(project, title=name), anchor=name, authority=0.78, span_start=None)
    page = context_of(editor, locale="de-DE", viewport={"width": 1440, "height": 900}).new_page()
    page.goto(queue_url)
    expect_loaded(page)
    facts = page.locator(".donor .facts-line").evaluate(FACTS)
    assert [fact for fact in facts if fact["width"] < 40 or not fact["isWithin"]] == []
    press(page, "aa")
    expect_saved(page)
    assert page.locator("[data-recent] > li").evaluate_all(UNREAD) == []


@pytest.mark.nightly
def test_a_filter_in_force_shows_that_it_can_be_removed_and_stands_in_line_with_the_bar(
    page, queue_url, edges, editor, sign_in
):
    sign_in(editor)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{queue_url}?order=target&placement=inline")
    chips = page.locator(".chip")
    expect(chips).to_have_count(2)
    filter_box = page.locator(".queuebar summary", has_text="+ Filter").bounding_box()
    for chip in chips.all():
        box, cross = chip.bounding_box(), chip.get_by_text("×").bounding_box()
        assert cross["x"] + cross["width"] <= box["x"] + box["width"]
        assert abs(box["y"] + box["height"] / 2 - filter_box["y"] - filter_box["height"] / 2) <= 1
