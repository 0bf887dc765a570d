"""The queue is sorted surest or most needed first, as somebody chooses or the project says, and its cards say what the
target lacks."""

from __future__ import annotations

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from linker.models import CandidateEdge, Change, Project
from review.models import SetAside
from review.queue import selectors
from review.queue.filters import Order, QueueFilter
from tests.factories import make_edge, make_page
from tests.review.queue_requests import DECK, PAGE, decide_url, form, text

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


def test_the_order_can_be_switched_on_the_page_and_is_kept_by_its_links(project, edges, client_for, viewer):
    page = client_for(viewer).get(f"{PAGE}?order=need")
    assert page.context["chosen"].order == Order.NEED
    assert '<option value="need" selected>Most needed first</option>' in page.content.decode()
    assert 'href="?status=accepted&amp;order=need"' in page.content.decode()
    cards = client_for(viewer).get(f"{DECK}?order=need").json()["cards"]
    assert [card["edge"] for card in cards] == [edge.pk for edge in reversed(edges)]


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


def test_a_card_says_in_one_line_what_the_target_lacks(project, edges, client_for, viewer):
    page = text(client_for(viewer).get(f"{PAGE}?order=need"))
    assert page.count(NEEDS) == 1
    assert "0.900 need of the target" in page
    assert "0.800 expected worth" in page


@pytest.mark.parametrize(
    ("authority", "imported", "words"),
    [
        (0.97, 71, "authority 71, in the top 3%"),
        (0.999, 100, "authority 100, in the top 1%"),
        (0.4, None, "authority by PageRank, in the lower 40%"),
        (0.5, 2.5, "authority 2.5, in the top 50%"),
    ],
)
def test_a_donors_authority_is_said_also_after_a_decision(project, client_for, editor, authority, imported, words):
    donor = make_page(project, "/donor", authority=imported)
    edge = make_edge(project, donor, authority=authority)
    client = client_for(editor)
    assert words in text(client.get(PAGE))
    client.post(decide_url(edge), form(edge))
    assert words in text(client.get(f"{PAGE}{edge.pk}/"))


def test_managers_set_the_usual_order_and_it_is_logged(project, manager, editor, outsider, client_for):
    address = reverse("settings", args=[project.slug])
    client = client_for(manager)
    fields = client.get(address).context["form"].initial
    sent = {name: "\n".join(value) if isinstance(value, list) else value for name, value in fields.items()}
    assert client.post(address, {**sent, "queue_order": "need"}).status_code == 302
    assert Project.objects.get(pk=project.pk).queue_order == "need"
    change = Change.objects.get(kind="settings")
    assert (change.before, change.after) == ({"queue_order": "donor"}, {"queue_order": "need"})
    assert client_for(editor).post(address, sent).status_code == 403
    assert client_for(outsider).post(address, sent).status_code == 404


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
