"""The filter reads any query string, writes it back, and lists every edge once, in a total order."""

from __future__ import annotations

import random

import pytest
from django.http import QueryDict

from linker.models import EdgeStatus, Placement, Project
from review.queue.cursor import Cursor
from review.queue.filters import ALL, Order, QueueFilter, Sensitive
from tests.factories import make_category, make_edge, make_page, make_project

pytestmark = pytest.mark.django_db


def chosen(query: str = "", **fields: object) -> QueueFilter:
    return QueueFilter(**fields) if fields else QueueFilter.from_query(QueryDict(query))  # type: ignore[arg-type]


def listed(project: Project, **fields: object) -> set[int]:
    return set(chosen(**fields).queryset(project).values_list("pk", flat=True))


@pytest.mark.parametrize(
    "filters",
    [
        QueueFilter(),
        QueueFilter(tier=3, status="rejected", category=9, sensitive=Sensitive.ONLY, text="50% off_&?#é", donor=7),
        QueueFilter(placement="inline", order=Order.SCORE, held=True, stale=True, status=ALL),
    ],
)
def test_a_filter_survives_its_own_query_string(filters):
    assert QueueFilter.from_query(QueryDict(filters.to_query())) == filters


def test_defaults_leave_the_address_bare():
    assert QueueFilter().to_query() == ""
    assert QueueFilter().to_dict() == {}


def test_a_dictionary_of_the_filter_is_json(project):
    import json

    filters = QueueFilter(sensitive=Sensitive.ONLY, order=Order.SCORE, held=True)
    assert json.loads(json.dumps(filters.to_dict())) == {"sensitive": "only", "order": "score", "held": True}


@pytest.mark.parametrize(
    "query",
    [
        "tier=x", "tier=-1", "tier=99999999999999999999999", "category=1.5", "donor=²", "status=gone", "order=id;drop",
        "sensitive=maybe", "placement=top", "held=yes", "stale=2", "categroy=5", "foo=",
    ],
)  # fmt: skip
def test_a_bad_value_is_named_and_left_out(project, query):
    filters = chosen(query)
    assert filters.ignored == (query.split("=")[0],)
    assert filters == QueueFilter()
    assert list(filters.queryset(project)) == []


def test_an_endless_list_of_unknown_fields_is_cut_short():
    filters = chosen("&".join(f"{'x' * 500}{n}=1" for n in range(500)))
    assert sum(map(len, filters.ignored)) <= 500


def test_what_pages_know_besides_the_filter_is_no_fault_of_it():
    assert chosen("after=0.9~1~0.9~2~3&before=4&reason=gone&file=&format=joil&bom=on").ignored == ()


def test_a_nul_in_the_text_reaches_no_database(project):
    assert list(chosen("text=a%00b").queryset(project)) == []


def test_other_projects_are_never_listed(project):
    make_edge(make_project(slug="other"))
    assert listed(project) == set()


def test_only_open_suggestions_by_default(project):
    edges = {status: make_edge(project, status=status) for status in EdgeStatus.values}
    assert listed(project) == {edges["suggested"].pk}
    for status in EdgeStatus.values:
        assert listed(project, status=status) == {edges[status].pk}
    assert listed(project, status=ALL) == {edge.pk for edge in edges.values()}


def test_held_and_stale_suggestions_wait_until_asked_for(project):
    shown, held, stale = (
        make_edge(project, score=0.9),
        make_edge(project, score=0.55),
        make_edge(project, score=0.9, stale=True),
    )
    no_tier = make_edge(project, score=0.1)
    assert no_tier.tier is None
    assert listed(project) == {shown.pk}
    assert listed(project, held=True) == {shown.pk, no_tier.pk, held.pk}
    assert listed(project, stale=True) == {shown.pk, stale.pk}
    assert listed(project, tier=held.tier_id) == {held.pk}


def test_what_was_decided_is_listed_even_if_held_or_stale(project):
    edges = [make_edge(project, score=score, stale=True, status=EdgeStatus.ACCEPTED) for score in (0.55, 0.1)]
    assert listed(project, status="accepted") == {edge.pk for edge in edges}


def test_tier_placement_donor_and_sensitivity_narrow_the_list(project):
    inline = make_edge(project, score=0.9, sensitive="Medical: Health")
    related = make_edge(project, score=0.7)
    assert listed(project, tier=inline.tier_id) == {inline.pk}
    assert listed(project, placement=Placement.RELATED.value) == {related.pk}
    assert listed(project, donor=related.source_id) == {related.pk}
    assert listed(project, sensitive=Sensitive.ONLY) == {inline.pk}
    assert listed(project, sensitive=Sensitive.NOT) == {related.pk}


