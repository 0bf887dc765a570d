"""A start while Redis is away is saved, says so, and needs nobody when Redis is back."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.urls import reverse

from linker.models import Run, RunKind
from linker.runs import job_queue, lifecycle
from linker.runs.lost_work import find_lost
from linker.runs.recovery import recover

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def redis_away(monkeypatch, tmp_path):
    """Call it to bring Redis back."""
    with monkeypatch.context() as away:
        for name in settings.RQ_QUEUES:
            away.setitem(settings.RQ_QUEUES[name], "URL", f"unix://{tmp_path}/no-redis.sock")
        yield away.undo


@pytest.mark.nightly
def test_the_page_says_that_the_run_is_saved_and_it_starts_by_itself(
    project, manager, client_for, redis_server, redis_away, run_jobs
):
    client = client_for(manager)
    page = client.post(reverse("embed", args=[project.slug]), follow=True)
    assert page.status_code == 200
    assert "The run is saved" in page.content.decode()
    assert "will start by itself" in page.content.decode()
    run = Run.objects.get()
    assert run.status == "queued"

    redis_away()
    state = client.get(
        reverse("run_state", args=[project.slug, run.pk]), headers={"HX-Request": "true"}
    ).content.decode()
    assert "The run is saved" not in state
    lost = find_lost()
    assert recover(lost) == 1
    run_jobs()
    run.refresh_from_db()
    assert (run.is_active, run.attempts) == (False, 0)


def test_a_second_start_while_redis_is_away_is_told_of_the_first(project, manager, client_for, redis_away):
    client = client_for(manager)
    client.post(reverse("embed", args=[project.slug]))
    page = client.post(reverse("embed", args=[project.slug]), follow=True)
    assert "already waiting" in page.content.decode() or "already queued" in page.content.decode()
    assert Run.objects.count() == 1


def test_a_run_can_be_cancelled_while_redis_is_away(project, manager, client_for, redis_away):
    run = lifecycle.start_run(project, RunKind.EMBED, {})
    client_for(manager).post(reverse("run_cancel", args=[project.slug, run.pk]))
    run.refresh_from_db()
    assert run.status == "cancelled"


def test_nobody_waits_long_for_a_redis_that_is_away(redis_away):
    import time

    began = time.monotonic()
    assert not job_queue.answers()
    job_queue.enqueue(job_queue.JobKey("embed", (1,)))
    assert time.monotonic() - began < 2
