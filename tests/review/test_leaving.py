"""Somebody who leaves has no access from that moment on; what they did stays, and what they had is given away."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import ProtectedError
from django.urls import reverse
from django.utils import timezone

from linker.models import Change, Membership
from linker.projects import members
from review.decisions import decide_edges
from review.models import Assignment, Decision, OpinionRequest, SavedFilter, Verb
from review.queue import opinions
from review.queue.assignments import all_assigned, assign
from review.queue.counts import queue_counts
from review.queue.filters import QueueFilter
from review.queue.saved import saved_filters
from tests.factories import make_edge, make_member
from tests.review.queue_requests import PAGE, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(project):
    return make_member(project, username="ada")


def removed(project, user, manager) -> None:
    membership = Membership.objects.get(project=project, user=user)
    assert members.remove_member(project, membership.pk, by=manager)


def closed(_project, user, _manager) -> None:
    """As the administration does it."""
    user.is_active = False
    user.save()


@pytest.fixture(params=[removed, closed])
def leaves(request, project, ada, manager):
    return lambda: request.param(project, ada, manager)


def test_an_open_session_sees_nothing_from_then_on(ada, leaves, client_for):
    client = client_for(ada)
    assert client.get(PAGE).status_code == 200
    leaves()
    assert client.get(PAGE).status_code in {302, 404}
    assert client.post(reverse("undo", args=["shop"])).status_code in {302, 404}


def test_who_leaves_is_still_named_in_the_log(project, ada, leaves):
    edge = make_edge(project)
    decide_edges(project, [edge.pk], Verb.ACCEPT, ada)
    leaves()
    assert Decision.objects.get().user == ada
    with pytest.raises(ProtectedError):
        ada.delete()


def asked(project, user) -> int:
    return queue_counts(project, QueueFilter(), user).asked


def test_what_was_asked_of_them_is_asked_of_everybody(project, ada, editor, manager, leaves):
    edge = make_edge(project)
    opinions.ask(project, editor, edge.pk, of="ada")
    assert asked(project, manager) == 0

    leaves()

    assert asked(project, manager) == 1
    opinions.say(project, manager, edge.pk, "Yes.")
    assert OpinionRequest.objects.get().answered_by == manager


@pytest.mark.nightly
def test_their_lists_are_shown_to_the_manager_who_gives_them_to_somebody_else(
    project, ada, editor, manager, leaves, client_for
):
    make_edge(project)
    given = assign(project, manager, "ada", "", timezone.localdate() + timedelta(days=1), "Before the fair")
    client, address = client_for(manager), reverse("give_on", args=["shop", given.pk])
    assert not all_assigned(project)[0].nobodys
    leaves()
    assert all_assigned(project)[0].nobodys
    assert "ada has left" in text(client.get(f"{PAGE}team/"))

    client.post(address, {"person": "ada"})
    assert Assignment.objects.get().closed_at is None, "they cannot have it again"
    client.post(address, {"person": editor.username})

    [now] = all_assigned(project)
    assert (now.assignment.person, now.assignment.note, now.nobodys) == (editor, "Before the fair", False)
    assert Assignment.objects.get(pk=given.pk).closed_by == manager
    assert client.post(address, {"person": editor.username}).status_code == 404


def test_what_they_shared_with_the_team_stays(project, ada, editor, leaves):
    SavedFilter.objects.create(project=project, owner=ada, name="Tents", query="text=tents", shared=True)
    leaves()
    assert [one.name for one in saved_filters(project, editor)] == ["Tents"]


def test_the_last_manager_whose_account_is_in_use_stays(project, ada, manager):
    Membership.objects.filter(user=ada).update(role="manager")
    closed(project, ada, manager)
    own = Membership.objects.get(user=manager)
    with pytest.raises(members.LastManager):
        members.remove_member(project, own.pk, by=manager)
    assert not Change.objects.filter(kind="members").exists()
