"""Every command line in the README and the docs works as it stands there."""

from __future__ import annotations

import gzip
import os
import re
import shlex
import subprocess
import zipfile
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command, get_commands, load_command_class

from linker.models import Project
from linker.projects.create import create_project
from review.releases.create import create_release
from tests.factories import make_category, make_edge, make_page
from tests.ingest.files import csv_text

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
SITE = "https://www.shop.example"
TOPICS = ("tents", "stoves", "boots", "jackets", "maps", "lamps")


def _blocks(page: Path) -> list[str]:
    """The lines of shell that a page shows in blocks."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [line.strip() for block in blocks for line in block.splitlines() if line.strip()]


def _in_consoles(page: Path) -> list[str]:
    """The commands of blocks that show the output as well."""
    blocks = re.findall(r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [line[2:].strip() for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def _in_sentences(page: Path) -> list[str]:
    """Commands between backticks."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`((?:\./manage\.py|make) [^`]+)`", text)


BLOCKS = [(page.name, line) for page in PAGES for line in _blocks(page)]
CONSOLES = [(page.name, line) for page in PAGES for line in _in_consoles(page)]
SENTENCES = [(page.name, line) for page in PAGES for line in _in_sentences(page)]
SHOWN = [*BLOCKS, *CONSOLES, *SENTENCES]


def _words(line: str) -> list[str]:
    """The command's arguments: no comment, no pipe, nothing that is put in brackets because it may be left out."""
    return shlex.split(line.split(" | ")[0].replace("[", "").replace("]", ""), comments=True)


def _command(line: str) -> tuple[str, list[str]]:
    _, name, *arguments = _words(line)
    return name, arguments


@pytest.mark.parametrize(("page", "line"), [pair for pair in SHOWN if pair[1].startswith("./manage.py")])
def test_every_command_has_the_options_that_are_written_there(page, line):
    name, arguments = _command(line)
    command = load_command_class(get_commands()[name], name)
    command.create_parser("manage.py", name).parse_args(arguments)


@pytest.mark.sample(5)
@pytest.mark.parametrize(("page", "line"), [pair for pair in SHOWN if pair[1].startswith("make ")])
def test_every_target_of_make_is_there(page, line):
    words = [word for word in _words(line) if "…" not in word]
    done = subprocess.run(["make", "-n", *words[1:]], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def _prepare(folder: Path) -> None:
    """The files that the pages name, of a small shop."""
    address = [f"{SITE}/{topic}/" for topic in TOPICS]
    titles = [f"How to choose {topic} for the mountains" for topic in TOPICS]
    texts = [
        f"Good {topic} last for years. Read what to look at before you buy {topic} for a tour." for topic in TOPICS
    ]
    html = ["text/html"] * len(TOPICS)
    (folder / "internal_html.csv").write_text(
        csv_text(("Address", "Content Type", "Title 1", "Content 1"), zip(address, html, titles, texts, strict=True))
    )
    (folder / "export.csv").write_text(
        csv_text(
            ("Permalink", "Page title", "Headline", "Content 1", "Content 2"),
            zip(address, titles, titles, texts, texts, strict=True),
        )
    )
    links = [("Hyperlink", address[0], other, "a link", "Content") for other in address[2:]]
    for name in ("all_inlinks.csv", "all_outlinks.csv"):
        (folder / name).write_text(csv_text(("Type", "Source", "Destination", "Anchor", "Link Position"), links))
    (folder / "all_inlinks.csv.gz").write_bytes(gzip.compress((folder / "all_inlinks.csv").read_bytes()))
    (folder / "queries.csv").write_text(
        csv_text(("url", "query", "importance"), [(one, f"best {one}", 3) for one in address])
    )
    with zipfile.ZipFile(folder / "search_console.zip", "w") as archive:
        archive.writestr("Chart.csv", csv_text(("Date", "Clicks"), [("2026-01-01", 6)]))
        archive.writestr("Pages.csv", csv_text(("Top pages", "Clicks", "Impressions"), [(a, 1, 10) for a in address]))


def _approve(project: Project) -> None:
    """A link that may leave next."""
    tents = make_category(project, "Shop", "Tents")
    make_edge(project, make_page(project, category=tents), status="accepted", score=0.95)


@pytest.mark.sample(2)
@pytest.mark.slow  # those of the README load an embedding model
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("page", [page.name for page in PAGES if any("./manage.py" in line for line in _blocks(page))])
def test_the_commands_of_a_page_run_one_after_the_other(page, tmp_path, monkeypatch, redis_server):
    """In the order of the page, on a small site, and none ends with an error."""
    _prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "correct horse battery")
    lines = [line for name, line in BLOCKS if name == page and line.startswith("./manage.py")]
    if not any("create_project" in line for line in lines):
        make_edge(create_project(slug="shop", name="Shop", base_url=SITE))
    for line in lines:
        name, arguments = _command(line)
        if name in {"run_workers", "runserver"}:
            continue
        if name == "createsuperuser":
            arguments = ["--noinput", "--username", "YOUR_LOGIN", "--email", "login@shop.example"]
        if name == "export_links" and "--status" not in arguments:
            _approve(Project.objects.get(slug="shop"))
        if "--release" in arguments:
            project = Project.objects.get(slug="shop")
            while project.releases.count() < int(arguments[arguments.index("--release") + 1]):
                _approve(project)
                create_release(project, project.edges.all())
        call_command(name, *arguments)
    if page == "README.md":
        project = Project.objects.get(slug="shop")
        assert User.objects.filter(username="YOUR_LOGIN", memberships__project=project).exists()
        assert (tmp_path / "suggestions.csv").read_text().count("\n") > 1


def test_the_pages_show_commands():
    assert len(BLOCKS) > 15
    assert {"README.md", "import.md", "export.md"} <= {page for page, _ in BLOCKS}
    assert {"copies.md", "export.md", "import.md", "install.md", "languages.md"} <= {page for page, _ in CONSOLES}
    assert os.access(ROOT / "manage.py", os.X_OK)
