"""Each value of a filter says how many suggestions the list would hold under it."""

from __future__ import annotations

import dataclasses
import random

import pytest

from linker.models import Category, Placement, RankedBy
from linker.models.subtrees import nearby
from review.queue.facets import facets
from review.queue.filter_choices import tier_choices
from review.queue.filters import GAP, PLACEMENTS, QueueFilter, Sensitive
from review.templatetags.review_tags import page_name
from tests.factories import make_category, make_edge, make_page, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def mixed(project):
    """Forty suggestions of all kinds, in two categories one of which lies in the other."""
    chance = random.Random(3)
    tents = make_category(project, "Tents")
    homes = [None, tents, make_category(project, "Tents", "Domes")]
    for _ in range(40):
        placement = chance.choice(list(Placement))
        make_edge(
            project, make_page(project, category=chance.choice(homes)), score=chance.choice([0.35, 0.55, 0.75, 0.95]),
            sensitive=chance.choice(["", "", "medical"]), status=chance.choice(["suggested", "suggested", "rejected"]),
            placement=placement, content_gap=placement == Placement.RELATED and chance.random() < 0.5,
            stale=chance.random() < 0.2, ranked_by=chance.choice(["cosine", "learned"]),
        )  # fmt: skip
    return project


@pytest.mark.nightly
@pytest.mark.parametrize(
    "chosen",
    [
        QueueFilter(), QueueFilter(held=True), QueueFilter(stale=True), QueueFilter(status="rejected"),
        QueueFilter(status="all"), QueueFilter(sensitive=Sensitive.NOT, ranked_by="cosine"), QueueFilter(placement=GAP),
    ],
    ids=lambda chosen: chosen.to_query() or "none",
)  # fmt: skip
def test_every_number_is_that_of_the_list_under_the_value(mixed, chosen):
    found = facets(mixed, chosen)

    def listed(**changed):
        return dataclasses.replace(chosen, **changed).queryset(mixed).count()

    for tier in tier_choices(mixed):
        assert found.tiers[tier.name] == listed(tier=tier.pk), tier
    for category in Category.objects.filter(project=mixed):
        assert found.categories[tuple(category.path)] == listed(category=category.pk), category
    for value in (Sensitive.ONLY, Sensitive.NOT):
        assert found.sensitive[value.value] == listed(sensitive=value), value
    for value in PLACEMENTS:
        assert found.placements[value] == listed(placement=value), value
    for value in RankedBy.values:
        assert found.ranked_by[value] == listed(ranked_by=value), value


@pytest.mark.nightly
def test_a_search_has_no_numbers_since_none_are_kept_of_it(mixed):
    assert facets(mixed, QueueFilter(text="boots")).tiers is None


@pytest.mark.nightly
def test_the_form_says_the_numbers_and_asks_no_more_queries_for_more_categories(
    as_editor, mixed, django_assert_max_num_queries
):
    for number in range(30):
        make_category(mixed, f"Section {number}")
    with django_assert_max_num_queries(14):
        page = as_editor.get("/p/shop/queue/all-filters/?sensitive=only").content.decode()
    number = QueueFilter(sensitive=Sensitive.NOT).queryset(mixed).count()
    assert f"Not sensitive ({number})" in page


def test_of_a_large_tree_the_way_to_the_chosen_category_and_what_lies_below_it_are_offered(project):
    tents = make_category(project, "Shop", "Tents")
    for name in ("A", "B", "C"):
        make_category(project, "Shop", "Tents", name)
        make_category(project, "Help", name)
    offered = [category.path for category in nearby(project, tents.pk, most=4)]
    assert offered == [["Shop"], ["Shop", "Tents"], *(["Shop", "Tents", name] for name in "ABC")]
    assert [category.path for category in nearby(project, None, most=4)] == [["Help"], ["Shop"]]
    assert len(nearby(project, None)) == Category.objects.filter(project=project).count()
    assert nearby(make_project(slug="other"), tents.pk) == []


@pytest.mark.parametrize(
    ("title", "h1", "name"),
    [
        ("Winter boots | Fernpeak", "Winter boots", "Winter boots"),
        ("Winter boots – Fernpeak – Shop", "Winter boots", "Winter boots"),
        ("Smokers&#8217; tools | Site", "Smokers’ tools", "Smokers’ tools"),
        ("Winter boots and shoes", "Winter boots", "Winter boots and shoes"),
        ("Fernpeak: boots", "Boots", "Fernpeak: boots"),
        ("Winter-boots", "Winter", "Winter-boots"),
        ("", "Winter boots", "https://www.shop.example/p"),
    ],
)
def test_a_page_is_called_by_its_title_without_the_name_of_the_site(title, h1, name):
    from linker.models import Page

    assert page_name(Page(title=title, h1=h1, url="https://www.shop.example/p")) == name
