"""A page has an identity that outlives its address: crawls and events move it, and what is known of it follows."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from ingest import services
from ingest.errors import ImportStopped
from linker.models import EdgeMove, Page, PageAddress, PageEvent, PageTraffic, SearchQuery, TrafficPeriod
from review.decisions import decide_edges
from review.models import Decision, Pending, PublishedLink, ReleaseDraft, Verb
from review.releases import diffs, outgoing
from review.releases.rows import Choice
from review.rulings import Ruling
from tests.factories import make_edge, make_link, make_page, make_project
from tests.markup import compact
from tests.review.test_export_file import rows_of
from tests.review.test_release import release_of

pytestmark = pytest.mark.django_db(transaction=True)
SITE = "https://shop.example"


def write(folder: Path, text: str, name: str = "pages.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def crawl(project, tmp_path, *rows: tuple[str, ...]):
    """Imports pages of (path, status code, redirect)."""
    lines = "".join(f"{SITE}{path},{path} words,{code},{to}\n" for path, code, to in rows)
    file = write(tmp_path, f"Address,Title 1,Status Code,Redirect URL\n{lines}")
    return services.import_file(project, "pages", file, allow_shrink=True)


def events(project, tmp_path, *rows: str):
    file = write(tmp_path, "event,url,new_url,at\n" + "".join(f"{row}\n" for row in rows), name="events.csv")
    return services.import_file(project, "events", file)


def tell(*words: str) -> str:
    out = StringIO()
    call_command("page_event", "shop", *words, stdout=out)
    return out.getvalue()


def pair(edge) -> tuple[str, str, str]:
    edge.refresh_from_db()
    return edge.source.url.removeprefix(SITE), edge.target.url.removeprefix(SITE), edge.status


@pytest.mark.nightly
def test_a_page_found_at_a_new_address_keeps_its_row(project, tmp_path):
    crawl(project, tmp_path, ("/a", "200", ""), ("/other", "200", ""))
    page = Page.objects.get(url=f"{SITE}/a")

    report = crawl(project, tmp_path, ("/a", "301", "/b"), ("/b", "200", ""), ("/other", "200", ""))

    page.refresh_from_db()
    assert (page.url, page.status, report["moved"], project.pages.count()) == (f"{SITE}/b", "live", 1, 2)
    assert PageAddress.objects.get().url == f"{SITE}/a"
    assert [event.kind for event in page.events.all()] == ["moved"]
    assert (report["pages"], report["former"]) == (2, 1)
    assert report["new"] + report["updated"] + report["unchanged"] == 2


@pytest.mark.nightly
def test_of_pages_that_were_not_known_before_no_report_says_that_they_were_removed(project, tmp_path):
    report = crawl(project, tmp_path, ("/a", "200", ""), ("/b", "404", ""), ("/c", "301", "/a"), ("/d", "200", ""))
    assert not {"removed", "redirected"} & report.keys()
    assert project.pages.get(url=f"{SITE}/b").status == "removed"
    report = crawl(project, tmp_path, ("/a", "200", ""), ("/d", "404", ""), ("/e", "404", ""))
    assert report["removed"] == 1


@pytest.mark.nightly
def test_files_that_name_the_former_address_mean_the_page(project, tmp_path):
    crawl(project, tmp_path, ("/a", "200", ""), ("/other", "200", ""))
    crawl(project, tmp_path, ("/a", "301", "/b"), ("/b", "200", ""), ("/other", "200", ""))

    services.import_file(project, "traffic", write(tmp_path, f"url,clicks\n{SITE}/a,7\n", name="clicks.csv"))
    crawl(project, tmp_path, ("/a", "301", "/b"), ("/b", "200", ""), ("/other", "200", ""))

    assert PageTraffic.objects.get().page.url == f"{SITE}/b"
    assert project.pages.count() == 2


@pytest.mark.nightly
def test_a_former_address_that_answers_again_is_a_page_of_its_own(project, tmp_path):
    crawl(project, tmp_path, ("/a", "200", ""))
    crawl(project, tmp_path, ("/a", "301", "/b"), ("/b", "200", ""))
    crawl(project, tmp_path, ("/a", "200", ""), ("/b", "200", ""))

    assert project.pages.count() == 2
    assert not PageAddress.objects.exists()


@pytest.mark.nightly
def test_a_page_that_redirects_to_another_hands_over_its_suggestions_and_comes_back(project, tmp_path):
    rows = [(path, "200", "") for path in ("/a", "/b", "/s", "/t")]
    crawl(project, tmp_path, *rows)
    pages = {page.url.removeprefix(SITE): page for page in project.pages.all()}
    to, from_, twice = (make_edge(project, pages[s], pages[t]) for s, t in (("/s", "/a"), ("/a", "/t"), ("/t", "/a")))
    make_edge(project, pages["/t"], pages["/b"])

    report = crawl(project, tmp_path, ("/a", "301", "/b"), *rows[1:])

    assert report["redirected"] == 1
    assert pair(to) == ("/s", "/b", "suggested")
    assert pair(from_) == ("/b", "/t", "suggested")
    assert pair(twice) == ("/t", "/a", "suggested")
    assert twice.stale
    assert EdgeMove.objects.get(edge=twice).reason == "exists"
    page = Page.objects.get(url=f"{SITE}/a")
    assert (page.status, page.successor.url, page.state_since is not None) == ("redirected", f"{SITE}/b", True)

    report = crawl(project, tmp_path, *rows)

    page.refresh_from_db()
    assert (page.status, page.successor, report["restored"]) == ("live", None, 1)
    twice.refresh_from_db()
    assert not twice.stale


@pytest.mark.nightly
def test_a_page_that_is_not_found_any_more_is_removed_and_its_suggestions_leave(project, tmp_path, editor):
    crawl(project, tmp_path, ("/a", "200", ""), ("/s", "200", ""), ("/t", "200", ""))
    pages = {page.url.removeprefix(SITE): page for page in project.pages.all()}
    opened, accepted = make_edge(project, pages["/s"], pages["/a"]), make_edge(project, pages["/t"], pages["/a"])
    decide_edges(project, [accepted.pk], Verb.ACCEPT, editor)

    crawl(project, tmp_path, ("/a", "404", ""), ("/s", "200", ""), ("/t", "200", ""))
    gone = [(*pair(edge), edge.stale) for edge in (opened, accepted)]
    crawl(project, tmp_path, ("/a", "200", ""), ("/s", "200", ""), ("/t", "200", ""))

    assert gone == [("/s", "/a", "suggested", True), ("/t", "/a", "suggested", True)]
    assert [(*pair(edge), edge.stale) for edge in (opened, accepted)] == [
        ("/s", "/a", "suggested", False),
        ("/t", "/a", "accepted", False),
    ]
    assert Decision.objects.count() == 1


@pytest.mark.nightly
def test_what_was_rejected_stays_rejected_for_the_page_that_it_became(project, editor):
    a, b, s = (make_page(project, path) for path in ("/a", "/b", "/s"))
    rejected, opened = make_edge(project, s, a), make_edge(project, s, b)
    decide_edges(project, [rejected.pk], Verb.REJECT, editor, Ruling(reason="irrelevant"))

    tell("merged", a.url, b.url)

    assert pair(rejected) == ("/s", "/b", "rejected")
    assert pair(opened) == ("/s", "/a", "suggested")
    assert opened.stale


@pytest.mark.nightly
def test_a_link_that_is_out_is_changed_by_the_next_release(project, editor):
    a, b, s = (make_page(project, path) for path in ("/a", "/b", "/s"))
    edge = make_edge(project, s, a)
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    release_of(project)

    tell("redirected", a.url, b.url)

    assert pair(edge) == ("/s", "/b", "exported")
    assert Pending.objects.get().operation == "change"
    [row] = [row for row in rows_of(project, Choice.ALL) if row["operation"] == "change"]
    assert (row["acceptor_url"], row["previous_acceptor_url"]) == (b.url, a.url)
    release = release_of(project)
    assert (release.changed, release.links) == (1, 1)
    assert PublishedLink.objects.get().acceptor_was == ""
    assert not Pending.objects.exists()


@pytest.mark.nightly
def test_a_changed_address_is_named_by_the_draft_and_by_what_two_releases_are_compared_with(
    project, editor, client_for
):
    a, b, s = (make_page(project, path) for path in ("/a", "/b", "/s"))
    edge = make_edge(project, s, a, anchor="tents")
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    release_of(project)
    tell("redirected", a.url, b.url)
    client = client_for(editor)
    client.post("/p/shop/export/drafts/", {"format": "full"})
    draft = compact(client.get(f"/p/shop/export/drafts/{ReleaseDraft.objects.get().pk}/").content.decode())
    assert "Change address" in draft
    assert f"to {a.url}" in draft

    release_of(project)

    assert diffs.counts(project, 1, 2) == diffs.Counts(0, 1, 0, is_all=True)
    compared = compact(client.get("/p/shop/export/diff/?older=1&newer=2").content.decode())
    assert "Change address" in compared
    assert f"to {a.url} " in compared
    assert f"to {b.url} " in compared
    edge.refresh_from_db()
    outgoing.withdraw(project, project.edges.all(), editor, "")
    release_of(project)
    assert diffs.counts(project, 1, 3) == diffs.Counts(0, 0, 1, is_all=True)
    assert diffs.counts(project, 0, 2) == diffs.Counts(1, 0, 0, is_all=True)


@pytest.mark.nightly
def test_a_link_to_a_page_that_moved_is_changed_as_well(project, editor):
    a, s = make_page(project, "/a"), make_page(project, "/s")
    edge = make_edge(project, s, a)
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    release_of(project)

    tell("redirected", f"{SITE}/a", f"{SITE}/new")

    assert pair(edge) == ("/s", "/new", "exported")
    assert PublishedLink.objects.get().acceptor_was == f"{SITE}/a"
    assert Pending.objects.get().decision is None
    tell("redirected", f"{SITE}/a", f"{SITE}/new")
    assert EdgeMove.objects.count() == 1


@pytest.mark.nightly
def test_chains_end_at_their_end_and_circles_are_refused(project):
    a, b, c, s = (make_page(project, path) for path in ("/a", "/b", "/c", "/s"))
    edge = make_edge(project, s, a)

    tell("redirected", a.url, b.url)
    tell("merged", b.url, c.url)

    a.refresh_from_db()
    assert a.successor == c
    assert pair(edge) == ("/s", "/c", "suggested")
    with pytest.raises(CommandError, match=r"leads to .*/c already, so .*/c cannot lead there"):
        tell("redirected", c.url, a.url)


def test_numbers_are_added_up_and_what_they_were_is_kept(project):
    a, b = make_page(project, "/a"), make_page(project, "/b")
    period = TrafficPeriod.objects.create(project=project, source="search_console", imported_at="2026-01-01T00:00Z")
    for page, clicks, impressions, position in ((a, 3, 10, 2.0), (b, 4, 30, 6.0)):
        PageTraffic.objects.create(period=period, page=page, clicks=clicks, impressions=impressions, position=position)
        SearchQuery.objects.create(page=page, query="tents", source="search_console", clicks=clicks)
    SearchQuery.objects.create(page=a, query="stoves", source="search_console", clicks=1)

    tell("merged", a.url, b.url)

    row = PageTraffic.objects.get()
    assert (row.page, row.clicks, row.impressions, row.position) == (b, 7, 40, 5.0)
    assert dict(SearchQuery.objects.values_list("query", "clicks")) == {"tents": 7, "stoves": 1}
    b.refresh_from_db()
    assert (b.clicks, b.impressions) == (7, 40)
    event = PageEvent.objects.get()
    assert event.traffic.get().clicks == 3
    assert event.queries.count() == 2


def test_links_of_the_site_lead_where_their_page_does(project):
    a, b, s = (make_page(project, path) for path in ("/a", "/b", "/s"))
    make_link(s, a, "one")
    make_link(s, a, "two")
    make_link(s, b, "two")

    tell("redirected", a.url, b.url)

    b.refresh_from_db()
    assert b.inlinks == 1
    assert {link.anchor for link in s.links_out.filter(target=b, missing_since=None)} == {"one", "two"}


@pytest.mark.nightly
def test_the_same_file_twice_changes_nothing(project, tmp_path):
    for path in ("/a", "/b", "/c", "/d"):
        make_page(project, path)
    rows = (
        f"redirected,{SITE}/a,{SITE}/b,2026-01-01T10:00Z",
        f"restored,{SITE}/a,,2026-01-02T10:00Z",
        f"changed,{SITE}/b,,2026-01-02T10:00Z",
        f"redirected,{SITE}/c,{SITE}/new,2026-01-02T10:00Z",
        f"removed,{SITE}/d,,2026-01-02T10:00Z",
        f"created,{SITE}/e,,2026-01-02T10:00Z",
        f"removed,{SITE}/unknown,,2026-01-02T10:00Z",
    )
    first = events(project, tmp_path, *rows)
    kept = [list(PageEvent.objects.values_list("pk")), list(Page.objects.order_by("pk").values())]

    second = events(project, tmp_path, *rows)

    assert (first["events"], first["skipped"]) == (6, {"page_unknown": 1})
    assert second["events"] == 0
    assert kept == [list(PageEvent.objects.values_list("pk")), list(Page.objects.order_by("pk").values())]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("vanished,/a,,2026-01-01", "line 3, column “event”: “vanished” is no event"),
        ("removed,/a,,soon", "line 3, column “at”: “soon” is no time"),
        ("redirected,/a,,2026-01-01", "line 3, column “new_url”: It says that the page leads elsewhere, and not where"),
        ("redirected,/a,/a,2026-01-01", "line 3, column “new_url”: A page cannot lead to itself"),
        ("redirected,/b,/a,2026-01-02", "line 3, column “new_url”: https://shop.example/a leads to .*/b already"),
    ],
)
def test_what_cannot_be_is_said_with_its_line_and_nothing_is_changed(project, tmp_path, row, said):
    make_page(project, "/a")
    make_page(project, "/b")

    with pytest.raises(ImportStopped, match=said):
        events(project, tmp_path, "redirected,/a,/b,2026-01-01", row)

    assert not PageEvent.objects.exists()
    assert set(project.pages.values_list("status", flat=True)) == {"live"}


def test_events_of_another_site_are_refused(project, tmp_path):
    make_page(project, "/a")

    with pytest.raises(ImportStopped, match="Check the project's base URL"):
        events(project, tmp_path, "removed,https://elsewhere.example/a,,2026-01-01")


@pytest.mark.nightly
def test_events_of_one_project_touch_no_other(project, tmp_path):
    other = make_project("other", base_url=SITE)
    mine, theirs = make_page(project, "/a"), make_page(other, "/a")

    events(project, tmp_path, "removed,/a,,2026-01-01")

    mine.refresh_from_db()
    theirs.refresh_from_db()
    assert (mine.status, theirs.status) == ("removed", "live")


@pytest.mark.nightly
def test_the_pages_own_screen_and_the_life_of_a_link_tell_of_it(project, viewer, outsider, client_for):
    a, b, s = (make_page(project, path) for path in ("/a", "/b", "/s"))
    edge = make_edge(project, s, a)
    tell("merged", a.url, b.url, "--at", "2026-03-01T09:00Z")
    tell("redirected", b.url, f"{SITE}/new", "--at", "2026-03-02T09:00Z")
    client = client_for(viewer)

    of_a, of_b = (client.get(f"/p/shop/pages/{page.pk}/").content.decode() for page in (a, b))
    life = client.get(f"/p/shop/export/live/{edge.pk}/").content.decode()

    assert "Merged" in of_a
    assert "1 Mar 2026" in of_a
    assert f'href="/p/shop/pages/{b.pk}/"' in of_a
    assert "Former addresses" in of_b
    assert f"{SITE}/b" in of_b
    assert f'href="/p/shop/pages/{a.pk}/"' in of_b
    assert "Its page leads to another, and so does the link now" in life
    assert client_for(outsider).get(f"/p/shop/pages/{a.pk}/").status_code == 404


def test_the_command_takes_as_many_addresses_as_the_event_has(project):
    one, other = make_page(project, "/one"), make_page(project, "/other")
    with pytest.raises(CommandError, match="removed takes one address"):
        tell("removed", one.url, other.url)
    with pytest.raises(CommandError, match="moved takes two addresses"):
        tell("moved", one.url)
    assert not PageEvent.objects.exists()


@pytest.mark.nightly
def test_a_refusal_names_the_address_that_it_is_about(project, tmp_path):
    page = make_page(project, "/one")
    with pytest.raises(CommandError, match=f"^{SITE}/nowhere: the address is not a page of the project"):
        tell("merged", page.url, f"{SITE}/nowhere")
    with pytest.raises(CommandError, match=f"^{SITE}/never: the address is not a page of the project"):
        tell("merged", f"{SITE}/never", page.url)
    path = tmp_path / "events.csv"
    rows = f"removed,{make_page(project, '/two').url},,2026-03-01\nmerged,{page.url},{SITE}/nowhere,2026-03-01\n"
    path.write_text(f"event,url,new_url,at\n{rows}")
    services.import_file(project, "events", path, skipped_file=tmp_path / "skipped.csv")
    [row] = csv.DictReader((tmp_path / "skipped.csv").open(encoding="utf-8-sig"))
    assert (row["line"], row["column"], row["address"]) == ("3", "new_url", f"{SITE}/nowhere")


@pytest.mark.nightly
def test_what_a_page_is_already_is_noted_once(project):
    one, other = make_page(project, "/one"), make_page(project, "/other")
    for words in (["removed", other.url], ["redirected", one.url, other.url], ["restored", other.url]):
        assert "Nothing was changed" not in tell(*words)
        assert tell(*words).strip() == "That was known. Nothing was changed."
    assert PageEvent.objects.count() == 3
    tell("moved", other.url, f"{SITE}/new")
    assert tell("moved", other.url, f"{SITE}/new").strip() == "That was known. Nothing was changed."
    assert "is a page of the project now" in tell("created", other.url)  # another page, where the first was


@pytest.mark.nightly
def test_the_command_says_that_a_page_that_moves_keeps_what_it_has(project):
    page = make_page(project, "/old")
    make_edge(project, page, make_page(project, "/b"))
    said = tell("moved", page.url, f"{SITE}/new")
    assert said.strip() == f"{page.url} is at {SITE}/new now. Its suggestions, decisions and numbers stay with it."


def test_the_command_counts_one_suggestion_as_one(project):
    page = make_page(project, "/old")
    make_edge(project, page, make_page(project, "/b"))
    assert tell("removed", page.url).strip() == f"{page.url} is removed now. 1 suggestion left the queue."
