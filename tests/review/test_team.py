"""What a team has decided, counted from its decisions."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from linker.models import CandidateEdge, EdgeStatus
from review import undoing
from review.decisions import decide_edges
from review.models import Decision, Verb
from review.queue.team import team
from review.rulings import Ruling, Shown
from tests.factories import make_category, make_edge, make_member, make_page

pytestmark = pytest.mark.django_db

PAGE = "/p/shop/queue/team/"


@pytest.fixture
def people(project):
    return make_member(project, username="ada"), make_member(project, username="bo")


@pytest.fixture
def decided(project, people) -> list[CandidateEdge]:
    """Ada accepts two, one with an edit; Bo rejects one for its words and takes an accept back."""
    ada, bo = people
    tents = make_category(project, "Camping", "Tents")
    edges = [
        make_edge(project, make_page(project, category=tents), probability=probability, generators=["mention"])
        for probability in (0.95, 0.91, 0.55)
    ]
    edges.append(make_edge(project, probability=None, generators=["nearest", "mention"]))
    decide_edges(project, [edges[0].pk], Verb.ACCEPT, ada)
    decide_edges(project, [edges[1].pk], Verb.EDIT, ada, Ruling(anchor="other words", overrules={edges[1].pk: ALL}))
    decide_edges(project, [edges[2].pk], Verb.REJECT, bo, Ruling(reason="bad_anchor"))
    decide_edges(project, [edges[3].pk], Verb.ACCEPT, bo)
    undoing.undo(project, bo)
    return edges


ALL = ["address", "banned", "generic", "misleading", "unrelated", "too_long", "identical"]


def rows(found) -> dict[str, tuple[int, int, int]]:
    return {row.name: (row.accepted, row.edited, row.rejected) for row in found}


def test_decisions_that_hold_are_counted_by_what_the_editors_saw(project, decided):
    found = team(project, 28)
    assert rows([found.whole]) == {"": (1, 1, 1)}
    assert found.whole.share == pytest.approx(2 / 3)
    assert rows(found.people) == {"ada": (1, 1, 0), "bo": (0, 0, 1)}
    assert rows(found.bands) == {"90 to 100%": (1, 1, 0), "50 to 60%": (0, 0, 1)}
    assert rows(found.categories) == {"Camping › Tents": (1, 1, 1)}
    assert sum(row.total for row in found.generators) == 3
    assert found.reasons == [("Poor anchor", 1)]
    assert [(day.person, day.decided) for day in found.days] == [("ada", 2), ("bo", 1)]
    assert found.days[0].day == timezone.localdate()


def test_a_link_that_two_generators_found_counts_for_both(project, decided, people):
    decide_edges(project, [decided[3].pk], Verb.ACCEPT, people[1])
    assert sorted(row.total for row in team(project, 28).generators) == [1, 4]
    assert team(project, 28).whole.total == 4


@pytest.mark.nightly
def test_who_changes_an_own_decision_is_counted_once_and_with_the_last(project, decided, people):
    edge = decided[0]
    decide_edges(project, [edge.pk], Verb.REJECT, people[0], shown=Shown(status=EdgeStatus.ACCEPTED))
    assert rows(team(project, 28).people)["ada"] == (0, 1, 1)
    undoing.undo(project, people[0])
    assert rows(team(project, 28).people)["ada"] == (1, 1, 0)


@pytest.mark.nightly
def test_the_wait_is_the_median_from_the_first_proposal(project, decided):
    for edge, hours in zip(decided[:3], (1, 5, 30), strict=True):
        CandidateEdge.objects.filter(pk=edge.pk).update(created_at=timezone.now() - timedelta(hours=hours))
    waited = team(project, 28).waited
    assert waited is not None
    assert timedelta(hours=4, minutes=59) < waited < timedelta(hours=5, minutes=1)


@pytest.mark.nightly
def test_only_the_days_asked_for_are_counted(project, decided, monkeypatch):
    later = timezone.now() + timedelta(days=8)
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert team(project, 7).whole.total == 0
    assert team(project, 28).whole.total == 3


@pytest.mark.nightly
def test_the_page_shows_it_to_managers_alone(project, decided, manager, editor, client_for):
    page = client_for(manager).get(PAGE).content.decode()
    assert "By stated probability" in page
    assert "90 to 100%" in page
    assert "Poor anchor" in page
    assert client_for(editor).get(PAGE).status_code == 403


def test_the_page_of_a_team_that_has_decided_nothing_says_so(project, manager, client_for):
    assert "No decisions in this time" in client_for(manager).get(f"{PAGE}?days=7").content.decode()
    assert client_for(manager).get(f"{PAGE}?days=1000000").status_code == 200
    assert not Decision.objects.exists()
