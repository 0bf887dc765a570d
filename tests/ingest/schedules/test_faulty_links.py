"""Links that lead nowhere or elsewhere are listed with the page that holds them, screen by screen and as a file."""

from __future__ import annotations

import csv
import io

import pytest
from django.urls import reverse

from ingest.fetching import faults
from ingest.fetching.run import newest_store, start_fetch
from ingest.kinds.project_pages import site_of
from ingest.sources.store import FetchStore
from tests.ingest.schedules.work import work_off
from tests.ingest.sources.generated import SITE, MadePage

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def fetched(project, source, made_site):
    made_site.pages["/old/"] = MadePage("", moved_to="/guides/0")
    made_site.pages["/gone/"] = MadePage("", status=404)
    made_site.add(
        "/about/", "We sell tents.", "/old/", "/gone/", "/guides/1", "/gone/", "https://elsewhere.example/gone/"
    )
    for n in range(60):
        made_site.add(f"/news/{n}", "News of tents.", "/gone/?utm_source=news")
    start_fetch(source)
    work_off(project)
    return source


@pytest.mark.nightly
def test_each_faulty_link_is_listed_and_no_other(fetched):
    store = newest_store(fetched)
    assert faults.counts(store) == {"broken": 62, "redirected": 1, "barred": 0}
    [moved] = faults.faulty_links(store, faults.REDIRECTED)
    assert (moved.source, moved.target, moved.status, moved.redirect) == (
        f"{SITE}/about/", f"{SITE}/old/", 301, f"{SITE}/guides/0",
    )  # fmt: skip
    found = list(faults.every_faulty_link(store))
    assert len(found) == len({link.at for link in found}) == 63
    assert {link.status for link in found} == {301, 404}


@pytest.mark.nightly
def test_silence_while_a_fetch_breaks_off_breaks_no_link(fetched):
    with FetchStore(newest_store(fetched)) as store:
        store.connection.execute("UPDATE page SET state = 'failed', status_code = NULL, fault = 'no answer' "
                                 "WHERE url LIKE '%/guides/1'")  # fmt: skip
        for is_whole, broken in ((True, 64), (False, 62)):
            with store.transaction():
                store.note("crawl_is_whole", is_whole)
            faults.find_faulty(store, site_of(fetched.project))
            assert faults.counts(store.path)["broken"] == broken


@pytest.mark.nightly
def test_a_loop_is_a_loop_and_a_chain_shows_where_it_ends(project, source, made_site, viewer, client_for):
    for path, to in {"/c1/": "/c2/", "/c2/": "/c3/", "/c3/": "/guides/0", "/l1/": "/l2/", "/l2/": "/l1/"}.items():
        made_site.pages[path] = MadePage("", moved_to=to)
    made_site.pages["/self/"] = MadePage("", moved_to="/self/")
    made_site.pages["/script/"] = MadePage("", moved_to="javascript:alert(1)")
    made_site.pages["/to-loop/"] = MadePage("", moved_to="/l1/")
    made_site.add("/about/", "We sell tents.", "/c1/", "/c2/", "/c3/", "/l1/", "/self/", "/to-loop/", "/script/")
    start_fetch(source)
    work_off(project)
    store = newest_store(source)
    found = {link.target.removeprefix(SITE): link for link in faults.every_faulty_link(store)}
    assert {path: (link.redirect.removeprefix(SITE), link.hops, link.is_loop) for path, link in found.items()} == {
        "/c1/": ("/guides/0", 3, False), "/c2/": ("/guides/0", 2, False), "/c3/": ("/guides/0", 1, False),
        "/l1/": ("/l2/", 2, True), "/self/": ("/self/", 1, True),
        "/script/": ("javascript:alert(1)", 1, False), "/to-loop/": ("/l1/", 3, True),
    }  # fmt: skip
    assert faults.counts(store) == {"broken": 3, "redirected": 4, "barred": 0}
    url = reverse("faulty_links", args=["shop", source.pk])
    page = client_for(viewer).get(url).content.decode()
    assert page.count("redirect loop") == 3
    assert "past 3 redirects" in page
    assert 'href="javascript' not in page
    assert f'<a href="{SITE}/c1/" rel="noreferrer">' in page
    assert f'<a href="{SITE}/guides/0" rel="noreferrer"' in page
    assert f'<a href="{SITE}/about/" rel="noreferrer">' in page


@pytest.mark.nightly
def test_a_list_of_before_ends_were_kept_is_shown(fetched):
    store = newest_store(fetched)
    with FetchStore(store) as opened:
        opened.connection.execute("DROP TABLE faulty_end")
    assert faults.counts(store) == {"broken": 62, "redirected": 1, "barred": 0}
    assert len(list(faults.every_faulty_link(store))) == 63


@pytest.mark.nightly
def test_links_that_robots_txt_bars_are_a_list_of_their_own(fetched, viewer, client_for):
    store = newest_store(fetched)
    with FetchStore(store) as opened:
        opened.connection.execute(
            "UPDATE page SET state = 'failed', status_code = NULL, fault = 'robots.txt' WHERE url LIKE '%/gone/'"
        )
    assert faults.counts(store) == {"broken": 0, "redirected": 1, "barred": 62}
    assert len(list(faults.every_faulty_link(store, faults.BY_ROBOTS))) == 62
    assert faults.faulty_links(store, faults.BROKEN) == []
    source = client_for(viewer).get(reverse("source", args=["shop", fetched.pk])).content.decode()
    assert "62 links barred by robots.txt" in source
    assert "?only=barred" in source
    listed = client_for(viewer).get(reverse("faulty_links", args=["shop", fetched.pk]), {"only": "barred"})
    assert "not asked" in listed.content.decode()


@pytest.mark.nightly
def test_the_screens_hold_each_link_once(fetched, viewer, client_for):
    client, url = client_for(viewer), reverse("faulty_links", args=["shop", fetched.pk])
    first = client.get(url)
    second = client.get(url, {"after": first.context["after"]})
    both = [link.at for page in (first, second) for link in page.context["links"]]
    assert len(both) == len(set(both)) == 63
    assert second.context["after"] == ""
    assert len(client.get(url, {"only": "redirected"}).context["links"]) == 1
    assert client.get(url, {"only": "all", "after": "1_x_2"}).status_code == 200


@pytest.mark.nightly
def test_the_file_holds_all_of_them_and_no_formula(fetched, viewer, client_for):
    response = client_for(viewer).get(reverse("faulty_links_csv", args=["shop", fetched.pk]))
    rows = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))
    assert len(rows) == 63
    assert rows[0].keys() == {"page", "anchor", "block", "link", "status", "leads_to", "fault"}
    assert {row["status"] for row in rows} == {"301", "404"}


def test_before_the_first_fetch_the_page_says_so(source, viewer, client_for):
    page = client_for(viewer).get(reverse("faulty_links", args=["shop", source.pk])).content.decode()
    assert "Nothing is known yet" in page