def test_a_category_stands_for_its_subtree_of_donors(project):
    health, first_aid = make_category(project, "Health"), make_category(project, "Health", "First aid")
    other = make_category(project, "Healthy food", "First aid")
    edges = [make_edge(project, make_page(project, category=category)) for category in (health, first_aid, other, None)]
    assert listed(project, category=health.pk) == {edges[0].pk, edges[1].pk}
    assert listed(project, category=first_aid.pk) == {edges[1].pk}


def test_a_category_of_another_project_lists_nothing(project):
    make_edge(project)
    elsewhere = make_category(make_project(slug="other"), "Health")
    assert listed(project, category=elsewhere.pk) == set()


@pytest.mark.parametrize("text", ["SOCK", "socks-guide", "merino", "wool_50%", "big anchor"])
def test_text_is_looked_for_in_addresses_titles_and_the_anchor(project, text):
    donor = make_page(project, "/socks-guide", title="All about feet")
    edge = make_edge(
        project, donor, make_page(project, "/wool_50%", title="Merino things"), anchor="a Big Anchor, sock"
    )
    make_edge(project, make_page(project, "/woolx50y", title="Nothing"), anchor="something else")
    assert listed(project, text=text) == {edge.pk}


@pytest.mark.sample(4)
@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("size", [1, 3, 100])
def test_paging_by_keyset_yields_every_edge_once_in_order(project, order, size):
    rng = random.Random(5)
    donors = [make_page(project) for _ in range(5)]
    best = {donor.pk: rng.choice([0.7, 0.9]) for donor in donors}
    edges = [
        make_edge(
            project,
            donor,
            score=rng.choice([0.66, 0.7, 0.7000000000000001]),
            donor_best=best[donor.pk],
            worth=rng.choice([0.3, 0.4]),
            donor_worth=1 - best[donor.pk],
            need=rng.choice([0.1, 0.2]),
        )
        for donor in donors
        for _ in range(4)
    ]
    if order is Order.SCORE:
        wanted = sorted(edges, key=lambda edge: (-edge.score, edge.pk))
    elif order is Order.NEED:
        wanted = sorted(edges, key=lambda edge: (-edge.donor_worth, edge.source_id, -edge.worth, edge.pk))
    elif order is Order.TARGET:
        wanted = sorted(edges, key=lambda edge: (-edge.need, edge.target_id, -edge.score, edge.pk))
    else:
        wanted = sorted(edges, key=lambda edge: (-edge.donor_best, edge.source_id, -edge.score, edge.pk))
    filters, seen, after = QueueFilter(order=order), [], None
    while True:
        page = filters.queryset(project)
        page = list((page.filter(filters.after(after)) if after else page)[:size])
        if not page:
            break
        seen += page
        after = Cursor.parse(str(Cursor.of(page[-1], order, len(seen))), order)
        assert after is not None
        assert after.position == len(seen)
    assert [edge.pk for edge in seen] == [edge.pk for edge in wanted]


@pytest.mark.parametrize(
    "text", ["", "x", "0.5", "0.5~1", "0.5~x~2", "0.5~-1~2", "a~1~2", "0.5~1~2~3", "0.5~" + "9" * 30 + "~1"]
)
def test_a_cursor_of_the_wrong_form_is_the_start_of_the_list(text):
    assert Cursor.parse(text, Order.SCORE) is None


def test_links_are_chosen_by_who_found_them_how_they_are_ranked_and_how_likely_they_are(project):
    by_mention = make_edge(project, generators=["mention", "nearest"], ranked_by="learned", probability=0.5)
    unlikely = make_edge(project, generators=["nearest"], ranked_by="learned", probability=0.2)
    plain = make_edge(project)
    gap = make_edge(project, content_gap=True, placement="related", ranked_by="formula")
    assert listed(project, generator="mention") == {by_mention.pk}
    assert listed(project, generator="nearest") == {by_mention.pk, unlikely.pk}
    assert listed(project, ranked_by="cosine") == {plain.pk}
    assert listed(project, probability=50) == {by_mention.pk}
    assert listed(project, placement="gap") == listed(project, placement="related") == {gap.pk}


@pytest.mark.parametrize("query", ["generator=magic", "ranked_by=luck", "probability=101", "probability=x"])
def test_a_bad_choice_of_ranking_is_named_and_left_out(query):
    filters = chosen(query)
    assert filters.ignored == (query.split("=")[0],)
    assert filters == QueueFilter()


def test_the_choice_of_ranking_survives_its_query_string():
    filters = QueueFilter(placement="gap", generator="cocited", ranked_by="formula", probability=15)
    assert QueueFilter.from_query(QueryDict(filters.to_query())) == filters
