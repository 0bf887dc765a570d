"""Links, traffic and search queries agree on the page at which an address ends."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest import services
from ingest.addresses.destinations import KnownPage, Moves, PageFinder, destinations
from ingest.addresses.normalise import Site
from ingest.kinds.project_pages import leading_pages
from linker.models import ExistingLink, PageTraffic, SearchQuery
from tests.factories import make_page
from tests.ingest.files import LINK_HEADER, SITE, link, write

pytestmark = pytest.mark.django_db

HTTP, WWW = "http://shop.example", "https://www.shop.example"
REDIRECT = {"status_code": 301, "indexable": False}
COPY = {"indexable": False, "indexability_status": "Canonicalised"}
# Pages of a site by address or path, and what a crawl says of each. `missing`: the newest crawl did not find it.
PAGES: dict[str, dict] = {
    "/from": {},
    "/new": {},
    # redirects
    "/old": {**REDIRECT, "redirect_url": "/older"},
    "/older": {**REDIRECT, "redirect_url": f"{SITE}/new?utm_source=x"},
    "/forgotten": {**REDIRECT, "redirect_url": f"{SITE}/new", "missing": True},
    "/away": {**REDIRECT, "redirect_url": "https://other.example/"},
    "/to-nowhere": {**REDIRECT, "redirect_url": f"{SITE}/nowhere"},
    "/to-away": {**REDIRECT, "redirect_url": f"{SITE}/away"},
    "/to-dropped": {**REDIRECT, "redirect_url": f"{SITE}/dropped"},
    "/round": {**REDIRECT, "redirect_url": f"{SITE}/circle"},
    "/circle": {**REDIRECT, "redirect_url": f"{SITE}/round"},
    "/into-circle": {**REDIRECT, "redirect_url": f"{SITE}/circle"},
    # canonicals
    "/copy": {**COPY, "canonical_link": f"{SITE}/new"},
    "/things/relative": {**COPY, "canonical_link": "../new"},
    "/things/beside": {**COPY, "canonical_link": "beside-too"},
    "/things/beside-too": {},
    "/rooted": {**COPY, "canonical_link": "/new"},
    "/other-spelling": {**COPY, "canonical_link": "HTTP://www.Shop.example/new#top"},
    "/of-copy": {**COPY, "canonical_link": f"{SITE}/copy"},
    "/of-old": {**COPY, "canonical_link": f"{SITE}/old"},
    "/to-copy": {**REDIRECT, "redirect_url": f"{SITE}/copy"},
    "/own": {**COPY, "canonical_link": f"{SITE}/own#x"},
    "/one": {**COPY, "canonical_link": f"{SITE}/two"},
    "/two": {**COPY, "canonical_link": f"{SITE}/one"},
    "/elsewhere": {**COPY, "canonical_link": "https://other.example/"},
    "/broken": {**COPY, "canonical_link": "http://[broken/"},
    "/shown": {"canonical_link": f"{SITE}/new"},
    # canonicals to and on pages that are gone, or that redirect and do not arrive
    "/dropped": {"missing": True},
    "/lost": {"status_code": 404, "indexable": False},
    "/withdrawn": {"status_code": 410, "indexable": False},
    "/of-dropped": {**COPY, "canonical_link": f"{SITE}/dropped"},
    "/of-lost": {**COPY, "canonical_link": f"{SITE}/lost"},
    "/of-withdrawn": {**COPY, "canonical_link": f"{SITE}/withdrawn"},
    "/of-to-dropped": {**COPY, "canonical_link": f"{SITE}/to-dropped"},
    "/of-away": {**COPY, "canonical_link": f"{SITE}/to-away"},
    "/of-circle": {**COPY, "canonical_link": f"{SITE}/circle"},
    "/dropped-copy": {**COPY, "canonical_link": f"{SITE}/new", "missing": True},
    "/lost-copy": {"status_code": 404, "indexable": False, "canonical_link": f"{SITE}/new"},
    # the same page under several addresses
    "/secure": {"canonical_link": f"{HTTP}/secure"},
    f"{HTTP}/secure": {**REDIRECT, "redirect_url": f"{SITE}/secure"},
    f"{HTTP}/plain": {},
    f"{WWW}/three-ws": {},
    "/both": {},
    f"{WWW}/both": {},
}
# What a file says, and where it ends.
ENDS = {
    "/new": "/new",
    "/old": "/new",
    "/older": "/new",
    "/forgotten": "/new",
    "/away": "/away",
    "/to-nowhere": "/to-nowhere",
    "/to-away": "/away",
    "/to-dropped": "/dropped",
    "/round": "/round",
    "/circle": "/circle",
    "/into-circle": "/into-circle",
    "/copy": "/new",
    "/things/relative": "/new",
    "/things/beside": "/things/beside-too",
    "/rooted": "/new",
    "/other-spelling": "/new",
    "/of-copy": "/new",
    "/of-old": "/new",
    "/to-copy": "/new",
    "/own": "/own",
    "/one": "/one",
    "/two": "/two",
    "/elsewhere": "/elsewhere",
    "/broken": "/broken",
    "/of-dropped": "/of-dropped",
    "/of-lost": "/of-lost",
    "/of-withdrawn": "/of-withdrawn",
    "/of-to-dropped": "/of-to-dropped",
    "/of-away": "/of-away",
    "/of-circle": "/of-circle",
    "/dropped-copy": "/dropped-copy",
    "/lost-copy": "/lost-copy",
    "/new?utm_source=x": "/new",
    "/old?gclid=1#top": "/new",
    "/new#top": "/new",
    f"{HTTP}/new": "/new",
    f"{HTTP}/old": "/new",
    f"{WWW}/new": "/new",
    "http://www.shop.example/copy#x": "/new",
    "/secure": "/secure",
    f"{HTTP}/secure": "/secure",
    "/plain": f"{HTTP}/plain",
    "/three-ws?utm_id=1": f"{WWW}/three-ws",
    "/both": "/both",
    f"{WWW}/both": f"{WWW}/both",
    "/new?page=2": None,
    "/nowhere": None,
}


def full(address: str) -> str:
    return SITE + address if address.startswith("/") else address


def short(address: str) -> str:
    return address.removeprefix(SITE)


@pytest.fixture
def site(project):
    for address, said in PAGES.items():
        fields = {name: value for name, value in said.items() if name != "missing"}
        page = make_page(project, full(address), **fields)
        if "missing" in said:
            page.missing_since = page.last_seen_at
            page.save(update_fields=["missing_since"])
    return project


def links_end(project, tmp_path) -> dict[str, str]:
    """Where a link to each address was put down as leading; its anchor is the address."""
    row = list(link("/from", ""))
    rows = [[*row[:2], full(address), "", address, *row[5:]] for address in [*ENDS, "/shown"]]
    services.import_file(project, "links", write(tmp_path / "all_inlinks.csv", LINK_HEADER, rows))
    ends = ExistingLink.objects.values_list("anchor", "target__url")
    return {anchor: short(url) for anchor, url in ends}


def links_end_row_by_row(project, tmp_path) -> dict[str, str]:
    """The same of a file whose rows differ in width, which is not read by columns."""
    header = ("Source", "Destination", "Anchor", "Link Position")
    rows = [(f"{SITE}/from", full(address), address, "Content") for address in [*ENDS, "/shown"]]
    services.import_file(project, "links", write(tmp_path / "links.csv", header, [*rows, ("short",)]))
    ends = ExistingLink.objects.values_list("anchor", "target__url")
    return {anchor: short(url) for anchor, url in ends}


def traffic_ends(project, tmp_path) -> dict[str, str]:
    """On which page each address's hits were counted: in a file of some addresses, each has another power of two."""
    ends = {}
    addresses = [*ENDS, "/shown"]
    for day, start in enumerate(range(0, len(addresses), 20), 1):
        some = addresses[start : start + 20]
        path = write(tmp_path / "hits.csv", ("url", "hits"), [(full(one), 2**n) for n, one in enumerate(some)])
        services.import_file(project, "traffic", path, period=f"2026-01-{day:02}")
        for page, hits in PageTraffic.objects.filter(period__starts__day=day).values_list("page__url", "hits"):
            ends |= {one: short(page) for n, one in enumerate(some) if hits >> n & 1}
    return ends


