"""A post keeps its page, whatever address WordPress gives it: its number says which it is."""

from __future__ import annotations

import ipaddress
import threading

import pytest
from django.urls import reverse

from ingest.fetching import faults
from ingest.fetching.manage import create_source
from ingest.fetching.run import go_on_with, run_fetch, start_fetch
from ingest.services import run_import
from ingest.sources.fetched import store_path
from ingest.sources.store import FetchStore
from linker.models import Page, PageAddress, Run, RunKind, RunStatus
from linker.models.querysets import PRESENT
from linker.runs import lifecycle
from tests.factories import make_member, make_project
from tests.ingest.reading.test_lists import paragraph
from tests.ingest.sources.fake_wordpress import FakeWordPress

pytestmark = pytest.mark.django_db(transaction=True)


class Moving(FakeWordPress):
    """Posts whose addresses can be set."""

    slugs: dict[int, str]

    def post(self, number: int):
        slug = self.slugs.get(number, f"p{number}")
        return super().post(number) | {"link": f"{self.address}/{slug}/" if slug else f"{self.address}/"}


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
    import_all()
    return found


def import_all() -> None:
    while step := Run.objects.filter(status=RunStatus.QUEUED).exclude(kind=RunKind.FETCH).first():
        assert lifecycle.execute(step.pk, run_import).status == RunStatus.SUCCEEDED


def pages(site) -> dict[str, int]:
    """The pages that are there, by their slugs."""
    there = Page.objects.filter(PRESENT).values_list("url", "pk")
    return {url.removeprefix(site.address).strip("/"): pk for url, pk in there}


@pytest.mark.nightly
def test_every_post_of_a_renamed_category_keeps_its_page(site, source):
    bring_in(source)
    before = pages(site)
    site.slugs = {number: f"rucksacks/p{number}" for number in range(1, 12)}
    assert bring_in(source).report["redirects"] == 11
    assert pages(site) == {
        (f"rucksacks/{slug}" if slug not in ("", "p12") else slug): page for slug, page in before.items()
    }
    assert PageAddress.objects.count() == 11


@pytest.mark.nightly
def test_a_post_that_moved_in_a_fetch_that_was_not_imported_keeps_its_page(site, source):
    bring_in(source)
    page = pages(site)["p3"]
    site.slugs = {3: "three"}
    fetch(source)
    Run.objects.filter(status=RunStatus.QUEUED).update(status=RunStatus.CANCELLED)
    site.slugs = {3: "third"}
    bring_in(source)
    assert pages(site)["third"] == page


@pytest.mark.nightly
def test_a_post_that_moves_back_is_the_page_that_it_was(site, source):
    bring_in(source)
    before = pages(site)
    site.slugs = {3: "three"}
    bring_in(source)
    site.slugs = {}
    bring_in(source)
    assert pages(site) == before


@pytest.mark.nightly
def test_two_posts_that_change_places_are_each_at_the_other_address(site, source):
    """Addresses that are still listed lead nowhere: they are pages of the site."""
    bring_in(source)
    before = pages(site)
    site.slugs = {3: "p4", 4: "p3"}
    assert bring_in(source).report["redirects"] == 0
    assert pages(site) == before


@pytest.mark.nightly
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


def incomplete(path, query):
    """A taxonomy whose list never comes whole."""
    return (200, {"X-WP-Total": "5"}, b"[]") if path.endswith("/categories") else None


def test_a_post_that_moves_before_a_partial_fetch_keeps_its_page(site, source):
    bring_in(source)
    before = pages(site)
    site.slugs = {3: "three"}
    site.faults.append(incomplete)
    assert not bring_in(source).report["is_whole"]
    assert pages(site) == {("three" if slug == "p3" else slug): page for slug, page in before.items()}
    site.faults.clear()
    assert bring_in(source).report["is_whole"]
    assert pages(site)["three"] == before["p3"]


@pytest.mark.nightly
def test_a_post_that_a_partial_fetch_did_not_list_is_known_by_its_number_later(site, source):
    bring_in(source)
    page = pages(site)["p12"]
    whole = site.ids
    for _fetch in range(3):
        site.ids = whole[:11]
        site.faults = [lambda path, query: (500, {}, b"") if query.get("offset") == ["10"] else None]
        assert not bring_in(source).report["is_whole"]
    site.ids, site.faults, site.slugs = whole, [], {12: "twelve"}
    bring_in(source)
    assert pages(site)["twelve"] == page
    assert "p12" not in pages(site)


@pytest.mark.nightly
def test_a_post_that_moves_while_it_is_a_draft_keeps_its_page(site, source):
    bring_in(source)
    page = pages(site)["p3"]
    site.ids.remove(3)
    bring_in(source)
    assert "p3" not in pages(site)
    site.ids.append(3)
    site.slugs = {3: "three"}
    bring_in(source)
    assert pages(site)["three"] == page


