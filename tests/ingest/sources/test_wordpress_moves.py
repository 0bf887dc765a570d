"""A post keeps its page, whatever address WordPress gives it: its number says which it is."""

from __future__ import annotations

import ipaddress
import threading

import pytest

from ingest.fetching.manage import create_source
from ingest.fetching.run import run_fetch, start_fetch
from ingest.services import run_import
from linker.models import Page, PageAddress, Run, RunKind, RunStatus
from linker.models.querysets import PRESENT
from linker.runs import lifecycle
from tests.factories import make_project
from tests.ingest.sources.fake_wordpress import FakeWordPress

pytestmark = pytest.mark.django_db(transaction=True)


class Moving(FakeWordPress):
    """Posts whose addresses can be set."""

    slugs: dict[int, str]

    def post(self, number: int):
        slug = self.slugs.get(number, f"p{number}")
        return super().post(number) | {"link": f"{self.address}/{slug}/"}


@pytest.fixture
def site(settings, tmp_path):
    settings.FETCH_ROOT, settings.OUTGOING_ALLOW = tmp_path, (ipaddress.ip_network("127.0.0.0/8"),)
    server = Moving(posts=12)
    server.slugs = {}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def source(site):
    project = make_project("shop", base_url=site.address)
    return create_source(
        project, None, kind="wordpress", name="Blog", address=site.address, options={"pause": 0}, refresh_matches=False
    )


def fetch(source) -> Run:
    found = lifecycle.execute(start_fetch(source).pk, run_fetch)
    assert found.status == RunStatus.SUCCEEDED, found.error
    return found


def bring_in(source) -> Run:
    """Fetches the source, and imports its pages and links; returns the fetch."""
    found = fetch(source)
    while step := Run.objects.filter(status=RunStatus.QUEUED).exclude(kind=RunKind.FETCH).first():
        assert lifecycle.execute(step.pk, run_import).status == RunStatus.SUCCEEDED
    return found


def pages(site) -> dict[str, int]:
    """The pages that are there, by their slugs."""
    there = Page.objects.filter(PRESENT).values_list("url", "pk")
    return {url.removeprefix(site.address).strip("/"): pk for url, pk in there}


def test_every_post_of_a_renamed_category_keeps_its_page(site, source):
    bring_in(source)
    before = pages(site)
    site.slugs = {number: f"rucksacks/p{number}" for number in range(1, 12)}
    assert bring_in(source).report["redirects"] == 11
    assert pages(site) == {
        (f"rucksacks/{slug}" if slug not in ("", "p12") else slug): page for slug, page in before.items()
    }
    assert PageAddress.objects.count() == 11


def test_a_post_that_moved_in_a_fetch_that_was_not_imported_keeps_its_page(site, source):
    bring_in(source)
    page = pages(site)["p3"]
    site.slugs = {3: "three"}
    fetch(source)
    Run.objects.filter(status=RunStatus.QUEUED).update(status=RunStatus.CANCELLED)
    site.slugs = {3: "third"}
    bring_in(source)
    assert pages(site)["third"] == page


def test_a_post_that_moves_back_is_the_page_that_it_was(site, source):
    bring_in(source)
    before = pages(site)
    site.slugs = {3: "three"}
    bring_in(source)
    site.slugs = {}
    bring_in(source)
    assert pages(site) == before


def test_two_posts_that_change_places_are_each_at_the_other_address(site, source):
    """Addresses that are still listed lead nowhere: they are pages of the site."""
    bring_in(source)
    before = pages(site)
    site.slugs = {3: "p4", 4: "p3"}
    assert bring_in(source).report["redirects"] == 0
    assert pages(site) == before


def test_a_new_post_at_the_address_of_one_that_moved_is_a_page_of_its_own(site, source):
    bring_in(source)
    was = pages(site)["p3"]
    site.slugs = {3: "three"}
    bring_in(source)
    site.ids.append(13)
    site.slugs = {3: "three", 13: "p3"}
    bring_in(source)
    assert pages(site)["three"] == was
    assert pages(site)["p3"] not in (was, None)
