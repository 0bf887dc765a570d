"""The main job in a real browser: sign in, import, embed, match, decide by keyboard, undo, edit a tier, export."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from linker.models import CandidateEdge
from tests.factories import make_member, make_project

if TYPE_CHECKING:
    from playwright.sync_api import Page

SAMPLE = Path(__file__).resolve().parent.parent.parent / "ingest" / "sample"

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def upload(page: Page, file: str, kind: str) -> None:
    go(page, "Import")
    page.locator("input[type=file]").set_input_files(SAMPLE / file)
    page.get_by_label("Contents").select_option(kind)
    page.get_by_role("button", name="Upload and preview").click()
    page.get_by_role("button", name="Start the import").first.click()
    wait_for_run(page)


def go(page: Page, section: str) -> None:
    page.get_by_role("navigation", name="Project").get_by_role("link", name=section).click()


def wait_for_run(page: Page) -> None:
    page.locator(".badge", has_text="Finished").first.wait_for(timeout=120_000)


@pytest.mark.nightly
def test_from_a_crawl_to_a_file_of_approved_links(live_server, page, worker_processes, tmp_path):
    project = make_project(
        "fernpeak", name="Fernpeak", base_url="https://www.fernpeak.example", model_name="all-MiniLM-L6-v2"
    )
    make_member(project, "manager", username="mara")
    worker_processes(1)
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))

    page.goto(live_server.url)
    page.get_by_label("Username").fill("mara")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Fernpeak").first.click()

    upload(page, "internal_html.csv", "pages")
    upload(page, "all_inlinks.csv", "links")

    go(page, "Match")
    page.get_by_role("button", name="Embed the pages").click()
    wait_for_run(page)
    go(page, "Match")
    page.get_by_text("Candidates, caps and allocation").click()
    page.get_by_label("Levels up").fill("3")
    page.get_by_role("button", name="Start matching").click()
    wait_for_run(page)

    go(page, "Review")
    first = page.locator(".edge.is-current")  # marked by the script that listens to the keys
    first.wait_for()
    edge, anchor = first.get_attribute("data-edge"), first.locator("[data-anchor]").input_value()
    page.keyboard.press("y" if first.locator("[data-warnings] li").count() else "a")
    page.locator(f"[data-edge]:not([data-edge='{edge}'])").wait_for()
    page.keyboard.press("x")
    page.keyboard.press("1")
    page.keyboard.press("u")
    page.locator("[data-saved][data-state=saved]").wait_for()
    page.locator("[data-recent] > li", has_text="Accepted").wait_for()
    accepted = CandidateEdge.objects.get(project=project, status="accepted")
    assert accepted.anchor == anchor
    assert not CandidateEdge.objects.filter(project=project, status="rejected").exists()
    assert CandidateEdge.objects.filter(project=project, sensitive__contains="medical (Magazine › Health)").exists()

    go(page, "Settings")
    page.get_by_role("link", name="Tiers").click()
    before = CandidateEdge.objects.filter(project=project, tier__name="Likely").count()
    page.locator("input[name$=lower_bound]").nth(0).fill("0.6")
    page.locator("input[name$=lower_bound]").nth(1).fill("0.5")
    page.get_by_role("button", name="Save").first.click()
    page.locator(".notice--good").first.wait_for()
    assert CandidateEdge.objects.filter(project=project, tier__name="Likely").count() > before

    go(page, "Export")
    page.get_by_role("button", name="Export", exact=False).first.click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download", exact=False).first.click()
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text())))
    assert [(row["donor_url"], row["acceptor_url"], row["anchor_text"]) for row in rows] == [
        (accepted.source.url, accepted.target.url, anchor)
    ]
    assert (rows[0]["decided_by"], rows[0]["rel"]) == ("mara", accepted.rel)
    accepted.refresh_from_db()
    assert accepted.status == "exported"
    assert [error for error in errors if "422" not in error] == []
