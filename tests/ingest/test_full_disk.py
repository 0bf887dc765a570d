"""A disk without room, a real one: it ends in a sentence, and nothing stays behind or stays "running"."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection
from django.urls import reverse

from ingest import services
from ingest.errors import FileError
from ingest.kinds.pages.report import PagesReport
from ingest.models import Upload
from linker.models import Category, Page, RunKind, RunStatus
from linker.reports.words import report_rows
from linker.runs import lifecycle
from linker.runs.lost_work import find_lost
from linker.runs.recovery import recover
from tests.ingest.files import SITE

MEGABYTE = 2**20


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of 4 MB."""
    folder = Path(tempfile.mkdtemp(prefix="anchorline-disk-"))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        folder.rmdir()
        pytest.skip("only root can mount a small disk")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
    folder.rmdir()


def fill(disk: Path, leave: int = 0) -> Path:
    """A file that takes all but `leave` bytes of a disk."""
    filler = disk / "filler"
    filler.write_bytes(bytes(max(0, shutil.disk_usage(disk).free - leave)))
    return filler


def files(disk: Path) -> list[Path]:
    return [path for path in disk.rglob("*") if path.is_file()]


def crawl(rows: int) -> bytes:
    return b"Address,Title 1\n" + b"".join(f"{SITE}/{n},{n:0200d}\n".encode() for n in range(rows))


@pytest.mark.parametrize("which", ["UPLOAD_ROOT", "FILE_UPLOAD_TEMP_DIR"])
def test_an_upload_that_finds_no_room_is_refused_with_a_sentence(
    project, manager, client_for, settings, small_disk, which
):
    setattr(settings, which, small_disk if which == "UPLOAD_ROOT" else str(small_disk))
    client = client_for(manager)
    answer = client.post(reverse("import", args=["shop"]), {"file": SimpleUploadedFile("crawl.csv", crawl(30_000))})
    assert answer.status_code == 422
    assert "no room for the file" in answer.text
    assert not files(small_disk)
    assert not Upload.objects.exists()
    answer = client.post(reverse("import", args=["shop"]), {"file": SimpleUploadedFile("crawl.csv", crawl(30))})
    assert answer.status_code == 302


@pytest.mark.nightly
def test_a_list_of_rows_left_out_that_finds_no_room_does_not_cost_the_import(
    project, manager, client_for, settings, small_disk
):
    settings.UPLOAD_ROOT = small_disk
    content = crawl(10) + b"".join(b"https://other.example/%d,x\n" % n for n in range(5_000))
    upload = services.take_upload(project, None, file=SimpleUploadedFile("crawl.csv", content))
    run = lifecycle.start_run(project, RunKind.IMPORT_PAGES, {"upload": upload.pk, "mapping": {}}, to_queue=False)
    filler = fill(small_disk, leave=2 * 4096)
    report = services.run_import(run, services.no_progress)
    assert isinstance(report, PagesReport)
    assert report.pages == Page.objects.count() == 10
    assert report.skipped == {"another_site": 5_000}
    assert (report.skipped_lost, report.skipped_file, report.skipped_listed) == (True, False, 0)
    assert set(files(small_disk)) == {filler, upload.file}
    run.report, run.status = report.to_json(), RunStatus.SUCCEEDED
    run.save()
    assert ("No disk space on the server for the list of what was left out", "yes") in report_rows(run)
    assert "5,000 rows, not listed" in client_for(manager).get(reverse("import", args=["shop"])).text


@pytest.fixture
def small_tablespace(transactional_db, small_disk) -> Iterator[Path]:
    """A tablespace of the database on the small disk: `small`."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW data_directory")
        owner = Path(cursor.fetchone()[0])
        if not owner.is_dir():
            pytest.skip("the database is on another machine")
        shutil.chown(small_disk, owner.owner(), owner.group())
        small_disk.parent.chmod(0o1777) if small_disk.parent == Path(tempfile.gettempdir()) else None
        cursor.execute(f"CREATE TABLESPACE small LOCATION '{small_disk}'")
    yield small_disk
    (small_disk / "filler").unlink(missing_ok=True)
    connection.close()
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE linker_run SET TABLESPACE pg_default")
        cursor.execute("DROP TABLESPACE small")


@pytest.mark.nightly
def test_a_database_whose_disk_is_full_fails_the_run_with_a_sentence(project, tmp_path, small_tablespace):
    path = tmp_path / "crawl.csv"
    path.write_bytes(crawl(60_000))
    upload = services.register_file(project, "pages", path)
    run = lifecycle.start_run(project, RunKind.IMPORT_PAGES, {"upload": upload.pk}, to_queue=False)
    with connection.cursor() as cursor:
        cursor.execute("SET temp_tablespaces = small")
    with pytest.raises(OperationalError, match="No space left"):
        lifecycle.execute(run.pk, services.run_import)
    connection.close()
    run.refresh_from_db()
    assert (run.status, run.error) == (RunStatus.FAILED, lifecycle.NO_ROOM)
    assert not Page.objects.exists()
    assert not Category.objects.exists()


@pytest.mark.nightly
def test_a_run_whose_end_finds_no_room_is_ended_by_the_sweep_as_soon_as_there_is(
    project, redis_server, small_tablespace
):
    run = lifecycle.start_run(project, RunKind.IMPORT_PAGES, {}, to_queue=False)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE linker_run SET TABLESPACE small")

    def refuse(run, progress):
        fill(small_tablespace)
        error = FileError("crawl.csv", "It is damaged.", line=3)
        error.report = {"much": Random(1).randbytes(MEGABYTE).hex()}
        raise error

    with pytest.raises(OperationalError, match="No space left"):
        lifecycle.execute(run.pk, refuse)
    run.refresh_from_db()
    assert run.status == RunStatus.RUNNING
    (small_tablespace / "filler").unlink()
    lost = find_lost()
    assert [key.args for key in lost] == [(run.pk,)]
    assert recover(lost) == 0
    run.refresh_from_db()
    assert (run.status, run.error) == (RunStatus.FAILED, "crawl.csv, line 3: It is damaged. Nothing was imported.")
    assert not find_lost()
