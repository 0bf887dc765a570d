"""A manager approves and rejects with the keys what waits for a second person."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from linker.models import Gate
from review.decisions import decide_edges
from review.models import Verb
from tests.browser.queue.screen import statuses

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.nightly
def test_a_approves_and_x_rejects_and_who_may_not_is_told_why_the_key_does_nothing(
    page, live_server, queue_url, project, edges, editor, manager, sign_in
):
    Gate.objects.create(project=project, min_clicks=1)
    project.pages.update(clicks=5)
    decide_edges(project, [edge.pk for edge in edges[:2]], Verb.ACCEPT, editor)
    sign_in(editor)
    page.goto(f"{queue_url}{edges[0].pk}/?status=accepted&second=1")
    for key in ("a", "x"):
        page.locator("article.edge").press(key)
        expect(page.locator("[data-said]")).to_contain_text("This link needs a manager, or an expert")
        expect(page.locator("[data-said]")).to_be_visible()
    assert statuses(edges[:2]) == ["accepted", "accepted"]

    sign_in(manager)
    page.goto(f"{queue_url}?status=accepted&second=1")
    page.locator(f"a[href*='/queue/{edges[0].pk}/']").first.click()
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    page.locator("article.edge").press("a")
    page.wait_for_url(f"{queue_url}{edges[1].pk}/**")
    page.locator("article.edge").press("x")
    page.wait_for_url(f"{queue_url}?**")
    expect(page.get_by_text("Nothing else waits for a second person.")).to_be_visible()
    assert statuses(edges[:2]) == ["accepted", "rejected"]
    assert project.edges.get(pk=edges[0].pk).second_by == manager
