"""The choice between more links and surer ones, as a browser shows it."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from playwright.sync_api import expect

from tests.browser import axe
from tests.linker.projects.test_shown_share import edges, tiers  # noqa: F401  (fixtures)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("width", [390, 1440])
def test_a_choice_is_made_and_axe_finds_nothing(page, live_server, project, edges, manager, sign_in, width):  # noqa: F811
    cache.clear()
    sign_in(manager)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{live_server.url}/p/shop/settings/tiers/")
    page.get_by_role("link", name="More links – surer links").click()
    page.get_by_label("Only the surest").check()
    with page.expect_navigation():
        page.get_by_role("button", name="Save this choice").click()

    expect(page.get_by_label("Only the surest")).to_be_checked()
    assert axe.findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
