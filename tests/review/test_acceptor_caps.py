"""An acceptor that may receive no more new links, by the run that proposed one: at a decision and at a release."""

from __future__ import annotations

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from linker.matching.full_pages import bring_back, take_out
from linker.models import Block, CandidateEdge, EdgeStatus
from review import decisions
from review.decisions import decide_edges
from review.models import Decision, Held, Verb
from review.queue import bulk
from review.queue.selectors import card_of
from review.rulings import Shown
from tests.factories import make_category, make_edge, make_link, make_page, make_run
from tests.review.test_caps import accept, codes
from tests.review.test_checks import held_of

pytestmark = pytest.mark.django_db

FULL = "New links to the acceptor: 2 approved; the match run allows 2."


@pytest.fixture
def links(project):
    """Makes links to one acceptor, each with words of its own, under a cap of two."""
    run, acceptor = make_run(project, params={"per_target": 2}), make_page(project)

    def make(number: int = 1, **fields) -> list[CandidateEdge]:
        first = project.edges.count()
        fields = {"run": run} | fields
        return [
            make_edge(project, None, acceptor, score=0.9 - at / 100, anchor=f"words {at}", **fields)
            for at in range(first, first + number)
        ]

    return make


@pytest.mark.nightly
def test_an_acceptor_that_is_full_is_asked_about_and_its_card_says_so(editor, links):
    first, second, third = links(3)
    assert accept(first, editor).decided
    assert not card_of(CandidateEdge.objects.get(pk=third.pk)).warnings
    assert accept(second, editor).decided
    [sign] = [one for one in card_of(CandidateEdge.objects.get(pk=third.pk)).signs if one.name == "Acceptor full"]
    assert sign.text == FULL
    assert codes(accept(third, editor)) == ["acceptor_full"]
    third.refresh_from_db()
    assert third.status == EdgeStatus.SUGGESTED
    assert codes(accept(third, editor, "donor_full")) == ["acceptor_full"]


@pytest.mark.nightly
def test_what_an_editor_overrules_is_kept_and_leaves(project, editor, links):
    links(2, status=EdgeStatus.ACCEPTED)
    [third] = links()
    assert accept(third, editor, "acceptor_full").decided
    assert Decision.objects.get(edge=third).overruled == [{"code": "acceptor_full", "text": FULL}]
    assert held_of(project) == []
    links(status=EdgeStatus.ACCEPTED)
    said = "The acceptor may receive 2 new links, and better ones come first."
    assert held_of(project) == [(Held.ACCEPTOR_FULL, said)]


def test_what_the_site_has_takes_no_room_and_a_released_link_does_until_then(editor, links):
    released, other = links(2, status=EdgeStatus.EXPORTED)
    [edge] = links()
    assert codes(accept(edge, editor)) == ["acceptor_full"]
    make_link(released.source, released.target, block=Block.CONTENT if released.placement == "inline" else Block.ASIDE)
    for _ in range(3):
        make_link(make_page(edge.project), other.target)
    assert accept(edge, editor).decided


def test_the_cap_is_that_which_the_run_worked_with_and_none_asks_nothing(project, editor, links):
    links(2, status=EdgeStatus.ACCEPTED)
    by_share = make_run(project, params={"per_target": 200}, report={"allocation": {"target_cap": 2}})
    without = make_run(project, params={"per_target": 0, "target_share": 1.0}, report={"allocation": {"target_cap": 0}})
    assert codes(accept(*links(run=by_share), editor)) == ["acceptor_full"]
    assert accept(*links(run=without), editor).decided


def test_what_is_accepted_already_is_not_another_link(project, editor, links):
    _, edge = links(2, status=EdgeStatus.ACCEPTED)
    outcome = decide_edges(project, [edge.pk], Verb.ACCEPT, editor, shown=Shown(EdgeStatus.ACCEPTED))
    assert (len(outcome.decided), codes(outcome)) == (1, [])


@pytest.mark.parametrize("at_once", [200, 1])
def test_several_accepted_at_once_fill_the_acceptor_one_after_the_other(project, editor, links, monkeypatch, at_once):
    monkeypatch.setattr(bulk, "AT_ONCE", at_once)
    edges = links(4)
    foreseen = decisions.warnings_beforehand(project, edges)
    assert [[one.text for one in foreseen.get(edge.pk, ())] for edge in edges] == [[], [], [FULL], [FULL]]
    seen = Shown(runs={edge.pk: edge.run_id for edge in edges})
    outcome = bulk.decide_all(project, editor, seen, Verb.ACCEPT, decisions.NOTHING_MORE)
    assert {doubt.edge.pk for doubt in outcome.doubts} == set(foreseen)
    assert (len(outcome.decided), codes(outcome)) == (2, ["acceptor_full"] * 2)
    assert held_of(project) == []


def test_a_donor_and_an_acceptor_that_are_full_are_both_named(project, editor, links):
    links(2, status=EdgeStatus.ACCEPTED)
    section = make_category(project, "Magazine")
    project.section_caps.create(category=section, inline_in_all=0)
    [third] = links(placement="inline")
    third.source.category = section
    third.source.save()
    assert codes(accept(third, editor)) == ["donor_full", "acceptor_full"]
    assert codes(accept(third, editor, "acceptor_full")) == ["donor_full", "acceptor_full"]
    assert accept(third, editor, "donor_full", "acceptor_full").decided
    assert held_of(project) == []


@pytest.mark.nightly
def test_a_decision_asks_as_often_for_one_acceptor_as_for_many(project, editor):
    def asked(acceptors: int) -> int:
        edges = [make_edge(project, anchor=f"words {number} {acceptors}") for number in range(acceptors)]
        with CaptureQueriesContext(connection) as queries:
            decide_edges(project, [edge.pk for edge in edges], Verb.ACCEPT, editor)
        return len(queries)

    asked(2)
    assert asked(2) == asked(9)


def test_suggestions_for_a_full_acceptor_leave_the_queue_until_it_has_room_again(project, links):
    accepted = links(2, status=EdgeStatus.ACCEPTED)
    [waiting] = links()
    [uncapped] = links(run=make_run(project, params={"per_target": 0}))
    elsewhere = make_edge(project, run=waiting.run)
    with transaction.atomic():
        assert take_out(project) == 1
    capped = project.edges.filter(capped_at__isnull=False)
    assert list(capped) == [waiting]
    assert not project.edges.filter(pk__in=[uncapped.pk, elsewhere.pk], stale=True).exists()
    with transaction.atomic():
        assert bring_back(project) == 0
    CandidateEdge.objects.filter(pk=accepted[0].pk).update(status=EdgeStatus.REJECTED)
    with transaction.atomic():
        assert bring_back(project) == 1
    waiting.refresh_from_db()
    assert (waiting.stale, waiting.capped_at) == (False, None)
