"""One rule for the life of an uploaded file: see ingest.files.uploads."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from ingest import services
from ingest.files import uploads
from ingest.models import Upload
from linker.models import Run, RunKind, RunStatus
from linker.runs import job_queue
from linker.runs.job_queue import JobKey
from linker.runs.workers import WorkerPool
from tests.ingest.files import SITE

GOOD = f"Address,Title 1\n{SITE}/a,A\n".encode()
BAD = GOOD + f"{SITE}/b,B\n".encode() * 20_000 + b'x,"never closed'  # told only by reading on

pytestmark = pytest.mark.django_db


def upload(project, content: bytes = GOOD) -> Upload:
    return services.take_upload(project, None, file=SimpleUploadedFile("crawl.csv", content))


def files() -> list[Path]:
    return [path for path in settings.UPLOAD_ROOT.rglob("*") if path.is_file()]


def a_run(project, one: Upload, status: RunStatus, ended_days_ago: int | None) -> Run:
    ended = None if ended_days_ago is None else timezone.now() - timedelta(days=ended_days_ago)
    return Run.objects.create(
        project=project, kind=RunKind.IMPORT_PAGES, status=status, params={"upload": one.pk}, finished_at=ended
    )


def aged(one: Upload, days: int) -> Upload:
    Upload.objects.filter(pk=one.pk).update(at=timezone.now() - timedelta(days=days))
    return one


@pytest.mark.nightly
def test_a_refused_upload_leaves_neither_file_nor_row(project, manager, client_for):
    client = client_for(manager)
    for content in (b"", b"%PDF-1.4", b'""\n""\n', "Address,Title\n".encode("utf-16-le")[:-1] + b"\xd8"):
        answer = client.post(
            reverse("import", args=["shop"]), {"file": SimpleUploadedFile("a.csv", content), "encoding": ""}
        )
        assert answer.status_code == 422
        assert "Nothing has been imported" in answer.text
    assert not files()
    assert not Upload.objects.exists()


def test_whatever_breaks_while_it_is_taken_leaves_no_file(project):
    with pytest.raises(TypeError):
        services.take_upload(project, None, file=SimpleUploadedFile("crawl.csv", GOOD), kind=["no kind"])
    assert not files()


def test_a_file_that_turns_out_unusable_in_the_import_is_removed_and_its_row_stays_for_the_run(project):
    one = upload(project, BAD)
    run = a_run(project, one, RunStatus.RUNNING, None)
    with pytest.raises(uploads.FileError, match="never closed"):
        services.run_import(run, services.no_progress)
    one.refresh_from_db()
    assert not files()
    assert (one.name, one.path, one.is_there) == ("crawl.csv", "", False)


def test_a_file_that_is_refused_for_its_columns_stays_for_other_choices(project):
    one = upload(project, f"Address,Title 1\nhttps://other.example/a,A\n{SITE[8:]}/b,B\n".encode())
    with pytest.raises(services.ImportStopped):
        services.run_import(a_run(project, one, RunStatus.RUNNING, None), services.no_progress)
    assert one.is_there


def test_a_file_that_is_damaged_on_our_disk_goes_when_it_is_opened_again(project, manager, client_for):
    one = upload(project)
    one.file.write_bytes(b"\x1f\x8b\x08\0 damaged")
    answer = client_for(manager).get(reverse("import_preview", args=["shop", one.pk]), follow=True)
    assert "damaged" in answer.text or "cut off" in answer.text
    assert not files()
    assert not Upload.objects.exists()


def test_the_sweep_removes_what_was_never_started_and_what_has_been_done_with(project, settings):
    settings.UPLOAD_KEEP_DAYS = 30
    fresh = upload(project)
    unused = aged(upload(project), 8)
    done_long_ago, done_lately, working = (aged(upload(project), 90) for _ in range(3))
    a_run(project, done_long_ago, RunStatus.SUCCEEDED, 31)
    a_run(project, done_lately, RunStatus.SUCCEEDED, 31)
    a_run(project, done_lately, RunStatus.FAILED, 29)
    a_run(project, working, RunStatus.RUNNING, None)
    assert uploads.clean() == 2
    assert uploads.clean() == 0
    assert {path.name for path in files()} == {one.file.name for one in (fresh, done_lately, working)}
    assert not Upload.objects.filter(pk=unused.pk).exists()
    assert Upload.objects.get(pk=done_long_ago.pk).path == ""


def test_the_sweep_never_touches_a_file_of_the_command_line(project, tmp_path):
    path = tmp_path / "crawl.csv"
    path.write_bytes(GOOD)
    one = aged(services.register_file(project, "pages", path), 900)
    uploads.clean()
    uploads.discard(one)
    assert path.is_file()


def test_the_sweep_removes_files_that_a_killed_process_left_without_a_row(project):
    one = upload(project)
    stray = one.file.with_name("0" * 32)
    stray.write_bytes(b"x")
    os.utime(stray, (0, 0))
    assert uploads.clean() == 1
    assert files() == [one.file]


def test_the_sweep_removes_lists_of_left_out_rows_that_no_run_speaks_of(project):
    """The worker was killed, and then the run was cancelled, or its project deleted."""
    one = upload(project)
    told, working, cancelled = (
        a_run(project, one, status, None if status == RunStatus.RUNNING else 0)
        for status in (RunStatus.SUCCEEDED, RunStatus.RUNNING, RunStatus.CANCELLED)
    )
    Run.objects.filter(pk=told.pk).update(report={"skipped_file": True})
    lists = {pk: services.skipped_path(project.pk, pk) for pk in (told.pk, working.pk, cancelled.pk, 10**15)}
    for path in lists.values():
        path.write_bytes(b"x")
        os.utime(path, (0, 0))
    assert uploads.clean() == 2
    assert set(files()) == {one.file, lists[told.pk], lists[working.pk]}


def test_what_a_killed_worker_listed_is_not_shown_and_goes_when_the_import_begins_again(project, manager, client_for):
    one = upload(project)
    run = a_run(project, one, RunStatus.RUNNING, None)
    services.skipped_path(project.pk, run.pk).write_bytes(b"half a list")
    assert client_for(manager).get(reverse("import_skipped", args=["shop", run.pk])).status_code == 404
    services.run_import(run, services.no_progress)
    assert files() == [one.file]


def test_the_list_of_imports_offers_no_file_that_is_gone(project, manager, client_for):
    one = upload(project)
    a_run(project, one, RunStatus.SUCCEEDED, 1)
    client = client_for(manager)
    assert "Open again" in client.get(reverse("import", args=["shop"])).text
    uploads.discard(one)
    text = client.get(reverse("import", args=["shop"])).text
    assert "Open again" not in text
    assert "crawl.csv" in text
    answer = client.get(reverse("import_preview", args=["shop", one.pk]), follow=True)
    assert "no longer there" in answer.text


@pytest.mark.django_db(transaction=True)
def test_the_watch_over_the_workers_starts_the_sweep(project, run_jobs):
    one = aged(upload(project), 8)
    pool = WorkerPool(1)
    pool._clean()
    run_jobs()
    assert not one.file.exists()
    pool._clean()
    assert not job_queue.is_waiting(JobKey("clean_uploads", ())), "once an hour"
