"""Whatever a file went through, it ends as an import with the right totals or as a sentence, and nothing stays behind.

The budget is fixed: some seconds in the suite. `make fuzz` tries FUZZ_FILES of them and prints what became of them.
"""

from __future__ import annotations

import csv
import os
import re
import resource
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import hypothesis
import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, given

from ingest import services
from ingest.errors import UnusableFile
from ingest.fields.skipped import REASONS
from ingest.models import Upload
from ingest.preview import preview_file
from linker.models import Category, ExistingLink, Page, PageTraffic, Project, Run, RunStatus, SearchQuery, TrafficPeriod
from linker.runs import lifecycle
from tests.examples import few
from tests.factories import make_member, make_page, make_project
from tests.ingest.damage import DAYS, TRAFFIC, DamagedFile, DamagedRow, damaged_files, damaged_rows
from tests.ingest.files import SITE

FILES = int(os.environ.get("FUZZ_FILES", 0))  # 0: as the suite does
MAX_MEMORY_MB = 1024
MAX_SECONDS = 20  # of the processor, for a file; most take a hundredth of one
TRIED = hypothesis.settings(
    deadline=None,
    derandomize=not FILES,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)


@dataclass
class Figures:
    """What became of the files tried."""

    ends: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0  # seconds of the processor
    slowest_file: str = ""

    def note(self, end: str, file: DamagedFile, began: float) -> None:
        self.ends[end] += 1
        seconds = time.process_time() - began
        assert seconds < MAX_SECONDS, f"{seconds:.1f} s of the processor"
        if seconds > self.slowest:
            self.slowest, self.slowest_file = seconds, file.told

    def show(self, what: str) -> None:
        if not FILES:
            return
        print(f"\n{what}: {self.ends.total():,} files", file=sys.stderr)
        for end, count in self.ends.most_common():
            print(f"  {count:6,}  {end}", file=sys.stderr)
        print(f"  slowest: {self.slowest:.2f} s of processor ({self.slowest_file})", file=sys.stderr)
        print(f"  memory of the process at its highest: {peak_mb():,} MB", file=sys.stderr)


def peak_mb() -> int:
    """The most memory this process had, on Linux since the test began."""
    with suppress(OSError):
        told = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
        return int(told[1]) // 1024 if told else 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 2**20


@pytest.fixture(autouse=True)
def memory_stays_low():
    """Below 1 GiB; where the process had more from other tests, these files bring no more than half a GiB to it."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the peak is what there is now
    began = peak_mb()
    yield
    assert peak_mb() < max(MAX_MEMORY_MB, began + MAX_MEMORY_MB // 2)


def test_the_reader(tmp_path):
    """Totals are those that the file was made with; whatever else comes, comes with the file's name."""
    path = tmp_path / "table"
    project = Project(base_url=SITE)
    figures = Figures()

    @hypothesis.settings(TRIED, max_examples=FILES or few(200))
    @given(file=damaged_files())
    def read(file: DamagedFile) -> None:
        path.write_bytes(file.content)
        began = time.process_time()
        kind, rows, refused = read_all(project, path, file)
        assert not file.whole or (kind, rows) == (file.kind, file.rows), refused
        if refused:
            assert refused.startswith(file.name)
            assert len(refused) < 2_000
        figures.note("refused" if refused else "read to its end", file, began)

    read()
    figures.show("Read")


@pytest.mark.nightly
@pytest.mark.django_db
def test_the_line_of_the_damage(tmp_path):
    """Whether the file is refused or the row is listed as left out: the line is the damaged row's, past cells with line
    breaks of any kind."""
    project = make_project()
    for n in range(10):
        make_page(project, f"/{n}")
    ends: Counter[str] = Counter()

    @hypothesis.settings(TRIED, max_examples=FILES or few(100))
    @given(file=damaged_rows())
    def read(file: DamagedRow) -> None:
        with transaction.atomic():
            ends[check_line(project, tmp_path, file)] += 1
            transaction.set_rollback(True)

    read()
    if FILES:
        print(f"\nOne row damaged: {ends.total():,} files, {dict(ends.most_common())}", file=sys.stderr)


def check_line(project: Project, folder: Path, file: DamagedRow) -> str:
    """What became of the file, which must name the damaged row's line."""
    path, listed = folder / "table.csv", folder / "skipped.csv"
    path.write_bytes(file.content)
    options = {"allow_shrink": True} if file.kind in ("pages", "links") else {}
    report, refused = {}, ""
    try:
        report = services.import_file(project, file.kind, path, encoding=file.encoding, skipped_file=listed, **options)
    except UnusableFile as error:
        refused = str(error)
    if refused:
        line = file.zeros_on if file.reason else file.line
        assert line, refused
        assert refused.startswith(f"table.csv, line {line:,}: "), refused
        return "refused"
    assert file.reason, report
    with listed.open(encoding="utf-8-sig", newline="") as lines:
        told = [(int(row["line"]), row["reason"]) for row in csv.DictReader(lines)]
    assert told == [(file.line, REASONS[file.reason])]
    return "row or cell left out"


