"""What a match changes of the queue is a sum that adds up: before, left by reason, came, now."""

from __future__ import annotations

import re

import pytest
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from linker.engine.ranking.calibration import Lesson
from linker.matching.kept_runs import standing_run
from linker.matching.lessons import ROLES
from linker.matching.queue_change import note_open, queue_change
from linker.matching.report_types import MatchReport, QueueChange, QueueReason, RetierReport, TierCount
from linker.matching.tiers import retier
from linker.models import Page, Project, Tier
from linker.models.querysets import UNDECIDED
from linker.projects.policies.cohorts import WORDLESS, set_bounds
from linker.projects.queue_sum import QueueSum, queue_sum
from tests.factories import make_edge, make_member, make_page, make_run
from tests.guides import guides_once, match, matched_once, site
from tests.guides import matched_project as project
from tests.linker.matching.test_lessons import decide_80, make_hubs, shown
from tests.markup import compact

pytestmark = pytest.mark.django_db
__all__ = ["guides_once", "matched_once", "project", "site"]


def change_of(project: Project) -> QueueChange:
    run = standing_run(project)
    assert run is not None
    change = MatchReport.from_json(run.report).queue
    assert change is not None
    return change


def by_reason(change: QueueChange) -> dict[QueueReason, int]:
    found: dict[QueueReason, int] = {}
    for move in change.moves:
        found[move.reason] = found.get(move.reason, 0) + move.links
    return found


def test_what_left_and_what_came_adds_up_to_what_is_there(project, site):
    hubs = make_hubs(project)
    decide_80(project, hubs)
    # One that was held back scores more by now, one was never there, one has gone out of the site.
    edges = list(project.edges.filter(UNDECIDED).select_related("tier").order_by("pk"))
    before = set(shown(project))
    was = {(edge.source_id, edge.target_id): edge for edge in edges}
    gone = next(edge for edge in edges if (edge.source_id, edge.target_id) in before)
    Page.objects.filter(pk=gone.target_id).update(status="removed")

    match(project)

    now, change = set(shown(project)), change_of(project)
    states = {(edge.source_id, edge.target_id): edge for edge in project.edges.filter(UNDECIDED)}
    assert (change.before, change.now) == (len(before), len(now))
    assert before != now
    assert by_reason(change) == {
        reason: links
        for reason, links in {
            QueueReason.HELD: len([pair for pair in before - now if not states[pair].stale]),
            QueueReason.STALE: len([pair for pair in before - now if states[pair].stale]),
            QueueReason.NEW: len([pair for pair in now - before if pair not in was]),
            QueueReason.RAISED: len([pair for pair in now - before if pair in was and not was[pair].stale]),
            QueueReason.BACK: len([pair for pair in now - before if pair in was and was[pair].stale]),
        }.items()
        if links
    }
    held = [move for move in change.moves if move.reason == QueueReason.HELD]
    hub = ROLES.index("hub")
    named = {(move.family, move.code) for move in held if move.family}
    assert named, "some are held back for the decisions on hubs"
    assert named <= {("giver", hub), ("receiver", hub)}


def reported(project: Project, queue: dict) -> QueueSum:
    kind = {"family": "receiver", "code": 1, "shift": -1.0, "decisions": 15, "approved": 1}
    approval = {
        "version": "1", "judged": 9, "sites": 1, "decisions": 15, "slope": 1.0, "shift": 0.0, "kinds": [kind],
    }  # fmt: skip
    make_run(project, report={"version": 2, "queue": queue, "approval": approval})
    found = queue_sum(project)
    assert found is not None
    return found


def test_links_without_words_that_are_no_longer_sure_enough_are_told_apart(bare, client):
    run = make_run(bare)
    for place in range(6):
        words = {"span_start": 4, "span_end": 9, "anchor": "tents"} if place % 2 else {}
        donor = make_page(bare, body="The tents of our shop stand firm. " * 20)
        make_edge(bare, donor, run=run, probability=0.8, similarity=0.5, ranked_by="learned", **words)
    retier(bare)
    likely, *_ = bare.tiers.filter(basis="probability", held=False)
    with transaction.atomic():
        note_open(bare)
        set_bounds(bare, WORDLESS, {likely.pk: 0.9}, None)
        change = queue_change(bare, Lesson(1.0, 0.0, 0, {}), Lesson(1.0, 0.0, 0, {}))

    assert by_reason(change) == {QueueReason.WORDLESS: 3}
    assert (change.before, change.now) == (6, 3)
    found = reported(bare, {"before": 6, "now": 3, "moves": [{"reason": "wordless", "links": 3}]})
    assert found.before + sum(line.links for line in found.lines) == found.now == found.left
    client.force_login(make_member(bare, "manager"))
    page = compact(client.get(reverse("project", args=["bare"])).content.decode())
    assert "they have no words in the text, and only surer ones are shown" in page
    assert reverse("settings_shown_share", args=["bare"]) in page