def queries_end(project, tmp_path) -> dict[str, str]:
    """Which page got the query of each address, which is the address."""
    rows = [(full(address), address, "1") for address in [*ENDS, "/shown"]]
    services.import_file(project, "queries", write(tmp_path / "queries.csv", ("url", "query", "importance"), rows))
    return {query: short(url) for query, url in SearchQuery.objects.values_list("query", "page__url")}


@pytest.mark.sample(2)
@pytest.mark.parametrize("ends_of", [links_end, links_end_row_by_row, traffic_ends, queries_end])
def test_links_traffic_and_queries_end_at_the_same_page(site, tmp_path, ends_of):
    found = ends_of(site, tmp_path)
    found.pop("/shown")
    assert found == {address: end for address, end in ENDS.items() if end is not None}


@pytest.mark.nightly
def test_an_indexable_page_keeps_its_links_and_gives_its_numbers_to_its_canonical(site, tmp_path):
    """A link that counted for the canonical would be suggested again: the page is an acceptor of its own."""
    assert links_end(site, tmp_path)["/shown"] == "/shown"
    assert traffic_ends(site, tmp_path)["/shown"] == "/new"
    assert queries_end(site, tmp_path)["/shown"] == "/new"


def test_queries_of_a_page_s_addresses_are_added_up_and_the_report_says_how_many_moved(site, tmp_path):
    header = ("query", "page", "clicks", "impressions", "position")
    rows = [
        ("tents", f"{SITE}/new", "1", "100", "2"),
        ("tents", f"{SITE}/old", "2", "300", "6"),
        ("tents", f"{SITE}/copy#x", "3", "", ""),
    ]
    report = services.import_file(site, "queries", write(tmp_path / "queries.csv", header, rows))
    [query] = SearchQuery.objects.select_related("page")
    assert (query.page.url, query.clicks, query.impressions, query.position) == (f"{SITE}/new", 6, 400, 5.0)
    assert (report["rows_moved"], report["rows_summed"]) == (2, 2)


