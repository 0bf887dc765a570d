"""Where no card is left, or few are, the queue says what the last match holds back and what brings it back."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from linker.models import Project, Tier
from linker.projects.in_text import none_in_text
from tests.factories import make_edge, make_run
from tests.markup import compact

pytestmark = pytest.mark.django_db

KIND = {"family": "receiver", "code": 1, "shift": -1.0, "decisions": 15, "approved": 1}
APPROVAL = {"version": "1", "judged": 9, "sites": 1, "decisions": 15, "slope": 1.0, "shift": 0.0, "kinds": [KIND]}
HELD = {"reason": "held", "links": 400, "family": "receiver", "code": 1}
QUEUE = {"before": 494, "now": 57, "moves": [HELD, {"reason": "stale", "links": 37}]}


def report(**fields: Any) -> dict[str, Any]:
    return {"version": 2, "queue": QUEUE, "approval": APPROVAL, **fields}


def queue(client, **asked: Any) -> str:
    return compact(client.get(reverse("queue", args=["shop"]), asked).content.decode())


@pytest.fixture
def held(project) -> Tier:
    tier = Tier.objects.filter(project=project, held=True).first()
    assert tier is not None
    return tier


def test_an_empty_filter_says_what_is_held_back_and_a_manager_brings_it_back(project, held, manager, client_for):
    make_edge(project, run=make_run(project, report=report()), tier=held, placement="inline")
    page = queue(client_for(manager), placement="inline")
    assert "Nothing left to review for this filter" in page
    assert "holds back 400 suggestions that the queue showed before it" in page
    assert "Links to pages with the role “Hub”: 14 of 15 rejected" in page
    assert page.count("Disregard these decisions") >= 1
    assert "?held=1" in page
    assert "left 57 of 494 suggestions in the queue." in page


def test_an_editor_is_told_and_disregards_nothing(project, held, as_editor):
    make_edge(project, run=make_run(project, report=report()), tier=held, placement="inline")
    page = queue(as_editor, placement="inline")
    assert "Links to pages with the role “Hub”: 14 of 15 rejected" in page
    assert "Disregard these decisions" not in page


def test_nothing_is_said_where_a_match_left_most(project, as_editor):
    more = report(queue={"before": 494, "now": 480, "moves": [{"reason": "stale", "links": 14}]})
    make_edge(project, run=make_run(project, report=more))
    page = queue(as_editor)
    assert "suggestions in the queue." not in page
    assert "Held back by the last match" not in page


REPORTS = [
    ({"donors": 9, "donors_with_text": 0}, "no text of the pages that may give links was imported"),
    ({"donors": 0}, "no page may give links"),
    ({"donors": 9, "donors_with_text": 9}, "no words of the texts fit a link well"),
    (
        {"donors": 1, "left_out": [{"pages": 40, "reason": "role", "side": "donor", "role": "hub"}]},
        "40 pages are hubs, lists of other pages, which give no links",
    ),
]


@pytest.mark.parametrize(("found", "said"), REPORTS)
def test_a_project_without_links_in_the_text_says_why_in_one_sentence(project, as_editor, found, said):
    run = make_run(project, report={"version": 2, **found})
    make_edge(project, run=run, placement="related")
    expected = f"No suggestion is in the text: {said}."
    assert none_in_text(project).said == expected
    assert expected in queue(as_editor)
    assert expected in compact(as_editor.get(reverse("run", args=["shop", run.pk])).content.decode())


def test_links_in_the_text_that_are_all_held_back_are_one_click_away(project, held, as_editor):
    run = make_run(project, report={"version": 2, "donors": 9, "donors_with_text": 9})
    for _ in range(2):
        make_edge(project, run=run, tier=held, placement="inline")
    make_edge(project, run=run, placement="related")
    page = queue(as_editor)
    assert "No suggestion in the text is shown: all 2 score below the tiers that the queue shows." in page
    assert "/queue/?placement=inline&amp;held=1" in page


def test_nothing_is_said_where_links_in_the_text_are_shown_or_all_decided(project, as_editor):
    assert none_in_text(project) is None
    edge = make_edge(project, placement="inline")
    assert none_in_text(project) is None
    edge.status = "rejected"
    edge.save()
    assert none_in_text(project) is None
    assert "in the text:" not in queue(as_editor)


def test_a_match_that_proposes_none_in_the_text_after_all_there_were_decided_says_so(project, as_editor):
    make_edge(project, placement="inline", status="rejected")
    placed = {"version": 2, "donors": 9, "donors_with_text": 9, "placements": {"related": 7, "inline": 1}}
    make_run(project, report=placed)
    assert none_in_text(project) is None, "somebody decided on what it proposed"
    make_run(project, report=placed | {"placements": {"related": 7}})
    assert "no words of the texts fit a link well" in none_in_text(project).said


def test_an_earlier_run_says_nothing(project: Project):
    earlier = make_run(project, report={"version": 2, "donors": 0})
    make_run(project, report={"version": 2, "donors": 0})
    assert none_in_text(project, earlier) is None
