"""What the tests of the queue see on its screen, and what the database holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from linker.models import CandidateEdge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from playwright.sync_api import Locator, Page, Route

BODY = "The day is long. Wear warm boots on snow. Dry them at night."
OPERATIONS = "**/queue/operations/"
FETCHED = (
    "performance.getEntriesByType('resource').some((one) => one.name.includes('/queue/deck/') && one.responseEnd > 0)"
)
UNSAVED = "Object.keys(localStorage).filter((name) => name.startsWith('anchorline:unsaved:')).length"


def open_queue(page: Page, url: str) -> Page:
    """Opens the queue and waits until its keys work."""
    page.goto(url)
    expect_loaded(page)
    return page


def reload(page: Page) -> None:
    page.reload()
    expect_loaded(page)


def open_own_keys(page: Page) -> None:
    """From the list of keys to the page where they are changed, whose script has run then."""
    page.keyboard.press("?")
    page.get_by_role("link", name="Change keys…").click()
    page.wait_for_url("**/queue/keys/")


def expect_loaded(page: Page) -> None:
    expect(page.locator("[data-saved]")).to_have_attribute("data-state", re.compile("."))


def expect_fetched(page: Page) -> None:
    """The cards behind the first one are there too."""
    until(page, lambda: page.evaluate(FETCHED))


def card(page: Page) -> Locator:
    """The open card."""
    return page.locator("[data-card] > [data-edge]")


def recent(page: Page) -> Locator:
    """The last decisions, the newest first."""
    return page.locator("[data-recent] > li")


def expect_open(page: Page, edge: CandidateEdge) -> None:
    """The edge's card is open, and keys go to it."""
    expect(card(page)).to_have_id(f"edge-{edge.pk}")
    expect(card(page)).to_be_focused()


def expect_saved(page: Page) -> None:
    """The server has answered all that was done, also by keys that waited for their card."""
    expect(page.locator(".review__wait")).to_have_count(0)
    expect(page.locator("[data-saved]")).to_have_attribute("data-state", "saved", timeout=15_000)
    assert page.evaluate(UNSAVED) == 0


def expect_state(page: Page, state: str) -> None:
    expect(page.locator("[data-saved]")).to_have_attribute("data-state", state, timeout=15_000)


def expect_left(page: Page, number: int) -> None:
    expect(page.locator("[data-left]")).to_have_text(str(number))


def expect_look(page: Page, number: int) -> None:
    """The bar counts what needs another look."""
    words = "1 needs another look" if number == 1 else f"{number} need another look"
    button = page.locator("[data-look]")
    if number:
        expect(button).to_contain_text(words)
    else:
        expect(button).to_be_hidden()


def press(page: Page, keys: Iterable[str]) -> None:
    for key in keys:
        page.keyboard.press(key)


def stored(edge: CandidateEdge) -> tuple[str, str, str]:
    edge = CandidateEdge.objects.get(pk=edge.pk)
    return edge.status, edge.anchor, edge.rel


def statuses(edges: Iterable[CandidateEdge]) -> list[str]:
    return [stored(edge)[0] for edge in edges]


def answer_operations(page: Page, handler: Callable[[Route], object]) -> None:
    """From now on `handler` answers what the queue sends.

    The page is loaded anew, since Chromium may let the first request of a page that is open already go past a route.
    """
    page.route(OPERATIONS, handler)
    reload(page)


def until(page: Page, is_so: Callable[[], object]) -> None:
    """Waits for what the browser tells this process, which only hears it while it waits."""
    for _ in range(1000):
        if is_so():
            return
        page.wait_for_timeout(10)
    raise AssertionError("it did not happen within ten seconds")


def rewrite(page: Page, words: str) -> None:
    """Accepts the open card with other words."""
    page.keyboard.press("e")
    page.locator("[data-card] [data-anchor]").fill(words)
    page.keyboard.press("Enter")


def marked(page: Page) -> Locator:
    """The entries of the last decisions that could not be saved."""
    return page.locator("[data-recent] > :is([data-result=refused], [data-result=asks])")


def said(page: Page) -> Locator:
    return page.locator("[data-said]")
