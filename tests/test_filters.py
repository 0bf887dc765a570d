"""The filters of every list show what its address says, and what they would do where it says nothing they know."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest

from tests.factories import make_category, make_project
from tests.markup import compact

LISTS = {
    "pages/": {"show": "orphans", "order": "clicks", "role": "article"},
    "copies/": {"kind": "variant"},
    "settings/log/": {"kind": "tiers"},
    "queue/all-filters/": {
        "sensitive": "only",
        "placement": "gap",
        "generator": "address",
        "ranked_by": "formula",
        "pilot": "not",
        "order": "score",
    },
    "export/links/": {"state": "withdrawn", "rel": "ugc"},
}
CHOICES = [(place, field, value) for place, fields in LISTS.items() for field, value in fields.items()]


@pytest.fixture
def page(project, manager, client_for):
    client = client_for(manager)

    def get(place: str, **query: object) -> str:
        answer = client.get(f"/p/shop/{place}?{urlencode(query)}")
        assert answer.status_code == 200
        return compact(answer.content.decode())

    return get


def chosen(markup: str, field: str) -> str:
    """The option that a browser shows as chosen: the one that is marked, else the first."""
    select = re.search(rf'<select name="{field}"[^>]*>(.*?)</select>', markup)
    assert select is not None, field
    marked = re.search(r'<option value="([^"]*)" selected', select[1]) or re.search(r'value="([^"]*)"', select[1])
    assert marked is not None
    return marked[1]


@pytest.mark.sample(7)
@pytest.mark.parametrize(("place", "field", "value"), CHOICES)
def test_a_filter_shows_what_the_address_says(page, place, field, value):
    assert chosen(page(place, **{field: value}), field) == value


@pytest.mark.sample(4)
@pytest.mark.parametrize(("place", "field"), [(place, field) for place, field, _ in CHOICES])
def test_a_filter_with_an_unknown_value_is_named_and_shows_what_holds_without_it(page, place, field):
    shown = page(place, **{field: "foo"})
    assert chosen(shown, field) == chosen(page(place), field)
    assert f"unknown: {field}." in shown


@pytest.mark.parametrize("place", ["pages/", "copies/"])
def test_a_search_stays_in_its_field(page, place):
    assert re.search(r'<input type="search" name="q" value="red &quot;boots&quot;"', page(place, q='red "boots"'))


def test_the_queue_shows_its_numbers_and_boxes_and_carries_what_its_links_choose(page, project):
    category = make_category(project, "Tents")
    tier = project.tiers.get(basis=project.tier_basis, name="Likely")
    shown = page(
        "queue/all-filters/",
        text="boots",
        probability=70,
        held=1,
        donor=7,
        status="rejected",
        category=category.pk,
        tier=tier.pk,
    )
    assert re.search(r'<input type="hidden" name="text" value="boots"', shown)
    assert re.search(r'<input type="search" id="search" name="text" value="boots"', page("queue/", text="boots"))
    assert re.search(r'<input type="number" name="probability" value="70"', shown)
    assert re.search(r'<input type="checkbox" name="held"[^>]* value="1"[^>]* checked', shown)
    assert re.search(r'<input type="checkbox" name="stale"(?![^>]*checked)[^>]* value="1"', shown)
    assert re.search(r'<input type="hidden" name="donor" value="7"', shown)
    assert re.search(r'<input type="hidden" name="status" value="rejected"', shown)
    assert (chosen(shown, "category"), chosen(shown, "tier")) == (str(category.pk), str(tier.pk))


def test_the_queue_offers_the_categories_of_its_own_project_alone(page, project):
    own, foreign = make_category(project, "Tents"), make_category(make_project(slug="other"), "Shoes")
    shown = page("queue/all-filters/")
    assert f'<option value="{own.pk}">' in shown
    assert f'<option value="{foreign.pk}">' not in shown


def test_the_kinds_of_runs_are_tabs_and_the_one_in_the_address_is_marked(page):
    marked = re.compile(r'<a href="([^"]*)" aria-current="page">([^<]*)</a>')
    assert ("?kind=match", "Match") in marked.findall(page("runs/", kind="match"))
    for query in ({}, {"kind": "foo"}):
        assert ("/p/shop/runs/", "All") in marked.findall(page("runs/", **query))
