"""A suggestion that another editor has decided comes once more among the open ones, and the keys do the same to it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from linker.models import CandidateEdge
from review.decisions import decide_edges
from review.models import OpinionRequest, SecondReading, Verb
from review.overlap import is_read_twice
from tests.browser.queue.screen import expect_open, expect_saved, press, recent, reload, statuses
from tests.factories import make_edge, make_member

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def due(project, edges) -> CandidateEdge:
    """Maria has rejected it; the share is set."""
    project.read_twice = 20
    project.save()
    while not is_read_twice(project, (edge := make_edge(project, anchor="warm boots")).pk):
        edge.delete()
    decide_edges(project, [edge.pk], Verb.REJECT, make_member(project, username="maria"))
    return edge


@pytest.mark.nightly
def test_it_is_decided_and_undone_with_the_keys_also_after_a_reload_and_its_first_decision_stands(due, edges, at_queue):
    press(at_queue, "aa")
    expect_open(at_queue, due)
    press(at_queue, "xx")
    expect_open(at_queue, edges[2])
    expect_saved(at_queue)
    press(at_queue, "u")
    expect_open(at_queue, due)
    press(at_queue, "a")
    expect_open(at_queue, edges[2])
    press(at_queue, ("m", "Enter"))
    expect_open(at_queue, edges[3])
    expect_saved(at_queue)
    reload(at_queue)
    expect(recent(at_queue)).to_have_count(4)
    for edge in (edges[2], due, edges[1]):
        press(at_queue, "u")
        expect_open(at_queue, edge)
    expect_saved(at_queue)
    assert not OpinionRequest.objects.exists()
    said = list(SecondReading.objects.order_by("pk").values_list("verb", flat=True))
    assert said == ["reject", "undo", "accept", "undo"]
    assert statuses([due, *edges]) == ["rejected", "accepted", "suggested", "suggested", "suggested"]
