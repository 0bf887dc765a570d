"""A crawl sees what a site holds, and is harmed by nothing that a site answers."""

from __future__ import annotations

import gzip
import signal
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from ingest.addresses.normalise import Site
from ingest.sources.connectors.crawler.options import Options
from ingest.sources.connectors.crawler.scope import Scope
from tests.ingest.sources.crawler.crawls import begin, crawl, pages, plan
from tests.ingest.sources.crawler.sites import Reply, page, redirect, served

if TYPE_CHECKING:
    from ingest.sources.store import FetchStore
    from tests.ingest.sources.crawler.sites import SiteServer

pytestmark = pytest.mark.skipif("not hasattr(__import__('signal'), 'SIGKILL')", reason="needs SIGKILL")
BOMB = gzip.compress(b"<html>" + b"0" * 60_000_000, 9)
LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True))
    + "]><urlset><url><loc>{base}/orphan</loc></url><url><loc>{base}/&j;</loc></url></urlset>"
)


def endless(out: Any) -> None:
    with suppress(OSError):
        while True:
            out.write(b"<p>And more.</p>")
            time.sleep(0.05)


ODD = {
    "/robots.txt": Reply(
        "User-agent: *\nDisallow: /private\nCrawl-delay: 0.01\nSitemap: {base}/index.xml\n", kind="text/plain"
    ),
    "/index.xml": Reply(
        "<sitemapindex><sitemap><loc>{base}/laughs.xml</loc></sitemap><sitemap><loc>{base}/more.xml.gz</loc></sitemap>"
        "<sitemap><loc>http://elsewhere.example/s.xml</loc></sitemap><sitemap><loc>{base}/index.xml</loc></sitemap>"
        "<sitemap><loc>{base}/bomb.xml.gz</loc></sitemap></sitemapindex>",
        kind="text/xml",
    ),
    "/laughs.xml": Reply(LAUGHS, kind="text/xml"),
    "/bomb.xml.gz": Reply(BOMB, kind="application/gzip"),
    "/": page(
        "Home",
        *("/a?utm_source=mail", "/a?PHPSESSID=1234", "/private/x", "/chain1", "/loop1", "/away", "/inside", "/missing"),
        *("/broken", "/busy", "/slow", "/endless", "/bomb", "/report", "/hidden", "/calendar/2199/05", "/x/x/x/x/x"),
        *("http://elsewhere.example/", "mailto:a@b.example", "/manual.pdf"),
    ),
    "/a": page("A", "/b", head="<link rel='canonical' href='/canonical'><link rel='next' href='/a2'>"),
    "/a2": page("A, second page"),
    "/b": page("B", "/c"),
    "/c": page("C"),
    "/canonical": page("Canonical"),
    "/chain1": redirect("/chain2"),
    "/chain2": redirect("/c", 302),
    "/loop1": redirect("/loop2"),
    "/loop2": redirect("/loop1"),
    "/away": redirect("http://elsewhere.example/"),
    "/inside": redirect("http://169.254.169.254/latest/meta-data/"),
    "/broken": Reply("Down", 500),
    "/endless": Reply(stream=endless),
    "/bomb": Reply(BOMB, headers={"Content-Encoding": "gzip"}),
    "/report": Reply(b"%PDF-1.7" * 1000, kind="application/pdf"),
    "/hidden": Reply(
        "<title>Hidden</title><p><a href='/only-from-hidden'>A link</a></p>",
        headers={"X-Robots-Tag": "otherbot: all, googlebot: index"} | {"X-Robots-Tag": "noindex, nofollow"},
    ),
    "/orphan": page("Orphan"),
    "/lastmod": page("Of the sitemap"),
}


