"""Events happen in the order of their times, whatever the order of the file; pages move, swap, lead nowhere, return."""

from __future__ import annotations

import numpy as np
import pytest
from django.core.management.base import CommandError

from ingest import services
from ingest.errors import ImportStopped
from linker.engine.params import MatchParams, Ranking
from linker.matching.start import run_match
from linker.models import Page, PageAddress, PageEvent, PageTraffic
from linker.models.querysets import OPEN
from linker.pages.page_lists import addresses, keep, page_ids
from review.decisions import decide_edges
from review.models import Verb
from tests.factories import embed, make_edge, make_page, make_run
from tests.follow_ups import follow_up
from tests.ingest.test_page_identity import SITE, crawl, events, pair, tell, write

pytestmark = pytest.mark.django_db(transaction=True)


def state(path: str) -> tuple[str, str | None]:
    page = Page.objects.get(url=f"{SITE}{path}")
    return page.status, page.successor.url.removeprefix(SITE) if page.successor else None


def test_events_happen_in_the_order_of_their_times(project, tmp_path):
    a, b, c = (make_page(project, path) for path in ("/a", "/b", "/c"))

    report = events(
        project,
        tmp_path,
        "redirected,/a,/c,2026-01-03",
        "restored,/a,,2026-01-02",
        "merged,/a,/b,2026-01-01",
    )

    assert (report["events"], report["skipped"]) == (3, {})
    assert state("/a") == ("redirected", "/c")
    kinds = list(PageEvent.objects.filter(page=a).order_by("at").values_list("kind", "other"))
    assert kinds == [("merged", b.pk), ("restored", None), ("redirected", c.pk)]


@pytest.mark.nightly
def test_of_one_time_in_the_order_of_the_file_and_a_second_time_changes_nothing(project, tmp_path):
    make_page(project, "/a")
    rows = ["removed,/b,,2026-01-01", "changed,/a,,2026-01-01", "moved,/a,/b,2026-01-01", "created,/a,,2026-01-01"]
    first = events(project, tmp_path, *rows)
    kept = list(Page.objects.order_by("pk").values_list("pk", "url", "status", "state_since"))

    second = events(project, tmp_path, *rows)

    assert (first["events"], first["skipped"]) == (3, {"page_unknown": 1})
    assert (second["events"], second["seen_before"], second["skipped"]) == (0, 3, {"event_late": 1})
    assert kept == list(Page.objects.order_by("pk").values_list("pk", "url", "status", "state_since"))
    assert [(url, status) for _, url, status, _ in kept] == [(f"{SITE}/b", "live"), (f"{SITE}/a", "live")]


def test_a_page_that_moves_twice_has_both_former_addresses(project, tmp_path):
    page = make_page(project, "/a")

    events(project, tmp_path, "moved,/x,/y,2026-01-02", "redirected,/a,/x,2026-01-01")
    services.import_file(
        project, "traffic", write(tmp_path, f"url,clicks\n{SITE}/x,7\n{SITE}/a,2\n", name="clicks.csv")
    )

    page.refresh_from_db()
    assert page.url == f"{SITE}/y"
    assert set(PageAddress.objects.values_list("page", "url")) == {(page.pk, f"{SITE}/a"), (page.pk, f"{SITE}/x")}
    assert PageTraffic.objects.get().clicks == 9


def test_two_pages_swap_their_addresses(project, tmp_path):
    a, b = make_page(project, "/a"), make_page(project, "/b")

    events(project, tmp_path, "moved,/a,/c,2026-01-01", "moved,/b,/a,2026-01-01", "moved,/c,/b,2026-01-01")

    for page, path in ((a, "/b"), (b, "/a")):
        page.refresh_from_db()
        assert (page.url, page.canonical_url, page.status) == (SITE + path, SITE + path, "live")
    assert set(PageAddress.objects.values_list("page", "url")) == {(a.pk, f"{SITE}/c")}


@pytest.mark.nightly
def test_two_pages_swap_their_addresses_over_two_crawls(project, tmp_path):
    crawl(project, tmp_path, ("/a", "200", ""), ("/b", "200", ""))
    a, b = (Page.objects.get(url=SITE + path) for path in ("/a", "/b"))

    crawl(project, tmp_path, ("/a", "301", "/c"), ("/c", "200", ""), ("/b", "200", ""))
    crawl(project, tmp_path, ("/b", "301", "/a"), ("/a", "200", ""), ("/c", "200", ""))
    crawl(project, tmp_path, ("/c", "301", "/b"), ("/b", "200", ""), ("/a", "200", ""))

    a.refresh_from_db()
    b.refresh_from_db()
    assert (a.url, b.url, project.pages.count()) == (f"{SITE}/b", f"{SITE}/a", 2)


