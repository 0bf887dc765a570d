"""The queue in a browser that runs no script: every control is a form or a link."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from review.models import Decision, OwnKey, SetAside
from tests.browser.queue.screen import card, stored
from tests.factories import make_member

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def plain(edges, project, editor, context_of, queue_url):
    """The queue in a browser that runs no script."""
    make_member(project, username="maria")
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


@pytest.mark.nightly
def test_the_rest_is_forms_and_links_too(plain, edges, project, queue_url):
    expect(plain.locator("kbd").filter(visible=True)).to_have_count(0)  # no key is promised
    for _ in range(2):
        card(plain).get_by_role("button", name="Accept as follow").click()
    plain.locator("[data-recent] > li").nth(1).get_by_role("button", name="Undo").click()
    assert [stored(edge)[0] for edge in edges[:2]] == ["suggested", "accepted"]
    expect_open(plain, edges[0])
    plain.locator("[data-undo-last]").get_by_role("button", name="Undo").click()
    expect_open(plain, edges[1])

    plain.get_by_role("link", name="Accept group").click()
    expect(plain.get_by_role("heading", name="Accept 2 suggestions on this page?")).to_be_visible()
    plain.get_by_role("checkbox").first.uncheck()
    plain.get_by_role("button", name="Accept checked").click()
    assert [stored(edge)[0] for edge in edges[:2]] == ["suggested", "accepted"]

    plain.goto(queue_url)
    card(plain).get_by_text("Reject…").click()
    card(plain).get_by_label("Note").fill("no")
    card(plain).get_by_label("Note").press("Enter")
    assert Decision.objects.get(verb="reject").note == "no"
    expect_open(plain, edges[2])
    plain.locator("[data-line] a").first.click()
    expect_open(plain, edges[3])
    card(plain).get_by_role("button", name="Later").click()
    assert SetAside.objects.get().edge_id == edges[3].pk
    expect_open(plain, edges[2])

    card(plain).get_by_text(re.compile("^Comments")).click()
    card(plain).get_by_label("Comment", exact=True).fill("Not sure.")
    card(plain).get_by_role("button", name="Send").click()
    expect(card(plain).get_by_text("Not sure.")).to_be_visible()
    card(plain).get_by_text("Ask…").click()
    card(plain).get_by_label("Whom to ask").select_option("maria")
    card(plain).get_by_role("button", name="Ask for an opinion").click()
    expect(plain.get_by_text("You asked maria for an opinion.")).to_be_visible()


@pytest.mark.nightly
def test_the_filters_the_pages_and_the_own_keys_work(plain, edges, queue_url):
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
    card(plain).get_by_role("link", name="Read the pages").click()
    expect(plain.get_by_role("heading", name="Target 2").first).to_be_visible()

    plain.goto(f"{queue_url}keys/")
    plain.get_by_label("Accept as the button says").fill("u")
    plain.get_by_role("button", name="Save").click()
    expect(plain.get_by_text("“u” is already the key of “Undo your last decision”.")).to_be_visible()
    plain.get_by_label("Accept as the button says").fill("z")
    plain.get_by_role("button", name="Save").click()
    expect(plain.get_by_text("Your keys are saved.")).to_be_visible()
    assert list(OwnKey.objects.values_list("action", "key")) == [("accept", "z")]
    plain.get_by_role("button", name="Back to the usual keys").click()
    assert not OwnKey.objects.exists()