@pytest.fixture(scope="module")
def odd(tmp_path_factory) -> tuple[SiteServer, FetchStore]:
    """A crawl of a site with all that is odd in it."""
    with served(dict(ODD)) as site:
        lastmod = f"<urlset><url><loc>{site.base}/lastmod</loc><lastmod>2026-05-04</lastmod></url></urlset>"
        site.replies["/more.xml.gz"] = Reply(gzip.compress(lastmod.encode()), kind="application/gzip")
        answered: list[float] = []

        def before(path: str) -> Reply | None:
            if path == "/busy":
                answered.append(time.monotonic())
                return Reply("Later", 429, headers={"Retry-After": "1"}) if len(answered) == 1 else page("Busy")
            return None

        site.before = before
        store = crawl(site, tmp_path_factory.mktemp("odd"))
        assert answered[1] - answered[0] >= 1  # Retry-After
        return site, store


@pytest.mark.nightly
def test_each_hop_of_a_redirect_is_a_row_and_loops_end(odd):
    site, store = odd
    found = pages(store, "status_code, redirect_url")
    assert found["/chain1"] == (301, f"{site.base}/chain2")
    assert found["/chain2"] == (302, f"{site.base}/c")
    assert found["/loop1"][0] == found["/loop2"][0] == 301
    assert site.asked["/loop1"] == 1


@pytest.mark.nightly
def test_redirects_to_other_sites_and_into_networks_are_noted_and_not_followed(odd):
    found = pages(odd[1], "redirect_url")
    assert found["/inside"] == "http://169.254.169.254/latest/meta-data/"
    assert found["/away"] == "http://elsewhere.example/"
    assert not any("elsewhere" in url or "169.254" in url for url in pages(odd[1], "id"))


def test_errors_are_what_they_are(odd):
    site, store = odd
    found = pages(store, "state, status_code, fault")
    assert found["/missing"] == ("done", 404, "")
    assert found["/broken"] == ("failed", 500, "error 500")
    assert site.asked["/broken"] == 3
    assert found["/busy"][:2] == ("done", 200)
    assert found["/endless"] == ("failed", None, "no answer in time")
    assert found["/bomb"] == ("failed", None, "more than 10 MB")
    assert found["/report"] == ("done", 200, "")  # noted, and not read
    assert store.connection.execute("SELECT html FROM page WHERE url LIKE '%report'").fetchone() == (None,)
    assert "/manual.pdf" not in found


def test_every_request_says_who_asks(odd):
    site, _store = odd
    assert {"/", "/robots.txt", "/index.xml"} < site.headers_of.keys()
    assert {headers.get("User-Agent") for headers in site.headers_of.values()} == {"Anchorline/test"}
    assert not any("Accept-Language" in headers for headers in site.headers_of.values())


def test_what_robots_txt_bars_is_not_asked_for(odd):
    site, store = odd
    assert pages(store, "fault")["/private/x"] == "robots.txt"
    assert site.asked["/private/x"] == 0
    assert store.noted("counts")["barred"] == 1


def test_noindex_and_nofollow_of_the_header_count(odd):
    found = pages(odd[1], "robots")
    assert set(found["/hidden"].split()) == {"noindex", "nofollow"}
    assert "/only-from-hidden" not in found


def test_parameters_that_track_are_dropped_and_endless_rows_left_out(odd):
    found = pages(odd[1], "id")
    assert not any("utm_source" in url or "PHPSESSID" in url for url in found)
    assert "/calendar/2199/05" not in found
    assert "/x/x/x/x/x" not in found
    assert odd[1].noted("counts")["trapped"] == 2


def test_depth_is_clicks_from_the_home_page(odd):
    found = pages(odd[1], "depth")
    assert [found[url] for url in ("/", "/a", "/a2", "/b", "/chain1", "/chain2", "/c")] == [0, 1, 2, 2, 1, 1, 1]
    assert found["/orphan"] is found["/canonical"] is None


def test_sitemaps_in_indexes_are_read_and_bombs_are_harmless(odd):
    site, store = odd
    found = pages(store, "origin, in_sitemap, sitemap_modified")
    assert found["/lastmod"] == ("sitemap", 1, "2026-05-04")
    assert found["/orphan"][:2] == ("sitemap", 1)
    assert site.asked["/index.xml"] == 1
    assert not any("aaaa" in url for url in found)


