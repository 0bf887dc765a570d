"""What happens to a site between two crawls: pages move quietly, lose their last link, or stand behind a login."""

from __future__ import annotations

import ipaddress
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from ingest import services
from ingest.fetching import faults
from ingest.fetching.report import sentences
from ingest.fetching.run import newest_store, run_fetch, start_fetch
from ingest.fetching.steps import start_step
from linker.models import Page, PageEvent, Run, RunKind, RunStatus
from linker.runs import lifecycle
from linker.runs.reports import report_of
from tests.factories import make_project
from tests.ingest.sources.crawler.sites import Reply, page, redirect, served
from tests.ingest.sources.test_parts_of_a_site import fetch, missing, source_of
from tests.ingest.sources.test_sitemap_source import sitemap

pytestmark = pytest.mark.django_db(transaction=True)
PAGES = [f"/p{n}" for n in range(30)]
TEXT = "Pegs of page {} hold in soft ground, even where the wind comes from the lake and the rain does not end."
LOGIN = "Please sign in with your name and your password to read this page."


@pytest.fixture(autouse=True)
def folders(settings, tmp_path):
    settings.FETCH_ROOT, settings.VAR = tmp_path / "fetched", tmp_path
    settings.OUTGOING_ALLOW = (ipaddress.ip_network("127.0.0.0/8"),)


@pytest.fixture
def site():
    replies = {"/": page("Home", *PAGES)} | {path: page(f"Page {path}", text=TEXT.format(path)) for path in PAGES}
    with served(replies) as server:
        yield server


@pytest.fixture
def crawl(site):
    source = source_of(make_project("shop", base_url=site.base), "crawl")
    fetch(source)
    return source


def known(source) -> dict[str, tuple[str, str]]:
    """Status and title of each page, by its path."""
    pages = Page.objects.filter(project=source.project).values_list("url", "status", "title")
    return {url.removeprefix(source.project.base_url): rest for url, *rest in pages}


def import_of(source) -> Run:
    """The import of pages of a fetch from now, however it ends."""
    run = lifecycle.execute(start_fetch(source, steps=False, to_queue=False).pk, run_fetch)
    return lifecycle.execute(start_step(run, RunKind.IMPORT_PAGES, to_queue=False).pk, services.run_import)


@pytest.mark.nightly
def test_a_page_that_moved_is_the_same_page_though_no_link_names_its_old_address(crawl, site):
    moved = Page.objects.get(url=f"{site.base}/p7")
    site.replies |= {"/p7": redirect("/pegs"), "/pegs": page("Pegs")}
    site.replies["/"] = page("Home", *(path for path in PAGES if path != "/p7"), "/pegs")
    fetch(crawl)
    moved.refresh_from_db()
    assert (moved.url, moved.title, moved.status) == (f"{site.base}/pegs", "Pegs", "live")
    assert missing(crawl.project) == set()


@pytest.mark.nightly
def test_a_page_that_moved_without_a_redirect_is_told_by_its_text_where_no_other_says_the_same(crawl, site):
    told = {path: TEXT.format(path) * 3 for path in ("/p7", "/p8", "/p9")}
    ten = Reply("<!doctype html><html><title>Ten</title><body><main><h1>Ten</h1><p>Ten pegs and no more.</p></main>")
    site.replies |= {path: page(f"Page {path}", text=text) for path, text in told.items()} | {"/p10": ten}
    fetch(crawl)
    before = {path: Page.objects.get(url=f"{site.base}{path}") for path in ("/p7", "/p8", "/p9", "/p10")}
    now = {path: page(f"Page {path}", text=text) for path, text in told.items()}
    for path in before:
        del site.replies[path]
    site.replies |= {
        "/pegs": now["/p7"],
        "/one": now["/p8"],
        "/two": now["/p8"],
        "/nine": page("Nine", text=told["/p9"]),
    }
    site.replies["/ten"] = ten
    new = ["/pegs", "/one", "/two", "/nine", "/ten"]
    site.replies["/"] = page("Home", *(path for path in PAGES if path not in before), *new)
    fetch(crawl)
    for one in before.values():
        one.refresh_from_db()
    assert (before["/p7"].url, before["/p7"].status) == (f"{site.base}/pegs", "live")
    removed = {path: one.status for path, one in before.items() if path != "/p7"}
    assert set(removed.values()) == {"removed"}, "two say the same, another title, or too short a text"
    assert PageEvent.objects.get(page=before["/p7"]).kind == "moved"
    assert len(known(crawl)) == 31 + 4


