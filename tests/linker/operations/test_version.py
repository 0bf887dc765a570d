"""Runs and changes name the code that made them: the package's version and the revision, in an image too."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from linker.operations import version

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a pyproject.toml of its own, as the code would find it."""
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "7.8.9"\n')
    monkeypatch.setattr(version, "ROOT", tmp_path)
    monkeypatch.setattr(version, "REVISION_FILE", tmp_path / "REVISION")
    version.code_version.cache_clear()
    yield tmp_path
    version.code_version.cache_clear()


def git(place: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    return subprocess.run(
        ["git", *identity, *arguments], cwd=place, check=True, capture_output=True, text=True
    ).stdout.strip()


def test_the_version_is_the_package_s():
    with (ROOT / "pyproject.toml").open("rb") as file:
        assert version.package_version() == tomllib.load(file)["project"]["version"]


def test_an_image_names_the_revision_it_was_built_from(place):
    (place / "REVISION").write_text("0123456789ab\n")
    assert version.code_version() == "7.8.9+0123456789ab"


def test_a_checkout_names_its_commit_and_says_when_files_differ(place):
    git(place, "init", "-q")
    git(place, "add", ".")
    git(place, "commit", "-qm", "first")
    commit = git(place, "rev-parse", "--short=12", "HEAD")
    assert version.code_version() == f"7.8.9+{commit}"
    (place / "pyproject.toml").write_text('[project]\nversion = "7.9.0"\n')
    version.code_version.cache_clear()
    assert version.code_version() == f"7.9.0+{commit}.changed"


def test_without_either_it_says_that_it_does_not_know(place):
    assert version.code_version() == "7.8.9+unknown"


@pytest.mark.nightly
def test_the_command_line_prints_it():
    printed = subprocess.run(
        [sys.executable, "manage.py", "code_version"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() == version.code_version()


def test_the_image_is_built_with_the_revision():
    dockerfile = (ROOT / "docker" / "Dockerfile").read_text()
    assert "ARG REVISION" in dockerfile
    assert "> REVISION" in dockerfile
