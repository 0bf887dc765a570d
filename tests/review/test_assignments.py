"""A manager gives a list of the queue to a person, until a day."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from linker.errors import UserError
from linker.models import Category, Change
from review.decisions import decide_edges
from review.models import Assignment, SavedFilter, Verb
from review.queue.assignments import MOST, all_assigned, assign, assigned_to, close
from tests.factories import make_category, make_edge, make_member, make_page, make_project
from tests.review.queue_requests import PAGE, decision, send, text

pytestmark = pytest.mark.django_db
TEAM = f"{PAGE}team/"


def tomorrow() -> date:
    return timezone.localdate() + timedelta(days=1)


@pytest.fixture
def tents(project) -> Category:
    """A category with three suggestions, and one elsewhere."""
    tents = make_category(project, "Camping", "Tents")
    for _ in range(3):
        make_edge(project, make_page(project, category=tents))
    make_edge(project)
    return tents


@pytest.fixture
def ada(project):
    return make_member(project, username="ada")


@pytest.fixture
def given(project, manager, ada, tents) -> Assignment:
    return assign(project, manager, "ada", f"category={tents.pk}", tomorrow(), "Before the fair")


def left(project, user) -> list[int]:
    return [one.left for one in assigned_to(project, user)]


@pytest.mark.nightly
def test_the_person_finds_it_in_the_queue_with_what_is_left_and_until_when(project, given, ada, editor, client_for):
    page = text(client_for(ada).get(PAGE))
    assert "Camping › Tents 3 Until" in page
    chosen = text(client_for(ada).get(f"{PAGE}?{given.query}"))
    assert "3 suggestions are left. “Before the fair”" in chosen
    assert "Camping › Tents 3" not in text(client_for(editor).get(PAGE))


def test_what_is_left_follows_each_decision_and_covers_what_lies_below(project, manager, given, ada):
    edge = project.edges.filter(source__category__path=["Camping", "Tents"]).first()
    decide_edges(project, [edge.pk], Verb.ACCEPT, ada)
    assert left(project, ada) == [2]
    parent = Category.objects.get(project=project, path=["Camping"])
    assign(project, manager, "ada", f"category={parent.pk}", tomorrow())
    assert left(project, ada) == [2, 2]


@pytest.mark.nightly
def test_the_tab_is_told_what_is_left_with_each_answer(project, given, tents, ada, client_for):
    client = client_for(ada)
    page = client.get(f"{PAGE}?category={tents.pk}").content.decode()
    assert f'data-count="assigned-{given.pk}">3<' in " ".join(page.split())
    menu = send(client, decision(project.edges.filter(source__category=tents).first()))["counts"]["menu"]
    assert menu[f"assigned-{given.pk}"] == "2"
    assert menu[f"left-of-{given.pk}"] == "2 suggestions are left."


@pytest.mark.nightly
def test_it_is_overdue_after_its_day_while_something_is_left(project, given, ada, tents, client_for):
    Assignment.objects.update(due=timezone.localdate() - timedelta(days=1))
    assert "Camping › Tents 3 Overdue" in text(client_for(ada).get(PAGE))
    ids = list(project.edges.filter(source__category=tents).values_list("pk", flat=True))
    decide_edges(project, ids, Verb.REJECT, ada)
    assert not assigned_to(project, ada)[0].is_overdue


@pytest.mark.nightly
def test_the_person_closes_it_and_it_is_kept_and_logged(project, given, ada, manager, client_for):
    assert client_for(ada).post(f"{TEAM}assignments/{given.pk}/close/").status_code == 302
    given.refresh_from_db()
    assert (given.closed_by, left(project, ada)) == (ada, [])
    assert not close(given, ada)
    made, closed = Change.objects.filter(subject="Assignment to ada: Camping › Tents").order_by("pk")
    assert (made.user, made.before) == (manager, {})
    assert (closed.user, closed.after) == (ada, {})
    assert closed.before["note"] == "Before the fair"
    assert "closed by ada" in text(client_for(manager).get(TEAM))


def test_only_the_person_and_managers_close_it(project, given, editor, manager, client_for):
    address = f"{TEAM}assignments/{given.pk}/close/"
    assert client_for(editor).post(address).status_code == 404
    assert client_for(manager).post(address, {"from": "team"}).url.startswith(TEAM)
    given.refresh_from_db()
    assert given.closed_by == manager


def test_a_manager_gives_a_saved_filter_by_its_name(project, ada, manager, client_for):
    SavedFilter.objects.create(project=project, owner=manager, name="Health", query="sensitive=only")
    make_edge(project, sensitive="medicine")
    sent = {"query": "sensitive=only", "person": "ada", "due": tomorrow().isoformat(), "note": ""}
    assert client_for(manager).post(f"{TEAM}assign/", sent).status_code == 302
    [one] = all_assigned(project)
    assert (one.assignment.name, one.assignment.person, one.left) == ("Health", ada, 1)
    page = text(client_for(manager).get(TEAM))
    assert "Health" in page
    assert client_for(ada).post(f"{TEAM}assign/", sent).status_code == 403


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"query": "text=boots"}, "how much is left is known by category"),
        ({"query": "category=x"}, "how much is left is known by category"),
        ({"query": "status=accepted"}, "how much is left is known by category"),
        ({"person": "nobody"}, "only members who may decide can"),
        ({"due": "2020-01-01"}, "This day is over"),
        ({"due": ""}, "required"),
    ],
)
def test_what_cannot_be_given_is_refused_with_the_reason(project, ada, manager, client_for, changes, says):
    sent = {"query": "", "person": "ada", "due": tomorrow().isoformat()} | changes
    answer = client_for(manager).post(f"{TEAM}assign/", sent)
    assert answer.status_code == 422
    assert says in text(answer)
    assert not Assignment.objects.exists()


def test_nobody_is_given_the_same_twice_or_more_than_fits(project, ada, manager, given):
    with pytest.raises(UserError, match="has this list already"):
        assign(project, manager, "ada", given.query, tomorrow())
    for number in range(1, MOST):
        assign(project, manager, "ada", f"category={make_category(project, str(number)).pk}", tomorrow())
    with pytest.raises(UserError, match="which is the most"):
        assign(project, manager, "ada", "sensitive=only", tomorrow())
    stranger = make_member(make_project("other"))
    with pytest.raises(UserError, match="only members"):
        assign(project, manager, stranger.username, "", tomorrow())


def test_a_list_whose_category_has_gone_is_empty(project, given, ada):
    Assignment.objects.update(query="category=999999")
    assert left(project, ada) == [0]


def test_what_is_left_of_all_lists_is_one_question_to_the_kept_counts(project, manager, ada, tents):
    for query in ("", "sensitive=not", "placement=inline", "ranked_by=cosine"):
        assign(project, manager, "ada", query, tomorrow())
    with CaptureQueriesContext(connection) as queries:
        assert len(assigned_to(project, ada)) == 4
    assert sum("linker_edgecount" in query["sql"] for query in queries) == 1
    assert not any("linker_candidateedge" in query["sql"] for query in queries)
