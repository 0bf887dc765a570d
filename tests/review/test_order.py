"""The queue is sorted surest or most needed first, as somebody chooses or the project says, and its cards say what the
target lacks."""

from __future__ import annotations

import itertools

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from linker.models import CandidateEdge, Change, Project
from review.models import SetAside
from review.queue import selectors
from review.queue.filters import Order, QueueFilter
from tests.factories import make_category, make_edge, make_page
from tests.review.queue_requests import DECK, GROUP, PAGE, decide_url, form, readable, text

pytestmark = pytest.mark.django_db

NEEDS = "Needs links: has none from texts, 5 clicks deep, 1,240 impressions at position 8"


@pytest.fixture
def edges(project) -> list[CandidateEdge]:
    """Of two donors: the first has the surest suggestion, the second the one that is needed most."""
    first, second = make_page(project, "/first", title="First"), make_page(project, "/second", title="Second")
    return [
        make_edge(project, first, score=0.95, donor_best=0.95, worth=0.4, donor_worth=0.4),
        make_edge(project, second, score=0.85, donor_best=0.85, worth=0.34, donor_worth=0.8),
        make_edge(project, second, score=0.84, donor_best=0.85, worth=0.8, donor_worth=0.8, need=0.9, lacks=NEEDS),
    ]


def listed(project, editor, chosen: QueueFilter) -> list[int]:
    return [line.edge.pk for line in selectors.lines(project, chosen, editor).lines]


def test_most_needed_first_keeps_a_donors_suggestions_together(project, edges, editor):
    first, second, needed = (edge.pk for edge in edges)
    assert listed(project, editor, QueueFilter()) == [first, second, needed]
    assert listed(project, editor, QueueFilter(order=Order.NEED)) == [needed, second, first]


@pytest.mark.nightly
def test_the_order_can_be_switched_on_the_page_and_is_kept_by_its_links(project, edges, client_for, viewer):
    page = client_for(viewer).get(f"{PAGE}?order=need")
    assert page.context["chosen"].order == Order.NEED
    form = client_for(viewer).get(f"{PAGE}all-filters/?order=need").content.decode()
    assert '<option value="need" selected>Donor by donor, score and need together</option>' in form
    assert 'href="?status=accepted&amp;order=need"' in page.content.decode()
    cards = client_for(viewer).get(f"{DECK}?order=need").json()["cards"]
    assert [card["edge"] for card in cards] == [edge.pk for edge in reversed(edges)]


@pytest.mark.nightly
def test_the_project_says_which_order_is_usual(project, edges, client_for, viewer):
    Project.objects.update(queue_order="need")
    client = client_for(viewer)
    assert client.get(PAGE).context["chosen"].order == Order.NEED
    other = client.get(f"{PAGE}?order=donor").context["chosen"]
    assert (other.order, other.to_query()) == (Order.DONOR, "order=donor")


@pytest.mark.parametrize("usual", Order.values)
@pytest.mark.parametrize("order", list(Order))
def test_an_order_survives_the_query_string_whatever_is_usual(usual, order):
    chosen = QueueFilter.from_query(QueryDict(f"order={order.value}"), usual)
    assert QueueFilter.from_query(QueryDict(chosen.to_query()), usual) == chosen
    assert chosen.to_query() == ("" if order == usual else f"order={order.value}")


def test_after_a_decision_the_next_card_is_the_next_of_that_order(project, edges, client_for, editor):
    Project.objects.update(queue_order="need")
    _, second, needed = edges
    answer = client_for(editor).post(decide_url(needed), form(needed))
    assert answer.url.endswith(f"?at={second.pk}")


@pytest.mark.nightly
def test_a_card_says_in_one_line_what_the_target_lacks(project, edges, client_for, viewer):
    page = text(client_for(viewer).get(f"{PAGE}?order=need"))
    assert page.count(NEEDS) == 1
    assert "0.900 need of the acceptor" in page
    assert "0.800 expected worth" in page


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("authority", "imported", "words"),
    [
        (0.97, 71, "top 3% by authority (71)"),
        (0.999, 100, "top 1% by authority (100)"),
        (0.4, None, "lower 40% by authority (PageRank)"),
        (0.5, 2.5, "top 50% by authority (2.5)"),
    ],
)
def test_a_donors_authority_is_said_also_after_a_decision(project, client_for, editor, authority, imported, words):
    donor = make_page(project, "/donor", authority=imported)
    edge = make_edge(project, donor, authority=authority)
    client = client_for(editor)
    assert words in text(client.get(PAGE))
    client.post(decide_url(edge), form(edge))
    assert words in text(client.get(f"{PAGE}{edge.pk}/"))


@pytest.mark.nightly
def test_managers_set_the_usual_order_and_where_gaps_go_and_it_is_logged(
    project, manager, editor, outsider, client_for
):
    address = reverse("settings", args=[project.slug])
    client = client_for(manager)
    fields = client.get(address).context["form"].initial
    sent = {name: "\n".join(value) if isinstance(value, list) else value for name, value in fields.items()}
    assert client.post(address, {**sent, "queue_order": "need", "gap_links": "gap"}).status_code == 302
    saved = Project.objects.get(pk=project.pk)
    assert (saved.queue_order, saved.gap_links) == ("need", "gap")
    change = Change.objects.get(kind="settings")
    assert (change.before, change.after) == (
        {"queue_order": "donor", "gap_links": "beside"},
        {"queue_order": "need", "gap_links": "gap"},
    )
    assert client_for(editor).post(address, sent).status_code == 403
    assert client_for(outsider).post(address, sent).status_code == 404