def test_a_crawl_s_own_clicks_end_where_those_of_a_file_do(project, tmp_path):
    header = ("Address", "Status Code", "Title 1", "Canonical Link Element 1", "Redirect URL", "Clicks")
    rows = [
        (f"{SITE}/new", "200", "New", "", "", "1"),
        (f"{SITE}/things/relative", "200", "Relative", "../new", "", "2"),
        (f"{WWW}/old", "301", "", "", f"{HTTP}/new", "4"),
        (f"{SITE}/lost", "404", "Lost", "", "", "8"),
        (f"{SITE}/of-lost", "200", "Of lost", f"{SITE}/lost", "", "16"),
    ]
    services.import_file(project, "pages", write(tmp_path / "crawl.csv", header, rows))
    assert {short(url): clicks for url, clicks in PageTraffic.objects.values_list("page__url", "clicks")} == {
        "/new": 7,
        "/lost": 8,
        "/of-lost": 16,
    }


# ----------------------------------------------------------------------------------------------------- the pure parts


def moved(redirects: dict[int, int], canonicals: dict[int, int], gone: set[int] = frozenset(), **options) -> dict:
    pages = [
        KnownPage(page, "", str(redirects.get(page, "")), str(canonicals.get(page, "")), False, page in gone)
        for page in {*redirects, *canonicals, *gone}
    ]
    return dict(destinations(pages, lambda _, address: int(address), **options).pairs())


PAIRS = st.dictionaries(st.integers(1, 9), st.integers(1, 9))


@given(PAIRS)
def test_pages_end_where_the_last_of_their_redirects_leads_and_circles_end_where_they_began(redirects):
    found = moved(redirects, {})
    for page, end in found.items():
        assert redirects.get(end, end) == end
        assert page != end
    for page in set(redirects) - set(found):
        seen = {page}
        at = redirects[page]
        while at in redirects and at not in seen:
            seen.add(at)
            at = redirects[at]
        assert at in seen


@given(PAIRS, PAIRS, st.sets(st.integers(1, 9)))
def test_canonicals_move_nothing_to_a_page_that_is_gone_and_ends_are_ends(redirects, canonicals, gone):
    found = moved(redirects, canonicals, gone)
    by_redirect = moved(redirects, {})
    for page, end in found.items():
        assert end not in found
        if end != by_redirect.get(page):
            assert end not in gone
            assert redirects.get(end, end) == end


@pytest.mark.nightly
def test_a_chain_as_long_as_the_site_is_followed_to_its_end():
    n = 200_000
    pages = (KnownPage(page, "", str(page + 1), "", False, False) for page in range(1, n))
    found = destinations(pages, lambda _, address: int(address))
    assert len(found) == n - 1
    assert (found.end == n).all()


@pytest.mark.nightly
def test_where_a_million_pages_lead_is_held_in_few_bytes_a_page():
    n = 100_000
    pages = (KnownPage(page, "", "", str(page // 2 + 1), False, page % 3 == 0) for page in range(1, n))
    tracemalloc.start()
    try:
        destinations(pages, lambda _, address: int(address))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most / n < 200


@given(st.dictionaries(st.integers(1, 50), st.integers(1, 50)), st.lists(st.integers(0, 60), max_size=20))
def test_ends_of_many_are_those_of_each(ends, pages):
    moves = Moves.of(np.array(list(ends), dtype=np.int64), np.array(list(ends.values()), dtype=np.int64))
    found = moves.ends_of(np.array(pages, dtype=np.int64)).tolist()
    assert found == [moves.end_of(page) for page in pages] == [ends.get(page, page) for page in pages]


@pytest.mark.parametrize(
    ("address", "found"),
    [
        (f"{SITE}/a", 1), ("http://www.shop.example/a", 1), ("shop.example/a", 1), ("www.shop.example/a#x", 1),
        ("/a?utm_id=1", 1), ("HTTPS://SHOP.EXAMPLE/a", 1), ("/b", "unknown"), ("a", "bad"), ("", "bad"),
        ("https://other.example/a", "external"), ("shop.example.evil/a", "bad"),
    ],
)  # fmt: skip
def test_pages_are_found_by_whatever_address_means_them(address, found):
    assert PageFinder({f"{SITE}/a": 1}, Site(SITE)).find(address) == found


def test_pages_that_lead_nowhere_are_not_looked_at(project):
    make_page(project, "/a", canonical_link=f"{SITE}/a")
    make_page(project, "/b")
    assert list(leading_pages(project)) == []
