"""One link in Chromium, by clicks alone: suggested, accepted, looked through in a draft, released, found on the site,
withdrawn, and gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from linker.models import Placement
from review.models import PublishedLink
from tests.browser.queue.screen import BODY, open_queue
from tests.factories import make_edge, make_page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HEADER = "Type,Source,Destination,Anchor,Status Code,Follow,Link Position"


def go(page: Page, section: str) -> None:
    page.get_by_role("navigation", name="Project").get_by_role("link", name=section).click()


def import_links(page: Page, folder: Path, run_jobs: Callable[[], None], *anchors: str) -> None:
    """Imports a crawl in which the donor's text links to the acceptor with these words, and on to another page."""
    ways = [("boots", anchor) for anchor in anchors] + [("socks", "thick socks")]
    lines = [
        f"Hyperlink,https://shop.example/feet,https://shop.example/{to},{words},200,true,Content" for to, words in ways
    ]
    file = folder / f"all_inlinks_{len(anchors)}.csv"
    file.write_text("\n".join([HEADER, *lines, ""]))
    go(page, "Import")
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_label("Contents").select_option("links")
    page.get_by_role("button", name="Upload and preview").click()
    page.get_by_role("button", name="Start the import").first.click()
    page.wait_for_url("**/runs/*/")
    run_jobs()


def open_life(page: Page) -> None:
    go(page, "Export")
    page.get_by_role("link", name="Released links").click()
    page.get_by_role("link", name="/feet").click()


@pytest.mark.nightly
def test_from_a_suggestion_to_a_link_that_is_live_and_then_gone(
    live_server, page, project, manager, sign_in, run_jobs, tmp_path
):
    donor, acceptor = make_page(project, "/feet", title="Warm feet", body=BODY), make_page(project, "/boots")
    make_page(project, "/socks")
    make_edge(project, donor, acceptor, anchor="warm boots", placement=Placement.INLINE, rel="follow")
    sign_in(manager)

    open_queue(page, f"{live_server.url}/p/shop/queue/")
    page.get_by_role("button", name="Accept", exact=False).first.click()
    expect(page.locator("[data-saved]")).to_have_attribute("data-state", "saved")
    go(page, "Export")
    page.get_by_role("button", name="Look through first").click()
    expect(page.get_by_role("row", name="warm boots")).to_contain_text("Add")
    page.get_by_role("button", name="Publish 1 link").click()
    expect(page.locator("#messages")).to_contain_text("Release 1 holds 1 link.")

    import_links(page, tmp_path, run_jobs, "warm boots")
    open_life(page)
    expect(page.get_by_role("row").last).to_contain_text("Live")
    go(page, "Export")
    page.get_by_role("link", name="Released links").click()
    page.get_by_role("checkbox", name="warm boots").check()
    page.get_by_label("Note").fill("no longer sold")
    page.get_by_role("button", name="Withdraw").click()
    expect(page.locator("#messages")).to_contain_text("1 link withdrawn.")
    go(page, "Export")
    expect(page.locator("#next-release")).to_contain_text("0 to add, 0 to change, 1 to remove.")
    page.get_by_role("button", name="Export 1 link").click()
    expect(page.locator("#messages")).to_contain_text("Release 2 removes 1 link.")

    import_links(page, tmp_path, run_jobs)
    page.goto(f"{live_server.url}/p/shop/export/live/{PublishedLink.objects.get().edge_id}/")
    told = [row.inner_text().split("\t")[1].split("\n")[0] for row in page.locator("tbody tr").all()]
    assert told == ["Accepted", "Released", "Live", "Withdrawn", "Removal released", "Removed"]
    expect(page.get_by_role("row", name="Withdrawn")).to_contain_text("no longer sold")
    expect(page.get_by_role("row", name="Removal released")).to_contain_text("Release 2")
