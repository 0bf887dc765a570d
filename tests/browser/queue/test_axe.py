"""axe finds nothing on the queue and on the pages around it: in each state, both languages and both themes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from review.decisions import Ruling, decide_edges
from review.models import Reason, Verb
from tests.browser import axe
from tests.browser.queue.screen import expect_saved, expect_state, open_queue, press
from tests.factories import make_member

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NARROW = {"width": 390, "height": 1600}  # what the fixed actions cover for a moment is not judged


def states(page: Page, project, edges) -> Iterator[str]:
    """Brings about one state of the queue after the other, by names that a failure says."""
    yield "open"
    press(page, "x")
    yield "reasons"
    press(page, ("Escape", "m"))
    yield "asking"
    press(page, ("Escape", "?"))
    yield "keys"
    page.keyboard.press("Escape")
    page.locator(".queuebar__menu > summary").first.click()
    yield "statuses"
    page.keyboard.press("Escape")
    page.locator("[data-filters] > summary").click()
    expect(page.locator(".filters select").first).to_be_visible()
    yield "filters"
    press(page, ("Escape", "p"))
    expect(page.locator(".page-text__title")).to_be_visible()
    yield "a page beside the card"
    press(page, ("p", "p", "Shift+A"))
    expect(page.get_by_role("dialog")).to_be_visible()
    yield "a group"
    page.keyboard.press("Escape")
    decide_edges(project, [edges[1].pk], Verb.REJECT, make_member(project, username="maria"))
    press(page, "aa")
    expect(page.locator("[data-look]")).to_be_visible()
    yield "refused"
    press(page, "un")
    expect(page.locator("[data-said]:not(.visually-hidden)")).to_be_visible()
    yield "decided by another"
    press(page, "ju")
    expect_saved(page)
    yield "undone"
    page.context.set_offline(True)
    press(page, "a")
    expect_state(page, "offline")
    yield "offline"
    page.context.set_offline(False)
    expect_saved(page)
    page.set_viewport_size(NARROW)
    page.locator("[data-more]").click()
    yield "a phone"
    for query, name in (("text=nowhere", "empty"), ("status=all", "decided")):
        page.goto(f"{page.url.partition('?')[0]}?{query}")
        yield name


LANGUAGES = ["en", pytest.param("de", marks=pytest.mark.nightly)]  # the same templates with other words


@pytest.mark.nightly
@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_found_in_any_state_of_the_queue(language, at_queue, project, edges):
    at_queue.context.add_cookies([{"name": "django_language", "value": language, "url": at_queue.url}])
    open_queue(at_queue, at_queue.url)
    found = {state: axe.findings(at_queue) for state in states(at_queue, project, edges)}
    assert {state: one for state, one in found.items() if one} == {}


@pytest.mark.nightly
@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_found_on_the_pages_around_it_and_none_breaks_its_content_policy(
    language, page, queue_url, project, edges, manager, sign_in
):
    decide_edges(project, [edges[3].pk], Verb.REJECT, manager, Ruling(reason=Reason.BAD_ANCHOR))
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: refused.append(str(error)))
    sign_in(manager)
    page.context.add_cookies([{"name": "django_language", "value": language, "url": queue_url}])
    group = f"group/?donor={edges[0].source_id}"
    found = {}
    for path in (
        "keys/",
        "suppressed/",
        "team/",
        "bulk/",
        "sheet/",
        group,
        f"{edges[3].pk}/",
        "all-filters/",
        "",
        "?status=all",
    ):
        page.goto(queue_url + path)
        if path == "keys/":
            page.locator("[data-own-keys] input[maxlength]").first.press("u")
        found[path] = axe.findings(page)
    assert refused == []
    page.goto(f"{queue_url}sheet/")
    file = {"name": "x.csv", "mimeType": "text/csv", "buffer": b"suggestion,decision\n1,perhaps\n"}
    page.locator("input[type=file]").set_input_files(file)
    page.locator("form:has(input[type=file]) button").click()
    found["a file that cannot be read"] = axe.findings(page)
    assert {path: one for path, one in found.items() if one} == {}
