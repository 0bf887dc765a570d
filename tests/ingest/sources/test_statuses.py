"""What an address answers decides whether it is a page, and what becomes of it."""

from __future__ import annotations

import ipaddress
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from linker.engine.roles.policy import USUAL, Gives, PageRole, Receives
from linker.models import Page
from tests.factories import make_project
from tests.ingest.sources.crawler.sites import Reply, page, served
from tests.ingest.sources.test_parts_of_a_site import fetch, source_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def folders(settings, tmp_path):
    settings.FETCH_ROOT, settings.VAR = tmp_path / "fetched", tmp_path
    settings.OUTGOING_ALLOW = (ipaddress.ip_network("127.0.0.0/8"),)


def statuses(project) -> dict[str, tuple]:
    rows = Page.objects.filter(project=project).values_list("url", "status_code", "status", "indexability_status")
    return {url.removeprefix(project.base_url): tuple(rest) for url, *rest in rows}


@pytest.mark.nightly
def test_an_address_that_never_answered_as_a_page_becomes_none():
    alternates = "<link rel=alternate hreflang=de href=/de/><link rel=alternate hreflang=fr href=/fr/>"
    replies = {"/": page("Home", "/a", "/typo", head=alternates), "/a": page("A", "/"), "/fr/": Reply("Gone", 410)}
    with served(replies) as site:
        project = make_project("shop", base_url=site.base)
        crawl = source_of(project, "crawl")
        run, pages, _links = fetch(crawl)
        assert set(statuses(project)) == {"/", "/a"}
        assert (run.report["broken"], pages.report["not_pages"]) == (3, 3)
        del site.replies["/a"]
        fetch(crawl)
        assert statuses(project) == {"/": (200, "live", ""), "/a": (404, "removed", "Client Error")}


@pytest.mark.nightly
def test_a_page_that_sends_its_readers_on_at_once_is_a_redirect():
    def refresh(content: str) -> str:
        return f"<meta http-equiv=refresh content='{content}'>"

    replies = {
        "/": page("Home", "/now", "/later", "/again", "/plain"),
        "/now": page("Now", head=refresh("0; url=/target")),
        "/later": page("Later", head=refresh("30; url=/target")),
        "/again": page("Again", head=refresh("0; url=/again#top")),
        "/plain": page("Plain", head=f"<noscript>{refresh('0; url=/target')}</noscript>"),
        "/target": page("Target"),
    }
    with served(replies) as site:
        project = make_project("shop", base_url=site.base)
        fetch(source_of(project, "crawl"))
    found = statuses(project)
    assert found.pop("/now") == (200, "redirected", "Redirected")
    assert set(found) == {"/", "/later", "/again", "/plain", "/target"}
    assert set(found.values()) == {(200, "live", "")}
    now = Page.objects.get(title="Now")
    assert (now.indexable, now.successor.title, now.leads_to.title) == (False, "Target", "Target")


@pytest.mark.nightly
def test_the_months_of_a_calendar_without_end_are_not_indexable():
    year = datetime.now(UTC).year
    months = [f"/events/{year + n}/06/" for n in range(4)]
    archive = [f"/blog/{year - 1}/06/", "/blog/1985/06/"]
    replies = {path: page(f"Month {path}", after) for path, after in pairwise([*months, f"/events/{year + 4}/06/"])}
    replies |= {"/": page("Home", months[0], *archive), archive[0]: page("Archive")}
    with served(replies) as site:
        project = make_project("shop", base_url=site.base)
        run, *_imports = fetch(source_of(project, "crawl"))
    found = statuses(project)
    assert {path for path, answer in found.items() if answer[2] == "Endless calendar"} == set(months)
    assert set(Page.objects.filter(indexable=True).values_list("title", flat=True)) == {"Home", "Archive"}
    assert run.report["trapped"] == 2
    of_months = Page.objects.filter(url__contains="/events/").values_list("role_in_force", "role_why")
    assert set(of_months) == {("utility", "it is one of the pages of a calendar without an end")}
    assert USUAL[PageRole.UTILITY] == (Gives.NO, Receives.NO)
    assert not Page.objects.filter(url__contains="/blog/", role_in_force="utility").exists()
