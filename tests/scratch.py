"""Where the servers of the tests keep their files: in memory where there is room, else under var/.

A test that asks for pages makes and drops many small tables; on a disk, the files of PostgreSQL took a fifth of its
time. `make clean-data` removes the folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MEMORY = Path("/dev/shm")  # noqa: S108 (only Linux has it)
ROOM = 4 << 30  # bytes; each process needs some 300 MB


def folder() -> Path:
    """One for each checkout and user."""
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ROOM:
        return MEMORY / f"anchorline-{os.getuid()}-{hashlib.sha256(bytes(ROOT)).hexdigest()[:12]}"
    return ROOT / "var"


if __name__ == "__main__":
    print(folder())
