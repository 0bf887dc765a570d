"""The list of runs says what is under way, what waits and for whom; what failed can be tried again."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING

import django_rq
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from rq import SimpleWorker

from ingest.models import Schedule, Upload
from ingest.schedules.manage import set_schedule
from linker.models import Run, RunKind
from linker.runs import lifecycle, run_lock
from tests.factories import make_edge, make_run
from tests.markup import compact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from linker.models import Project

pytestmark = pytest.mark.django_db


def url(name: str, project: Project, *args: object) -> str:
    return reverse(name, args=[project.slug, *args])


@pytest.fixture
def shown(project, manager, client_for):
    """What the part of the page says that changes."""
    headers = {"HX-Request": "true"}
    return lambda: compact(client_for(manager).get(url("runs_under_way", project), headers=headers).content.decode())


@pytest.fixture
def worker(redis_server) -> Iterator[SimpleWorker]:
    """One that is there and has a job, as Redis knows it."""
    found = SimpleWorker(["default"], connection=django_rq.get_connection("default"))
    found.register_birth()
    yield found
    found.register_death()


def queued(project: Project, kind: RunKind, django_capture_on_commit_callbacks) -> Run:
    with django_capture_on_commit_callbacks(execute=True):
        return lifecycle.start_run(project, kind, {})


def test_a_queue_without_a_worker_says_so(project, shown, redis_server, django_capture_on_commit_callbacks):
    queued(project, RunKind.EMBED, django_capture_on_commit_callbacks)
    assert "No worker is running." in shown()


def test_a_run_says_what_is_before_it(project, shown, worker, django_capture_on_commit_callbacks):
    first = queued(project, RunKind.EMBED, django_capture_on_commit_callbacks)
    assert "A worker takes it at once." in shown()
    queue = django_rq.get_queue("default")
    worker.set_current_job_id(queue.get_job_ids()[0])
    queue.remove(queue.get_job_ids()[0])
    Run.objects.filter(pk=first.pk).update(status="running", stage="Embedding", done=3, total=10)
    queued(project, RunKind.ROLES, django_capture_on_commit_callbacks)
    queued(project, RunKind.SENSITIVE, django_capture_on_commit_callbacks)
    said = shown()
    assert "Embedding" in said
    assert "3 of 10" in said
    assert f"It waits for a worker. At work: Embed pages #{first.pk}." in said
    assert f"It waits for a worker, and 1 job is before it. At work: Embed pages #{first.pk}." in said


def test_a_run_whose_worker_is_gone_says_so(project, shown, worker):
    make_run(project, RunKind.EMBED, "running")
    assert "Its worker was lost. Another one takes it up within seconds." in shown()


def test_a_run_that_is_worked_on_waits_for_nobody(project, shown, worker):
    run = make_run(project, RunKind.EMBED, "running", stage="Embedding")
    with run_lock.run_lock(run.pk):
        assert run.pk in run_lock.locked_runs()
        assert "worker was lost" not in shown()


@pytest.mark.django_db(transaction=True)
def test_a_run_that_waits_for_what_another_writes_names_it(project):
    """Two connections, as two workers have them."""
    with run_lock._connect() as holder, run_lock._connect() as waiting:
        for one, number in ((holder, 7), (waiting, 8)):
            one.execute("SELECT set_config('application_name', %s, false)", [f"{run_lock.NAME}{number}"])
        holder.execute("BEGIN")
        lock = f"SELECT FROM linker_project WHERE id = {project.pk} FOR NO KEY UPDATE"
        holder.execute(lock)
        thread = threading.Thread(target=waiting.execute, args=[lock])
        thread.start()
        deadline = timezone.now() + timedelta(seconds=30)
        while not (found := run_lock.blockers()) and timezone.now() < deadline:
            pass
        holder.execute("COMMIT")
        thread.join()
    assert found == {8: {7}}


@pytest.mark.nightly
def test_a_schedule_says_which_run_it_waits_for(project, manager, shown, redis_server):
    set_schedule(project, None, manager, cron="daily")
    assert "Scheduled match" not in shown()
    Schedule.objects.update(next_at=timezone.now() - timedelta(minutes=1))
    assert "The workers start it within seconds." in shown()
    run = make_run(project, RunKind.MATCH, "running")
    assert f"It waits for the end of Match #{run.pk}." in shown()


def test_links_that_wait_for_a_second_person_are_named(project, shown, redis_server):
    edge = make_edge(project, status="accepted")
    assert "second person" not in shown()
    type(edge).objects.filter(pk=edge.pk).update(waits=True)
    assert "They wait for a second person to approve them." in shown()


def test_nothing_is_asked_for_again_while_nothing_runs(project, shown, redis_server):
    assert "hx-get" not in shown()
    make_run(project, RunKind.EMBED, "running")
    assert "hx-get" in shown()


def test_a_viewer_sees_it_and_stops_nothing(project, viewer, manager, client_for, redis_server):
    run = make_run(project, RunKind.EMBED, "running", stage="Embedding")
    cancel = url("run_cancel", project, run.pk)
    assert cancel in client_for(manager).get(url("runs", project)).content.decode()
    page = client_for(viewer).get(url("runs", project)).content.decode()
    assert cancel not in page
    assert "Under way and waiting" in page


def test_the_part_that_changes_leads_to_the_list_where_it_is_opened_by_itself(project, manager, client_for):
    response = client_for(manager).get(url("runs_under_way", project))
    assert (response.status_code, response.url) == (302, url("runs", project))


def test_the_number_of_queries_does_not_grow_with_the_runs(project, manager, client_for, redis_server):
    client, page = client_for(manager), url("runs_under_way", project)
    make_run(project, RunKind.EMBED, "running", created_by=manager)
    client.get(page, headers={"HX-Request": "true"})
    with CaptureQueriesContext(connection) as one:
        client.get(page, headers={"HX-Request": "true"})
    for kind in (RunKind.MATCH, RunKind.ROLES, RunKind.SENSITIVE, RunKind.CAPS, RunKind.VERIFY):
        make_run(project, kind, "queued", created_by=manager)
    with CaptureQueriesContext(connection) as many:
        client.get(page, headers={"HX-Request": "true"})
    assert len(many) == len(one)


# ---------------------------------------------------------------------------------------------------------- try again


def failed(project: Project, kind: str, **fields) -> Run:
    return make_run(project, kind, "failed", error="The disk was full.", **fields)


def test_what_failed_is_tried_again_with_the_same_parameters(project, manager, client_for, redis_server):
    run = failed(project, RunKind.MATCH, params={"ranking": "formula", "pilot": None})
    client = client_for(manager)
    again = url("run_again", project, run.pk)
    assert again in client.get(url("runs", project)).content.decode()
    assert again in client.get(url("run", project, run.pk)).content.decode()
    answer = client.post(again)
    new = Run.objects.get(status="queued")
    assert answer.url == url("run", project, new.pk)
    assert (new.kind, new.params, new.created_by) == (run.kind, run.params, manager)


@pytest.mark.nightly
def test_what_has_not_failed_is_not_tried_again(project, manager, client_for):
    run = make_run(project)
    client = client_for(manager)
    assert url("run_again", project, run.pk) not in client.get(url("runs", project)).content.decode()
    assert "has not failed" in client.post(url("run_again", project, run.pk), follow=True).content.decode()
    assert Run.objects.count() == 1


def test_where_one_is_under_way_its_page_opens(project, manager, client_for, redis_server):
    run, active = failed(project, RunKind.EMBED), make_run(project, RunKind.EMBED, "queued")
    assert client_for(manager).post(url("run_again", project, run.pk)).url == url("run", project, active.pk)


@pytest.fixture
def upload(project, tmp_path) -> Upload:
    file = tmp_path / "pages.csv"
    file.write_text("Address\n")
    return Upload.objects.create(project=project, kind="pages", name="pages.csv", path=str(file), bytes=8, sha256="0")


def test_an_import_is_tried_again_while_its_file_is_there(project, manager, client_for, upload, redis_server):
    run = failed(project, RunKind.IMPORT_PAGES, params={"upload": upload.pk, "mapping": {"url": ["Address"]}})
    client = client_for(manager)
    upload.file.unlink()
    page = client.post(url("run_again", project, run.pk), follow=True).content.decode()
    assert "The file is no longer there. Upload it again." in page
    upload.file.write_text("Address\n")
    client.post(url("run_again", project, run.pk))
    assert Run.objects.get(status="queued").params == run.params


def test_an_import_does_not_put_older_data_over_newer(project, manager, client_for, upload, redis_server):
    run = failed(project, RunKind.IMPORT_PAGES, params={"upload": upload.pk, "mapping": {}})
    later = make_run(project, RunKind.IMPORT_PAGES)
    page = client_for(manager).post(url("run_again", project, run.pk), follow=True).content.decode()
    assert f"Run {later.pk} has imported the same since" in page
    assert not Run.objects.filter(status="queued").exists()


@pytest.mark.parametrize(("kind", "overtaken_by"), [("retier", "retier"), ("stand", "match"), ("vectors", "embed")])
def test_a_change_is_not_made_again_over_a_later_one(project, manager, client_for, redis_server, kind, overtaken_by):
    run = failed(project, kind, params={"wanted": {}, "model": 1})
    make_run(project, overtaken_by, "failed")
    later = make_run(project, overtaken_by)
    page = client_for(manager).post(url("run_again", project, run.pk), follow=True).content.decode()
    assert f"Run {later.pk} has changed the same since" in page
    assert not Run.objects.filter(status="queued").exists()


def test_a_fetch_whose_source_was_removed_is_not_tried_again(project, manager, client_for, redis_server):
    from ingest.fetching.manage import create_source, remove_source

    source = create_source(project, None, kind="crawl", name="Site", address=f"{project.base_url}/")
    run = failed(project, RunKind.FETCH, params={"source": source.pk, "options": {}})
    remove_source(source, None)
    page = client_for(manager).post(url("run_again", project, run.pk), follow=True).content.decode()
    assert "was removed" in page
    assert not Run.objects.filter(status="queued").exists()
