"""What a person did last, of whatever kind, is what undo takes back next."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from linker.models import EdgeStatus
from review import overlap
from review.decisions import decide_edges
from review.models import Verb
from review.queue.card_words import name_of
from review.queue.recent import recent_work
from tests.factories import make_edge, make_member, make_page, make_project
from tests.review.known_answers.cards import make_known
from tests.review.queue_requests import BODY, PAGE, UNDO, decision, operation, results, send

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project(read_twice=20, known_share=20)


@pytest.fixture
def due(project):
    """Maria has rejected it, and another is to read it."""
    while not overlap.is_read_twice(project, (edge := make_edge(project)).pk):
        edge.delete()
    decide_edges(project, [edge.pk], Verb.REJECT, make_member(project, username="maria"))
    return edge


@pytest.fixture
def done(project, due, as_editor):
    """Five things of five kinds, done in this order; their cards."""
    donor = make_page(project, body=BODY)
    known = make_known(project, donor, "warm winter boots")
    decided, aside, asked = (make_edge(project) for _ in range(3))
    sent = [
        decision(decided),
        decision(due, expected="suggested"),
        operation("aside", edge=aside.pk),
        operation("ask", edge=known.pk),
        operation("ask", edge=asked.pk, text="Take it?"),
    ]
    assert results(send(as_editor, *sent)) == ["saved"] * 5
    return [decided.pk, due.pk, aside.pk, known.pk, asked.pk]


def held(project, editor) -> list[int]:
    return [one.edge.pk for one in recent_work(project, editor)]


def test_the_page_names_what_is_saved_of_any_kind_so_that_no_browser_counts_it_again(project, done, as_editor):
    shown = as_editor.get(reverse("queue", args=[project.slug]))
    assert len(set(shown.context["saved_keys"].split())) == len(done)
    assert shown.context["saved_keys"] in shown.text


@pytest.mark.nightly
def test_all_of_it_is_listed_and_an_undo_that_names_nothing_takes_it_back_one_by_one(project, editor, done, as_editor):
    assert held(project, editor) == done[::-1]
    assert [one.says for one in recent_work(project, editor)] == [
        "Opinion asked", "Opinion asked", "Later", "Accepted", "Accepted",
    ]  # fmt: skip
    for number in range(5, 0, -1):
        undo = operation("undo")
        [answer] = send(as_editor, undo)["answers"]
        assert answer["result"] == "saved"
        assert [(card["edge"], card["open"]) for card in answer["cards"]] == [(done[number - 1], True)]
        assert send(as_editor, undo)["answers"][0]["cards"][0]["edge"] == done[number - 1]  # it was sent again
        assert held(project, editor) == done[: number - 1][::-1]
    assert results(send(as_editor, operation("undo"))) == ["refused"]


@pytest.mark.nightly
def test_without_a_script_too(project, editor, done, as_editor):
    for number in range(5, 0, -1):
        assert held(project, editor) == done[:number][::-1]
        as_editor.post(UNDO, {"query": ""})
    assert held(project, editor) == []


@pytest.mark.nightly
def test_a_second_reading_is_taken_back_by_its_own_button(project, editor, due, as_editor):
    send(as_editor, decision(due, expected="suggested"))
    [said] = recent_work(project, editor)
    assert f'name="of" value="{said.reading}"' in as_editor.get(PAGE).content.decode()
    as_editor.post(UNDO, {"query": "", "of": str(said.reading)})
    assert held(project, editor) == []
    due.refresh_from_db()
    assert due.status == EdgeStatus.REJECTED


def test_what_is_to_be_read_as_the_second_and_is_set_aside_can_be_taken_back(project, editor, due, as_editor):
    send(as_editor, operation("aside", edge=due.pk))
    assert held(project, editor) == [due.pk]


def test_each_line_names_the_donor(project, done, as_editor, editor):
    lines = re.findall(r'class="recent__from small muted truncate">([^<]*)<', as_editor.get(PAGE).content.decode())
    donors = [name_of(one.edge.source) for one in recent_work(project, editor)]
    assert [" ".join(line.split()) for line in lines] == [f"on {name}" for name in donors]
