"""RQ's own scheduler starts what is due, and the sweep what Redis has forgotten; kills in the middle cost nothing."""

from __future__ import annotations

import ipaddress
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import django_rq
import pytest
from django.utils import timezone

from ingest.fetching import steps
from ingest.fetching.manage import create_source
from ingest.models import Schedule
from ingest.schedules.due import start_due
from ingest.schedules.manage import set_schedule
from linker.models import Page, Project, Run, RunKind
from linker.runs import job_queue
from linker.runs.job_queue import JobKey
from tests.factories import make_project
from tests.ingest.schedules.work import kill_a_worker_once, single_worker, sweep
from tests.ingest.sources.crawler.sites import page, served
from tests.ingest.sources.fake_wordpress import FakeWordPress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.ingest.sources.crawler.sites import SiteServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture(autouse=True)
def network(settings, tmp_path, monkeypatch, redis_server) -> None:
    """Servers of the test may be asked, by its workers too."""
    settings.FETCH_ROOT = tmp_path / "fetched"
    settings.OUTGOING_ALLOW = (ipaddress.ip_network("127.0.0.0/8"),)
    monkeypatch.setenv("FETCH_ROOT", str(settings.FETCH_ROOT))
    monkeypatch.setenv("OUTGOING_ALLOW", "127.0.0.0/8")


@pytest.fixture
def site() -> Iterator[SiteServer]:
    with served({"/": page("Home", "/tents", "/pegs"), "/tents": page("Tents"), "/pegs": page("Pegs")}) as server:
        yield server


@pytest.fixture
def fake() -> Iterator[FakeWordPress]:
    server = FakeWordPress(posts=250)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def scheduled(kind: str, address: str, **options: float) -> Schedule:
    """A source that is fetched daily."""
    project = make_project("shop", base_url=address)
    source = create_source(
        project, None, kind=kind, name="Site", address=f"{address}/", options=options, refresh_matches=False
    )
    return set_schedule(project, source, None, cron="daily")


def come_at(schedule: Schedule, moment: datetime) -> None:
    """The schedule comes at a moment, and RQ's scheduler is told, as it is of each next time."""
    Schedule.objects.filter(pk=schedule.pk).update(next_at=moment)
    job_queue.enqueue_at(JobKey("start_schedule", (schedule.pk, int(moment.timestamp()))), moment)


def soon(holds: Callable[[], bool], seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.1)


def is_done(project: Project) -> bool:
    """Whether its newest fetch is, and every step after it."""
    fetch = Run.objects.filter(project=project, kind=RunKind.FETCH).first()
    return fetch is not None and steps.is_done(fetch)


def next_times_in_redis() -> set[datetime]:
    registry = django_rq.get_queue("default").scheduled_job_registry
    return {registry.get_scheduled_time(job).replace(tzinfo=UTC) for job in registry.get_job_ids()}


@pytest.mark.nightly
def test_the_scheduler_of_a_worker_starts_what_is_due_without_a_sweep(site):
    schedule = scheduled("crawl", site.base, pages_a_second=100)
    assert next_times_in_redis() == {schedule.next_at}
    come_at(schedule, (timezone.now() + timedelta(seconds=2)).replace(microsecond=0))
    worker = single_worker()
    try:
        soon(lambda: is_done(schedule.project))
    finally:
        worker.terminate()
        worker.communicate()
    before = schedule.next_at
    schedule.refresh_from_db()
    assert schedule.last_run == Run.objects.get(kind=RunKind.FETCH)
    assert schedule.last_at < schedule.next_at == before
    assert schedule.next_at in next_times_in_redis()
    assert Page.objects.count() == 3


@pytest.mark.nightly
def test_the_sweep_of_the_pool_starts_what_redis_has_forgotten(site, worker_processes):
    schedule = scheduled("crawl", site.base, pages_a_second=100)
    come_at(schedule, timezone.now() + timedelta(seconds=1))
    django_rq.get_connection("default").flushall()
    worker_processes(1)
    soon(lambda: is_done(schedule.project))
    assert Run.objects.filter(kind=RunKind.FETCH).count() == 1


@pytest.mark.nightly
@pytest.mark.parametrize(
    "whole_worker",
    [
        pytest.param(False, marks=pytest.mark.nightly, id="the job is killed"),
        pytest.param(True, id="the worker is killed"),
    ],
)
def test_a_scheduled_fetch_of_wordpress_that_is_killed_goes_on_and_asks_for_no_text_twice(fake, run_jobs, whole_worker):
    schedule = scheduled("wordpress", fake.address, pause=0)
    come_at(schedule, timezone.now() - timedelta(minutes=1))
    [fetch] = start_due()
    reached, texts = threading.Event(), []

    def slowly(path: str, query: dict[str, list[str]]) -> None:
        if "include" in query:
            texts.extend(query["include"][0].split(","))
            if len(texts) > 100:
                reached.set()
                time.sleep(0.5)

    fake.faults.append(slowly)
    kill_a_worker_once(reached, whole_worker=whole_worker)
    fake.faults.clear()
    fake.faults.append(lambda path, query: texts.extend(query.get("include", [""])[0].split(",")))
    assert start_due(now=timezone.now() + timedelta(days=2)) == [], "it is still under way"
    sweep()
    run_jobs()
    assert is_done(schedule.project)
    fetch.refresh_from_db()
    assert fetch.report["is_whole"]
    assert Page.objects.count() == 251
    asked = [text for text in texts if text]
    assert set(asked) == {str(number) for number in range(1, 251)}
    assert len(asked) - len(set(asked)) <= 100, "at most those that were on their way are asked for again"
    [later] = start_due(now=timezone.now() + timedelta(days=2))
    assert later.kind == RunKind.FETCH
