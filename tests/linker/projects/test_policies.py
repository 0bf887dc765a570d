"""Tiers may trade places, and a project keeps a manager whatever two managers do at once."""

from __future__ import annotations

import threading
import time

import pytest
from django.db import connection, transaction

from linker.matching.follow_up_work import run_follow_up
from linker.models import Basis, CandidateEdge, Membership, Project, Run, RunKind, SensitiveRule, Suppression, Tier
from linker.projects.members import LastManager, remove_member
from linker.projects.policies.sensitive import add_sensitive
from linker.projects.policies.tiers import change_tiers
from review.decisions import decide_edges
from review.models import Verb
from tests.factories import make_edge, make_member


@pytest.mark.django_db
def test_two_tiers_can_swap_names_and_bounds_in_one_go(project):
    inline, related = Tier.objects.filter(project=project, basis="cosine").order_by("-lower_bound")[:2]
    edge = make_edge(project, score=0.7)
    inline.name, related.name = related.name, inline.name
    inline.lower_bound, related.lower_bound = related.lower_bound, inline.lower_bound
    change = change_tiers(project, [inline, related])
    edge.refresh_from_db()
    assert edge.tier == inline
    assert (inline.name, inline.lower_bound) == ("Related", 0.65)
    assert change.before == change.after


@pytest.mark.django_db
def test_a_change_of_tiers_that_fails_changes_nothing(project):
    tiers = list(Tier.objects.filter(project=project))
    before = list(Tier.objects.filter(project=project).values())
    tiers[0].lower_bound = 5.0
    with pytest.raises(Exception, match="tier_bound_fits_basis"):
        change_tiers(project, tiers)
    connection.needs_rollback = False
    assert list(Tier.objects.filter(project=project).values()) == before
    assert not Run.objects.filter(project=project, kind=RunKind.RETIER).exists()


@pytest.mark.django_db
def test_a_decided_link_keeps_its_rel_when_tiers_move(project):
    edge = make_edge(project, score=0.7, status="accepted", rel="ugc")
    related = Tier.objects.get(project=project, basis="cosine", name="Related")
    related.lower_bound = 0.72
    change_tiers(project, [related])
    edge.refresh_from_db()
    assert edge.rel == "ugc"


@pytest.mark.django_db
def test_what_is_ruled_out_leaves_the_queue_in_the_transaction_that_moves_tiers(project, manager):
    rejected = make_edge(project, score=0.9, status="rejected")
    open_still = make_edge(project, rejected.source, score=0.7)
    Suppression.objects.create(
        project=project, kind="page", reach="good", edge=rejected, source=rejected.source,
        target=open_still.target, made_by=manager,
    )  # fmt: skip
    related = Tier.objects.get(project=project, basis="cosine", name="Related")
    related.lower_bound = 0.69
    change_tiers(project, [related])
    open_still.refresh_from_db()
    assert open_still.stale
    assert open_still.suppressed_by is not None


@pytest.mark.django_db
def test_what_is_ruled_out_while_tiers_move_is_left_to_a_run_that_is_there_with_the_change(project, manager):
    edge = make_edge(project, score=0.7)
    related = Tier.objects.get(project=project, basis="cosine", name="Related")
    related.lower_bound = 0.69
    change_tiers(project, [related], user=manager)
    run = Run.objects.get(project=project, kind=RunKind.FOLLOW_UP)  # written, though nothing was done on commit
    rejected = make_edge(project, edge.source, score=0.9, status="rejected")
    Suppression.objects.create(
        project=project, kind="page", reach="good", edge=rejected, source=edge.source, target=rejected.target,
        made_by=manager,
    )  # fmt: skip
    assert run_follow_up(run).ruled_out == 1
    edge.refresh_from_db()
    assert edge.stale


