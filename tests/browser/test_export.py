"""The export page in Chromium: export, download, read; and no page that breaks its own content policy."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path

import pytest
from playwright.sync_api import expect

from linker.models import EdgeStatus
from review.models import Release
from tests.factories import make_category, make_edge, make_page, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_an_editor_exports_and_the_file_holds_the_accepted_links(live_server, page, project, editor, sign_in):
    edge = make_edge(project, make_page(project, "/tents"), make_page(project, "/stoves"), anchor="small stoves")
    type(edge).objects.update(status=EdgeStatus.ACCEPTED, rel="follow")
    make_edge(project)
    sign_in(editor)

    page.goto(f"{live_server.url}/p/shop/export/")
    page.get_by_role("button", name="Export 1 link").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download release 1").click()

    path = Path(download.value.path())
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert download.value.suggested_filename == "anchorline-shop-release-1.csv"
    assert [(row["donor_url"], row["acceptor_url"], row["anchor_text"], row["rel"]) for row in rows] == [
        ("https://shop.example/tents", "https://shop.example/stoves", "small stoves", "follow")
    ]
    assert hashlib.sha256(path.read_bytes()).hexdigest() == Release.objects.get().sha256
    expect(page.get_by_text("Nothing is ready to export")).to_be_visible()


@pytest.mark.nightly
def test_suggestions_are_downloaded_in_the_format_asked_for(live_server, page, project, viewer, sign_in):
    make_edge(project, make_page(project, "/tents"), make_page(project, "/stoves"), anchor="small stoves")
    sign_in(viewer)

    page.goto(f"{live_server.url}/p/shop/export/")
    files = page.get_by_role("region", name="Other files")
    files.get_by_label("Format").select_option("joil")
    with page.expect_download() as download:
        files.get_by_role("button", name="Download").click()

    assert Path(download.value.path()).read_text() == (
        "donor_url,anchor_text,acceptor_url\nhttps://shop.example/tents,small stoves,https://shop.example/stoves\n"
    )


@pytest.mark.nightly
def test_the_administration_breaks_no_content_policy(live_server, page, project, sign_in, redis_server):
    make_category(project, "Health", "First aid")
    make_edge(project)
    sign_in(make_user("root", is_staff=True, is_superuser=True))
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text) if "Content Security" in message.text else None)

    for path in ("", "linker/project/add/", "linker/tier/", "linker/page/", "review/decision/", "auth/user/"):
        page.goto(f"{live_server.url}/admin/{path}")
    page.goto(f"{live_server.url}/django-rq/queues/0/")
    page.goto(f"{live_server.url}/admin/linker/sensitiverule/add/")
    page.locator(".field-category .select2-selection").click()
    page.keyboard.type("first")
    page.get_by_role("option", name="First aid").click()

    assert "First aid" in page.locator(".field-category .select2-selection").inner_text()
    assert refused == []