@pytest.mark.nightly
def test_a_page_that_an_event_tells_of_is_read_though_nothing_leads_to_it(crawl, site):
    site.replies["/told"] = page("Told of")
    call_command("page_event", "shop", "created", f"{site.base}/told", stdout=StringIO())
    fetch(crawl)
    assert known(crawl)["/told"] == ["live", "Told of"]


@pytest.mark.nightly
def test_a_page_that_lost_its_last_link_is_an_orphan_and_one_that_answers_404_was_removed(crawl, site):
    del site.replies["/p8"]
    site.replies["/"] = page("Home", *(path for path in PAGES if path not in ("/p7", "/p8")))
    fetch(crawl)
    assert missing(crawl.project) == set()
    assert (known(crawl)["/p7"], known(crawl)["/p8"]) == (["live", "Page /p7"], ["removed", "Page /p8"])
    site.replies["/p8"] = redirect("/p9")
    fetch(crawl)
    assert (known(crawl)["/p7"], known(crawl)["/p8"]) == (["live", "Page /p7"], ["redirected", "Page /p8"])


@pytest.mark.nightly
def test_a_redirect_in_a_circle_is_no_page_and_a_page_that_turns_into_one_leads_nowhere_until_it_answers(crawl, site):
    site.replies |= {"/p7": redirect("/p7b"), "/p7b": redirect("/p7"), "/": page("Home", *PAGES, "/round")}
    site.replies |= {"/round": redirect("/round?again=1"), "/round?again=1": redirect("/round")}
    fetch(crawl)
    assert known(crawl)["/p7"] == ["redirected", "Page /p7"]
    assert Page.objects.get(url=f"{site.base}/p7").successor is None
    assert len(known(crawl)) == 31
    site.replies["/p7"] = page("Page /p7")
    fetch(crawl)
    assert known(crawl)["/p7"] == ["live", "Page /p7"]


@pytest.mark.nightly
def test_what_is_gone_for_long_is_not_asked_for_again(crawl, site):
    del site.replies["/p8"]
    site.replies["/"] = page("Home", *(path for path in PAGES if path != "/p8"))
    fetch(crawl)
    Page.objects.filter(status="removed").update(state_since=timezone.now() - timedelta(days=31))
    asked = site.asked["/p8"]
    fetch(crawl)
    assert site.asked["/p8"] == asked


@pytest.mark.nightly
def test_a_site_restored_from_a_backup_has_its_pages_where_they_were(crawl, site):
    moved = Page.objects.get(url=f"{site.base}/p7")
    before = site.replies["/p7"], site.replies["/"]
    site.replies |= {"/p7": redirect("/pegs"), "/pegs": page("Pegs")}
    site.replies["/"] = page("Home", *(path for path in PAGES if path != "/p7"), "/pegs")
    fetch(crawl)
    site.replies["/p7"], site.replies["/"] = before
    del site.replies["/pegs"]
    fetch(crawl)
    moved.refresh_from_db()
    assert (moved.url, moved.title, moved.status) == (f"{site.base}/p7", "Page /p7", "live")
    assert (missing(crawl.project), len(known(crawl))) == (set(), 31)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "layout", ["", pytest.param("Shop for tents and what belongs to them. ", marks=pytest.mark.nightly)]
)
def test_a_form_in_the_sites_own_layout_replaces_no_text(crawl, site, layout):
    before = known(crawl)
    for path in PAGES[:12]:
        site.replies[path] = page("Sign in", text=layout + LOGIN)
    run = import_of(crawl)
    assert run.status == RunStatus.FAILED
    assert "12 of 31 pages whose texts were known have one and the same text now, that of “Sign in”" in run.error
    assert known(crawl) == before


