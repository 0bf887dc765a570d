"""What an open page of the queue asks for: what other windows and other people have done meanwhile."""

from __future__ import annotations

import pytest

from review import overlap
from review.decisions import decide_edges
from review.models import Verb
from tests.factories import make_edge, make_member, make_page, make_project
from tests.review.queue_requests import AS_JSON, PAGE, decision, operation, readable, send

pytestmark = pytest.mark.django_db

MEANWHILE = f"{PAGE}meanwhile/"


@pytest.fixture
def edges(project):
    donor = make_page(project, title="Warm feet")
    return [make_edge(project, donor, make_page(project, title=f"Target {n}")) for n in range(4)]


def asked(client, edge=None, query: str = ""):
    chosen = f"edge={edge.pk}&{query}" if edge else query
    return client.get(f"{MEANWHILE}?{chosen}", headers=AS_JSON).json()


def test_the_last_decisions_are_those_of_all_windows_the_newest_first(edges, as_editor, project, editor):
    for edge in edges[:2]:
        send(as_editor, decision(edge))
    decide_edges(project, [edges[3].pk], Verb.REJECT, make_member(project, username="maria"))
    lines = [readable(line) for line in asked(as_editor)["recent"]]
    assert ["Target 1" in lines[0], "Target 0" in lines[1], len(lines)] == [True, True, 2]
    send(as_editor, operation("undo"))
    [line] = asked(as_editor)["recent"]
    assert "Target 0" in line


def test_the_head_and_the_counts_hold_what_others_have_accepted(edges, as_editor, project):
    assert "0 accepted of 4" in readable(asked(as_editor, edges[0])["head"])
    decide_edges(project, [edges[2].pk, edges[3].pk], Verb.ACCEPT, make_member(project, username="maria"))
    found = asked(as_editor, edges[0])
    assert found["group"] == edges[0].source_id
    assert "2 accepted of 4" in readable(found["head"])
    assert (found["counts"]["left"], found["counts"]["today"], found["closed"]) == (2, 0, None)


def test_the_open_card_comes_once_it_is_decided_and_says_by_whom(edges, as_editor, project):
    decide_edges(project, [edges[0].pk], Verb.REJECT, make_member(project, username="maria"))
    closed = asked(as_editor, edges[0])["closed"]
    assert (closed["edge"], closed["open"]) == (edges[0].pk, False)
    assert "Rejected by maria" in readable(closed["card"])


def test_who_is_to_read_it_as_the_second_is_not_told(as_editor, project):
    project.read_twice = 20
    project.save(update_fields=["read_twice"])
    while not overlap.is_read_twice(project, (edge := make_edge(project)).pk):
        edge.delete()
    decide_edges(project, [edge.pk], Verb.REJECT, make_member(project, username="maria"))
    assert asked(as_editor, edge)["closed"] is None


def test_nothing_is_told_again_while_nobody_decides(edges, as_editor, project):
    mark = asked(as_editor, edges[0])["mark"]
    assert asked(as_editor, edges[0], f"seen={mark}") == {"mark": mark}
    decide_edges(project, [edges[1].pk], Verb.REJECT, make_member(project, username="maria"))
    assert asked(as_editor, edges[0], f"seen={mark}")["counts"]["left"] == 3


@pytest.mark.parametrize("query", ["edge=0", "edge=x", "edge=99999999999999999999", "edge=", ""])
def test_a_card_that_is_none_has_no_head(edges, as_editor, query):
    found = asked(as_editor, query=query)
    assert (found["head"], found["closed"], found["counts"]["left"]) == ("", None, 4)


def test_no_card_of_another_project_is_told(edges, as_editor):
    elsewhere = make_edge(make_project(slug="elsewhere"))
    assert asked(as_editor, elsewhere)["head"] == ""
