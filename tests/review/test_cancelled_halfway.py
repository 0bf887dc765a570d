"""Who cancels a withdrawal, a draft or a roll-back finds everything as it was, wherever the run had got to."""

from __future__ import annotations

import pytest

from linker.errors import RunCancelled
from linker.models import EdgeStatus
from linker.storage import slices
from review.models import Decision, DraftLink, Pending
from review.releases import create, drafts, outgoing, roll_backs, withdrawals
from tests.factories import make_edge
from tests.review.test_drafts import back_to
from tests.review.test_release import release_of

LINKS = 3


@pytest.fixture(autouse=True)
def _one_at_a_time(monkeypatch):
    monkeypatch.setattr(slices, "ROWS", 1)
    monkeypatch.setattr(roll_backs, "AT_A_TIME", 1)


@pytest.fixture
def release(project):
    for number in range(LINKS):
        make_edge(project, status=EdgeStatus.ACCEPTED, rel="follow", anchor=f"words {number}", reviewed=True)
    return release_of(project)


def state(project) -> tuple[object, ...]:
    edges = list(project.edges.order_by("pk").values_list("status", "rel", "anchor"))
    return edges, Decision.objects.count(), Pending.objects.count(), DraftLink.objects.count(), project.releases.count()


def cancelled_everywhere(project, work) -> int:
    """Cancels the work at each of its steps in turn and then lets it end; returns how many steps that were."""
    before, steps = state(project), 0

    def go_on(most: int) -> bool:
        seen = 0

        def progress(_done: int, _total: int, _stage: str = "", *, stage: str = "") -> None:
            nonlocal seen
            if seen == most:
                raise RunCancelled
            seen += 1

        try:
            work(progress)
        except RunCancelled:
            return True
        return False

    while go_on(steps):
        assert state(project) == before
        steps += 1
    assert state(project) != before
    return steps


def test_a_withdrawal(project, release, editor):
    steps = cancelled_everywhere(project, lambda told: withdrawals.withdraw_release(release, editor, "", told))
    assert steps > 2 * LINKS
    assert Pending.objects.count() == LINKS


@pytest.mark.nightly
def test_the_draft_of_a_roll_back(project, release, editor):
    withdrawals.withdraw_release(release, editor, "")
    release_of(project)
    draft = drafts.make_roll_back(release, editor)
    assert cancelled_everywhere(project, lambda told: drafts.fill(draft, told)) > LINKS


@pytest.mark.nightly
@pytest.mark.parametrize("anchor", ["words 1", "what a match run said since"])
def test_a_roll_back(project, release, editor, anchor):
    outgoing.withdraw(project, project.edges.all(), editor)
    release_of(project)
    project.edges.filter(anchor="words 1").update(anchor=anchor)
    draft = back_to(release, editor)
    assert cancelled_everywhere(project, lambda told: create.publish(draft, editor, told)) > LINKS
    assert set(project.edges.values_list("status", flat=True)) == {"exported"}