def test_a_page_moves_to_no_address_that_another_has(project, tmp_path):
    make_page(project, "/a")
    make_page(project, "/b")

    with pytest.raises(ImportStopped, match=r"line 2, column “new_url”: .*/b is the address of another page"):
        events(project, tmp_path, "moved,/a,/b,2026-01-01")


def test_a_page_moves_back_to_its_old_address(project, tmp_path):
    page = make_page(project, "/a")

    events(project, tmp_path, "redirected,/a,/b,2026-01-01", "redirected,/b,/a,2026-01-02")

    page.refresh_from_db()
    assert page.url == f"{SITE}/a"
    assert PageAddress.objects.get().url == f"{SITE}/b"


@pytest.mark.nightly
def test_a_crawl_moves_a_page_back_to_its_old_address(project, tmp_path):
    crawl(project, tmp_path, ("/a", "200", ""))
    crawl(project, tmp_path, ("/a", "301", "/b"), ("/b", "200", ""))
    crawl(project, tmp_path, ("/b", "301", "/a"), ("/a", "200", ""))

    assert list(project.pages.values_list("url", flat=True)) == [f"{SITE}/a"]
    assert PageAddress.objects.get().url == f"{SITE}/b"


def test_a_page_that_is_created_at_a_former_address_is_a_page_of_its_own(project, tmp_path):
    moved = make_page(project, "/a")

    events(project, tmp_path, "moved,/a,/b,2026-01-01", "created,/a,,2026-01-02", "removed,/a,,2026-01-03")

    moved.refresh_from_db()
    assert (moved.url, moved.status, state("/a")) == (f"{SITE}/b", "live", ("removed", None))
    assert not PageAddress.objects.exists()


def test_what_is_older_than_the_address_of_a_page_is_not_of_that_page(project, tmp_path):
    make_page(project, "/a")
    events(project, tmp_path, "moved,/a,/b,2026-01-02", "created,/a,,2026-01-03")

    report = events(project, tmp_path, "removed,/a,,2026-01-01")

    assert report["skipped"] == {"event_late": 1}
    assert state("/a") == ("live", None)


@pytest.mark.nightly
def test_a_redirect_to_another_site_leads_nowhere(project, tmp_path):
    a, s = make_page(project, "/a"), make_page(project, "/s")
    edge = make_edge(project, s, a)

    events(project, tmp_path, "redirected,/a,https://elsewhere.example/,2026-01-01")

    assert state("/a") == ("redirected", None)
    assert (*pair(edge), edge.stale) == ("/s", "/a", "suggested", True)
    assert PageEvent.objects.get().new_url == "https://elsewhere.example/"


@pytest.mark.nightly
def test_a_redirect_to_a_page_that_is_gone_waits_until_it_is_back(project, tmp_path, editor):
    a, _b, s = (make_page(project, path) for path in ("/a", "/b", "/s"))
    edge = make_edge(project, s, a)
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor)

    events(project, tmp_path, "removed,/b,,2026-01-01", "redirected,/a,/b,2026-01-02")
    gone = (*pair(edge), edge.stale)
    events(project, tmp_path, "restored,/b,,2026-01-03")

    assert gone == ("/s", "/a", "suggested", True)
    assert (*pair(edge), edge.stale) == ("/s", "/b", "accepted", False)


@pytest.mark.nightly
def test_a_crawl_that_shows_a_redirect_to_no_page_of_the_project(project, tmp_path):
    others = [("/s", "200", ""), ("/t", "200", "")]
    crawl(project, tmp_path, ("/a", "200", ""), *others)
    pages = {page.url.removeprefix(SITE): page for page in project.pages.all()}
    edge = make_edge(project, pages["/s"], pages["/a"])

    report = crawl(project, tmp_path, ("/a", "301", "https://elsewhere.example/a"), *others)
    gone = (state("/a"), *pair(edge), edge.stale)
    crawl(project, tmp_path, ("/a", "301", "/b"), ("/b", "200", ""), *others)

    assert report["redirected"] == 1
    assert gone == (("redirected", None), "/s", "/a", "suggested", True)
    assert (*pair(edge), edge.stale) == ("/s", "/b", "suggested", False)
    assert project.pages.count() == 3


