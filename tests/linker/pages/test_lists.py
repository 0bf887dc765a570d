"""The lists of pages hold what their filters say, and the match form counts what a match run would take."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from linker.engine.params import MatchParams, PageFilter
from linker.engine.patterns import PatternError
from linker.matching.eligibility import eligible_pages
from linker.models import Page, PageStatus, RunKind
from linker.pages import listing
from linker.pages.listing import PageListFilter, chosen_pages, count_chosen, count_remembered
from tests.factories import embed, make_category, make_model, make_page, make_project, make_run
from tests.markup import compact

pytestmark = pytest.mark.django_db


@pytest.fixture
def site(project):
    """Pages by a short name: their address is the name with a slash before it."""
    tents = make_category(project, "Shop", "Tents")
    shop = make_category(project, "Shop")
    shopping = make_category(project, "Shop & more")
    make_page(project, "/tent", title="A Tent", category=tents, inlinks=3, clicks=10)
    make_page(project, "/shop", title="100% shop", category=shop, inlinks=0, clicks=5)
    make_page(project, "/more", title="More", category=shopping, inlinks=1)
    make_page(project, "/hidden", title="Hidden", indexable=False, inlinks=0)
    make_page(project, "/gone", title="Gone", missing_since=timezone.now())
    make_page(make_project("other"), "/tent", title="A Tent elsewhere")
    return project


def names(project, **query: str) -> set[str]:
    if "category" in query:
        query["category"] = str(project.categories.get(path=query["category"].split("/")).pk)
    found = chosen_pages(project, PageListFilter.from_query(query))
    return {page.url.rsplit("/", 1)[-1] for page in found}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, {"tent", "shop", "more", "hidden"}),
        ({"q": "TENT"}, {"tent"}),
        ({"q": "ten"}, {"tent"}),
        ({"q": "100 sho"}, {"shop"}),
        ({"q": "ent"}, set()),
        ({"q": "/more"}, {"more"}),
        ({"category": "Shop"}, {"tent", "shop"}),
        ({"category": "Shop/Tents"}, {"tent"}),
        ({"show": "indexable"}, {"tent", "shop", "more"}),
        ({"show": "not-indexable"}, {"hidden"}),
        ({"show": "orphans"}, {"shop"}),
        ({"show": "missing"}, {"gone"}),
        ({"show": "orphans", "category": "Shop/Tents"}, set()),
    ],
)
def test_a_filter_leaves_the_pages_it_names(query, expected, site):
    assert names(site, **query) == expected


@pytest.mark.sample(10)
@pytest.mark.parametrize(
    ("address", "named"),
    [
        ("pages/?category=abc", "category"),
        ("pages/?show=foo", "show"),
        ("pages/?order=foo", "order"),
        ("pages/?sensitive=maybe", "sensitive"),
        ("pages/?categroy=5&q=tent", "categroy"),
        ("runs/?kind=foo", "kind"),
        ("runs/?state=foo", "state"),
        ("settings/log/?kind=foo", "kind"),
        ("settings/log/?sort=foo", "sort"),
        ("settings/tiers/?basis=foo", "basis"),
        ("settings/tiers/?tier=foo&basis=cosine", "tier"),
    ],
)
def test_what_a_list_does_not_know_is_left_out_and_named(address, named, site, client_for, manager):
    page = compact(client_for(manager).get(f"/p/shop/{address}").content.decode())
    assert f"because the field or its value is unknown: {named}.</p>" in page


@pytest.mark.parametrize(
    "address",
    [
        "pages/?q=&category=&show=live&order=crawl&sensitive=7&after=1_2", "pages/?category=999",
        "runs/?kind=&before=3", "settings/log/?kind=&before=3", "settings/tiers/?basis=quantile",
    ],
)  # fmt: skip
def test_what_a_list_knows_is_no_cause_for_a_notice(address, site, client_for, manager):
    assert "is unknown" not in client_for(manager).get(f"/p/shop/{address}").content.decode()


def test_a_category_of_another_project_holds_nothing(site):
    foreign = make_category(make_project("third"), "Shop")
    assert not chosen_pages(site, PageListFilter(category=foreign.pk)).exists()


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"indexable_only": False},
        {"categories": "Shop"},
        {"url_pattern": "^https://shop.example/[st]"},
        {"min_clicks": 5},
        {"max_clicks": 5},
        {"min_inlinks": 1, "max_inlinks": 2},
        {"categories": "Shop", "min_clicks": 6},
    ],
)
def test_the_form_counts_the_donors_that_a_run_would_take(fields, site):
    model = make_model()
    make_page(site, "/error", status_code=500, clicks=6, inlinks=2)
    make_page(site, "/moved", redirect_url=site.base_url + "/tent", clicks=6, inlinks=2)
    for page in site.pages.all():
        embed(page, [1, 0, 0, 0], model)
    if "categories" in fields:
        fields = {**fields, "categories": (site.categories.get(path=[fields["categories"]]).pk,)}
    chosen = PageFilter(**fields)
    taken = eligible_pages(site, model, MatchParams(donors=chosen))
    assert count_chosen(site, chosen) == int(taken.chosen_donor.sum())


def test_a_pattern_that_cannot_be_read_is_an_error_and_not_a_count(site):
    with pytest.raises(PatternError):
        count_chosen(site, PageFilter(url_pattern="("))


@pytest.mark.nightly
def test_a_search_that_finds_missing_pages_alone_leads_to_them(client_for, manager, site):
    client = client_for(manager)
    shown = compact(client.get("/p/shop/pages/?q=gone").content.decode())
    assert '<a href="?q=gone&amp;show=missing">Show missing pages</a>' in shown
    assert "Gone" in client.get("/p/shop/pages/?q=gone&show=missing").content.decode()
    for query in ("q=tent", "q=nothing", "q=gone&show=orphans"):
        assert "Show missing pages" not in client.get(f"/p/shop/pages/?{query}").content.decode()


def test_a_side_that_has_not_changed_is_not_counted_again_until_a_run_has_written_pages(site):
    chosen = PageFilter(min_clicks=0)

    def reads() -> tuple[int, int]:
        with CaptureQueriesContext(connection) as queries:
            found = count_remembered(site, chosen)
        return found, sum("linker_page" in query["sql"] for query in queries)

    found, asked = reads()
    assert (found, asked) == (count_chosen(site, chosen), 1)
    assert reads() == (found, 0)
    make_page(site, indexable=True)
    make_run(site, RunKind.IMPORT_PAGES, finished_at=timezone.now())
    assert reads() == (found + 1, 1)


def test_a_search_stops_counting_and_compares_its_words_with_no_row(project, client_for, viewer, monkeypatch):
    monkeypatch.setattr(listing, "COUNTED", 2)
    for number in range(4):
        make_page(project, f"/boots-{number}")
    client = client_for(viewer)
    with CaptureQueriesContext(connection) as queries:
        page = client.get("/p/shop/pages/?q=boots").text
    assert "2+ pages" in " ".join(page.split())
    assert not [query["sql"] for query in queries if " LIKE " in query["sql"]]


def test_a_search_finds_removed_pages_too_and_leads_to_them(project, client_for, viewer):
    make_page(project, "/boots", title="Winter boots")
    gone = make_page(project, "/old-boots", title="Winter boots of old")
    Page.objects.filter(pk=gone.pk).update(status=PageStatus.REMOVED)
    client = client_for(viewer)

    page = " ".join(client.get("/p/shop/pages/?q=boots").text.split())
    assert '<a class="nowrap" href="?q=boots&amp;show=removed">Removed (1)</a>' in page
    removed = client.get("/p/shop/pages/?q=boots&show=removed").text
    assert "Winter boots of old" in removed
    assert '<span class="badge badge--warn">Removed</span>' in removed

    only_removed = client.get("/p/shop/pages/?q=old").text
    assert "No pages match these filters" in only_removed
    assert "show=removed" in only_removed
    assert "show=removed" not in client.get("/p/shop/pages/?q=gloves").text
