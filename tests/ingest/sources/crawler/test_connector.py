"""The connector passes on how far the crawl has come, and stops it."""

from __future__ import annotations

import ipaddress

import psutil
import pytest

from ingest.fetching.manage import create_source
from ingest.fetching.run import run_fetch, start_fetch
from ingest.sources.connectors import registry
from ingest.sources.fetched import store_path
from ingest.sources.outgoing import Rules
from ingest.sources.store import FetchStore
from ingest.web.option_words import by_label
from linker.errors import RunCancelled, UserError
from tests.factories import make_project
from tests.ingest.sources.crawler.sites import Reply, page, redirect, served

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def folders(settings, tmp_path):
    settings.FETCH_ROOT, settings.VAR = tmp_path / "fetched", tmp_path
    settings.OUTGOING_ALLOW = (ipaddress.ip_network("127.0.0.0/8"),)


def source_of(site, **options):
    project = make_project("shop", base_url=site.base)
    options = {"pages_a_second": 50} | options
    return create_source(project, None, kind="crawl", name="Crawl", address=f"{site.base}/", options=options)


@pytest.mark.nightly
def test_a_cancelled_crawl_stops_and_goes_on_when_it_is_run_again():
    replies = {"/": page("Home", *(f"/p{n}" for n in range(40)))} | {f"/p{n}": page(f"P {n}") for n in range(40)}
    with served(replies) as site:
        run = start_fetch(source_of(site))

        def cancel(done: int, total: int, stage: str = "") -> None:
            if stage == "Fetching pages" and done > 5:
                assert total == 41
                raise RunCancelled

        with pytest.raises(RunCancelled):
            run_fetch(run, cancel)
        assert not [
            child for child in psutil.Process().children(recursive=True) if "crawler.process" in str(child.cmdline())
        ]
        assert site.asked.total() < 43
        report = run_fetch(run)
        assert max(times for path, times in site.asked.items() if path.startswith("/p")) <= 2
    assert (report.pages, report.is_whole) == (41, True)
    assert 0 <= site.asked.total() - report.requests <= 6  # those that were on their way
    with FetchStore(store_path(run), read_only=True) as store:
        assert store.noted("stopped_by") == ""


@pytest.mark.nightly
@pytest.mark.parametrize("times", [1, pytest.param(3, marks=pytest.mark.nightly)])
def test_a_crawler_that_is_killed_goes_on_by_itself_and_says_so_if_that_does_not_help(times):
    replies = {"/": page("Home", *(f"/p{n}" for n in range(60)))} | {f"/p{n}": page(f"P {n}") for n in range(60)}
    killed = set[int]()

    def kill(done: int, _total: int, stage: str = "") -> None:
        crawlers = [
            child for child in psutil.Process().children(recursive=True) if "crawler.process" in str(child.cmdline())
        ]
        if stage == "Fetching pages" and done and len(killed) < times and crawlers and crawlers[0].pid not in killed:
            killed.add(crawlers[0].pid)
            crawlers[0].kill()

    with served(replies) as site:
        run = start_fetch(source_of(site, pages_a_second=20))
        if times == 3:
            with pytest.raises(UserError, match="killed 3 times: the machine may lack memory"):
                run_fetch(run, kill)
            return
        report = run_fetch(run, kill)
    assert (len(killed), report.pages, report.is_whole) == (1, 61, True)


@pytest.mark.nightly
def test_a_home_page_that_cannot_be_read_fails_the_fetch_in_a_sentence():
    with served({"/": redirect("https://elsewhere.example/login")}) as site:
        run = start_fetch(source_of(site))
        with pytest.raises(UserError, match=r"leads to https://elsewhere.example/login, which is not of this project"):
            run_fetch(run)


@pytest.mark.nightly
def test_a_check_says_what_is_there():
    crawler = registry.get("crawl")
    with served({"/": page("Home"), "/x.pdf": Reply(b"%PDF", kind="application/pdf")}) as site:
        source = source_of(site)
        assert "answers with a page of" in crawler.check(source, Rules.in_force())
        source.address = f"{site.base}/x.pdf"
        with pytest.raises(UserError, match="no page"):
            crawler.check(source, Rules.in_force())
        with pytest.raises(UserError, match="not on the public internet"):
            crawler.check(source, Rules())
    with pytest.raises(UserError, match=r"cannot be read: no connection could be made\.$"):
        crawler.check(source, Rules.in_force())  # nobody is there any more


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"max_pages": 0}, "max_pages: enter a number from 1 to"),
        ({"max_pages": "many"}, "max_pages: enter a number"),
        ({"include": ["(" * 3]}, r"^The pattern “\(\(\(” cannot be used\. Column 1: missing \)\. Patterns are"),
        ({"exclude": ["é["]}, r"^The pattern “é\[” cannot be used\. Column 2: missing \]: \[\. "),
        ({"follow_sitemaps": "no"}, "true or false"),
        ({"speed": 3}, "no option “speed”"),
    ],
)
def test_options_that_mean_nothing_are_refused(options, says):
    with pytest.raises(UserError, match=says):
        registry.get("crawl").Options.of(options)


def test_the_form_names_an_option_as_its_field_is_labelled():
    assert by_label("max_pages: enter a number from 1 to 5,000,000.").startswith("At most so many addresses: enter")
    assert by_label("The pattern “(” cannot be used: it") == "The pattern “(” cannot be used: it"
