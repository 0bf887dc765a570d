"""The watch over the workers outlasts its servers, and says what is amiss with them: once, and rightly."""

from __future__ import annotations

import shutil

import django_rq
import pytest
import redis
from django.db import connection
from redis.backoff import NoBackoff
from redis.retry import Retry

from linker import embedded
from linker.models import RunKind, RunStatus
from linker.runs import job_queue, lifecycle
from linker.runs.job_queue import JobKey
from linker.runs.workers import WorkerPool
from tests.factories import make_page, make_user


@pytest.fixture
def pool(settings, caplog) -> WorkerPool:
    """A pool without workers that sweeps whenever it is asked to watch."""
    settings.SWEEP_SECONDS = 0
    caplog.set_level("INFO", "linker.runs.workers")  # whatever a test before has done to the logs
    pool = WorkerPool(1)
    pool.places = []
    return pool


@pytest.fixture
def full_disk(transactional_db):
    """PostgreSQL refuses to change runs with the error that a full disk gives."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$"
        )
        cursor.execute("CREATE TRIGGER no_room BEFORE UPDATE ON linker_run FOR EACH ROW EXECUTE FUNCTION no_room()")
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP FUNCTION IF EXISTS no_room CASCADE")


def told(caplog) -> list[str]:
    """What the watch has said since it was asked last."""
    lines = [
        f"{record.msg['event']}: {record.msg.get('error', '')}"
        for record in caplog.records
        if record.name == "linker.runs.workers"
    ]
    caplog.clear()
    return lines


@pytest.mark.nightly
def test_a_full_disk_is_no_server_that_is_away_and_is_told_once(full_disk, project, redis_server, pool, caplog):
    run = lifecycle.start_run(project, RunKind.EMBED, {})
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE linker_run DISABLE TRIGGER no_room")
        cursor.execute("UPDATE linker_run SET status = %s, cancel_requested = true", [RunStatus.RUNNING])
        cursor.execute("ALTER TABLE linker_run ENABLE TRIGGER no_room")
    django_rq.get_connection("default").flushall()
    told(caplog)
    for _ in range(6):
        pool.watch()
    [line] = told(caplog)
    assert "No space left on device" in line
    assert "PostgreSQL refuses" in line
    with connection.cursor() as cursor:
        cursor.execute("DROP FUNCTION no_room CASCADE")
    pool.watch()
    [line] = told(caplog)
    assert "PostgreSQL does again what is asked of it" in line
    run.refresh_from_db()
    assert run.status == RunStatus.CANCELLED


@pytest.mark.parametrize("trouble", ["it ends at once", "its folder cannot be made"])
def test_a_redis_that_does_not_start_again_does_not_end_the_pool(
    pool, settings, tmp_path, monkeypatch, caplog, trouble
):
    settings.VAR = tmp_path
    if trouble == "it ends at once":
        monkeypatch.setattr(embedded, "redis_binary", lambda: shutil.which("false"))
    else:
        (tmp_path / "redis").write_text("a file")
    pool._sweep = lambda: redis.Redis(port=1, retry=Retry(NoBackoff(), 0)).ping()
    for _ in range(2):
        pool.watch()
    [line] = told(caplog)
    assert "Redis does not answer" in line
    assert "Redis did not start" in line
    pool._sweep = lambda: None
    pool.watch()
    [line] = told(caplog)
    assert "Redis answers again" in line


def test_a_postgresql_that_does_not_start_again_does_not_end_the_pool(pool, db, tmp_path, caplog):
    (tmp_path / "postgres").write_text("a file")
    pool._sweep = lambda: embedded.start_postgres(tmp_path)
    for _ in range(2):
        pool.watch()
    [line] = told(caplog)
    assert "PostgreSQL does not answer" in line
    assert "PostgreSQL did not start" in line


@pytest.mark.nightly
def test_a_bug_in_one_due_hook_hurts_that_hook_alone_and_is_told_once(
    pool, project, redis_server, transactional_db, monkeypatch, caplog, client_for
):
    make_page(project, "/never-looked-through")
    good = "linker.runs.sensitivity_checks.start_missing"
    monkeypatch.setattr("linker.runs.workers.STARTED_WHEN_DUE", ("linker.runs.kinds.job_type", good))
    for _ in range(2):
        pool.watch()
    assert project.runs.get().kind == RunKind.SENSITIVE, "the hook after it does its work"
    [failed] = [record for record in caplog.records if record.levelname == "ERROR"]
    assert failed.msg["exc_info"], "the log has the traceback"
    about = client_for(make_user("root", is_superuser=True)).get("/about/").content.decode()
    assert "linker.runs.kinds.job_type" in about
    assert "TypeError" in about
    monkeypatch.setattr("linker.runs.kinds.job_type", list)
    pool.watch()
    assert job_queue.maintenance_faults() == {}


def test_lost_work_is_looked_for_though_a_hook_fails(pool, project, redis_server, transactional_db, monkeypatch):
    monkeypatch.setattr("linker.runs.workers.STARTED_WHEN_DUE", ("linker.runs.kinds.job_type",))
    run = lifecycle.start_run(project, RunKind.EMBED, {})
    django_rq.get_connection("default").flushall()
    for _ in range(2):
        pool.watch()
    assert job_queue.is_waiting(JobKey(RunKind.EMBED, (run.pk,)))