@pytest.mark.nightly
def test_a_circle_of_redirects_leaves_pages_as_they_were(project, tmp_path):
    crawl(project, tmp_path, ("/a", "200", ""), ("/b", "200", ""), ("/c", "200", ""))

    crawl(project, tmp_path, ("/a", "301", "/b"), ("/b", "301", "/a"), ("/c", "200", ""))

    assert set(project.pages.values_list("status", flat=True)) == {"live"}
    with pytest.raises(CommandError, match="A page cannot lead to itself"):
        tell("redirected", f"{SITE}/a", f"{SITE}/a")


def test_a_circle_is_broken_by_saying_that_a_page_is_back(project, tmp_path):
    make_page(project, "/a")
    make_page(project, "/b")

    events(project, tmp_path, "redirected,/a,/b,2026-01-01", "restored,/a,,2026-01-02", "redirected,/b,/a,2026-01-03")

    assert (state("/a"), state("/b")) == (("live", None), ("redirected", "/a"))


def canonicals(project, tmp_path, *rows: tuple[str, str]):
    """A crawl of pages that answer, with the canonical that each names."""
    lines = "".join(
        f"{SITE}{path},{path} words,200,{'Indexable' if path == to else 'Non-Indexable'},{SITE}{to}\n"
        for path, to in rows
    )
    file = write(tmp_path, f"Address,Title 1,Status Code,Indexability,Canonical Link Element 1\n{lines}")
    return services.import_file(project, "pages", file, allow_shrink=True)


@pytest.mark.nightly
def test_a_page_that_begins_to_name_another_as_its_canonical_is_merged(project, tmp_path):
    own = [("/a", "/a"), ("/b", "/b"), ("/s", "/s")]
    canonicals(project, tmp_path, *own)
    pages = {page.url.removeprefix(SITE): page for page in project.pages.all()}
    edge = make_edge(project, pages["/s"], pages["/a"])

    report = canonicals(project, tmp_path, ("/a", "/b"), *own[1:])
    merged = (report["merged"], state("/a"), pair(edge))
    again = canonicals(project, tmp_path, ("/a", "/b"), *own[1:])
    canonicals(project, tmp_path, *own)

    assert merged == (1, ("merged", "/b"), ("/s", "/b", "suggested"))
    assert not again.get("merged")
    assert state("/a") == ("live", None)


@pytest.mark.nightly
def test_a_canonical_that_a_page_always_named_is_no_merger(project, tmp_path):
    canonicals(project, tmp_path, ("/a", "/b"), ("/b", "/b"))
    canonicals(project, tmp_path, ("/a", "/b"), ("/b", "/b"))

    assert state("/a") == ("live", None)


@pytest.mark.nightly
def test_pages_that_change_places_as_each_others_canonical_stay_what_they_were(project, tmp_path):
    canonicals(project, tmp_path, ("/a", "/a"), ("/b", "/b"))
    canonicals(project, tmp_path, ("/a", "/b"), ("/b", "/a"))

    assert (state("/a"), state("/b")) == (("live", None), ("live", None))


@pytest.mark.nightly
def test_what_a_match_finds_for_a_page_that_was_merged_meanwhile_follows_it(project):
    pages = [make_page(project, path, body="Some words about tents. " * 9) for path in ("/a", "/b", "/c")]
    for page in pages:
        embed(page, [1.0, page.pk / 1000, 0.0])
    run = make_run(project, status="running", params=MatchParams(ranking=Ranking.COSINE, threshold=0.0).to_dict())

    def progress(done: int, total: int, stage: str = "") -> None:
        if stage == "Allocating links":
            tell("merged", pages[0].url, pages[1].url)

    run_match(run, progress)
    follow_up(run)

    ends = set(project.edges.filter(OPEN).values_list("source__url", "target__url"))
    assert ends == {(pages[1].url, pages[2].url), (pages[2].url, pages[1].url)}


def test_lists_of_pages_follow_theirs(project):
    a, b, c = (make_page(project, path) for path in ("/a", "/b", "/c"))
    ids = np.array([a.pk, b.pk, c.pk])
    listed = keep(project, "list.csv", ids, lines=3, unknown_lines=0, unknown=[], user=None)

    tell("merged", a.url, b.url)
    tell("redirected", c.url, f"{SITE}/d")

    assert page_ids(listed).tolist() == [b.pk, c.pk]
    assert list(addresses(listed)) == [f"{SITE}/b\n", f"{SITE}/d\n"]
