"""A page that says that it does not exist counts as gone; a site that has little to say is left alone."""

from __future__ import annotations

import pytest

from ingest.sources.connectors.crawler.soft_404 import Said
from ingest.sources.store import FetchStore
from tests.ingest.sources.crawler.crawls import crawl, pages
from tests.ingest.sources.crawler.sites import Reply, page, redirect, served

PAGES = [f"/p{n}" for n in range(8)]


def sorry(path: str) -> Reply:
    return page("Sorry", text=f"There is nothing at {path} any more, so look for what you need in our list of tents")


def site_of(gone: set[str], *, said=sorry) -> dict[str, Reply]:
    return {"/": page("Home", *PAGES)} | {path: said(path) if path in gone else page(f"Page {path}") for path in PAGES}


def statuses(store: FetchStore) -> dict[str, int]:
    return {path: status for path, status in pages(store, "status_code").items() if path != "/"}


@pytest.mark.nightly
def test_pages_that_say_so_are_gone(tmp_path):
    gone = {"/p2", "/p5"}
    with served(site_of(gone)) as site:
        site.before = lambda path: None if path in site.replies or "robots" in path else sorry(path)
        store = crawl(site, tmp_path)
        assert {path for path, status in statuses(store).items() if status == 404} == gone
        assert store.noted("counts")["soft_404"] == 2
        left = store.connection.execute("SELECT count(*) FROM link JOIN page ON id = source WHERE status_code = 404")
        assert left.fetchone() == (0,)
        # One that has come back is a page again.
        site.replies["/p2"] = page("Page /p2")
        (tmp_path / "again").mkdir()
        again = crawl(site, tmp_path / "again", store=str(tmp_path / "again/two.sqlite3"), previous=str(store.path))
        assert {path for path, status in statuses(again).items() if status == 404} == {"/p5"}


@pytest.mark.nightly
def test_a_site_with_one_page_for_all_addresses_is_left_alone(tmp_path):
    with served({"/": page("Shop", *PAGES)}) as site:
        site.before = lambda path: None if "robots" in path else page("Shop", *PAGES)
        store = crawl(site, tmp_path)
    assert set(statuses(store).values()) == {200}


@pytest.mark.nightly
def test_a_site_that_says_it_of_most_of_its_pages_is_left_alone(tmp_path):
    with served(site_of(set(PAGES[:6]))) as site:
        site.before = lambda path: None if path in site.replies or "robots" in path else sorry(path)
        store = crawl(site, tmp_path)
    assert set(statuses(store).values()) == {200}


@pytest.mark.nightly
def test_pages_that_scripts_write_are_left_alone(tmp_path):
    def shell(path: str) -> Reply:
        return Reply("<html><title>Shop</title><body><div id='app'></div><script src='/app.js'></script></body>")

    with served(site_of({"/p1", "/p2"}, said=shell)) as site:
        site.before = lambda path: None if path in site.replies or "robots" in path else shell(path)
        store = crawl(site, tmp_path)
    assert set(statuses(store).values()) == {200}


@pytest.mark.nightly
@pytest.mark.parametrize(("code", "becomes"), [(301, 404), (302, 302)])
def test_pages_that_lead_where_made_up_addresses_do_are_gone_if_that_is_for_good(tmp_path, code, becomes):
    with served(site_of(set())) as site:
        site.before = lambda path: None if path in site.replies or "robots" in path else redirect("/", code)
        first = crawl(site, tmp_path)
        del site.replies["/p3"]
        site.replies |= {"/": page("Home", *PAGES, "/index.html"), "/p4": redirect("/p5")}
        (tmp_path / "again").mkdir()
        store = crawl(site, tmp_path / "again", store=str(tmp_path / "again/two.sqlite3"), previous=str(first.path))
        found = statuses(store)
        # A page that never was one, and one that leads elsewhere, are redirects.
        assert (found["/p3"], found["/p4"], found["/index.html"]) == (becomes, 301, code)


@pytest.mark.nightly
def test_robots_txt_may_bar_the_question(tmp_path):
    with served(site_of(set()) | {"/robots.txt": Reply("User-agent: *\nAllow: /$\nAllow: /p\nDisallow: /")}) as site:
        crawl(site, tmp_path)
        assert {path for path in site.asked if path not in site.replies} <= {"/sitemap.xml"}


def test_the_address_that_a_page_names_makes_no_difference():
    one = Said.of("https://shop.example/red-tent", "Sorry", "No page", "There is no page red-tent here, or anywhere.")
    other = Said.of(
        "https://shop.example/blue-stove", "Sorry", "No page", "There is no page blue-stove here, or anywhere."
    )
    assert one.is_like(other)
    assert not one.is_like(Said.of("https://shop.example/x", "Sorry", "No page", "We are closed for the holidays."))