@pytest.mark.django_db
def test_bounds_of_one_basis_leave_the_others_and_what_they_read_alone(project):
    edge = make_edge(project, score=0.7)
    likely = Tier.objects.get(project=project, basis="probability", name="Related")
    likely.lower_bound, likely.name = 0.65, "Possible"
    change_tiers(project, [likely])
    edge.refresh_from_db()
    assert (edge.tier.basis, edge.tier.name) == ("cosine", "Related")
    cosine = Tier.objects.filter(project=project, basis="cosine").values_list("name", "lower_bound")
    assert list(cosine) == [("Likely", 0.8), ("Related", 0.65), ("Reserve", 0.5)]


@pytest.mark.django_db
@pytest.mark.parametrize("basis", ["probability", "quantile", "cosine"])
def test_tiers_of_every_basis_can_swap(project, basis):
    low, high = Tier.objects.filter(project=project, basis=basis).order_by("lower_bound")[:2]
    low.lower_bound, high.lower_bound = high.lower_bound, low.lower_bound
    change_tiers(project, [low, high])
    assert list(Tier.objects.filter(project=project, basis=basis).order_by("lower_bound"))[:2] == [high, low]


@pytest.mark.nightly
@pytest.mark.django_db
def test_another_basis_reads_the_suggestions_anew_and_is_written_down(project):
    edge = make_edge(project, score=0.7, ranked_by="learned", probability=0.01, quantile=0.95)
    change_tiers(project, [], use=Basis.QUANTILE, basis=Basis.QUANTILE)
    edge.refresh_from_db()
    assert (edge.tier.basis, edge.tier.name) == ("quantile", "Likely")
    change_tiers(project, [], use=Basis.PROBABILITY, basis=Basis.PROBABILITY)
    edge.refresh_from_db()
    assert edge.tier is None
    record = Run.objects.filter(project=project, kind=RunKind.RETIER).first()
    assert record.params["read_by"] == {"before": "Quantile of the run", "after": "Probability"}


def _move_a_bound(project: Project) -> None:
    related = Tier.objects.get(project=project, basis="cosine", name="Related")
    related.lower_bound = 0.75
    change_tiers(project, [related])


def _delete_a_tier(project: Project) -> None:
    change_tiers(project, [], [Tier.objects.get(project=project, basis="cosine", name="Related")])


def _add_a_rule(project: Project) -> None:
    add_sensitive(SensitiveRule(project=project, url_pattern="/page"))


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", [_move_a_bound, _delete_a_tier, _add_a_rule])
def test_a_change_of_policy_holds_no_edge_that_an_editor_would_come_to_later(project, change):
    """An editor holds the first edge and goes on to the second: the change waits at the first, empty-handed."""
    editor = make_member(project)
    first, second = make_edge(project, score=0.7), make_edge(project, score=0.7)
    CandidateEdge.objects.filter(pk=first.pk).update(anchor="moved behind the second on disk")

    went_well = []

    def work() -> None:
        try:
            change(project)
            went_well.append(True)
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    with transaction.atomic():
        decide_edges(project, [first.pk], Verb.ACCEPT, editor)
        thread.start()
        _wait_until_somebody_waits_for_a_lock()
        CandidateEdge.objects.select_for_update(nowait=True).get(pk=second.pk)
        decide_edges(project, [second.pk], Verb.ACCEPT, editor)
    thread.join(30)
    assert went_well == [True]
    assert set(project.edges.values_list("status", flat=True)) == {"accepted"}


def _wait_until_somebody_waits_for_a_lock() -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone()[0]:
                return
        time.sleep(0.02)
    pytest.fail("the change never waited for the edge that the editor holds")


@pytest.mark.django_db(transaction=True)
def test_two_managers_who_remove_each_other_leave_one(project):
    memberships = [Membership.objects.get(user=make_member(project, "manager")) for _ in range(2)]
    barrier = threading.Barrier(2)
    refused = []

    def remove(membership: Membership) -> None:
        try:
            barrier.wait(10)
            remove_member(project, membership.pk)
        except LastManager:
            refused.append(membership)
        finally:
            connection.close()

    threads = [threading.Thread(target=remove, args=[membership]) for membership in memberships]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [membership.pk for membership in refused] == [Membership.objects.get(project=project).pk]