@pytest.mark.nightly
def test_pages_without_any_text_replace_no_texts(crawl, site):
    for path in PAGES[:12]:
        site.replies[path] = Reply(f"<html><title>Page {path}</title><body><div id=app></div>")
    run = import_of(crawl)
    assert run.status == RunStatus.FAILED
    assert "12 of 31 pages whose texts were known have none now" in run.error


@pytest.mark.nightly
@pytest.mark.parametrize("code", [301, pytest.param(302, marks=pytest.mark.nightly)])
def test_a_site_that_leads_to_its_login_is_not_imported(crawl, site, code):
    before = known(crawl)
    site.replies |= {path: redirect("/login", code) for path in PAGES[:12]} | {"/login": page("Sign in")}
    run = import_of(crawl)
    assert run.status == RunStatus.FAILED
    assert "pages that answer where the source had 31" in run.error
    assert known(crawl) == before


@pytest.mark.nightly
def test_a_site_half_of_which_answers_404_is_not_imported(crawl, site):
    for path in PAGES[:12]:
        del site.replies[path]
    run = import_of(crawl)
    assert "holds 19 pages that answer where the source had 31" in run.error


@pytest.mark.nightly
def test_links_to_a_page_that_does_not_answer_this_time_are_listed(crawl, site):
    site.before = lambda path: Reply("Down", 500) if path == "/p3" else None
    fetch(crawl)
    store = newest_store(crawl)
    [link] = faults.faulty_links(store, faults.BROKEN)
    assert (link.target, link.status, link.fault) == (f"{site.base}/p3", None, "error 500")
    assert faults.counts(store) == {"broken": 1, "redirected": 0, "barred": 0}
    assert known(crawl)["/p3"] == ["live", "Page /p3"], "a bad hour takes no page away"


@pytest.mark.nightly
def test_links_of_menus_can_be_left_out_of_the_list(crawl, site):
    menu = "<nav><a href='/old'>Old</a></nav>"
    site.replies |= {path: Reply(f"<html><title>{path}</title><body>{menu}<main><p>Text.</p></main>") for path in PAGES}
    site.replies |= {"/p1": page("One", "/old"), "/old": redirect("/p2")}
    fetch_again = lifecycle.execute(start_fetch(crawl, steps=False, to_queue=False).pk, run_fetch)
    assert fetch_again.status == RunStatus.SUCCEEDED
    store = newest_store(crawl)
    assert len(list(faults.every_faulty_link(store))) == 30
    [link] = faults.every_faulty_link(store, in_texts=True)
    assert link.source == f"{site.base}/p1"


@pytest.mark.nightly
def test_a_sitemap_that_cannot_be_read_is_named(crawl, site):
    site.replies |= {
        "/robots.txt": Reply(f"Sitemap: {site.base}/map.xml", kind="text/plain"),
        "/map.xml": Reply(f"<urlset><url><loc>{site.base}/p1</loc></url><url><loc>", kind="application/xml"),
    }
    run = lifecycle.execute(start_fetch(crawl, steps=False, to_queue=False).pk, run_fetch)
    [said] = [line for line in sentences(report_of(run)) if "sitemap" in line]
    assert f"{site.base}/map.xml" in said
    assert report_of(run).is_whole
    del site.replies["/robots.txt"]
    again = lifecycle.execute(start_fetch(crawl, steps=False, to_queue=False).pk, run_fetch)
    assert not report_of(again).unread_sitemaps, "nobody named one, so there need not be any"


@pytest.mark.nightly
def test_a_site_that_refuses_everything_is_said_to(crawl, site):
    site.before = lambda path: Reply("Busy", 503)
    run = lifecycle.execute(start_fetch(crawl, steps=False, to_queue=False).pk, run_fetch)
    assert run.status == RunStatus.FAILED
    assert "503" in run.error


@pytest.mark.nightly
def test_a_sitemap_does_not_take_away_the_clicks_that_a_crawl_knows(crawl, site):
    page_seven = Page.objects.get(url=f"{site.base}/p7")
    assert page_seven.crawl_depth == 1
    site.replies["/map.xml"] = Reply(sitemap(f"{site.base}/p7", f"{site.base}/p8"), kind="application/xml")
    fetch(source_of(crawl.project, "sitemap", "/map.xml"))
    page_seven.refresh_from_db()
    assert page_seven.crawl_depth == 1