@pytest.mark.nightly
def test_posts_that_may_have_changed_places_wait_for_a_whole_fetch(site, source):
    bring_in(source)
    before = pages(site)
    site.slugs = {3: "p12", 12: "p3"}
    site.ids.remove(12)
    site.faults = [lambda path, query: (500, {}, b"") if query.get("offset") == ["10"] else None]
    assert not bring_in(source).report["redirects"]
    site.ids, site.faults = list(range(1, 13)), []
    bring_in(source)
    assert pages(site) == before


@pytest.mark.nightly
def test_a_partial_fetch_that_was_stopped_and_goes_on_keeps_a_page_that_moved(site, source):
    bring_in(source)
    page = pages(site)["p3"]
    site.slugs = {number: f"new-{number}" for number in range(1, 12)}
    site.faults.append(incomplete)
    started = start_fetch(source)

    def stop(path, query):
        if "include" in query:
            Run.objects.filter(pk=started.pk).update(cancel_requested=True)

    site.faults.append(stop)
    stopped = lifecycle.execute(started.pk, run_fetch)
    assert stopped.status == RunStatus.CANCELLED
    site.faults.remove(stop)
    site.slugs[3] = "three"
    assert lifecycle.execute(go_on_with(stopped).pk, run_fetch).status == RunStatus.SUCCEEDED
    import_all()
    site.faults.clear()
    bring_in(source)
    assert pages(site)["three"] == page
    assert not {"p3", "new-3"} & set(pages(site))


def test_a_post_whose_list_is_read_twice_has_the_address_of_the_second_time(site, source):
    moving = iter([None, 3])

    def between(path, query):
        if path.endswith("/posts") and query.get("offset") == ["11"] and next(moving, None) is None:
            site.slugs = {3: "three"}
            return 200, {}, b"[]"
        return None

    site.faults.append(between)
    assert bring_in(source).report["is_whole"]
    assert "three" in pages(site)
    assert "p3" not in pages(site)


def test_links_to_posts_that_are_gone_are_broken_and_those_to_what_was_never_listed_told_apart(
    site, source, client_for
):
    """Post 1 links to posts that go, move and have a password, a draft, a file, a tag and another site."""
    linked = ["/p2/", "/p3/", "/p4/", "/draft/", "/draft/#end", "/a.jpg", "https://elsewhere.example/p2/", "/p5/"]
    text = "".join(f'<p>{paragraph(n)} Look at <a href="{href}">this {n}</a>.</p>' for n, href in enumerate(linked))
    text += '<p>Filed under <a href="/tag/poles/" rel="tag">Poles</a></p>'
    original = site.post

    def post(number):
        contents = {1: {"rendered": text, "protected": False}, 3: {"rendered": "", "protected": True}}
        return original(number) | ({"content": contents[number]} if number in contents else {})

    site.post = post
    bring_in(source)
    site.ids.remove(2)
    site.slugs = {4: "four"}
    run = bring_in(source)
    store = store_path(run)
    assert faults.counts(store) == {"broken": 1, "redirected": 1, "barred": 0, "unlisted": 2}
    assert run.report["broken"] == 1
    assert [link.target for link in faults.faulty_links(store, faults.BROKEN)] == [f"{site.address}/p2/"]
    client = client_for(make_member(source.project, "viewer"))
    page = client.get(reverse("faulty_links", args=["shop", source.pk])).content.decode()
    assert "no longer listed" in page
    assert "none" not in page[page.index("<tbody>") : page.index("</tbody>")]
    assert (
        "links to addresses that WordPress does not list"
        in client.get(reverse("source", args=["shop", source.pk])).content.decode()
    )
    rows = client.get(reverse("faulty_links_csv", args=["shop", source.pk]), {"only": "unlisted"})
    assert b"".join(rows.streaming_content).count(b",not listed") == 2
    site.ids.append(2)
    assert fetch(source).report["broken"] == 0


def test_a_list_that_is_not_whole_breaks_no_link(site, source):
    original = site.post
    content = {"rendered": '<p>Look at <a href="/p2/">this</a>.</p>', "protected": False}
    site.post = lambda number: original(number) | ({"content": content} if number == 1 else {})
    bring_in(source)
    site.ids.remove(2)
    site.faults.append(incomplete)
    run = fetch(source)
    assert (run.report["is_whole"], run.report["broken"]) == (False, 0)


@pytest.mark.nightly
def test_a_page_that_an_import_has_split_is_one_again(site, source):
    """Stores of a release that noted no moves in a partial fetch."""
    bring_in(source)
    was = pages(site)["p3"]
    project = source.project
    site.slugs = {3: "three"}
    site.faults.append(incomplete)
    partial = fetch(source)
    with FetchStore(store_path(partial)) as store:
        store.connection.execute("DELETE FROM page WHERE origin IN ('moved', 'former')")
    import_all()
    now = pages(site)["three"]
    assert now != was
    site.faults.clear()
    bring_in(source)
    old = project.pages.get(pk=was)
    assert (old.status, old.successor_id) == ("redirected", now)


@pytest.mark.nightly
def test_the_home_page_that_lists_posts_takes_the_place_of_a_post_that_moved(site, source):
    site.slugs = {3: ""}
    bring_in(source)
    site.slugs = {3: "welcome"}
    bring_in(source)
    assert Page.objects.get(url=f"{site.address}/").status_code == 200
