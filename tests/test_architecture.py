"""The promises of docs/architecture.md and of the lock files that can be checked by looking at the files."""

from __future__ import annotations

import ast
import importlib
import io
import os
import re
import subprocess
import sys
import tokenize
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.core.management import call_command
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from rq.utils import import_attribute

from linker.runs.job_queue import QUEUES
from linker.runs.kinds import all_jobs

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ("requirements.lock", "requirements-dev.lock")


@pytest.mark.nightly
def test_no_module_imports_against_the_layers():
    # In a process of its own: the linter sets up logging for itself, which silences every logger that it finds.
    command = Path(sys.executable).with_name("lint-imports")
    found = subprocess.run([command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


def test_every_job_can_be_imported_and_has_a_queue_that_workers_serve():
    for job in all_jobs():
        assert callable(import_attribute(job.path)), job.path
        assert job.queue in QUEUES, job.path


@pytest.mark.nightly
def test_the_migrations_say_what_the_models_say(db):
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


# -------------------------------------------------------------------------------------------------------- locks


def _locked() -> list[Requirement]:
    return [Requirement(line) for name in LOCKS for line in (ROOT / name).read_text().splitlines()]


def test_the_locks_hold_every_dependency_at_a_version_that_pyproject_allows():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = [Requirement(line) for line in project["project"]["dependencies"] + project["dependency-groups"]["dev"]]
    versions = {canonicalize_name(one.name): str(one.specifier).removeprefix("==") for one in _locked()}
    for requirement in asked:
        assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)]), requirement


def test_the_locks_pin_exactly_and_name_no_host_no_path_and_no_build():
    for requirement in _locked():
        assert re.fullmatch(r"==[0-9][0-9a-z.]*", str(requirement.specifier)), requirement
        assert requirement.url is None


def test_the_locks_pin_torch_and_bring_no_cuda():
    assert "torch==2.13.0" in {f"{one.name}{one.specifier}" for one in _locked()}
    assert [one.name for one in _locked() if re.match(r"nvidia|cuda|triton", one.name)] == []


def test_starting_a_process_does_not_load_heavy_libraries_that_few_processes_need():
    code = (
        "import django, sys; django.setup(); import linker.jobs, ingest.jobs, linker.urls; "
        "print(sorted({'lightgbm', 'scipy.optimize', 'sklearn', 'torch'} & set(sys.modules)))"
    )
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "linker.settings"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


# --------------------------------------------------------------------------------------- docs/architecture.md

ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text()
PACKAGES = sorted(
    path.parent.relative_to(ROOT).as_posix() + "/"
    for app in ("linker", "ingest", "review")
    for path in (ROOT / app).rglob("__init__.py")
)
NOT_ROOMS = ("/migrations/", "/commands/", "/sample/")


def _tree() -> list[str]:
    """The paths of the layout, each whole: two spaces of indentation are one folder further down."""
    found, folders = [], [""]
    for line in ARCHITECTURE.split("```text\n", 1)[1].split("\n```", 1)[0].splitlines():
        depth, names = (len(line) - len(line.lstrip())) // 2, re.split(r"\s{2,}", line.strip())[0]
        if line.startswith(" " * 20):
            continue  # a description goes on
        del folders[depth + 1 :]
        found += [folders[depth] + name for name in names.split()]
        folders.append(found[-1])
    return found


def test_what_the_layout_names_is_there():
    paths = {path: ROOT / path for path in _tree()}
    assert [path for path, there in paths.items() if not there.exists() or there.is_dir() != path.endswith("/")] == []


def test_the_layout_names_every_room():
    assert {path for path in PACKAGES if not path.endswith(NOT_ROOMS)} - set(_tree()) == set()


def test_every_name_in_the_walks_is_in_the_code():
    for name in sorted(set(re.findall(r"`((?:linker|ingest|review)(?:\.\w+)+)`", ARCHITECTURE))):
        assert import_attribute(name) if name.count(".") > 1 else importlib.import_module(name)


def test_every_path_in_the_walks_is_in_the_tree():
    paths = sorted(set(re.findall(r"`((?:\w+/)+(?:\w+\.\w+)?)`", ARCHITECTURE)))
    assert [path for path in paths if not (ROOT / path).exists()] == []


# ----------------------------------------------------------------------------- what comments and docstrings point to

DOTTED = re.compile(r"(?<![\w./])(?:linker|ingest|review|bench|tests)(?:\.[A-Za-z_]\w*)+")
PATH = re.compile(r"(?<![\w./:])(?:linker|ingest|review|bench|tests|docs|templates|docker)/[\w./-]+\.\w+")


def test_comments_and_docstrings_name_modules_functions_and_files_that_are_there():
    """Whatever looks like such a name is looked up; only where one is not found is the file read as code, to see
    whether it stands in a comment or a docstring."""
    wrong = []
    for file in _python_files():
        code = file.read_text()
        lost = {name for name in set(DOTTED.findall(code)) if not _is_there(name)}
        lost |= {path for path in set(PATH.findall(code)) if "NAME" not in path and not (ROOT / path).exists()}
        if lost:
            said = "\n".join(_remarks(code))
            wrong += [f"{file.relative_to(ROOT)}: {name}" for name in sorted(lost) if re.search(rf"{name}\b", said)]
    assert wrong == []


def _python_files() -> list[Path]:
    return [file for app in ("linker", "ingest", "review", "bench", "tests") for file in (ROOT / app).rglob("*.py")]


@cache
def _is_there(dotted: str) -> bool:
    """Whether a module, and the name in it, can be found; attributes of that name are not followed."""
    at, *rest = dotted.split(".")
    place = ROOT / at
    while rest and (place / rest[0]).is_dir():
        place, rest = place / rest[0], rest[1:]
    if rest and (place / f"{rest[0]}.py").is_file():
        place, rest = place / f"{rest[0]}.py", rest[1:]
    elif rest:
        place /= "__init__.py"
    return not rest or (place.is_file() and rest[0] in _words(place))


@cache
def _words(file: Path) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", file.read_text()))


def _remarks(code: str) -> Iterator[str]:
    """Comments and docstrings."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
