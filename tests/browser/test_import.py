"""The preview of a file in Chromium: what a choice of columns renews on the page."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from playwright.sync_api import expect

from ingest import services

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_choosing_the_missing_column_brings_both_buttons_that_start(live_server, page, project, manager, sign_in):
    file = SimpleUploadedFile("crawl.csv", b"Where,Title\na tent,A\n")
    upload = services.take_upload(project, None, file=file, kind="pages")
    sign_in(manager)

    page.goto(f"{live_server.url}/p/shop/import/{upload.pk}/")
    start = page.get_by_role("button", name="Start the import")
    expect(page.get_by_text("It cannot be imported until you have chosen")).to_be_visible()
    assert start.count() == 0
    page.get_by_label("Address", exact=True).select_option("Where")
    start.first.wait_for()
    assert start.count() == 2
    expect(page.get_by_text("then start the import")).to_be_visible()
    page.get_by_label("Address", exact=True).select_option("(none)")
    start.first.wait_for(state="detached")
    assert start.count() == 0
