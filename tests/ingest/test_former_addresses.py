"""Addresses that a page had, and those of pages that lead to it, are known wherever somebody writes an address."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from ingest import services
from linker.models import ExistingLink
from linker.pages.listing import find_page
from review.queue.filters import QueueFilter
from tests.factories import make_edge, make_page
from tests.ingest.test_page_identity import SITE, tell, write

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def moved(project):
    """A page that moved, one that was merged into it, a page that is gone, and one that links to the first."""
    page, other, gone, donor = (make_page(project, path) for path in ("/stove", "/cooker", "/lantern", "/donor"))
    make_edge(project, donor, page)
    tell("redirected", f"{SITE}/stove", f"{SITE}/gas-burner", "--at", "2026-03-01")
    tell("merged", other.url, f"{SITE}/gas-burner", "--at", "2026-03-02")
    tell("removed", gone.url, "--at", "2026-03-03")
    page.refresh_from_db()
    return page


@pytest.mark.nightly
@pytest.mark.parametrize("address", [f"{SITE}/stove", "/stove", "shop.example/stove/", "http://www.shop.example/stove"])
def test_why_not_finds_a_page_by_a_former_address(project, moved, address):
    assert find_page(project, address) == moved


@pytest.mark.nightly
def test_an_address_that_is_another_page_by_now_is_that_page(project, moved):
    tell("created", f"{SITE}/stove", "--at", "2026-03-04")

    assert find_page(project, "/stove").url == f"{SITE}/stove"


@pytest.mark.nightly
@pytest.mark.parametrize("words", ["stove", f"{SITE}/stove", "cooker", "gas burner"])
def test_the_queue_is_searched_by_former_addresses(project, moved, words):
    found = QueueFilter.from_query({"q": words}).queryset(project)

    assert [edge.target for edge in found] == [moved]


@pytest.mark.nightly
def test_the_list_of_pages_is_searched_by_them_and_shows_states_with_their_dates(project, moved, viewer, client_for):
    client = client_for(viewer)

    searched, merged, removed = (
        " ".join(client.get("/p/shop/pages/", query).content.decode().split())
        for query in ({"q": "stove"}, {"show": "merged"}, {"show": "removed"})
    )

    assert "/gas-burner" in searched
    assert "/cooker" in merged
    assert "since 2 Mar 2026" in merged
    assert "/gas-burner" not in merged
    assert "/lantern" in removed
    assert "since 3 Mar 2026" in removed


def test_links_and_numbers_of_former_addresses_are_those_of_the_page(project, moved, tmp_path):
    rows = (f"{SITE}/donor,{SITE}/{path},{anchor},Content\n" for path, anchor in (("stove", "a"), ("cooker", "b")))
    lines = "Source,Destination,Anchor,Link Position\n" + "".join(rows)
    services.import_file(project, "links", write(tmp_path, lines, name="links.csv"))
    numbers = f"url,clicks\n{SITE}/stove,1\n{SITE}/cooker,2\n{SITE}/gas-burner,4\n"
    services.import_file(project, "traffic", write(tmp_path, numbers, name="clicks.csv"))
    queries = f"url,query,clicks\n{SITE}/stove,tents,1\n{SITE}/cooker,tents,2\n"
    services.import_file(project, "queries", write(tmp_path, queries, name="queries.csv"))

    assert set(ExistingLink.objects.values_list("target", "anchor")) == {(moved.pk, "a"), (moved.pk, "b")}
    assert moved.traffic.get().clicks == 7
    assert moved.queries.get().clicks == 3


@pytest.mark.nightly
def test_authority_of_a_former_address_is_that_of_the_page(project, moved, tmp_path):
    services.import_file(project, "pages", write(tmp_path, f"url,authority\n{SITE}/stove,5\n", name="authority.csv"))

    moved.refresh_from_db()
    assert moved.authority == 5


@pytest.mark.nightly
def test_the_command_answers_why_not_for_a_former_address(project, moved, capsys):
    call_command("why_not", "shop", "/donor", "/stove")

    assert "There is a suggestion" in capsys.readouterr().out
