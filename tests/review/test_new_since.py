"""What is new since a day: the queue, the export, the released links and the pages list exactly that."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from uuid import uuid4

import pytest
from django.db import connection
from django.http import QueryDict
from django.urls import reverse

from linker.models import CandidateEdge, Page, Project
from review.queue import few, selectors
from review.queue.counts import queue_counts
from review.queue.filters import ALL, ExportFilter, Order, QueueFilter
from review.releases.outgoing import LinkFilter
from tests.factories import make_edge, make_page
from tests.review.queue_requests import text
from tests.review.test_queue_at_size import mostly_held_back, plan_of

pytestmark = pytest.mark.django_db

DAY = date(2026, 3, 29)  # the clocks of Berlin went forward
LISTS = ["queue/?", "queue/all-filters/?", "pages/?", "export/links/?"]


@pytest.fixture(params=[few.FEW, 0], ids=["few", "many"])
def size(request, monkeypatch) -> None:
    """The list is right whether what is new is few or many."""
    monkeypatch.setattr(few, "FEW", request.param)


@pytest.fixture
def berlin(project) -> Project:
    project.time_zone = "Europe/Berlin"
    project.save()
    return project


def proposed(project: Project, *when: int, **fields: object) -> CandidateEdge:
    edge = make_edge(project, **fields)  # type: ignore[arg-type]
    CandidateEdge.objects.filter(pk=edge.pk).update(created_at=datetime(2026, 3, *when, tzinfo=UTC))
    return edge


def listed(project: Project, user, **fields: object) -> set[int]:
    chosen = QueueFilter(since=DAY, **fields)  # type: ignore[arg-type]
    ids = {line.edge.pk for line in selectors.lines(project, chosen, user).lines}
    assert ids == set(chosen.queryset(project).values_list("pk", flat=True))
    counts = queue_counts(project, chosen, user)
    assert int(counts.of(chosen.status)) == len(ids)
    return ids


@pytest.mark.sample(8)
@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("order", list(Order))
def test_the_queue_lists_and_counts_what_was_first_proposed_on_the_day_or_later(berlin, editor, order):
    proposed(berlin, 28, 22, 59)
    first, later = proposed(berlin, 28, 23), proposed(berlin, 30)
    assert listed(berlin, editor, order=order) == {first.pk, later.pk}


@pytest.mark.nightly
@pytest.mark.usefixtures("size")
def test_a_day_goes_together_with_other_filters(berlin, editor):
    proposed(berlin, 1, status="accepted")
    proposed(berlin, 1)
    sure, likely, held, below, stale, accepted = (
        proposed(berlin, 30, **fields)
        for fields in (
            {"score": 0.95, "anchor": "warm socks"},
            {"probability": 0.8},
            {"score": 0.55},
            {"score": 0.1},
            {"stale": True},
            {"status": "accepted"},
        )
    )
    assert below.tier is None
    assert listed(berlin, editor) == {sure.pk, likely.pk}
    assert listed(berlin, editor, text="socks") == {sure.pk}
    assert listed(berlin, editor, probability=50) == {likely.pk}
    assert listed(berlin, editor, tier=held.tier_id) == {held.pk}
    assert listed(berlin, editor, held=True) == {sure.pk, likely.pk, held.pk, below.pk}
    assert listed(berlin, editor, stale=True) == {sure.pk, likely.pk, stale.pk}
    assert listed(berlin, editor, status="accepted") == {accepted.pk}
    assert listed(berlin, editor, status=ALL) == {sure.pk, likely.pk, accepted.pk}


@pytest.mark.nightly
@pytest.mark.usefixtures("size")
def test_a_decision_goes_on_within_what_is_new(berlin, editor, client_for):
    donor = make_page(berlin)
    first = proposed(berlin, 30, source=donor, score=0.95)
    proposed(berlin, 1, source=donor, score=0.9)
    last = proposed(berlin, 30, source=donor, score=0.86)
    chosen = QueueFilter(since=DAY)
    following = selectors.next_edge(berlin, chosen, editor, first)
    assert following is not None
    assert following.pk == last.pk
    client, query = client_for(editor), f"since={DAY}"
    operation = {"key": str(uuid4()), "kind": "decide", "edge": first.pk, "do": "reject", "expected": "suggested",
                 "run": first.run_id, "shown": first.anchor}  # fmt: skip
    body = json.dumps({"query": query, "operations": [operation]})
    assert client.post(reverse("operations", args=["shop"]), body, content_type="application/json").status_code == 200
    assert listed(berlin, editor) == {last.pk}
    cards = client.get(f"{reverse('deck', args=['shop'])}?{query}").json()["cards"]
    assert [card["edge"] for card in cards] == [last.pk]


def test_the_export_and_the_released_links_are_those_first_proposed_since(berlin):
    proposed(berlin, 1, status="accepted")
    proposed(berlin, 1, status="exported")
    accepted, left = (proposed(berlin, 30, status=status) for status in ("accepted", "exported"))
    export = ExportFilter.from_query(QueryDict(f"since={DAY}&status=accepted"))
    assert set(export.edges(berlin)) == {accepted}
    again = ExportFilter.from_query(
        {name: str(value) for name, value in json.loads(json.dumps(export.to_dict())).items()}
    )
    assert again == export
    links = LinkFilter.from_query(QueryDict(f"since={DAY}"))
    assert [edge for part in links.ranges(berlin) for edge in part] == [left]
    assert LinkFilter.from_query(QueryDict(links.to_query())) == links


def test_the_pages_are_those_first_imported_since_then_and_combine(berlin, client_for, viewer):
    for path, hour in (("/before", 22), ("/socks", 23), ("/boots", 23)):
        page = make_page(berlin, path, title=path[1:])
        Page.objects.filter(pk=page.pk).update(first_seen_at=datetime(2026, 3, 28, hour, tzinfo=UTC))
    client = client_for(viewer)
    answer = client.get(f"/p/shop/pages/?since={DAY}")
    assert ({page.title for page in answer.context["rows"]}, answer.context["count"]) == ({"socks", "boots"}, 2)
    assert 'value="2026-03-29"' in answer.content.decode()
    assert [page.title for page in client.get(f"/p/shop/pages/?since={DAY}&q=sock").context["rows"]] == ["socks"]


@pytest.mark.parametrize("place", LISTS)
def test_viewers_see_the_field_filled_in_and_outsiders_see_nothing(berlin, client_for, viewer, outsider, place):
    proposed(berlin, 30)
    answer = client_for(viewer).get(f"/p/shop/{place}since={DAY}")
    assert answer.status_code == 200
    assert "29 Mar 2026" in text(answer) if place == "queue/?" else 'value="2026-03-29"' in answer.content.decode()
    assert client_for(outsider).get(f"/p/shop/{place}since={DAY}").status_code == 404


@pytest.mark.nightly
@pytest.mark.parametrize(
    "day", ["foo", "2026-02-30", "20260329", "2026-W13-7", "29.03.2026", "2026-3-29", "a%00b", "²"]
)
def test_what_is_no_day_is_left_out_with_a_sentence(berlin, client_for, viewer, day):
    client = client_for(viewer)
    for place in LISTS:
        answer = client.get(f"/p/shop/{place}since={day}")
        assert answer.status_code == 200
        assert "takes a day written as year-month-day" in text(answer), place
    answer = client.get(f"/p/shop/export/?since={day}")
    assert "takes a day written as year-month-day" in text(answer)


@pytest.mark.nightly
@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles"])
def test_the_first_and_the_last_day_are_days(project, client_for, viewer, day, zone):
    project.time_zone = zone
    project.save()
    make_edge(project)
    for place in LISTS:
        assert client_for(viewer).get(f"/p/shop/{place}since={day}").status_code == 200


@pytest.mark.nightly
def test_the_export_page_says_the_day_and_shows_no_other(berlin, client_for, editor):
    proposed(berlin, 1, status="accepted")
    proposed(berlin, 30, status="accepted")
    answer = client_for(editor).get(f"/p/shop/export/?since={DAY}")
    assert "new since 29 Mar 2026" in text(answer)
    assert answer.context["preview"].links == 1


@pytest.mark.nightly
def test_few_new_ones_among_many_are_found_by_the_index_of_their_day(project, editor):
    mostly_held_back(project)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")  # as above, pages that are not there do
        cursor.execute(
            "UPDATE linker_candidateedge SET created_at = '2026-03-01' "
            "WHERE id <= (SELECT max(id) FROM linker_candidateedge) - 40"
        )
        cursor.execute("SET LOCAL session_replication_role = origin")
        cursor.execute("ANALYZE linker_candidateedge")
    chosen = QueueFilter(since=DAY)
    plans = plan_of(project, chosen)
    assert plans
    assert all("edge_by_first_proposed" in plan for plan in plans), plans
    assert "edge_by_first_proposed" in chosen.scope(project).explain()
    assert queue_counts(project, chosen, editor).to_review == sum(part.count() for part in chosen.parts(project)) == 4