@pytest.mark.nightly
def test_most_needed_first_reads_the_list_off_an_index(project, editor):
    donors = [make_page(project) for _ in range(20)]
    target = make_page(project)
    edge = make_edge(project, donors[0], target)
    with connection.cursor() as cursor:
        # 20,000 of them, a thousand a donor: enough for the planner to tell a sort from an index.
        cursor.execute(
            "INSERT INTO linker_page (project_id, url, canonical_url, status, title, h1, headings, description, body, "
            "language, indexable, indexability_status, canonical_link, redirect_url, inlinks, outlinks, first_seen_at, "
            "last_seen_at) SELECT %s, 'https://shop.example/t' || n, 'https://shop.example/t' || n, 'live', '', '', "
            "'{}', '', '', '', true, '', '', '', 0, 0, now(), now() FROM generate_series(1, 1000) n",
            [project.pk],
        )
        cursor.execute(
            "INSERT INTO linker_candidateedge (project_id, source_id, target_id, status, stale, run_id, generators, "
            "ranked_by, level, similarity, score, quantile, why, evidence, donor_best, created_at, updated_at, "
            "tier_id, placement, rel, sensitive, content_gap, anchor, anchor_source, anchor_alternatives, edited, "
            "worth, donor_worth) SELECT e.project_id, d, p.id, 'suggested', false, run_id, generators, ranked_by, 0, "
            "0.8, 0.8, 0.5, '', '{}', 0.8, now(), now(), tier_id, 'related', 'follow', '', false, 'a', 'h1', '[]', "
            "false, random(), (d * 7919 %% 1000) / 1000.0 FROM linker_candidateedge e, "
            "unnest(%s::bigint[]) d, linker_page p "
            "WHERE e.id = %s AND p.url LIKE 'https://shop.example/t%%' AND p.id <> e.target_id",
            [[donor.pk for donor in donors], edge.pk],
        )
        cursor.execute("ANALYZE linker_candidateedge, linker_page")
    chosen = QueueFilter(order=Order.NEED)
    SetAside.objects.create(project=project, user=editor, edge=edge)
    after = selectors.Cursor.parse(selectors.lines(project, chosen, editor).next, Order.NEED)
    assert after is not None
    for cursor in (None, after):
        with CaptureQueriesContext(connection) as captured:
            selectors.lines(project, chosen, editor, cursor)
        [listing] = [query["sql"] for query in captured if "donor_worth" in query["sql"] and "LIMIT 21" in query["sql"]]
        with connection.cursor() as asked:
            asked.execute(f"EXPLAIN {listing}")
            plan = "\n".join(row[0] for row in asked.fetchall())
        assert "edge_open_by_worth" in plan, plan
        assert "Sort" not in plan, plan


@pytest.mark.nightly
def test_an_acceptors_suggestions_stand_together_under_its_head_the_most_needed_acceptor_first(
    project, as_editor, editor
):
    boots, socks = make_page(project, title="Boots", inlinks=7), make_page(project, title="Socks")
    edges = [
        make_edge(project, target=boots, score=0.95, need=0.1),
        make_edge(project, target=socks, score=0.84, need=0.9),
        make_edge(project, target=boots, score=0.9, need=0.1, status="accepted"),
        make_edge(project, target=socks, score=0.85, need=0.9),
    ]
    chosen = QueueFilter(order=Order.TARGET)
    assert listed(project, editor, chosen) == [edges[n].pk for n in (3, 1, 0)]
    first = selectors.lines(project, chosen, editor, size=1)
    after = selectors.Cursor.parse(first.next, Order.TARGET)
    assert [line.edge.pk for line in selectors.lines(project, chosen, editor, after).lines] == [
        edges[1].pk,
        edges[0].pk,
    ]
    shown = text(as_editor.get(f"{PAGE}?order=target"))
    assert "Acceptor Socks" in shown
    assert f"From {edges[3].source.title}" in shown
    cards = as_editor.get(f"{DECK}?order=target").json()["cards"]
    assert [card["group"] for card in cards] == [socks.pk, socks.pk, boots.pk]
    assert "1</span> accepted of 2" in cards[2]["head"]
    assert "7 in" in cards[2]["head"]


def test_the_heads_of_groups_take_one_query_however_many_there_are(project, django_assert_num_queries):
    edges = [make_edge(project) for _ in range(5)]
    for some, order in itertools.product((edges[:1], edges), (Order.TARGET, Order.CATEGORY)):
        chosen = QueueFilter(order=order)
        with django_assert_num_queries(1):
            assert len(selectors.heads_of(project, chosen, some)) == len(some)