def test_texts_and_links_are_read_with_their_places(odd):
    site, store = odd
    [text] = store.connection.execute(
        "SELECT text FROM reading r JOIN page p ON p.id = page WHERE url LIKE '%/b'"
    ).fetchone()
    target, anchor, place = store.connection.execute(
        "SELECT target, anchor, place FROM link JOIN page p ON p.id = source WHERE url LIKE '%/b' AND place IS NOT NULL"
    ).fetchone()
    assert target == f"{site.base}/c"
    assert text[place : place + len(anchor)] == anchor == "the page /c"
    cleaned = store.connection.execute("SELECT count(*) FROM link WHERE target LIKE '%PHPSESSID%'").fetchone()
    assert cleaned == (0,)


def test_a_few_failures_leave_a_crawl_whole(odd):
    assert odd[1].is_whole
    assert odd[1].noted("stopped_by") == ""


# -------------------------------------------------------------------------------------------------- the next fetch


def test_the_next_fetch_asks_only_for_what_has_changed(tmp_path):
    tagged = {"ETag": '"one"', "Last-Modified": "Mon, 05 Jan 2026 10:00:00 GMT"}
    replies = {"/": page("Home", "/same", "/new", "/down"), "/same": page("Same", "/deep"), "/deep": page("Deep")}
    replies |= {"/new": page("Old"), "/down": page("Down")}
    for name in ("/same", "/new"):
        replies[name].headers.update(tagged)
    with served(replies) as site:
        first = crawl(site, tmp_path, store=str(tmp_path / "first.sqlite3"))
        replies["/new"] = page("New")

        def before(path: str) -> Reply | None:
            if path == "/same" and site.headers_of[path].get("If-None-Match") == '"one"':
                return Reply("", 304)
            return Reply("", 503) if path == "/down" else None

        site.before = before
        second = crawl(site, tmp_path, previous=str(first.path))
    assert pages(second, "unchanged, status_code, fault") == {
        "/": (1, 200, ""),
        "/same": (1, 200, ""),
        "/new": (0, 200, ""),
        "/deep": (1, 200, ""),
        "/down": (1, 200, "error 503"),  # one bad hour takes no page away
    }
    titles = {title for (title,) in second.connection.execute("SELECT title FROM reading")}
    assert titles == {"Home", "Same", "New", "Deep", "Down"}
    links = "SELECT url, target, place FROM link JOIN page ON id = source WHERE url LIKE '%/same' ORDER BY number"
    assert second.connection.execute(links).fetchall() == first.connection.execute(links).fetchall() != []
    assert second.is_whole


# ------------------------------------------------------------------------------------------------- kills and limits


@pytest.mark.nightly
def test_a_killed_crawl_goes_on_and_fetches_nothing_twice(tmp_path):
    replies = {"/": page("Home", *(f"/p{n}" for n in range(60)))} | {f"/p{n}": page(f"P {n}") for n in range(60)}
    reached = threading.Event()
    with served(replies) as site:
        site.before = lambda path: reached.set() if sum(site.asked.values()) > 30 else None
        process = begin(plan(site, tmp_path))
        assert reached.wait(30)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        first = sum(site.asked.values())
        store = crawl(site, tmp_path)
        twice = [path for path, times in site.asked.items() if times > 1 and path.startswith("/p")]
    assert first < 60
    assert len(twice) <= 4  # those that were on their way
    assert store.counts() == {"done": 61}
    assert store.connection.execute("SELECT count(*) FROM reading").fetchone() == (61,)
    assert store.is_whole


