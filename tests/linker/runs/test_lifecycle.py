"""A run ends in exactly one way, whatever happens to those who work on it."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import psutil
import pytest
from django.db import connection
from django.urls import reverse
from django.utils import timezone
from rq.timeouts import JobTimeoutException

from linker.engine.arrays.vectors import unit_rows
from linker.engine.params import MatchParams
from linker.errors import RunCancelled, UserError
from linker.models import CandidateEdge, Run, RunBatch, RunCandidate, RunKind, RunStatus
from linker.models.run import IMPORT_PREFIX
from linker.runs import job_queue, lifecycle
from linker.runs.job_queue import JobKey
from linker.runs.kinds import RUN_KINDS, job_type
from linker.runs.lost_work import find_lost
from linker.runs.recovery import MAX_ATTEMPTS, recover
from linker.storage.vectors import save_vectors
from tests.factories import make_category, make_model, make_page

pytestmark = pytest.mark.django_db(transaction=True)


def start(project, kind=RunKind.EMBED) -> Run:
    return lifecycle.start_run(project, kind, {}, to_queue=False)


def test_a_run_that_works_succeeds_with_its_report(project):
    run = start(project)
    ended = lifecycle.execute(run.pk, lambda run, progress: {"pages": 3})
    assert (ended.status, ended.report) == ("succeeded", {"pages": 3})
    assert ended.started_at <= ended.finished_at


def test_an_error_of_the_user_is_told_and_another_one_crashes(project):
    def complain(run, progress):
        raise UserError("Line 3 has no address.")

    def crash(run, progress):
        raise ZeroDivisionError("oops")

    assert lifecycle.execute(start(project).pk, complain).error == "Line 3 has no address."
    broken = start(project)
    with pytest.raises(ZeroDivisionError):
        lifecycle.execute(broken.pk, crash)
    broken.refresh_from_db()
    assert broken.status == "failed"
    assert "oops" in broken.error


def test_work_that_takes_longer_than_it_may_is_stopped_with_a_sentence(project):
    run = start(project)

    def work(run, progress):
        raise JobTimeoutException("Task exceeded maximum timeout value (21600 seconds)")  # as RQ's worker does

    with pytest.raises(JobTimeoutException):
        lifecycle.execute(run.pk, work)
    run.refresh_from_db()
    assert (run.status, run.error) == (RunStatus.FAILED, lifecycle.TOO_LONG)


def test_progress_is_seen_from_outside_while_a_transaction_is_open(project):
    run = start(project)
    seen = []

    def work(run, progress):
        from django.db import transaction

        with transaction.atomic():
            Run.objects.filter(pk=run.pk).values("done")
            progress(5, 10, "Half way")
            thread = threading.Thread(target=look)
            thread.start()
            thread.join()
        return {}

    def look():
        seen.append(Run.objects.values_list("done", "total", "stage").get(pk=run.pk))
        connection.close()

    lifecycle.execute(run.pk, work)
    assert seen == [(5, 10, "Half way")]


def test_only_one_worker_gets_a_run(project):
    run = start(project)

    def work(run, progress):
        assert lifecycle.execute(run.pk, lambda run, progress: pytest.fail("claimed twice")) is None
        return {}

    assert lifecycle.execute(run.pk, work).status == "succeeded"
    assert lifecycle.execute(run.pk, lambda run, progress: pytest.fail("claimed after the end")) is None


def test_cancelling_stops_a_waiting_run_at_once_and_a_working_one_at_its_next_step(project):
    waiting = start(project)
    assert lifecycle.request_cancel(waiting)
    waiting.refresh_from_db()
    assert waiting.status == "cancelled"
    assert not lifecycle.request_cancel(waiting)

    def work(run, progress):
        lifecycle.request_cancel(run)
        with pytest.raises(RunCancelled):
            progress(10, 10, "next")
        progress(10, 10, "next")
        return {}

    assert lifecycle.execute(start(project).pk, work).status == "cancelled"


def test_stopping_a_command_by_keyboard_cancels_its_run(project):
    def interrupted(run, progress):
        raise KeyboardInterrupt

    run = start(project)
    with pytest.raises(KeyboardInterrupt):
        lifecycle.execute(run.pk, interrupted)
    run.refresh_from_db()
    assert run.status == "cancelled"


@pytest.mark.nightly
def test_a_run_whose_process_is_gone_does_not_block_the_next(project, redis_server):
    gone = start(project)
    Run.objects.filter(pk=gone.pk).update(status="running")
    following = start(project)
    gone.refresh_from_db()
    assert gone.status == "failed"
    assert "ended" in gone.error
    assert following.status == "queued"


def test_a_request_that_finds_the_process_of_a_run_gone_does_not_wait(project, redis_server, monkeypatch):
    """The sweep takes the run up; a look of a second, as commands have it, would hold a thread of the web server."""
    gone = start(project)
    Run.objects.filter(pk=gone.pk).update(status="running")
    monkeypatch.setattr("linker.runs.lost_work.time.sleep", lambda seconds: pytest.fail("a request sleeps"))
    with pytest.raises(lifecycle.RunIsActive):
        lifecycle.start_run(project, RunKind.EMBED, {})
    assert find_lost() == {JobKey("embed", (gone.pk,), 0)}


def lose_waiting_jobs() -> None:
    """What a worker does that takes a job and dies."""
    import django_rq

    waiting = django_rq.get_queue("default")
    while waiting.connection.lpop(waiting.key):
        pass


def test_two_machines_that_sweep_count_a_loss_once(project, redis_server):
    run = lifecycle.start_run(project, RunKind.EMBED, {})
    lose_waiting_jobs()
    lost = find_lost()
    assert recover(lost) == 1
    assert recover(lost) == 0
    run.refresh_from_db()
    assert run.attempts == 1


def test_a_run_whose_worker_was_lost_says_that_it_begins_again(project, redis_server, client_for, viewer):
    run = lifecycle.start_run(project, RunKind.EMBED, {})
    Run.objects.filter(pk=run.pk).update(status="running", done=4, total=5, started_at=timezone.now())
    page = reverse("run", args=[project.slug, run.pk])
    client = client_for(viewer)
    assert "begins again" not in client.get(page).content.decode()
    lose_waiting_jobs()
    assert recover(find_lost()) == 1
    run.refresh_from_db()
    assert (run.done, run.total) == (0, 5)
    assert "so the run begins again. This is attempt 2." in " ".join(client.get(page).content.decode().split())


def test_a_second_run_of_a_kind_is_refused_until_the_first_ends(project, redis_server):
    first = lifecycle.start_run(project, RunKind.EMBED, {})
    with pytest.raises(lifecycle.RunIsActive, match=f"run {first.pk}"):
        start(project)
    start(project, RunKind.IMPORT_LINKS)
    lifecycle.request_cancel(first)
    start(project)


@pytest.mark.nightly
def test_a_lost_job_is_found_given_out_again_and_given_up_after_three_losses(project, redis_server):
    run = lifecycle.start_run(project, RunKind.EMBED, {})
    for attempt in range(MAX_ATTEMPTS):
        lose_waiting_jobs()
        lost = find_lost()
        assert lost == {JobKey("embed", (run.pk,), attempt)}
        assert recover(lost) == 1
        assert find_lost() == set(), "it waits in the queue now"
    lose_waiting_jobs()
    recover(find_lost())
    run.refresh_from_db()
    assert run.status == "failed"
    assert "lost 3 times" in run.error


@pytest.mark.nightly
def test_a_redis_that_forgets_everything_any_number_of_times_costs_no_attempt(project, redis_server):
    import django_rq

    run = lifecycle.start_run(project, RunKind.EMBED, {})
    for _ in range(MAX_ATTEMPTS + 2):
        django_rq.get_connection("default").flushall()
        lost = find_lost()
        assert lost == {JobKey("embed", (run.pk,), 0)}
        assert recover(lost) == 1
        assert recover(lost) == 0, "another machine finds it waiting"
    run.refresh_from_db()
    assert (run.status, run.attempts) == ("queued", 0)


@pytest.mark.nightly
def test_work_that_lost_postgresql_begins_again_and_is_not_failed(project):
    """The connection is ended from outside, as a restart of the server does."""
    run = start(project)
    calls = []

    def work(run, progress):
        calls.append(run.pk)
        if len(calls) < 3:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        return {"pages": 3}

    ended = lifecycle.execute(run.pk, work)
    assert len(calls) == 3
    assert (ended.status, ended.report, ended.attempts) == ("succeeded", {"pages": 3}, 0)


def test_a_run_somebody_works_on_is_not_lost(project, redis_server):
    def work(run, progress):
        assert find_lost() == set()
        return {}

    lifecycle.execute(start(project).pk, work)


def test_a_job_that_waits_is_not_doubled(project, redis_server):
    run = start(project)
    for _ in range(3):
        job_queue.enqueue(JobKey("embed", (run.pk,)))
    import django_rq

    assert django_rq.get_queue("default").count == 1


def test_a_job_taken_by_a_worker_that_died_before_starting_it_is_lost(project, redis_server):
    run = lifecycle.start_run(project, RunKind.EMBED, {})
    assert find_lost() == set()
    lose_waiting_jobs()
    assert find_lost() == {JobKey("embed", (run.pk,), 0)}


def test_every_kind_of_run_is_registered():
    assert RUN_KINDS.keys() == {kind for kind in RunKind.values if not kind.startswith(IMPORT_PREFIX)}


def test_every_kind_of_run_has_a_job():
    assert all(job_type(kind) for kind in RunKind.values)


# ------------------------------------------------------------------------------------- real workers, really killed


def site(project, count: int) -> None:
    """One block of `count` pages with random vectors."""
    category = make_category(project, "All")
    template = make_page(project, "/first", category=category)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO linker_page (project_id, url, canonical_url, status, title, h1, headings, description, body, "
            "language, category_id, indexable, indexability_status, canonical_link, redirect_url, inlinks, outlinks, "
            "first_seen_at, last_seen_at) SELECT project_id, url || n, canonical_url || n, status, 'Page ' || n, "
            "'Page ' || n, headings, description, body, language, category_id, indexable, indexability_status, "
            "canonical_link, redirect_url, 0, 0, now(), now() FROM linker_page, generate_series(1, %s) n WHERE id = %s",
            [count - 1, template.pk],
        )
        cursor.execute("SELECT id FROM linker_page WHERE project_id = %s ORDER BY id", [project.pk])
        ids = np.array([pk for (pk,) in cursor.fetchall()])
    from django.db import transaction

    with transaction.atomic():
        unit = unit_rows(np.random.default_rng(8).normal(size=(count, 64)))
        save_vectors(make_model(64, "test-model").pk, ids, unit, [b"\0" * 32] * count)


def edges_of(run: Run) -> list[tuple]:
    return list(
        CandidateEdge.objects.filter(run=run)
        .order_by("source_id", "target_id")
        .values_list("source_id", "target_id", "similarity", "score", "level", "anchor")
    )


def wait_for(run: Run, seconds: float = 120) -> Run:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        run.refresh_from_db()
        if not run.is_active:
            return run
        time.sleep(0.1)
    pytest.fail(f"run still {run.status}: {run.stage} {run.done}/{run.total}")


@pytest.mark.nightly
def test_a_finish_that_comes_twice_leaves_everything_as_it_was(project):
    from linker.matching.finish import finish_match
    from linker.matching.start import run_match

    site(project, 30)
    run = lifecycle.start_run(project, RunKind.MATCH, MatchParams(threshold=-1.0).to_dict(), to_queue=False)
    assert lifecycle.execute(run.pk, run_match).report["edges"] == 300
    before = list(CandidateEdge.objects.order_by("pk").values())
    assert lifecycle.execute(run.pk, finish_match) is None
    assert list(CandidateEdge.objects.order_by("pk").values()) == before


@pytest.mark.nightly
@pytest.mark.slow
def test_a_worker_killed_in_mid_run_loses_and_doubles_nothing(project, worker_processes, monkeypatch):
    site(project, 6000)
    params = MatchParams(
        ranking="cosine", threshold=0.2, levels_up=1, pool=10,
        inline_per_donor=0, related_per_donor=5, per_target=0, target_share=1.0,
    ).to_dict()  # fmt: skip
    alone = lifecycle.start_run(project, RunKind.MATCH, params, to_queue=False)
    from linker.matching.batches import batches_left, enqueue_batches
    from linker.matching.plan import plan_match
    from linker.matching.start import run_match

    lifecycle.execute(alone.pk, run_match)
    alone = wait_for(alone)
    expected = edges_of(alone)
    assert len(expected) == 30_000

    monkeypatch.setattr("linker.matching.plan.BATCH_PAIRS", 1_000_000)
    shared = lifecycle.start_run(project, RunKind.MATCH, params, to_queue=False)
    Run.objects.filter(pk=shared.pk).update(status=RunStatus.RUNNING)
    shared.refresh_from_db()
    plan_match(shared)
    enqueue_batches(shared)
    assert len(batches_left(shared)) > 20

    pool = worker_processes(2)
    killed = 0
    deadline = time.monotonic() + 90
    while killed < 4 and time.monotonic() < deadline:
        done = RunBatch.objects.filter(run=shared, done=True).count()
        workers = [p for p in psutil.Process(pool.pid).children(recursive=True) if p.is_running()]
        if done > killed * 4 and len(workers) > 2:
            os.kill(workers[-1].pid, signal.SIGKILL)  # a job's own process
            if killed == 2:
                os.kill(workers[0].pid, signal.SIGKILL)  # and once a worker
            killed += 1
        time.sleep(0.05)
        shared.refresh_from_db()
        if not shared.is_active:
            break
    shared = wait_for(shared)

    assert killed >= 2, "nothing was killed in time"
    assert shared.status == "succeeded", shared.error
    assert edges_of(shared) == expected
    assert not RunCandidate.objects.filter(run=shared).exists()
    assert RunBatch.objects.filter(run=shared, done=False).count() == 0
