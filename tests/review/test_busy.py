"""Whoever meets others at work on the same waits for a moment, learns of it in a sentence, and loses nothing."""

from __future__ import annotations

import json

import pytest

from linker.models import CandidateEdge, Project, Run, RunStatus
from review.models import Decision
from tests.barriers import another_connection
from tests.factories import make_edge, make_page, make_run
from tests.review.queue_requests import HTMX, OPERATIONS, decide_url, decision, form, send

pytestmark = pytest.mark.django_db(transaction=True)

A_MOMENT = "Try again in a moment."


@pytest.fixture(autouse=True)
def _little_patience(settings):
    settings.REQUEST_LOCK_SECONDS = 0.05


@pytest.fixture
def held(edge):
    """A suggestion that another transaction has locked; the fixture is what ends that."""
    with another_connection() as other:
        other.execute("SELECT FROM linker_candidateedge WHERE id = %s FOR NO KEY UPDATE", [edge.pk])
        yield other


def post(client, *operations):
    return client.post(OPERATIONS, json.dumps({"operations": operations, "query": ""}), content_type="application/json")


@pytest.mark.nightly
def test_the_queue_is_told_that_another_change_is_saved_and_sends_the_same_again(as_editor, edge, held):
    kept = decision(edge)
    answer = post(as_editor, kept)
    assert answer.status_code == 503
    assert A_MOMENT in answer.json()["busy"]
    assert not Decision.objects.exists()
    held.rollback()
    assert [one["result"] for one in send(as_editor, kept)["answers"]] == ["saved"]
    assert Decision.objects.get().edge_id == edge.pk


@pytest.mark.nightly
def test_what_was_saved_before_the_wait_is_not_saved_twice(as_editor, project, edge, held):
    free = make_edge(project, make_page(project, "/a"), make_page(project, "/b"), anchor="Other words")
    both = decision(free), decision(edge)
    assert post(as_editor, *both).status_code == 503
    held.rollback()
    assert [one["result"] for one in send(as_editor, *both)["answers"]] == ["saved", "saved"]
    assert sorted(Decision.objects.values_list("edge", flat=True)) == sorted([free.pk, edge.pk])


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("match", "A match is being saved. Try again in a moment."),
        ("import_links", "“Import links” is saving its results. Try again in a moment."),
        (None, "Someone else is saving a change. Try again in a moment."),
    ],
)
def test_the_sentence_names_the_run_that_is_at_work(as_editor, project, edge, held, kind, says):
    if kind:
        make_run(project, kind, RunStatus.RUNNING)
    answer = as_editor.post(decide_url(edge), form(edge), headers=HTMX)
    assert (answer.status_code, answer["Content-Type"]) == (503, "text/plain; charset=utf-8")
    assert answer.content.decode() == says
    assert CandidateEdge.objects.get().status == edge.status


@pytest.mark.nightly
def test_a_plain_form_is_kept_on_the_page_and_sent_again_by_its_button(as_editor, edge, held):
    sent = form(edge, anchor="Boots & “more”")
    answer = as_editor.post(decide_url(edge), sent)
    assert answer.status_code == 503
    assert "What you filled in is kept on this page." in answer.content.decode()
    fields = dict(answer.context["fields"])
    assert fields == {name: str(value) for name, value in sent.items()}
    held.rollback()
    assert as_editor.post(decide_url(edge), fields).status_code == 302
    assert CandidateEdge.objects.get().anchor == "Boots & “more”"


@pytest.mark.nightly
def test_settings_that_wait_for_the_project_are_kept_on_the_page(client_for, manager, project):
    url = "/p/shop/settings/"
    page = client_for(manager).get(url)
    values = {name: value for name, value in page.context["form"].initial.items() if value is not None} | {
        "name": "A shop of boots"
    }
    with another_connection() as other:
        other.execute("SELECT FROM linker_project FOR NO KEY UPDATE")
        answer = client_for(manager).post(url, values)
        assert answer.status_code == 503, answer.content
        assert ("name", "A shop of boots") in answer.context["fields"]
    assert Project.objects.get().name == project.name


@pytest.mark.nightly
def test_a_file_or_a_password_is_not_put_on_a_page(as_editor, edge, held):
    answer = as_editor.post(decide_url(edge), form(edge) | {"password": "heron"})
    assert "heron" not in answer.content.decode()
    assert "Go back" in answer.content.decode()


def test_a_statement_that_takes_too_long_says_so(as_editor, edge, held, settings):
    settings.REQUEST_LOCK_SECONDS, settings.REQUEST_STATEMENT_SECONDS = 0, 0.05
    answer = post(as_editor, decision(edge))
    assert answer.status_code == 503
    assert answer.json()["busy"] == "This took too long, so nothing was changed. Try again later."
    assert not Run.objects.exclude(pk=edge.run_id).exists()
