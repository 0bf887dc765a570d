"""What an editor sets aside for later leaves that editor's list alone."""

from __future__ import annotations

import pytest
from django.urls import reverse

from linker.models import CandidateEdge
from review.decisions import decide_edges
from review.models import SetAside, Verb
from review.queue import selectors
from review.queue.counts import queue_counts
from review.queue.filters import QueueFilter
from review.queue.recent import recent_work
from review.undoing import undo
from tests.factories import make_edge, make_member, make_page
from tests.review.queue_requests import (
    DECK,
    GROUP,
    PAGE,
    decide_url,
    decision,
    form,
    later_url,
    operation,
    results,
    send,
    status,
    text,
)

pytestmark = pytest.mark.django_db

ALL, LATER = QueueFilter(), QueueFilter(later=True)


def listed(project, user, chosen: QueueFilter = ALL) -> list[CandidateEdge]:
    return [line.edge for line in selectors.lines(project, chosen, user).lines]


def counts(project, user, chosen: QueueFilter = ALL) -> tuple[int, int, int]:
    found = queue_counts(project, chosen, user)
    return found.to_review, found.later, found.total


def test_what_is_set_aside_leaves_my_list_and_nobody_elses(project, editor, as_editor):
    first, second = make_edge(project, score=0.9), make_edge(project, score=0.85)
    other = make_member(project)
    answer = send(as_editor, operation("aside", edge=first.pk))
    assert (results(answer), answer["counts"]["left"]) == (["saved"], 1)
    assert listed(project, editor) == [second]
    assert listed(project, editor, LATER) == [first]
    assert listed(project, other) == [first, second]
    assert listed(project, other, LATER) == []
    assert (counts(project, editor), counts(project, other)) == ((1, 1, 2), (2, 0, 2))
    assert status(first) == "suggested"


def test_it_comes_back(project, editor, as_editor):
    edge = make_edge(project)
    aside, back = operation("aside", edge=edge.pk), operation("back", edge=edge.pk)
    assert results(send(as_editor, aside, aside)) == ["saved", "saved"]
    assert SetAside.objects.count() == 1
    assert send(as_editor, query="later=1")["counts"]["left"] == 1
    assert results(send(as_editor, back, back)) == ["saved", "saved"]
    assert listed(project, editor) == [edge]
    assert counts(project, editor) == (1, 0, 1)


@pytest.mark.nightly
@pytest.mark.parametrize("by_another", [False, True])
def test_what_is_decided_is_in_no_list_of_what_is_set_aside_and_set_aside_again_once_undone(
    project, editor, as_editor, edge, by_another
):
    send(as_editor, operation("aside", edge=edge.pk))
    other = make_member(project)
    taken = results(send(as_editor, decision(edge), query="later=1")) if not by_another else []
    if by_another:
        decide_edges(project, [edge.pk], Verb.ACCEPT, other)
    assert taken == ([] if by_another else ["saved"])
    for chosen in (LATER, QueueFilter(later=True, status="all")):
        assert listed(project, editor, chosen) == []
    assert counts(project, editor) == (0, 0, 1)
    undo(project, other if by_another else editor)
    assert (listed(project, editor), listed(project, editor, LATER)) == ([], [edge])
    assert counts(project, editor) == (0, 1, 1)


@pytest.mark.nightly
def test_what_was_not_set_aside_is_not_once_its_decision_is_undone(project, editor, as_editor, edge):
    send(as_editor, operation("aside", edge=edge.pk), operation("back", edge=edge.pk), decision(edge))
    undo(project, editor)
    assert (listed(project, editor), listed(project, editor, LATER)) == ([edge], [])


def test_without_a_script_too_it_is_set_aside_again(project, editor, as_editor, edge):
    as_editor.post(later_url(edge), {"query": ""})
    as_editor.post(decide_url(edge), form(edge))
    undo(project, editor)
    assert listed(project, editor, LATER) == [edge]


@pytest.mark.nightly
def test_what_another_decides_meanwhile_is_no_longer_counted(project, editor, as_editor, edge):
    other = make_member(project)
    send(as_editor, operation("aside", edge=edge.pk))
    decide_edges(project, [edge.pk], Verb.REJECT, other)
    assert listed(project, editor, LATER) == []
    assert counts(project, editor) == (0, 0, 1)
    undo(project, other)
    assert listed(project, editor, LATER) == [edge]


