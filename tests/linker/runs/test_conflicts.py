"""Work that meets others at work on the same begins again, and in the end says so."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from django.core.management import call_command
from django.db import connection

from linker import jobs
from linker.models import Project, Run, RunStatus
from linker.operations import limits, outages
from linker.runs import lifecycle
from linker.storage.locks import lock_project
from tests.barriers import another_connection
from tests.factories import make_run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def pauses(settings, monkeypatch):
    """How long was paused, without pausing; and a job waits for a moment only."""
    settings.JOB_LOCK_SECONDS = 0.05
    limits.limit(limits.of_jobs())
    paused = []
    monkeypatch.setattr(outages, "time", SimpleNamespace(sleep=paused.append, monotonic=time.monotonic))
    return paused


def _write(run, progress):
    from django.db import transaction

    with transaction.atomic():
        lock_project(run.project_id)
        return {"done": True}


def test_a_run_begins_again_until_others_are_done(project, pauses):
    run = make_run(project, "roles", RunStatus.QUEUED)
    with another_connection() as other:
        other.execute("SELECT FROM linker_project FOR NO KEY UPDATE")
        tries = []

        def work(run, progress):
            tries.append(run.pk)
            if len(tries) == 3:
                other.rollback()
            return _write(run, progress)

        ended = lifecycle.execute(run.pk, work)
    assert (ended.status, ended.report) == (RunStatus.SUCCEEDED, {"done": True})
    assert pauses == list(outages.PAUSES[:2])


def test_a_run_that_waits_too_long_fails_with_a_sentence(project, pauses):
    run = make_run(project, "roles", RunStatus.QUEUED)
    with another_connection() as other:
        other.execute("SELECT FROM linker_project FOR NO KEY UPDATE")
        ended = lifecycle.execute(run.pk, _write)
    assert ended.status == RunStatus.FAILED
    assert ended.error == outages.LOCK_CONFLICT.sentence
    assert pauses == list(outages.PAUSES), "the pauses grow, and there is a last one"
    assert pauses == sorted(pauses)


@pytest.mark.parametrize("state", sorted(outages.LOCK_CONFLICT_STATES))
def test_each_kind_of_conflict_is_tried_again(project, pauses, state):
    run = make_run(project, "roles", RunStatus.QUEUED)

    def work(run, progress):
        if not pauses:
            with connection.cursor() as cursor:
                cursor.execute(f"DO $$ BEGIN RAISE EXCEPTION 'in the way' USING ERRCODE = '{state}'; END $$")
        return {}

    assert lifecycle.execute(run.pk, work).status == RunStatus.SUCCEEDED
    assert len(pauses) == 1


def test_a_run_that_is_cancelled_while_it_waits_does_not_begin_again(project, pauses):
    run = make_run(project, "roles", RunStatus.QUEUED)
    with another_connection() as other:
        other.execute("SELECT FROM linker_project FOR NO KEY UPDATE")

        def work(run, progress):
            Run.objects.filter(pk=run.pk).update(cancel_requested=True)
            return _write(run, progress)

        assert lifecycle.execute(run.pk, work).status == RunStatus.CANCELLED
    assert len(pauses) == 1


def test_a_batch_of_a_match_that_waits_too_long_fails_its_run_with_the_sentence(project, pauses, monkeypatch):
    run = make_run(project, "match", RunStatus.RUNNING)
    monkeypatch.setattr(jobs, "run_batch", lambda run, number: _write(run, None))
    with another_connection() as other:
        other.execute("SELECT FROM linker_project FOR NO KEY UPDATE")
        jobs.match_batch(run.pk, 1)
    run.refresh_from_db()
    assert (run.status, run.error) == (RunStatus.FAILED, outages.LOCK_CONFLICT.sentence)


def test_a_command_that_waits_too_long_says_so(project, pauses):
    with another_connection() as other:
        other.execute("SELECT FROM linker_project FOR NO KEY UPDATE")
        with pytest.raises(Exception, match="Nothing is half done") as error:
            call_command("find_roles", project.slug)
    assert "Traceback" not in str(error.value)
    assert Project.objects.get().runs.get().status == RunStatus.FAILED


def test_requests_and_jobs_have_limits_of_their_own(settings):
    def shown():
        with connection.cursor() as cursor:
            names = ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")
            cursor.execute("SELECT " + ", ".join(f"current_setting('{name}')" for name in names))
            return cursor.fetchone()

    assert shown() == ("50ms", "0", "0")
    limits.limit(limits.of_requests())
    assert shown() == ("3s", "1min", "1min")
    connection.close()
    assert shown() == ("3s", "1min", "1min"), "the next connection of the thread has the same"
