"""What an address answers decides whether it is a page, and what becomes of it."""

from __future__ import annotations

import ipaddress

import pytest

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
