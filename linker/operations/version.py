"""Which code is at work: the package's version, and the revision it was built from."""

from __future__ import annotations

import functools
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Written when an image is built, which has no repository inside.
REVISION_FILE = ROOT / "REVISION"
UNKNOWN = "unknown"


@functools.cache
def code_version() -> str:
    """Such as "0.2.0+faacde9c01d2", or "0.2.0+faacde9c01d2.changed" where files differ from that revision."""
    return f"{package_version()}+{revision()}"


def package_version() -> str:
    """From the package's metadata. The project is run from its folder, where that is pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])


def revision() -> str:
    """The revision that an image was built from, else the checkout's, else UNKNOWN."""
    if REVISION_FILE.exists():
        return REVISION_FILE.read_text(encoding="utf-8").strip()[:40] or UNKNOWN
    if not (ROOT / ".git").exists():  # a folder inside somebody else's repository is not that revision
        return UNKNOWN
    commit = _git("rev-parse", "--short=12", "HEAD")
    if commit is None:
        return UNKNOWN
    return f"{commit}.changed" if _git("status", "--porcelain", "--untracked-files=no") else commit


def _git(*arguments: str) -> str | None:
    try:
        return subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True, timeout=10
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
