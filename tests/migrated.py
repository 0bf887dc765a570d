"""A migrated PostgreSQL cluster, made once for each state of the migrations and copied from then on.

Migrating an empty database takes some fourteen seconds of computing, and each process of a test run, like each test
with servers of its own, needs such a database. `var/migrated/<hash of the migrations>` holds the cluster; its database
has the name of the embedded one.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "var" / "migrated"


@cache
def _state() -> str:
    """A hash of everything that decides what an empty database looks like once it is migrated."""
    digest = hashlib.sha256()
    for path in sorted(ROOT.glob("*/migrations/*.py")):
        digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    for path in (ROOT / "requirements.lock", ROOT / "linker" / "embedded" / "__init__.py"):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@contextmanager
def cluster() -> Iterator[Path]:
    """The data folder of a stopped cluster whose database is migrated; made where there is none yet. Nobody else makes
    or deletes one while it is used."""
    HOME.mkdir(parents=True, exist_ok=True)
    with (HOME / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (HOME / _state() / "complete").exists():
            _make()
        yield HOME / _state() / "postgres" / "data"


def _make() -> None:
    for old in HOME.iterdir():
        if old.is_dir():
            shutil.rmtree(old)
    kept_out = {"DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE"}
    environment = {name: value for name, value in os.environ.items() if name not in kept_out}
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
        cwd=ROOT,
        env=environment | {"ANCHORLINE_VAR": str(HOME / _state())},
        check=True,
    )
    (HOME / _state() / "complete").touch()


def copy_to(var: Path) -> None:
    """Puts a copy of the cluster below `var`, whose own cluster does not run, in place of the one that is there."""
    data = var / "postgres" / "data"
    mark = data / "migrated"
    if mark.exists() and mark.read_text() == _state():
        return
    with cluster() as made:
        shutil.rmtree(data, ignore_errors=True)
        data.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-pR", made, data], check=True)  # with its owner, who need not be ours
    mark.write_text(_state())
