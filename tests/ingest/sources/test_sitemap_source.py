"""A sitemap alone is a source: its pages are fetched, no link is followed, and a part that fails marks nothing."""

from __future__ import annotations

import gzip
import ipaddress

import pytest

from ingest.fetching.manage import create_source
from ingest.fetching.run import run_fetch, start_fetch
from ingest.sources.connectors import registry
from ingest.sources.fetched import store_path
from ingest.sources.outgoing import Rules
from ingest.sources.store import FetchStore
from ingest.web.source_forms import SiteSourceForm
from linker.errors import UserError
from linker.models import RunStatus
from linker.runs import lifecycle
from tests.factories import make_project
from tests.ingest.sources.crawler.sites import Reply, page, served

pytestmark = pytest.mark.django_db(transaction=True)
LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)


@pytest.fixture(autouse=True)
def folders(settings, tmp_path):
    settings.FETCH_ROOT, settings.OUTGOING_ALLOW = tmp_path, LOOPBACK


def sitemap(*addresses: str, index: bool = False) -> bytes:
    outer, inner = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    rows = "".join(f"<{inner}><loc>{to}</loc><lastmod>2026-11-01</lastmod></{inner}>" for to in addresses)
    return f"<{outer} xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{rows}</{outer}>".encode()


def fetch(site, path: str = "/sitemap.xml"):
    project = make_project("shop", base_url=site.base)
    source = create_source(
        project, None, kind="sitemap", name="Map", address=f"{site.base}{path}", options={"pages_a_second": 200}
    )
    return source, lifecycle.execute(start_fetch(source).pk, run_fetch)


@pytest.mark.nightly
def test_what_a_sitemap_and_those_below_it_name_is_fetched_and_nothing_else():
    with served({}) as site:
        site.replies |= {
            "/sitemap.xml": Reply(sitemap(f"{site.base}/a.xml.gz", index=True), kind="application/xml"),
            "/a.xml.gz": Reply(
                gzip.compress(
                    sitemap("http://[bad", f"{site.base}/tents", f"{site.base}/stoves", "https://elsewhere.example/")
                ),
                kind="application/gzip",
            ),
            "/tents": page("Tents", "/hidden"), "/stoves": page("Stoves"), "/hidden": page("Hidden"),
        }  # fmt: skip
        source, run = fetch(site)
        said = registry.get("sitemap").check(source, Rules(LOOPBACK))
        assert run.status == RunStatus.SUCCEEDED, run.error
        assert (run.report["is_whole"], run.report["offsite"]) == (True, 1)
        assert site.asked["/hidden"] == site.asked["/"] == 0
    with FetchStore(store_path(run), read_only=True) as store:
        rows = store.connection.execute("SELECT p.url, p.sitemap_modified FROM page p JOIN reading r ON r.page = p.id")
        assert {url.removeprefix(site.base): day for url, day in rows} == {
            "/tents": "2026-11-01", "/stoves": "2026-11-01",
        }  # fmt: skip
    assert "Further sitemaps in it: 1." in said


@pytest.mark.nightly
def test_a_part_that_cannot_be_read_leaves_its_pages_unmarked():
    with served({}) as site:
        site.replies |= {
            "/sitemap.xml": Reply(sitemap(f"{site.base}/a.xml", f"{site.base}/b.xml", index=True)),
            "/a.xml": Reply(sitemap(f"{site.base}/tents")), "/b.xml": Reply("busy", 503), "/tents": page("Tents"),
        }  # fmt: skip
        _source, run = fetch(site)
    assert run.report["pages"] == 1
    assert not run.report["is_whole"]
    assert "/b.xml could not be read: it answers 503" in run.report["stopped_by"]


@pytest.mark.nightly
def test_a_feed_is_read_and_never_proves_that_a_page_is_gone():
    with served({"/tents": page("Tents")}) as site:
        feed = f"<rss><channel><item><link>{site.base}/tents</link></item></channel></rss>"
        site.replies["/feed"] = Reply(feed, kind="application/rss+xml")
        source, run = fetch(site, "/feed")
        said = registry.get("sitemap").check(source, Rules(LOOPBACK))
    assert (run.report["pages"], run.report["is_whole"]) == (1, False)
    assert "is a feed, which names the newest pages alone" in run.report["stopped_by"]
    assert said.startswith("A feed. Pages in it: 1.")


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("part", "why"),
    [("http://elsewhere.example/b.xml", "it is of another site"), ("{base}/barred.xml", "robots.txt bars it")],
)
def test_a_part_that_is_not_asked_for_leaves_its_pages_unmarked(part, why):
    with served({"/tents": page("Tents")}) as site:
        parts = (f"{site.base}/a.xml", part.format(base=site.base))
        site.replies |= {
            "/robots.txt": Reply("User-agent: *\nDisallow: /barred", kind="text/plain"),
            "/sitemap.xml": Reply(sitemap(*parts, index=True)),
            "/a.xml": Reply(sitemap(f"{site.base}/tents")),
        }
        _source, run = fetch(site)
    assert (run.report["pages"], run.report["is_whole"]) == (1, False)
    assert why in run.report["stopped_by"]


@pytest.mark.nightly
def test_a_page_is_no_sitemap():
    with served({"/": page("Home")}) as site:
        source, run = fetch(site, "/")
        assert run.status == RunStatus.FAILED
        assert "It is a page, not a sitemap" in run.error
        with pytest.raises(UserError, match="It is a page"):
            registry.get("sitemap").check(source, Rules(LOOPBACK))


def test_its_form_offers_what_applies_to_a_sitemap(project):
    offered = {
        kind: {field.name.removeprefix("option_") for field in form.option_fields}
        for kind in ("crawl", "sitemap")
        if (form := SiteSourceForm(project=project, connector=registry.get(kind)))
    }
    assert {"max_pages", "pages_a_second", "exclude"} < offered["sitemap"]
    assert offered["crawl"] - offered["sitemap"] == {"follow_sitemaps", "texts_only"}
