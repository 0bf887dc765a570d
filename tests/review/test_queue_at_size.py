"""The queue asks a constant number of questions, reads its lists off indexes, and finds words by their beginnings."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from linker.models import CandidateEdge, EdgeCount, EdgeStatus
from linker.wording import AtLeast
from linker.wording import number as in_words
from review.decisions import decide_edges
from review.models import SetAside, Verb
from review.queue import counts, search, selectors
from review.queue.counts import queue_counts
from review.queue.filters import ALL, Order, QueueFilter
from tests.factories import make_category, make_edge, make_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from linker.models import Project, Tier

pytestmark = pytest.mark.django_db


def asked(work: Callable[[], object]) -> int:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        work()
    return len(queries)


def some_edges(project: Project, number: int) -> list[CandidateEdge]:
    category = make_category(project, "A", f"B{number}")
    donors = [make_page(project, category=category) for _ in range(3)]
    return [make_edge(project, donors[n % 3], score=0.81 + n / 1000) for n in range(number)]


@pytest.mark.nightly
@pytest.mark.parametrize(
    "query", ["", "status=all", "text=page", "category=1", "tier=1", "order=need", "status=rejected"]
)
def test_the_queue_asks_as_much_for_many_suggestions_as_for_few(project, client_for, editor, query):
    edges = some_edges(project, 12)
    decide_edges(project, [edge.pk for edge in edges[:2]], Verb.REJECT, editor)
    client, address = client_for(editor), f"{reverse('queue', args=[project.slug])}?{query}"
    client.get(address)
    few = asked(lambda: client.get(address))
    more = some_edges(project, 30)
    decide_edges(project, [edge.pk for edge in more[:5]], Verb.REJECT, editor)
    assert asked(lambda: client.get(address)) <= few


@pytest.mark.nightly
def test_the_deck_asks_as_much_for_many_cards_as_for_few(project, client_for, editor):
    client, address = client_for(editor), reverse("deck", args=[project.slug])
    some_edges(project, 2)
    client.get(address)
    few = asked(lambda: client.get(address))
    some_edges(project, 18)
    assert asked(lambda: client.get(address)) == few


@pytest.mark.nightly
def test_a_decision_asks_as_much_among_many_suggestions_as_among_few(project, client_for, editor):
    client, address = client_for(editor), reverse("operations", args=[project.slug])

    def reject(edge: CandidateEdge) -> int:
        operation = {"key": str(uuid4()), "kind": "decide", "edge": edge.pk, "do": "reject", "expected": "suggested",
                     "run": edge.run_id, "shown": edge.anchor}  # fmt: skip
        body = json.dumps({"query": "", "operations": [operation]})
        return asked(lambda: client.post(address, body, content_type="application/json"))

    first, second, *_ = some_edges(project, 3)
    reject(first)
    few = reject(second)
    last = some_edges(project, 40)[-1]
    assert reject(last) == few


def test_counts_stop_and_say_so(project, editor, monkeypatch):
    monkeypatch.setattr(counts, "MOST", 2)
    edges = some_edges(project, 5)
    found = queue_counts(project, QueueFilter(text="page"), editor)
    assert (found.to_review, isinstance(found.to_review, AtLeast), isinstance(found.total, AtLeast)) == (3, True, True)
    assert (in_words(found.to_review), in_words(1234)) == ("3+", "1,234")
    of_donor = queue_counts(project, QueueFilter(donor=edges[2].source_id), editor)
    assert (of_donor.to_review, isinstance(of_donor.to_review, AtLeast)) == (1, False)
    assert queue_counts(project, QueueFilter(), editor).to_review == 5


@pytest.mark.nightly
def test_kept_counts_and_counted_ones_agree_under_every_filter(project, editor):
    category = make_category(project, "A")
    below = make_category(project, "A", "B")
    for number in range(24):
        make_edge(
            project,
            make_page(project, category=(None, category, below)[number % 3]),
            score=0.45 + number / 50,
            sensitive="x" if number % 5 == 0 else "",
            stale=number % 7 == 0,
            status=("suggested", "accepted", "rejected", "exported", "withdrawn", "suggested")[number % 6],
        )
    tier = project.tiers.get(basis="cosine", name="Reserve")
    queries = (
        "", f"category={category.pk}", f"tier={tier.pk}", "sensitive=only", "sensitive=not",
        "placement=inline", "placement=gap", "ranked_by=cosine", "held=1", "stale=1",
        "held=1&stale=1",
    )  # fmt: skip
    for query in queries:
        chosen = QueueFilter.from_query(QueryDict(query))
        kept = queue_counts(project, chosen, editor)
        counted, is_whole = counts._counted(project, chosen)
        assert is_whole
        assert kept.total == sum(kind.number for kind in counted) == chosen.scope(project).count(), query
        assert kept.to_review == chosen.queryset(project).count(), query
        for status in ("suggested", "rejected", ALL):
            listed = QueueFilter.from_query(QueryDict(f"{query}&status={status}"))
            ids = [edge.pk for part in listed.parts(project) for edge in part]
            assert sorted(ids) == sorted(listed.queryset(project).values_list("pk", flat=True)), (query, status)


@pytest.mark.sample(3)
@pytest.mark.parametrize("order", list(Order))
def test_a_list_made_of_parts_is_in_order_and_whole_from_page_to_page(project, editor, order):
    edges = some_edges(project, 9)
    CandidateEdge.objects.filter(pk__in=[edge.pk for edge in edges[::2]]).update(tier=project.tiers.last())
    project.tiers.update(held=False)
    SetAside.objects.create(project=project, user=editor, edge=edges[3])
    chosen = QueueFilter(order=order)
    seen: list[int] = []
    after = None
    while True:
        found = selectors.lines(project, chosen, editor, after, size=2)
        seen += [line.edge.pk for line in found.lines]
        if not found.next:
            break
        after = selectors.Cursor.parse(found.next, order)
    whole = chosen.queryset(project).exclude(pk=edges[3].pk)
    assert seen == list(whole.values_list("pk", flat=True))


@pytest.mark.parametrize(
    ("text", "found"),
    [("résumé", True), ("RESUME", True), ("resu", True), ("tips red", True), ("sume", False), ("nothing", False),
     ("r-é-d/tip", False), ("'); --", False), ("&|!:*", False)],
)  # fmt: skip
def test_words_are_found_by_their_beginnings_without_case_and_accents(project, editor, text, found):
    make_edge(project, make_page(project, "/red-shoes/résumé.html", title="Tips"), make_page(project, "/other"))
    listed = selectors.lines(project, QueueFilter(text=text), editor).lines
    assert bool(listed) == found
    assert queue_counts(project, QueueFilter(text=text), editor).total == len(listed)


@pytest.mark.parametrize("many", [0, 100])
def test_a_search_finds_donors_acceptors_and_anchors_however_many_pages_hold_the_words(
    project, editor, monkeypatch, many
):
    monkeypatch.setattr(search, "MANY_PAGES", many)
    ours, other = make_page(project, "/x", title="Blue whale"), make_page(project, "/y", title="Krill")
    edges = [
        make_edge(project, ours, other),
        make_edge(project, other, ours),
        make_edge(project, make_page(project, "/z"), make_page(project, "/w"), anchor="a blue whale"),
        make_edge(project, other, make_page(project, "/v", title="Blue sea")),
    ]
    listed = selectors.lines(project, QueueFilter(text="whale blue"), editor).lines
    assert {line.edge.pk for line in listed} == {edge.pk for edge in edges[:3]}


def plan_of(project: Project, chosen: QueueFilter) -> list[str]:
    return [part.values_list("pk")[:21].explain() for part in chosen.parts(project)]


def mostly_held_back(project: Project) -> Tier:
    """20,000 open suggestions, nine of ten in a tier that is held back: the tier."""
    edge = make_edge(project, score=0.9)
    held = project.tiers.filter(held=True).first()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")  # pages that are not there do
        cursor.execute(
            "INSERT INTO linker_candidateedge (project_id, source_id, target_id, status, stale, run_id, generators, "
            "ranked_by, level, similarity, score, probability, quantile, why, evidence, donor_best, created_at, "
            "updated_at, tier_id, placement, rel, sensitive, content_gap, anchor, anchor_source, anchor_alternatives, "
            "edited) "
            "SELECT project_id, 1000000 + n / 20, 1 + n, 'suggested', false, run_id, generators, ranked_by, 0, 0.8, "
            "random(), random(), 0.5, '', '{}', random(), now(), now(), CASE WHEN n %% 10 = 0 THEN tier_id ELSE %s "
            "END, 'related', 'follow', '', false, 'a', 'h1', '[]', false "
            "FROM linker_candidateedge, generate_series(1, 20000) n WHERE id = %s",
            [held.pk, edge.pk],
        )
        cursor.execute("SET LOCAL session_replication_role = origin")
        cursor.execute("ANALYZE linker_candidateedge, linker_edgecount")
    return held


def in_every_state(project: Project) -> Tier:
    """As above; of 20,000 suggestions more of each of three tiers, some below every tier, half is stale and half is
    decided: a tier that is held back."""
    held = mostly_held_back(project)
    shown = project.edges.exclude(tier=held).first()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(
            "INSERT INTO linker_candidateedge (project_id, source_id, target_id, status, stale, run_id, generators, "
            "ranked_by, level, similarity, score, probability, quantile, why, evidence, donor_best, created_at, "
            "updated_at, tier_id, placement, rel, sensitive, content_gap, anchor, anchor_source, anchor_alternatives, "
            "edited) "
            "SELECT project_id, 2000000 + n / 20, 1 + n, CASE WHEN n %% 4 = 1 THEN 'rejected' WHEN n %% 4 = 3 THEN "
            "'accepted' ELSE 'suggested' END, n %% 4 = 0, run_id, generators, ranked_by, 0, 0.8, random(), random(), "
            "0.5, '', '{}', random(), now(), now(), (ARRAY[tier_id, %s, NULL])[1 + n %% 3], 'related', 'follow', '', "
            "false, 'a', 'h1', '[]', false FROM linker_candidateedge, generate_series(1, 60000) n WHERE id = %s",
            [held.pk, shown.pk],
        )
        cursor.execute("SET LOCAL session_replication_role = origin")
        cursor.execute("ANALYZE linker_candidateedge, linker_edgecount")
    return held


ORDERS = {
    Order.DONOR: "donor", Order.NEED: "worth", Order.TARGET: "target", Order.CATEGORY: "section", Order.SCORE: "score",
}  # fmt: skip


@pytest.mark.nightly
@pytest.mark.parametrize("order", list(Order))
def test_the_open_list_is_read_off_its_index_however_much_is_held_back(project, order):
    held = mostly_held_back(project)
    assert EdgeCount.objects.filter(tier=held).exists()
    plans = plan_of(project, QueueFilter(order=order))
    assert len(plans) == 1
    assert f"edge_open_by_{ORDERS[order]}" in plans[0], plans[0]
    assert "Sort" not in plans[0], plans[0]


@pytest.mark.nightly
@pytest.mark.parametrize("order", list(Order))
def test_the_first_page_of_every_list_is_read_off_indexes_in_its_order(project, order):
    held = in_every_state(project)
    of_open, of_rest = f"edge_open_by_{ORDERS[order]}", f"edge_by_{ORDERS[order]}"
    for chosen, indexes in (
        (QueueFilter(), [of_open]),
        (QueueFilter(tier=held.pk), [of_open]),
        (QueueFilter(held=True), [of_open] * 3),
        (QueueFilter(stale=True), [of_open, of_rest]),
        (QueueFilter(stale=True, tier=held.pk), [of_open, of_rest]),
        (QueueFilter(stale=True, held=True), [of_open] * 3 + [of_rest]),
        (QueueFilter(status="rejected"), [of_rest]),
        (QueueFilter(status=ALL), [of_rest] * 4 + [of_open]),
        (QueueFilter(since=timezone.localdate()), [of_open]),
        (QueueFilter(since=timezone.localdate(), stale=True, held=True), [of_open, of_rest] * 3),
    ):
        chosen = dataclasses.replace(chosen, order=order)
        plans = plan_of(project, chosen)
        assert len(plans) == len(indexes), chosen
        for plan, index in zip(plans, indexes, strict=True):
            assert f"using {index} " in plan, f"{chosen}\n{plan}"
            assert "Sort" not in plan, f"{chosen}\n{plan}"
            assert "Seq Scan on linker_candidateedge" not in plan, f"{chosen}\n{plan}"


def test_a_suggestion_is_in_the_lists_by_tier_or_in_those_by_status_and_never_in_both(project):
    for status in EdgeStatus.values:
        for stale in (False, True):
            make_edge(project, status=status, stale=stale)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT i.indexrelid::regclass::text, pg_get_expr(i.indpred, i.indrelid) FROM pg_index i "
            "WHERE i.indrelid = 'linker_candidateedge'::regclass"
        )
        conditions = dict(cursor.fetchall())
        for name in set(ORDERS.values()) - {"section"}:  # the links on the site of a category are of every status
            of_open, of_rest = conditions[f"edge_open_by_{name}"], conditions[f"edge_by_{name}"]
            cursor.execute(f"SELECT count(*) FROM linker_candidateedge WHERE ({of_open}) = ({of_rest})")
            assert cursor.fetchone() == (0,), name


@pytest.mark.nightly
def test_a_count_by_probability_stops_in_its_index_however_many_are_as_likely(project, editor, monkeypatch):
    mostly_held_back(project)
    monkeypatch.setattr(counts, "MOST", 500)
    with CaptureQueriesContext(connection) as queries:
        found = queue_counts(project, QueueFilter(probability=10), editor)
    assert isinstance(found.total, AtLeast)
    (counted,) = (query["sql"] for query in queries if " counted " in query["sql"])
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {counted}")
        ((((plan,)),),) = cursor.fetchall()
    assert most_rows(plan["Plan"]) <= 501


def most_rows(plan: dict) -> float:
    """The most rows that any step of a plan has read."""
    return max([plan["Actual Rows"], *(most_rows(step) for step in plan.get("Plans", ()))])
