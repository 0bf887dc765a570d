"""The suggestions of an open pilot come first in the queue."""

from __future__ import annotations

import pytest
from django.urls import reverse

from linker.models import Pilot
from review.queue.cursor import Cursor
from review.queue.filters import OfPilot, Order, QueueFilter
from review.queue.selectors import cards_of_lines, lines, next_edge
from tests.factories import make_edge, make_run

pytestmark = pytest.mark.django_db


@pytest.mark.sample(4)
@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_an_open_pilot_comes_first_and_the_list_holds_each_suggestion_once(order, size, project, editor):
    whole = make_run(project)
    for score in (0.99, 0.95, 0.9, 0.85):
        make_edge(project, score=score, run=whole)
    pilot = make_run(project, params={"pilot": {"pages": 3}})
    Pilot.objects.create(run=pilot, pages=b"", size=3, out_of=9)
    first = [make_edge(project, score=score, run=pilot).pk for score in (0.88, 0.86, 0.81)]
    chosen, cursor, seen = QueueFilter(order=order), None, []
    for _ in range(20):
        page = lines(project, chosen, editor, cursor, size)
        seen += [line.edge.pk for line in page.lines]
        if not page.next:
            break
        cursor = Cursor.parse(page.next, order)
        assert cursor is not None
    usual = list(project.edges.exclude(run=pilot).order_by(*order.fields).values_list("pk", flat=True))
    assert seen == first + usual
    stepped, edge = [seen[0]], project.edges.get(pk=seen[0])
    while len(stepped) < len(seen):
        edge = next_edge(project, chosen, editor, edge)
        stepped.append(edge.pk)
    assert stepped == seen
    only = lines(project, QueueFilter(order=order, pilot=OfPilot.ONLY), editor)
    assert [line.edge.pk for line in only.lines] == first
    assert all(card.of_pilot for card in cards_of_lines(only.lines))
    rest = lines(project, QueueFilter(order=order, pilot=OfPilot.NOT), editor)
    assert [line.edge.pk for line in rest.lines] == usual


def test_after_the_next_match_a_pilot_no_longer_comes_first(project, editor):
    pilot = make_run(project, params={"pilot": {"pages": 3}})
    Pilot.objects.create(run=pilot, pages=b"", size=3, out_of=9)
    low = make_edge(project, score=0.81, run=pilot)
    high = make_edge(project, score=0.99, run=make_run(project))
    shown = [line.edge for line in lines(project, QueueFilter(), editor).lines]
    assert shown == [high, low]


def test_a_card_of_a_pilot_says_so(project, viewer, client_for):
    pilot = make_run(project, params={"pilot": {"pages": 3}})
    Pilot.objects.create(run=pilot, pages=b"", size=3, out_of=9)
    make_edge(project, run=pilot)
    page = client_for(viewer).get(reverse("queue", args=[project.slug])).content.decode()
    assert ">Pilot<span" in page
