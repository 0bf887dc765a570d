"""The queue in a browser that runs no script: every control is a form or a link."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from review.models import Decision, SetAside
from tests.browser.queue.screen import card, stored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def plain(edges, editor, context_of, queue_url):
    """The queue in a browser that runs no script."""
    page = context_of(editor, java_script_enabled=False).new_page()
    page.goto(queue_url)
    return page


def expect_open(page, edge) -> None:
    expect(card(page)).to_have_id(f"edge-{edge.pk}")


def test_everything_can_be_decided_and_undone(plain, edges):
    card(plain).get_by_role("button", name="Accept as follow").click()
    assert stored(edges[0])[0] == "accepted"
    expect_open(plain, edges[1])

    card(plain).get_by_text("Reject…").click()
    card(plain).get_by_role("button", name="Poor anchor").click()
    assert Decision.objects.get(edge=edges[1]).reason == "bad_anchor"

    card(plain).get_by_label("Anchor", exact=True).fill("my own words")
    card(plain).get_by_label("Anchor", exact=True).press("Enter")
    assert stored(edges[2])[0] == "suggested"
    expect(plain.get_by_text("None of these words is in the name").first).to_be_visible()
    plain.get_by_role("button", name="Accept anyway").click()
    assert stored(edges[2])[:2] == ("accepted", "my own words")

    card(plain).get_by_label("dry boots").check()
    card(plain).get_by_role("button", name="as ugc").click()
    assert stored(edges[3]) == ("accepted", "dry boots", "ugc")
    expect(plain.get_by_text("Nothing left to review")).to_be_visible()

    for _ in edges:
        plain.locator("[data-undo-last]").get_by_role("button", name="Undo").click()
    assert {stored(edge)[0] for edge in edges} == {"suggested"}


def test_the_last_decisions_can_be_undone_one_by_one(plain, edges):
    for _ in range(2):
        card(plain).get_by_role("button", name="Accept as follow").click()
    plain.locator("[data-recent] > li").nth(1).get_by_role("button", name="Undo").click()
    assert [stored(edge)[0] for edge in edges[:2]] == ["suggested", "accepted"]
    expect_open(plain, edges[0])


def test_a_note_and_enter_reject(plain, edges):
    card(plain).get_by_text("Reject…").click()
    card(plain).get_by_label("Note").fill("no")
    card(plain).get_by_label("Note").press("Enter")
    assert stored(edges[0])[0] == "rejected"
    assert Decision.objects.get().note == "no"


def test_a_card_is_set_aside(plain, edges):
    card(plain).get_by_role("button", name="Later").click()
    assert SetAside.objects.get().edge_id == edges[0].pk
    expect_open(plain, edges[1])


def test_a_line_opens_its_card(plain, edges):
    plain.locator("[data-line] a").nth(1).click()
    expect_open(plain, edges[2])


def test_a_group_is_previewed_and_accepted(plain, edges):
    plain.get_by_role("link", name="Accept group").click()
    expect(plain.get_by_role("heading", name="Accept 2 suggestions on this page?")).to_be_visible()
    plain.get_by_role("checkbox").first.uncheck()
    plain.get_by_role("button", name="Accept checked").click()
    assert [stored(edge)[0] for edge in edges[:2]] == ["suggested", "accepted"]


def test_the_filters_and_the_search_work(plain, edges):
    plain.get_by_label("Search").fill(edges[2].target.url.rpartition("/")[2])  # words are found by how they begin
    with plain.expect_navigation():
        plain.get_by_label("Search").press("Enter")
    expect_open(plain, edges[2])
    expect(plain.locator("[data-line]")).to_have_count(0)
    plain.get_by_text("+ Filter").click()
    plain.get_by_role("link", name="All filters").click()
    with plain.expect_navigation():
        plain.get_by_role("button", name="Apply").click()
    expect_open(plain, edges[2])


def test_the_pages_can_be_read(plain, edges):
    card(plain).get_by_role("link", name="Read the pages").click()
    expect(plain.get_by_role("heading", name="Target 0").first).to_be_visible()


def test_no_key_is_promised(plain):
    expect(plain.locator("kbd").filter(visible=True)).to_have_count(0)