def test_the_counts_keep_to_the_filter(project, editor):
    red, blue = make_edge(project, anchor="red boots"), make_edge(project, anchor="blue boots", sensitive="Health")
    for edge in (red, blue):
        SetAside.objects.create(project=project, user=editor, edge=edge)
    assert counts(project, editor, QueueFilter(text="red")) == (0, 1, 1)
    found = queue_counts(project, QueueFilter(), editor)
    assert (found.sensitive, found.later, found.percent) == (0, 2, 0)


def test_lists_of_every_status_hold_what_is_set_aside(project, editor):
    edge = make_edge(project)
    SetAside.objects.create(project=project, user=editor, edge=edge)
    chosen = QueueFilter(status="all")
    assert listed(project, editor, chosen) == [edge]
    assert queue_counts(project, chosen, editor).of("all") == 1


def test_a_group_leaves_out_what_is_set_aside(project, editor, as_editor):
    donor = make_page(project)
    aside, _ = make_edge(project, donor), make_edge(project, donor)
    SetAside.objects.create(project=project, user=editor, edge=aside)
    assert "Accept 1 suggestion on this page?" in text(as_editor.get(GROUP, {"donor": donor.pk}))


@pytest.mark.nightly
def test_without_a_script_the_next_card_follows(project, editor, as_editor):
    first, second = make_edge(project, score=0.9), make_edge(project, score=0.85)
    answer = as_editor.post(later_url(first), {"query": "order=score"})
    assert answer.url == f"{PAGE}?order=score&at={second.pk}"
    assert listed(project, editor) == [second]
    as_editor.post(later_url(second), {"query": ""})
    page = text(as_editor.get(PAGE))
    assert "Nothing left to review" in page
    assert "Set aside for later 2" in page
    later = as_editor.get(f"{PAGE}?later=1")
    assert "Back to the queue" in text(later)
    assert 'name="back" value="1"' in later.content.decode()
    as_editor.post(later_url(first), {"query": "later=1", "back": "1"})
    assert listed(project, editor) == [first]
    assert [card["edge"] for card in as_editor.get(f"{DECK}?later=1").json()["cards"]] == [second.pk]


@pytest.mark.nightly
def test_only_editors_of_the_project_set_aside(edge, outsider, viewer, client_for, as_editor):
    assert client_for(outsider).post(later_url(edge)).status_code == 404
    assert client_for(viewer).post(later_url(edge)).status_code == 403
    assert client_for(outsider).post(later_url(edge).replace("shop", "elsewhere")).status_code == 404
    assert as_editor.get(later_url(edge)).url == PAGE
    assert as_editor.post(later_url(edge), {"query": "a\nb"}).status_code == 400
    assert results(send(as_editor, operation("aside", edge=edge.pk + 10_000))) == ["refused"]
    assert not SetAside.objects.exists()


def test_what_is_set_aside_goes_with_its_project_and_its_editor(project, edge, editor, viewer):
    for user in (editor, viewer):
        SetAside.objects.create(project=project, user=user, edge=edge)
    viewer.delete()
    assert SetAside.objects.count() == 1
    edge.delete()
    assert SetAside.objects.count() == 0


@pytest.mark.nightly
def test_it_is_among_the_last_things_done_and_undo_takes_it_back_without_a_script_too(project, editor, as_editor):
    edges = [make_edge(project, score=0.9 - n / 100) for n in range(3)]
    decide_edges(project, [edges[0].pk], Verb.ACCEPT, editor)
    send(as_editor, operation("aside", edge=edges[1].pk))
    done = recent_work(project, editor)
    assert [(one.edge, one.decision is None) for one in done] == [(edges[1], True), (edges[0], False)]
    assert recent_work(project, make_member(project)) == []
    url = reverse("undo", args=[project.slug])
    as_editor.post(url)
    assert listed(project, editor) == edges[1:]
    as_editor.post(url)
    assert listed(project, editor) == edges


def test_what_another_has_decided_since_is_no_more_among_the_last_things_done(project, editor, as_editor, edge):
    send(as_editor, operation("aside", edge=edge.pk))
    decide_edges(project, [edge.pk], Verb.ACCEPT, make_member(project))
    assert recent_work(project, editor) == []


def test_the_number_of_all_is_that_of_the_list_of_all(project, editor):
    make_edge(project)
    make_edge(project, status="rejected", reviewed=True)
    make_edge(project, score=0.1)
    make_edge(project, stale=True)
    for chosen in (QueueFilter(status="all"), QueueFilter(status="all", held=True, stale=True)):
        listed = selectors.lines(project, chosen, editor).lines
        assert queue_counts(project, chosen, editor).of("all") == len(listed)
