"""Projects from before the sensitive rules: nothing leaves unreviewed until they were looked through, which starts by
itself."""

from __future__ import annotations

import pytest

from linker.models import EdgeStatus, Run, RunKind, RunStatus, SensitiveRule
from linker.runs import sensitivity_checks
from linker.runs.workers import WorkerPool
from review.models import Held
from review.releases.create import NothingToExport, create_release
from review.releases.preview import preview
from tests.factories import make_edge, make_page, make_project, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def clinic(project):
    """A project that was imported before there were rules, with a tier that leaves unreviewed."""
    make_run(project, RunKind.IMPORT_PAGES, report={"pages": 3})
    project.tiers.filter(name="Related").update(export_unreviewed=True)
    make_edge(project, make_page(project, "/knees", title="Our clinic for knees"), score=0.7)
    make_edge(project, score=0.7)
    return project


def sweep() -> list[Run]:
    """What the workers' watch does every few seconds; returns the looks that there are."""
    pool = WorkerPool(1)
    pool.places.clear()
    pool.watch()
    return list(Run.objects.filter(kind=RunKind.SENSITIVE))


def test_nothing_leaves_unreviewed_before_somebody_has_looked(clinic):
    with pytest.raises(NothingToExport, match="all 2 links are held back"):
        create_release(clinic, clinic.edges.all())
    [group] = preview(clinic, clinic.edges.all()).held
    assert (group.reason, group.links) == (Held.NOT_LOOKED, 2)
    assert "starts by itself" in group.advice


def test_what_a_person_decided_on_leaves_all_the_same_and_the_others_are_written_down(clinic):
    make_edge(clinic, status=EdgeStatus.ACCEPTED)
    release = create_release(clinic, clinic.edges.all())
    assert (release.links, release.held) == (1, 2)
    assert {held.reason for held in release.held_back.all()} == {Held.NOT_LOOKED}


@pytest.mark.nightly
def test_nothing_leaves_unreviewed_while_a_rule_that_counts_waits_for_the_run_that_applies_it(clinic):
    make_run(clinic, RunKind.SENSITIVE)
    rule = SensitiveRule.objects.create(project=clinic, kind="medical", url_pattern="/knees", due="look")
    make_edge(clinic, status=EdgeStatus.ACCEPTED)
    release = create_release(clinic, clinic.edges.all())
    assert (release.links, {held.reason for held in release.held_back.all()}) == (1, {Held.NOT_LOOKED})
    assert release.held_back.first().detail.startswith("A rule for sensitive pages has changed")
    SensitiveRule.objects.filter(pk=rule.pk).update(due="")
    assert create_release(clinic, clinic.edges.all()).links == 2


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_the_workers_look_by_themselves_and_then_only_what_is_sensitive_stays(clinic, run_jobs):
    [run] = sweep()
    assert (run.project, run.status, run.created_by) == (clinic, RunStatus.QUEUED, None)
    assert sweep() == [run]
    run_jobs()
    run.refresh_from_db()
    assert run.status == RunStatus.SUCCEEDED
    assert [rule.word for rule in SensitiveRule.objects.all()] == ["clinic"]
    assert sweep() == [run]
    release = create_release(clinic, clinic.edges.all())
    assert (release.links, release.held_back.get().reason) == (1, Held.SENSITIVE)


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.CANCELLED])
def test_a_look_that_was_stopped_or_failed_is_a_managers_to_start(clinic, redis_server, status):
    make_run(clinic, RunKind.SENSITIVE, status)
    assert sensitivity_checks.start_missing() == []
    assert not sensitivity_checks.was_looked_through(clinic)


def test_projects_without_pages_in_import_or_looked_through_are_left_alone(project, redis_server):
    importing, looked = make_project("importing"), make_project("looked")
    for one in (importing, looked):
        make_page(one)
    make_run(importing, RunKind.IMPORT_PAGES, RunStatus.RUNNING)
    make_run(looked, RunKind.IMPORT_PAGES, report={"sensitive_pages": 0})
    assert sensitivity_checks.start_missing() == []
    assert sensitivity_checks.was_looked_through(looked)
