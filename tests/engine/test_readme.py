"""The engine's README is true: its example runs without Django and prints what it says, and its rooms are there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
ENGINE = ROOT / "linker" / "engine"
README = (ENGINE / "README.md").read_text(encoding="utf-8")
APPLICATION = ("django", "psycopg", "redis", "rq")


def block(language: str) -> str:
    """The README's only block of this language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    return str(found)


def run(code: str) -> str:
    """What Python code prints in a process of its own."""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.nightly
def test_the_example_prints_what_the_readme_says_and_loads_nothing_of_the_application() -> None:
    loaded = f"import sys\nprint([name for name in {APPLICATION} if name in sys.modules])"
    assert run(f"{block('python')}\n{loaded}") == f"{block('text')}[]\n"


def test_the_example_is_short() -> None:
    assert len(block("python").splitlines()) <= 25


def test_every_room_and_file_of_the_engine_is_named_in_its_table() -> None:
    rooms = README[README.index("## The rooms") :]
    there = [path.name + "/" * path.is_dir() for path in ENGINE.iterdir() if not path.name.startswith("_")]
    missing = [name for name in there if name != "README.md" and f"`{name}`" not in rooms]
    assert missing == []


def test_files_that_it_names_exist() -> None:
    named = re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py)`", README)
    assert len(named) > 8
    assert [
        name for name in named if not (ENGINE / name).exists() and not (ENGINE / "candidates" / name).exists()
    ] == []