@pytest.mark.parametrize("order", [Order.DONOR, Order.TARGET, Order.CATEGORY])
def test_a_head_counts_what_was_accepted_and_what_the_list_shows(project, order):
    """Not what the list hides: held back, below every tier, or no longer proposed."""
    donor = make_page(project, category=make_category(project, "Tents"))
    target = make_page(project)

    def add(**fields: object) -> CandidateEdge:
        ends = (make_page(project), target) if order == Order.TARGET else (donor, make_page(project))
        return make_edge(project, *ends, **fields)  # type: ignore[arg-type]

    held = project.tiers.filter(basis="cosine", held=True).first()
    edge = add()
    add(status="accepted")
    add(status="exported", stale=True)
    add(status="rejected")
    for hidden in ({"tier": held}, {"tier": None}, {"stale": True}):
        add(**hidden)
    for chosen, expected in ((QueueFilter(order=order), (2, 3, 1)), (QueueFilter(order=order, held=True), (2, 5, 3)),
                             (QueueFilter(order=order, held=True, stale=True), (2, 6, 4)),
                             (QueueFilter(order=order, tier=held.pk), (2, 4, 2)),
                             (QueueFilter(order=order, tier=edge.tier_id), (2, 3, 1))):  # fmt: skip
        quota = selectors.heads_of(project, chosen, [edge])[edge.pk].quota
        assert (quota.accepted, quota.total, quota.open) == expected, chosen


@pytest.mark.nightly
def test_the_list_says_why_percentages_may_rise_again_where_they_may(project, as_editor):
    says = "a percentage may be higher than the one above it"
    donor = make_page(project)
    edges = [make_edge(project, donor, score=0.9 - n / 10, probability=0.7 + n / 10) for n in range(2)]
    assert says not in text(as_editor.get(PAGE)), "a formula's score is its probability"
    CandidateEdge.objects.update(ranked_by="learned")
    assert says in text(as_editor.get(PAGE))
    assert "a lower percentage may come first" in text(as_editor.get(f"{PAGE}?order=need"))
    edges[1].delete()
    assert says not in text(as_editor.get(PAGE)), "one alone has no order"


@pytest.mark.nightly
def test_an_acceptors_group_is_accepted_together(project, as_editor):
    target = make_page(project, title="Socks")
    edges = [make_edge(project, target=target, anchor=f"socks {n}") for n in range(3)]
    other = make_edge(project, edges[0].source)
    preview = text(as_editor.get(GROUP, {"acceptor": target.pk, "query": "order=target"}))
    assert "Accept 3 suggestions to this page?" in preview
    assert f"socks 0 on {edges[0].source.title}" in preview
    sent = [f"{edge.pk}:{edge.run_id}:{edge.anchor}" for edge in edges[:2]]
    answer = as_editor.post(GROUP, {"acceptor": target.pk, "query": "order=target", "edge": sent}, follow=True)
    assert "Accepted: 2 links, undone as one." in text(answer)
    assert set(CandidateEdge.objects.filter(status="suggested")) == {edges[2], other}
    for sides in ({}, {"acceptor": target.pk, "donor": target.pk}, {"acceptor": "0"}, {"category": "-1"}):
        assert as_editor.get(GROUP, sides).url == PAGE


@pytest.mark.nightly
def test_the_suggestions_of_a_category_stand_together_wherever_its_pages_move(project, as_editor, editor):
    tents, stoves = make_category(project, "Tents"), make_category(project, "Stoves")
    donors = [make_page(project, category=category) for category in (stoves, tents, None, stoves)]
    edges = [make_edge(project, donor, score=0.95 - n / 100, anchor=f"edge {n}") for n, donor in enumerate(donors)]
    chosen = QueueFilter(order=Order.CATEGORY)
    assert listed(project, editor, chosen) == [edges[n].pk for n in (2, 1, 0, 3)]
    cursor, found = None, []
    for _ in edges:
        part = selectors.lines(project, chosen, editor, cursor, size=1)
        found.append(part.lines[0].edge.pk)
        cursor = selectors.Cursor.parse(part.next, Order.CATEGORY)
    assert found == listed(project, editor, chosen)
    heads = [readable(card["head"]) for card in as_editor.get(f"{DECK}?order=category").json()["cards"]]
    assert heads[0].startswith("Category Pages without a category 0 accepted of 1")
    assert heads[2].startswith("Category Stoves 0 accepted of 2")
    donors[0].category = tents
    donors[0].save()
    assert listed(project, editor, chosen) == [edges[n].pk for n in (2, 0, 1, 3)]
    tents.delete()
    assert listed(project, editor, chosen) == [edges[n].pk for n in (0, 1, 2, 3)]
    preview = text(as_editor.get(GROUP, {"category": stoves.pk}))
    assert "Accept 1 suggestion on pages of this category?" in preview
    assert "Accept 3 suggestions on pages" in text(as_editor.get(GROUP, {"category": 0}))
    sent = [f"{edge.pk}:{edge.run_id}:{edge.anchor}" for edge in edges[:3]]
    as_editor.post(GROUP, {"category": 0, "query": "order=category", "edge": sent})
    assert list(CandidateEdge.objects.filter(status="suggested")) == [edges[3]]
