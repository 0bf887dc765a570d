"""A series without end, such as a calendar that leads on and on, takes few requests, and the report says so."""

from __future__ import annotations

import re

import pytest

from ingest.addresses.normalise import Site
from ingest.fetching.report import FetchReport, sentences
from ingest.sources.connectors.crawler.frontier import LONGEST_SERIES
from ingest.sources.connectors.crawler.options import Options
from ingest.sources.connectors.crawler.scope import Scope
from ingest.sources.store import CALENDAR
from tests.ingest.sources.crawler.crawls import crawl, pages
from tests.ingest.sources.crawler.sites import Reply, page, served


def month(path: str) -> Reply | None:
    """A month of a calendar, which leads to the one before and the next, and to one of its days."""
    found = re.fullmatch(r"/cal/(\d+)/(\d+)(/\d+)?", path)
    if found is None:
        return None
    year, number = int(found[1]), int(found[2])
    before, after = ((year * 12 + number - 1 + step) for step in (-1, 1))
    leads = [f"/cal/{at // 12}/{at % 12 + 1}" for at in (before, after)]
    return page(f"Month {number}", *leads, f"/cal/{year}/{number}/5")


@pytest.mark.nightly
def test_months_that_lead_to_nothing_but_months_are_not_followed_for_ever(tmp_path):
    with served({"/": page("Home", "/cal/2020/6", "/a"), "/a": page("A")}) as site:
        site.before = month
        store = crawl(site, tmp_path)
    found = pages(store, "robots")
    months = [path for path in found if path.count("/") == 3]
    assert LONGEST_SERIES < len(months) <= 2 * LONGEST_SERIES
    assert all(CALENDAR in found[path].split() for path in months)
    assert CALENDAR not in found["/a"]
    assert store.noted("counts")["trapped"] >= 2
    assert any("/cal/" in example for example in store.noted("endless"))
    assert store.noted("is_whole")


def test_the_pages_of_an_archive_are_no_calendar_though_a_sitemap_named_all_that_they_name(tmp_path):
    last = LONGEST_SERIES + 6
    items = {f"/item/{n}": page(f"Item {n}", "/about") for n in range(1, last + 1)}
    lists = {f"/list/{n}": page(f"List {n}", f"/list/{n + 1}", f"/item/{n}", "/about") for n in range(1, last + 1)}
    replies = {"/": page("Home", "/list/1"), "/about": page("About"), **items, **lists}
    named = "".join(f"<url><loc>{{base}}{path}</loc></url>" for path in items)
    replies["/robots.txt"] = Reply("Sitemap: {base}/sitemap.xml", kind="text/plain")
    replies["/sitemap.xml"] = Reply(f"<urlset>{named}</urlset>", kind="application/xml")
    with served(replies) as site:
        store = crawl(site, tmp_path)
    found = pages(store, "robots")
    assert "/list/20" in found
    assert not any(CALENDAR in robots.split() for robots in found.values())


@pytest.mark.nightly
def test_a_list_that_leads_to_new_pages_is_followed_to_its_end(tmp_path):
    last = LONGEST_SERIES * 2
    lists = {f"/list/{n}": page(f"List {n}", f"/list/{n + 1}", f"/item/{n}") for n in range(1, last)}
    replies = {"/": page("Home", "/list/1"), **lists, f"/list/{last}": page("The last list", "/item/999")}
    replies |= {f"/item/{n}": page(f"Item {n}") for n in (*range(1, last), 999)}
    with served(replies) as site:
        store = crawl(site, tmp_path)
    assert "/item/999" in pages(store, "status_code")
    assert store.noted("endless") == []


def test_a_day_of_long_ago_in_the_name_of_a_page_is_no_calendar():
    scope = Scope(Site("https://shop.example"), Options())
    for path in ("2018/04/1980-01-16-club-meeting", "news/1975-06-strike", "2018/04/plain"):
        assert scope.find(f"https://shop.example/{path}/") is not None
    for path in ("cal/1980/01", "cal/1980-01-16", "cal/2199-05/"):
        assert scope.find(f"https://shop.example/{path}") is None


def test_the_report_names_an_example_and_what_to_do():
    report = FetchReport(pages=9, is_whole=True, trapped=1200, endless=("https://shop.example/cal/2031/7",))
    assert (
        "1,200 addresses were left out as endless, such as https://shop.example/cal/2031/7. To keep their kind out "
        "altogether, exclude it in the settings of the source. A sitemap brings in what you want of them."
    ) in sentences(report)