def read_all(project: Project, path: Path, file: DamagedFile) -> tuple[str, int, str]:
    """Its kind, its rows, and why it is refused, if it is."""
    try:
        kind = services.find_kind(path, file.name, file.encoding)
        looked = preview_file(project, kind, path, file.name, None, file.encoding)
        return kind, sum(1 for _ in looked.source.table), ""
    except UnusableFile as error:
        return "", 0, str(error)


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_the_view(tmp_path, redis_server):
    """Upload, preview, start and the run itself: no 500, no file, page, category, link or query of a refused one."""
    project = make_project()
    for n in range(10):
        make_page(project, f"/{n}")
    client = Client()
    client.force_login(make_member(project, "manager"))
    figures = Figures()
    before = held(project)

    def try_file(file: DamagedFile) -> None:
        began = time.process_time()
        try:
            end = journey(client, project, file)
            figures.note(end, file, began)
            assert (held(project) == before) if end != "imported" else (held(project) != before or not file.whole), end
        finally:
            clean_up(project)
        assert held(project) == before
        assert not files_under(settings.UPLOAD_ROOT)

    hypothesis.settings(TRIED, max_examples=FILES or few(60))(given(file=damaged_files())(try_file))()
    figures.show("Uploaded")


def journey(client: Client, project: Project, file: DamagedFile) -> str:
    """What becomes of a file that a manager hands in; asserts on the way what must hold whatever it is."""
    sent = SimpleUploadedFile(file.name, file.content)
    answer = client.post(reverse("import", args=[project.slug]), {"file": sent, "encoding": file.encoding})
    if answer.status_code != 302:
        assert answer.status_code == 422
        assert "Nothing was imported" in answer.text, answer.text
        assert not file.whole
        assert not Upload.objects.exists()
        assert not files_under(settings.UPLOAD_ROOT)
        return "refused when it was uploaded"
    answer = client.get(answer.url)
    assert answer.status_code == 200
    upload = Upload.objects.get()
    assert files_under(settings.UPLOAD_ROOT) == [upload.file]
    if "form" not in answer.context:  # its bytes are no text in this encoding, and another may be chosen
        assert "The file is kept. Choose its encoding" in answer.text
        assert not file.whole
        assert not Run.objects.exists()
        return "refused for its encoding"
    fields = answer.context["form"].initial | {
        name: field.initial for name, field in answer.context["form"].fields.items() if field.initial is not None
    }
    preview = reverse("import_preview", args=[project.slug, upload.pk])
    answer = client.post(preview, {**fields, "action": "start"})
    if answer.status_code != 302:
        assert answer.status_code == 422
        assert answer.context["form"].non_field_errors()
        assert not file.whole
        assert files_under(settings.UPLOAD_ROOT) == [upload.file], "other columns may be chosen"
        assert Upload.objects.count() == 1
        assert not Run.objects.exists()
        upload.refresh_from_db()
        assert not upload.mapping
        project.refresh_from_db()
        assert not project.import_mappings
        return "refused when it was started"
    run = lifecycle.execute(Run.objects.get().pk, services.run_import)
    upload.refresh_from_db()
    if run.status == RunStatus.FAILED:
        assert "Nothing was imported" in run.error, run.error
        assert not file.whole, run.error
        assert client.get(reverse("import", args=[project.slug])).status_code == 200
        return "refused by the import" if upload.path else "refused by the import, file removed"
    assert run.status == RunStatus.SUCCEEDED
    check_totals(project, file, upload.kind, run.report)
    return "imported"


def check_totals(project: Project, file: DamagedFile, kind: str, report: dict) -> None:
    assert report["rows"] >= report.get(kind, 0)
    if kind == "pages":
        assert report["pages"] == report["new"] + report["updated"] + report["unchanged"]
        assert Page.objects.filter(project=project, missing_since=None).count() >= report["pages"]
    if kind == TRAFFIC:
        for name in {"clicks", "impressions", "hits"} & set(report):
            accounts = report[name]
            assert accounts["in_file"] == accounts["on_pages"] + accounts["on_unknown"] + accounts["skipped"]
    if not file.whole:
        return
    assert (kind, report["rows"]) == (file.kind, file.rows)
    assert not report["skipped"]
    if kind == TRAFFIC:
        counted = report["hits" if "hits" in report else "clicks"]
        assert counted["on_pages"] == counted["in_file"] == sum(range(file.rows))
        assert report["traffic"] == PageTraffic.objects.filter(page__project=project).count() == min(file.rows, 10)
        assert report["period"] == (" to ".join(DAYS) if not file.told.startswith("traffic") else "")
    else:
        assert report[kind] == file.rows


def held(project: Project) -> tuple[int, ...]:
    links = ExistingLink.objects.filter(project=project)
    pages = Page.objects.filter(project=project, missing_since=None)
    queries = SearchQuery.objects.filter(page__project=project)
    traffic = PageTraffic.objects.filter(period__project=project)
    with_clicks = pages.exclude(clicks=None, impressions=None, position=None)
    categories = Category.objects.filter(project=project)
    return tuple(one.count() for one in (pages, categories, links, queries, traffic, with_clicks))


def clean_up(project: Project) -> None:
    """Forgets the import."""
    for upload in Upload.objects.all():
        upload.file.unlink(missing_ok=True) if upload.path else None
    for run in Run.objects.all():
        services.skipped_path(project.pk, run.pk).unlink(missing_ok=True)
    Run.objects.all().delete()
    Upload.objects.all().delete()
    TrafficPeriod.objects.all().delete()
    SearchQuery.objects.all().delete()
    ExistingLink.objects.all().delete()
    project.pages.exclude(canonical_url__in=[f"{SITE}/{n}" for n in range(10)]).delete()
    project.pages.update(missing_since=None, category=None, clicks=None, impressions=None, position=None)
    Category.objects.all().delete()
    Project.objects.filter(pk=project.pk).update(import_mappings={})


def files_under(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