@pytest.mark.nightly
def test_a_crawl_ends_with_the_process_that_began_it(tmp_path):
    with served({"/": page("Home")}) as site:
        site.before = lambda path: time.sleep(1) if path == "/" else None
        process = begin(plan(site, tmp_path, parent=1))
        assert process.wait(20) == 1


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("options", "says"),
    [({"max_pages": 5}, "limit of 5 pages"), ({"max_megabytes": 1, "concurrent": 1}, "limit of 1 MB")],
)
def test_a_limit_ends_a_crawl_which_then_is_not_whole(tmp_path, options, says):
    replies = {f"/p{n}": page(f"P {n}", f"/p{n + 1}", text="x" * 150_000) for n in range(12)}
    with served(replies | {"/": page("Home", "/p0", "/p1")}) as site:
        store = crawl(site, tmp_path, **options)
        assert site.asked.total() <= 12
    assert says in store.noted("stopped_by")
    assert not store.is_whole
    assert store.connection.execute("SELECT count(*) > 3 FROM reading").fetchone() == (1,)  # what there is, is read


@pytest.mark.nightly
@pytest.mark.parametrize("refusal", [403, 429])
def test_a_site_that_refuses_is_never_whole(tmp_path, refusal):
    replies = {"/": page("Home", *(f"/p{n}" for n in range(8)))}
    with served(replies) as site:
        site.before = lambda path: Reply("No", refusal) if path.startswith("/p") else None
        store = crawl(site, tmp_path)
    assert not store.is_whole
    assert f"8 of 9 addresses answered with errors (error {refusal}: 8)" in store.noted("stopped_by")


@pytest.mark.nightly
def test_nothing_is_read_while_robots_txt_fails(tmp_path):
    with served({"/": page("Home"), "/robots.txt": Reply("", 500)}) as site:
        store = crawl(site, tmp_path)
        assert site.asked["/"] == 0
    assert "robots.txt answers with the error 500" in store.noted("stopped_by")
    assert not store.is_whole


@pytest.mark.nightly
def test_a_name_that_leads_into_a_network_is_refused(tmp_path):
    with served({"/": page("Home")}) as site:
        named = f"http://localhost:{site.server_port}"
        store = crawl(site, tmp_path, address=f"{named}/", base_url=named, allowed=())
        assert site.asked.total() == 0
    assert "localhost is at" in store.noted("stopped_by")


@pytest.mark.nightly
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_an_address_that_may_not_be_asked_is_said_to_be_private_and_what_permits_it(tmp_path, host):
    with served({"/": page("Home")}) as site:
        base = f"http://{host}:{site.server_port}"
        with crawl(site, tmp_path, allowed=(), address=f"{base}/", base_url=base) as store:
            said = store.noted("stopped_by")
        assert not site.asked
    assert said.startswith(f"{host} is at 127.0.0.1, a private address")
    assert "OUTGOING_ALLOW" in said


@pytest.mark.nightly
def test_a_robots_txt_that_leads_to_a_private_address_is_said_to(tmp_path):
    replies = {"/": page("Home"), "/robots.txt": redirect("http://10.1.2.3/robots.txt")}
    with served(replies) as site, crawl(site, tmp_path) as store:
        assert "10.1.2.3 is at 10.1.2.3, a private address" in store.noted("stopped_by")


@pytest.mark.parametrize(
    ("address", "asked"),
    [
        ("/a?sid=9f8e7d6c5b4a39281706f5e4d3c2b1a0", "/a"),
        ("/a?page=2&SID=abc123", "/a?page=2"),
        ("/a?sid=", "/a"),
        ("/story?sid=4711", "/story?sid=4711"),
    ],
)
def test_a_sid_is_a_session_unless_it_is_a_number(address, asked):
    base = "https://shop.example"
    found = Scope(Site(base), Options()).find(base + address)
    assert found is not None
    assert found.url == base + asked


def test_a_sid_that_is_to_be_kept_is_kept():
    found = Scope(Site("https://shop.example"), Options(keep_parameters=("sid",))).find("https://shop.example/?sid=abc")
    assert found is not None
    assert found.url.endswith("?sid=abc")
