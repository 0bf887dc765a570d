"""An import that is killed or cancelled in the middle leaves nothing half done; a killed one is taken up again."""

from __future__ import annotations

import csv
import os
import signal
import time
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from django.db import connection, transaction

from ingest import services
from linker.models import Category, ExistingLink, Page, PageTraffic, Run, RunStatus, TrafficPeriod
from linker.runs import lifecycle
from tests.factories import make_page
from tests.ingest.files import LINK_HEADER, SITE, link, write

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow

PAGES = 300
BAD = 3  # rows that are left out
# A table that the import writes last, when nearly all is written. A share lock lets others read it.
LAST_WRITTEN = {"pages": "linker_pagetraffic", "links": "linker_page"}


def _soon(holds: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.05)


def _pages_file(folder: Path) -> Path:
    rows = [(f"{SITE}/topic{n % 7}/{n}", f"Tent {n}", f"Tents › Kind {n % 7}", n) for n in range(PAGES)]
    bad = [(f"https://other.example/{n}", "Elsewhere", "", 1) for n in range(BAD)]
    return write(folder / "pages.csv", ("Address", "Title 1", "Breadcrumb", "Clicks"), rows + bad)


def _links_file(folder: Path) -> Path:
    rows = [link(f"/{n}", f"/{n + 1}", f"tent {n}") for n in range(PAGES - 1)]
    return write(folder / "links.csv", LINK_HEADER, rows + [link("/0", f"/unknown{n}") for n in range(BAD)])


def _counts() -> dict[str, int]:
    """What an import of pages or links writes."""
    tables = (Page, Category, PageTraffic, TrafficPeriod, ExistingLink)
    counted = Page.objects.exclude(inlinks=0, outlinks=0).count()
    return {table.__name__: table.objects.count() for table in tables} | {"pages with links": counted}


def _start(project, kind: str, folder: Path) -> Run:
    file = (_pages_file if kind == "pages" else _links_file)(folder)
    upload = services.register_file(project, kind, file)
    return services.start_import(project, upload, services.look_at_upload(project, upload), None)


def _is_held_up(table: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE relation = %s::regclass AND NOT granted AND database = "
            "(SELECT oid FROM pg_database WHERE datname = current_database())",
            [table],
        )
        return cursor.fetchone()[0] > 0


def _listed(run: Run) -> list[Any]:
    with services.skipped_path(run.project_id, run.pk).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))[1:]


def _jobs(pool: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """The processes of jobs: each leads a group of its own, which a worker's scheduler does not."""
    children = [child for worker in psutil.Process(pool.pid).children() for child in worker.children()]
    return [child for child in children if os.getpgid(child.pid) == child.pid]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("pages", "killed"),
        ("links", "cancelled"),
        pytest.param("pages", "cancelled", marks=pytest.mark.nightly),
        pytest.param("links", "killed", marks=pytest.mark.nightly),
    ],
)
def test_an_import_that_is_stopped_in_the_middle_leaves_nothing_half_done(
    project, worker_processes, tmp_path, kind, fault
):
    if kind == "links":
        for n in range(PAGES):
            make_page(project, f"/{n}")
    before = _counts()
    run = _start(project, kind, tmp_path)
    list_of_rows = services.skipped_path(project.pk, run.pk)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {LAST_WRITTEN[kind]} IN SHARE MODE")
        pool = worker_processes(1)
        _soon(lambda: _is_held_up(LAST_WRITTEN[kind]))
        assert list_of_rows.is_file(), "it is in the middle of its work"
        if fault == "killed":
            [job] = _jobs(pool)
            job.send_signal(signal.SIGKILL)
            _soon(lambda: Run.objects.get(pk=run.pk).attempts == 1)
        else:
            assert lifecycle.request_cancel(run)
        assert _counts() == before
    _soon(lambda: not Run.objects.get(pk=run.pk).is_active)
    run.refresh_from_db()
    if fault == "cancelled":
        assert run.status == RunStatus.CANCELLED
        assert _counts() == before
        assert not list_of_rows.exists()
        return
    assert run.status == RunStatus.SUCCEEDED, run.error
    assert len(_listed(run)) == run.report["skipped_listed"] == BAD
    new = {name: count - before[name] for name, count in _counts().items() if count != before[name]}
    if kind == "pages":
        assert run.report["new"] == PAGES
        assert new == {"Page": PAGES, "Category": 8, "PageTraffic": PAGES, "TrafficPeriod": 1}
    else:
        assert run.report["new"] == PAGES - 1
        assert new == {"ExistingLink": PAGES - 1, "pages with links": PAGES}
