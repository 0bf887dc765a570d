"""axe finds nothing on the pages of sources and schedules, and nothing is wider than a phone: empty, full, while a
fetch is under way, after one that failed, and with a mistake in a form."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from ingest.fetching.manage import create_source
from ingest.fetching.run import run_fetch, start_fetch
from ingest.models import Schedule
from ingest.schedules.due import start_due
from ingest.schedules.manage import set_schedule
from ingest.sources.connectors import registry
from linker.runs import lifecycle
from tests.browser import axe
from tests.factories import make_project
from tests.ingest.schedules.work import work_off
from tests.ingest.sources.generated import SITE, Generated, MadePage, MadeSite

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from ingest.models import SiteSource
    from linker.models import Project

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FAULT = "The site refuses the crawler or is overloaded. Ask for it to be let in, or fetch more slowly. " * 3


@pytest.fixture
def made_site(monkeypatch, settings, tmp_path) -> MadeSite:
    settings.FETCH_ROOT, settings.VAR = tmp_path / "fetched", tmp_path
    site = MadeSite()
    for n in range(30):
        site.add(f"/guides/{n}", f"All about tents and pegs, part {n}.", f"/guides/{n + 1}", "/old/", "/gone/")
    site.pages["/old/"] = MadePage("", moved_to="/guides/0")
    site.pages["/gone/"] = MadePage("", status=404)
    others = [one for one in registry.CONNECTORS if one.kind != "crawl"]
    monkeypatch.setattr(registry, "CONNECTORS", (Generated(site), *others))
    return site


@pytest.fixture
def project(db, made_site) -> Project:
    return make_project("shop", base_url=SITE, model_name="all-MiniLM-L6-v2", time_zone="Europe/Berlin")


@pytest.fixture
def source(project) -> SiteSource:
    """With a name and an address as long as they may be."""
    return create_source(
        project, None, kind="crawl", name="Waterproof-and-breathable-outerwear-" * 2, refresh_matches=False,
        address=f"{SITE}/{'waterproof-and-breathable-outerwear-' * 6}", options={"most_pages": 7},
    )  # fmt: skip


@pytest.fixture
def looked_at(page, live_server, manager, sign_in) -> Callable[[str], list[str]]:
    """Goes to an address below the project, and says what is wrong there."""
    sign_in(manager)

    def look(path: str, name: str) -> list[str]:
        page.goto(f"{live_server.url}/p/shop/import/{path}")
        return found_on(page, name)

    return look


def found_on(page: Page, name: str) -> list[str]:
    found = axe.findings(page)
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(f"wider than {width}")
        if "SCREENS" in os.environ:
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                page.screenshot(path=Path(os.environ["SCREENS"]) / f"{name}-{width}-{scheme}.png", full_page=True)
    return found


@pytest.mark.nightly
def test_pages_of_sources(page, looked_at, project, source, made_site, redis_server):
    of_source = f"sources/{source.pk}/"
    found = {
        "not fetched": looked_at(of_source, "not-fetched"),
        "no schedules": looked_at("schedules/", "no-schedules"),
    }
    found["no faulty links"] = looked_at(f"{of_source}links/", "no-links")
    waiting = start_fetch(source)
    found["waiting"] = looked_at(of_source, "waiting")
    lifecycle.request_cancel(waiting)
    start_fetch(source)
    work_off(project)
    found["links"] = looked_at(f"{of_source}links/", "links")
    found["fetched"] = looked_at(of_source, "fetched")
    for n in range(20):
        del made_site.pages[f"/guides/{n}"]
    start_fetch(source)
    work_off(project)
    found["stands still"] = looked_at(of_source, "stands-still")
    made_site.fault = FAULT
    set_schedule(project, None, None, cron="30 4 1,15 * *")
    set_schedule(project, source, None, cron="0 */2 * * 1-5")
    Schedule.objects.filter(source=source).update(next_at=timezone.now() - timedelta(minutes=1))
    [run] = start_due()
    lifecycle.execute(run.pk, run_fetch)
    found["failed"] = looked_at(of_source, "failed")
    found["list"] = looked_at("sources/", "list")
    found["schedules"] = looked_at("schedules/", "schedules")
    found["remove"] = looked_at(f"{of_source}remove/", "remove")
    found["edit"] = looked_at(f"{of_source}edit/", "edit")
    assert {state: one for state, one in found.items() if one} == {}


@pytest.mark.nightly
def test_forms_of_sources_with_mistakes(page, looked_at, project, source):
    found = {kind: looked_at(f"sources/add/{kind}/", f"add-{kind}") for kind in ("crawl", "wordpress", "sitemap")}
    page.locator("[name=address]").fill("https://elsewhere.example/")
    page.locator("form.card .button--primary").click()
    page.get_by_text("Another site needs a project of its own").wait_for()
    found["refused"] = found_on(page, "refused")
    looked_at(f"sources/{source.pk}/", "before")
    page.locator("[name=rhythm]").select_option("cron")
    page.locator("[name=cron]").fill("every day")
    page.get_by_text("Save the schedule").click()
    page.locator(".errorlist").first.wait_for()
    found["no expression"] = found_on(page, "no-expression")
    assert {state: one for state, one in found.items() if one} == {}


@pytest.mark.nightly
def test_the_list_without_a_source(looked_at, project):
    assert looked_at("sources/", "empty") == []


@pytest.mark.nightly
def test_the_form_of_a_schedule_shows_the_fields_of_the_chosen_rhythm(page, looked_at, project):
    looked_at("schedules/", "rhythm-off")
    fields = ("time", "weekday", "cron", "whole_site")
    asked = {
        "off": [], "daily": ["time", "whole_site"], "weekly": ["time", "weekday", "whole_site"],
        "cron": ["cron", "whole_site"],
    }  # fmt: skip
    for rhythm in ("off", "weekly", "cron", "daily", "off"):
        page.locator("[name=rhythm]").select_option(rhythm)
        assert [name for name in fields if page.locator(f"[name={name}]").is_visible()] == asked[rhythm]
