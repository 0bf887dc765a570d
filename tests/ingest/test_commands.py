"""The commands import under a run, say what they did and end with the right code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from io import StringIO

import pytest

from ingest.models import Upload
from linker.management.commands import _cli
from linker.models import ExistingLink, Page, Run, RunStatus, SearchQuery
from tests.command_line import run_manage as manage
from tests.conftest import ROOT, process_environment
from tests.ingest.files import LINK_HEADER, SITE, link, write, write_pages

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.nightly
def test_pages_then_links_are_imported_and_reported(project, tmp_path):
    ended = manage("import_pages", "shop", write_pages(tmp_path / "internal_html.csv", "/a", "/b"))
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "New: 2" not in ended.stdout
    assert len(ended.stdout.splitlines()) <= 6
    assert ended.stdout.endswith("so that none is suggested again. ./manage.py import_links shop FILE\n")
    links = write(tmp_path / "all_inlinks.csv", LINK_HEADER, [link("/a", "/b"), link("/a", "/nowhere")])
    ended = manage("import_links", "shop", links)
    assert ended.returncode == 0
    assert "  1 left out: " in ended.stdout
    assert "skipped rows: " in ended.stdout
    assert ExistingLink.objects.count() == 1
    assert list(Run.objects.values_list("kind", "status")) == [
        ("import_links", "succeeded"),
        ("import_pages", "succeeded"),
    ]
    assert set(Upload.objects.values_list("path", flat=True)) == {
        str(tmp_path / n) for n in ("internal_html.csv", "all_inlinks.csv")
    }


@pytest.mark.nightly
def test_queries_are_imported_and_cannot_shrink(project, tmp_path):
    manage("import_pages", "shop", write_pages(tmp_path / "internal_html.csv", "/a"))
    rows = [("tents", f"{SITE}/a", "30"), ("stoves", f"{SITE}/b", "3")]
    path = write(tmp_path / "q.csv", ("words", "page", "impressions"), rows)
    ended = manage("import_queries", "shop", path)
    assert ended.returncode == 1
    assert "--map query=COLUMN" in ended.stderr
    ended = manage("import_queries", "shop", path, "--map", "query=words", "--verbose")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "Queries of pages: 1" in ended.stdout
    assert SearchQuery.objects.get().impressions == 30
    assert manage("import_queries", "shop", path, "--allow-shrink").returncode == 2


def manage_into_a_pipe_that_nobody_reads(*arguments: object, unbuffered: bool) -> tuple[int, str]:
    """The exit status and what stands on stderr."""
    environment = {**process_environment(), "PYTHONUNBUFFERED": "1" if unbuffered else ""}
    reads, writes = os.pipe()
    os.close(reads)
    command = [sys.executable, "manage.py", *map(str, arguments)]
    try:
        ended = subprocess.run(
            command, cwd=ROOT, env=environment, stdout=writes, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(writes)
    return ended.returncode, ended.stderr


@pytest.mark.nightly
@pytest.mark.parametrize("unbuffered", [False, True])
def test_an_import_whose_output_is_read_no_further_is_made_and_ends_quietly(project, tmp_path, unbuffered):
    path = write_pages(tmp_path / "internal_html.csv", "/a", "/b")
    ended = manage_into_a_pipe_that_nobody_reads("import_file", "pages", "shop", path, unbuffered=unbuffered)
    assert ended == (128 + signal.SIGPIPE, "")
    assert Run.objects.get().status == RunStatus.SUCCEEDED
    assert Page.objects.count() == 2


@pytest.mark.nightly
def test_an_import_that_fails_says_so_where_its_output_is_not_read(project, tmp_path):
    path = write(tmp_path / "internal_html.csv", ("Address", "Title 1"), [("https://other.example/", "A")])
    status, error = manage_into_a_pipe_that_nobody_reads("import_file", "pages", "shop", path, unbuffered=False)
    assert status == 1
    assert "Nothing was imported" in error
    assert "BrokenPipe" not in error


@pytest.mark.nightly
def test_columns_are_mapped_on_the_command_line(project, tmp_path):
    path = write(tmp_path / "cms.csv", ("Wo", "Was", "Mehr"), [(f"{SITE}/a", "One", "Two")])
    ended = manage("import_pages", "shop", path, "--map", "url=Wo", "--map", "body=Was", "--map", "body=Mehr")
    assert ended.returncode == 0
    assert Page.objects.get().body == "One\n\nTwo"


@pytest.mark.nightly
def test_commands_say_what_a_file_is_and_put_a_prefix_before_handles(project, tmp_path):
    header = ("Handle", "Title", "Body (HTML)", "Option1 Name", "Variant Price", "Status")
    path = write(tmp_path / "products.csv", header, [("lite", "Lite", "<p>Light</p>", "Title", "12.00", "active")])
    ended = manage("import_pages", "shop", path, "--prefix", "/en/products/")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "This is Shopify's export of products." in ended.stdout
    assert Page.objects.get().url == f"{SITE}/en/products/lite"
    log = tmp_path / "access.log"
    log.write_text('192.0.2.7 - - [12/Mar/2026:06:25:24 +0100] "GET / HTTP/1.1" 200 5120\n' * 3)
    for command in ("import_pages", "import_links", "import_queries", "import_traffic"):
        ended = manage(command, "shop", log)
        assert ended.returncode == 1
        assert "This is an access log" in ended.stderr


def test_what_the_user_got_wrong_ends_with_one_and_a_message(project, tmp_path):
    cut = tmp_path / "cut.csv"
    cut.write_text('Address,Title\n"https://shop.exam')
    ended = manage("import_pages", "shop", cut)
    assert ended.returncode == 1
    assert "cut.csv, line 2" in ended.stderr
    assert Run.objects.get().status == RunStatus.FAILED
    for arguments, words in [
        (("import_pages", "shop", tmp_path / "none.csv"), "There is no such file"),
        (("import_pages", "nowhere", cut), "no project “nowhere”"),
    ]:
        ended = manage(*arguments)
        assert ended.returncode == 1
        assert words in ended.stderr


def test_wrong_usage_ends_with_two(project, tmp_path):
    path = write_pages(tmp_path / "a.csv", "/a")
    assert manage("import_pages", "shop").returncode == 2
    ended = manage("import_pages", "shop", path, "--map", "title")
    assert ended.returncode == 2
    assert "field=Column" in ended.stderr


@pytest.mark.nightly
def test_the_shrink_guard_is_lifted_by_its_option(project, tmp_path):
    manage("import_pages", "shop", write_pages(tmp_path / "a.csv", *[f"/{n}" for n in range(25)]))
    part = write_pages(tmp_path / "b.csv", "/1")
    ended = manage("import_pages", "shop", part)
    assert ended.returncode == 1
    assert "--allow-shrink" in ended.stderr
    assert manage("import_pages", "shop", part, "--allow-shrink").returncode == 0
    assert Page.objects.filter(missing_since=None).count() == 1


def test_a_missing_column_is_asked_for_by_the_name_of_the_option(project, tmp_path):
    ended = manage("import_links", "shop", write(tmp_path / "links.csv", ("Source", "b"), [(f"{SITE}/a", "x")]))
    assert ended.returncode == 1
    assert "name it with --map target=COLUMN" in ended.stderr
    assert "in the preview" not in ended.stderr


class Typewriter(StringIO):
    """Stands for stderr, and says whether it is a terminal."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_command_shows_how_far_it_is_with_and_without_a_terminal(monkeypatch, is_terminal):
    said = Typewriter(is_terminal=is_terminal)
    monkeypatch.setattr(sys, "stderr", said)
    monkeypatch.setattr(_cli, "LINE_EVERY", 0.0)
    bar = _cli.ProgressBar()
    bar(120, 2000, "Fetching pages")
    bar(1500, 2000)
    bar.close()
    if is_terminal:
        assert "Fetching pages:  75%" in said.getvalue()
    else:
        assert said.getvalue() == "Fetching pages: 120 of 2,000\nFetching pages: 1,500 of 2,000\n"


def test_a_short_command_writes_no_lines_of_progress(capsys):
    _cli.ProgressBar()(1, 2, "Reading")
    assert capsys.readouterr().err == ""