QUEUE = {
    "before": 494,
    "now": 57,
    "moves": [
        {"reason": "held", "links": 330, "family": "receiver", "code": 1},
        {"reason": "held", "links": 50},
        {"reason": "stale", "links": 70},
        {"reason": "new", "links": 8},
        {"reason": "raised", "links": 5},
    ],
}


@pytest.fixture
def bare(db) -> Project:
    from tests.factories import make_project

    return make_project("bare")


def test_the_overview_shows_the_sum_with_ways_to_each_part(bare, client):
    for _ in range(3):
        make_edge(bare)
    found = reported(bare, QUEUE)
    assert [line.links for line in found.lines] == [-380, -70, 8, 5]
    assert found.before + sum(line.links for line in found.lines) == found.now
    assert found.now + found.since == found.left == 3
    [part] = found.lines[0].parts
    assert (part.links, part.said, found.lines[0].others) == (
        330, "Links to pages with the role “Hub”: 14 of 15 rejected or reworded", 50,
    )  # fmt: skip
    client.force_login(make_member(bare, "manager"))
    page = compact(client.get(reverse("project", args=["bare"])).content.decode())
    for words in ("494", "−380", "−70", "+8", "+5", "57", "−54", "50 for other reasons", part.said):
        assert words in page
    for query in ("held=1", "stale=1", "since="):
        assert f"/queue/?{query}" in page
    assert "Disregard these decisions" in page
    client.force_login(make_member(bare, "editor"))
    assert "Disregard these decisions" not in client.get(reverse("project", args=["bare"])).content.decode()


@pytest.mark.parametrize(
    ("waiting", "number", "words"),
    [
        (60, "+3", "since then: brought by later runs or by decisions taken back, less what was decided"),
        (50, "−7", "since then: decided by people or taken out by later runs, less what came back"),
    ],
)
def test_what_has_changed_since_the_match_says_what_it_counts(bare, client, waiting, number, words):
    for _ in range(waiting):
        make_edge(bare)
    reported(bare, QUEUE)
    client.force_login(make_member(bare, "editor"))
    page = compact(client.get(reverse("project", args=["bare"])).content.decode())
    assert re.search(rf"{re.escape(number)}</td> *<th[^>]*> *<a [^>]*> *{re.escape(words)}", page)


@pytest.mark.parametrize(
    ("by_itself", "words"),
    [(True, "bounds of the tiers chosen anew, by the share"), (False, "tiers or their bounds changed by people")],
)
def test_what_other_bounds_brought_since_is_a_line_of_its_own(bare, client, by_itself, words):
    for _ in range(70):
        make_edge(bare)
    reported(bare, QUEUE)
    shown = bare.tiers.filter(held=False).first().name
    before, after = (
        (TierCount(name=shown, links=links), TierCount(name="No such tier", links=held))
        for links, held in ((55, 100), (75, 80))
    )
    report = RetierReport(before=before, after=after).to_json()
    run = make_run(bare, "retier", by_itself=by_itself, finished_at=timezone.now(), report=report)

    found = queue_sum(bare)

    assert [(line.links, line.run) for line in found.bounds] == [(20, run)]
    assert (found.now, found.since, found.left) == (57, -7, 70)
    client.force_login(make_member(bare, "editor"))
    page = compact(client.get(reverse("project", args=["bare"])).content.decode())
    assert "+20" in page
    assert words in page


def test_nothing_is_said_of_a_first_match_or_of_a_run_that_did_not_count(bare):
    make_run(bare, report={"version": 2})
    assert queue_sum(bare) is None
    make_run(bare, report={"version": 2, "queue": {"before": 0, "now": 9, "moves": [{"reason": "new", "links": 9}]}})
    assert queue_sum(bare) is None


def test_tiers_that_are_held_back_between_two_matches_are_no_part_of_the_second(project, site):
    Tier.objects.filter(project=project, basis="probability", held=False).update(held=True)
    match(project)
    change = change_of(project)
    assert change.now == len(shown(project))
    assert change.before + sum((-1 if move.reason.leaves else 1) * move.links for move in change.moves) == change.now
