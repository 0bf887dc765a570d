"""bench/all.py sees what fails, and writes the tables of the docs; the README claims what they hold."""

from __future__ import annotations

import importlib.util
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCS = (ROOT / "docs" / "benchmarks.md").read_text()
NUMBERS = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
]  # fmt: skip


@pytest.fixture(scope="module")
def benches() -> ModuleType:
    spec = importlib.util.spec_from_file_location("all_benches", ROOT / "bench" / "all.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A page with places for the tables of two benches, one of them filled."""
    path = tmp_path / "benchmarks.md"
    path.write_text(
        "Before.\n\n<!-- table: reading -->\n<!-- end of table: reading -->\n\n"
        "<!-- table: made_up -->\nMeasured long ago.\n<!-- end of table: made_up -->\n\nAfter.\n"
    )
    return path


@pytest.mark.nightly
def test_a_table_is_written_between_its_marks_with_revision_and_day(benches, docs):
    assert benches.main(["--share", "0.001", "--only", "reading", "--write"], docs=docs) == 0
    text = docs.read_text()
    table = text.partition("<!-- table: reading -->")[2].partition("<!-- end of table: reading -->")[0]
    assert re.search(r"Measured at revision \S+.* on \d{4}-\d\d-\d\d: .*share of 0\.001", table)
    assert table.count("| met |") == 4
    assert text.startswith("Before.")
    assert text.endswith("Measured long ago.\n<!-- end of table: made_up -->\n\nAfter.\n")


def test_small_tables_stand_together_and_leave_those_of_full_sizes(benches, docs, tmp_path):
    docs.write_text(docs.read_text() + "<!-- table: small -->\n<!-- end of table: small -->\n")
    (tmp_path / "made_up.py").write_text("print('| what | result |\\n|---|---|\\n| a | met |')")
    assert benches.main(["--share", "0.5", "--only", "made_up", "--write-small"], folder=tmp_path, docs=docs) == 0
    assert "Measured long ago." in docs.read_text()
    assert "`made_up`\n\n| what | result |\n|---|---|\n| a | met |\n<!-- end of table: small -->" in docs.read_text()


@pytest.mark.parametrize(
    ("script", "said", "is_written"),
    [
        ("print('| what | result |\\n|---|---|'); raise SystemExit('no room')", "failed with 1", False),
        ("print('nothing')", "no rows", False),
        (
            "print('| what | size | result |'); print('|---|---|---|'); print('| a | b | missed |')",
            "a, b: missed",
            True,
        ),
    ],
)
def test_a_bench_that_fails_is_seen_and_named(benches, docs, tmp_path, capsys, script, said, is_written):
    (tmp_path / "made_up.py").write_text(script)
    assert benches.main(["--only", "made_up", "--write"], folder=tmp_path, docs=docs) == 1
    assert f"made_up: {said}" in capsys.readouterr().err
    assert ("Measured long ago." not in docs.read_text()) == is_written


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("script", "sizes"),
    [
        ("review_queue", ["--edges", "4000", "--small", "2000"]),
        ("governance", ["--edges", "4000"]),
        ("releases", ["--links", "2000"]),
    ],
)
def test_a_bench_of_many_suggestions_runs_to_its_end(script, sizes):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANCHORLINE_")}
    python = [sys.executable, str(ROOT / "bench" / f"{script}.py"), *sizes]
    ended = subprocess.run(python, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert sum(line.startswith("|") for line in ended.stdout.splitlines()) > 2


LASTS = """
import signal, sys, time
from pathlib import Path
signal.signal(signal.SIGTERM, lambda *_: (Path(__file__).with_name("stopped").touch(), sys.exit(1)))
print("| it runs |", flush=True)
time.sleep(60)
"""


def test_benches_that_are_stopped_stop_the_script_that_runs(tmp_path):
    (tmp_path / "made_up.py").write_text(LASTS)
    code = (
        f"import sys, pathlib; sys.path.insert(0, {str(ROOT / 'bench')!r}); import all as benches; "
        f"benches.end_by_signal(); benches.run('made_up', [], pathlib.Path({str(tmp_path)!r}))"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "| it runs |\n"
        process.terminate()
    assert process.returncode == 128 + 15
    assert (tmp_path / "stopped").exists()


def test_every_bench_has_its_place_in_the_docs(benches):
    assert [name for name in benches.commands(1) if any(DOCS.count(mark) != 1 for mark in benches.marks(name))] == []


def rows(table: str) -> dict[str, list[str]]:
    """The rows of a table in the docs, by what they are of."""
    block = DOCS.partition(f"<!-- table: {table} -->")[2].partition(f"<!-- end of table: {table} -->")[0]
    cells = [line.strip("| ").split(" | ") for line in block.splitlines() if line.startswith("| ")]
    return {row[0]: row for row in cells}


def test_what_the_readme_says_of_speed_and_memory_is_in_the_tables():
    readme = " ".join((ROOT / "README.md").read_text().split())
    matching = rows("matching")["matching in category blocks, five suggestions a donor stored"]
    imports = rows("imports")["import, pages and links together"]
    assert matching[1].startswith("1,000,000 pages")
    assert imports[1].startswith("1,000,000 ")
    minutes = math.ceil(float(matching[2].split()[0]) / 60)
    gigabytes = max(float(row[6].removesuffix(" GiB")) for row in (matching, imports)) * 2**30 / 1e9
    assert f"compared in under {NUMBERS[minutes - 1]} minutes" in readme
    assert f"within {math.ceil(gigabytes * 10) / 10} GB a process" in readme
    for seconds in re.findall(r"imported in (\d+) seconds", readme):
        assert int(seconds) == math.ceil(float(imports[2].split()[0]))


@pytest.mark.nightly
def test_on_a_slow_machine_each_editor_has_still_asked_once():
    asked = "import review_queue; print(len(review_queue.at_once(['one', 'two'], lambda _editor: 1.0, 0).seconds))"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANCHORLINE_")}
    python = [sys.executable, "-c", asked]
    ended = subprocess.run(python, cwd=ROOT / "bench", env=environment, capture_output=True, text=True)
    assert ended.stdout == "2\n"
