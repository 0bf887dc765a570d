"""A source says of the pages that it held itself that they are gone, and of no others."""

from __future__ import annotations

import ipaddress
from importlib import import_module

import pytest
from django.db import connection

from ingest import services
from ingest.fetching.manage import create_source, remove_source
from ingest.fetching.run import run_fetch, start_fetch
from ingest.fetching.steps import start_step
from ingest.models import SourcePage
from linker.models import ExistingLink, Page, RunKind, RunStatus
from linker.runs import lifecycle
from tests.factories import make_project
from tests.ingest.files import write
from tests.ingest.sources.crawler.sites import Reply, page, served
from tests.ingest.sources.test_sitemap_source import sitemap

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def folders(settings, tmp_path):
    settings.FETCH_ROOT, settings.VAR = tmp_path / "fetched", tmp_path
    settings.OUTGOING_ALLOW = (ipaddress.ip_network("127.0.0.0/8"),)


@pytest.fixture
def site():
    replies = {"/": page("Home", "/a", "/b"), "/a": page("A", "/b"), "/b": page("B", "/a"), "/c": page("C", "/a")}
    with served(replies) as server:
        yield server


@pytest.fixture
def project(site):
    return make_project("shop", base_url=site.base)


def source_of(project, kind: str, path: str = "/", **options):
    return create_source(
        *(project, None),
        kind=kind,
        name=f"{kind} {path}",
        address=f"{project.base_url}{path}",
        options={"pages_a_second": 200, **options},
        refresh_matches=False,
    )


def fetch(source) -> list:
    """A fetch and the import of its pages and links; returns their runs."""
    runs = [lifecycle.execute(start_fetch(source, steps=False, to_queue=False).pk, run_fetch)]
    for kind in (RunKind.IMPORT_PAGES, RunKind.IMPORT_LINKS):
        runs.append(lifecycle.execute(start_step(runs[0], kind, to_queue=False).pk, services.run_import))
    assert [run.error for run in runs if run.status != RunStatus.SUCCEEDED] == []
    return runs


def missing(project) -> set[str]:
    found = Page.objects.filter(project=project, missing_since__isnull=False)
    return {url.removeprefix(project.base_url) for url in found.values_list("url", flat=True)}


@pytest.mark.nightly
def test_a_sitemap_of_a_part_leaves_the_pages_and_links_of_the_crawl(site, project):
    fetch(source_of(project, "crawl"))
    site.replies["/part.xml"] = Reply(sitemap(f"{site.base}/c"), kind="application/xml")
    part = source_of(project, "sitemap", "/part.xml")
    _run, pages, links = fetch(part)
    assert (pages.report["missing"], links.report["missing"], missing(project)) == (0, 0, set())
    site.replies["/part.xml"] = Reply(sitemap(f"{site.base}/a"), kind="application/xml")
    _run, pages, links = fetch(part)
    assert (pages.report["missing"], missing(project)) == (1, {"/c"})
    gone = ExistingLink.objects.filter(missing_since__isnull=False)
    assert set(gone.values_list("source__title", flat=True)) == {"C"}


@pytest.mark.nightly
def test_a_page_that_another_source_holds_is_not_gone(site, project):
    fetch(source_of(project, "crawl"))
    site.replies["/part.xml"] = Reply(sitemap(f"{site.base}/a", f"{site.base}/c"), kind="application/xml")
    part = source_of(project, "sitemap", "/part.xml")
    fetch(part)
    site.replies["/part.xml"] = Reply(sitemap(f"{site.base}/b"), kind="application/xml")
    fetch(part)
    assert missing(project) == {"/c"}


@pytest.mark.nightly
def test_what_a_removed_source_held_is_no_longer_held(site, project):
    crawl = source_of(project, "crawl")
    fetch(crawl)
    site.replies["/part.xml"] = Reply(sitemap(f"{site.base}/a", f"{site.base}/c"), kind="application/xml")
    part = source_of(project, "sitemap", "/part.xml")
    fetch(part)
    remove_source(crawl, None)
    site.replies["/part.xml"] = Reply(sitemap(f"{site.base}/c"), kind="application/xml")
    fetch(part)
    assert missing(project) == {"/a"}


@pytest.mark.nightly
def test_a_crawl_of_some_addresses_leaves_the_pages_of_a_file(site, project, tmp_path):
    rows = [(f"{site.base}/f{n}", f"Page {n}") for n in range(30)]
    services.import_file(project, "pages", write(tmp_path / "pages.csv", ("Address", "Title 1"), rows))
    crawl = source_of(project, "crawl", include=["/[ab]?$"])
    fetch(crawl)
    assert missing(project) == set()
    site.replies["/a"] = page("A")
    site.replies["/"] = page("Home", "/a")
    fetch(crawl)
    assert missing(project) == set(), "nothing leads to /b any more, and it answers: an orphan"
    site.before = lambda path: Reply("Down", 500) if path == "/b" else None
    fetch(crawl)
    fetch(crawl)
    assert missing(project) == {"/b"}


@pytest.mark.nightly
def test_a_part_that_shrinks_is_measured_by_what_it_held(site, project):
    paths = ["/", *(f"/p{n}" for n in range(24))]
    site.replies |= {path: page(f"Page {path}", "/p1") for path in paths}
    site.replies["/part.xml"] = Reply(sitemap(*(site.base + path for path in paths)), kind="application/xml")
    part = source_of(project, "sitemap", "/part.xml")
    fetch(part)
    site.replies["/part.xml"] = Reply(sitemap(*(site.base + path for path in paths[:10])), kind="application/xml")
    run = lifecycle.execute(start_fetch(part, steps=False, to_queue=False).pk, run_fetch)
    step = lifecycle.execute(start_step(run, RunKind.IMPORT_PAGES, to_queue=False).pk, services.run_import)
    assert "10 pages where the source had 25" in step.error
    assert SourcePage.objects.filter(source=part).count() == 25


@pytest.mark.nightly
def test_an_upgrade_notes_what_each_source_was_the_last_to_see(site, project):
    crawl = source_of(project, "crawl")
    fetch(crawl)
    site.replies["/part.xml"] = Reply(sitemap(f"{site.base}/a", f"{site.base}/c"), kind="application/xml")
    part = source_of(project, "sitemap", "/part.xml")
    fetch(part)
    SourcePage.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute(import_module("ingest.migrations.0006_source_pages").HELD)
    held = SourcePage.objects.values_list("source", "page__title")
    assert set(held) == {(crawl.pk, "Home"), (crawl.pk, "B"), (part.pk, "A"), (part.pk, "C")}


@pytest.mark.nightly
def test_a_sitemap_whose_pages_link_to_no_known_page_is_imported(site, project):
    site.replies |= {
        "/lonely": page("Lonely", "/nobody-knows"),
        "/part.xml": Reply(sitemap(f"{site.base}/lonely"), kind="application/xml"),
    }
    part = source_of(project, "sitemap", "/part.xml")
    _run, pages, links = fetch(part)
    assert (pages.report["pages"], links.report["links"]) == (1, 0)
    _run, _pages, again = fetch(part)
    assert again.report["links"] == 0
