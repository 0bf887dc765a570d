"""What the benches share: an own database, timing, memory and load of all our processes, the rows of the table.

Importing this starts Django on a database of its own: embedded servers under a temporary folder, removed at the end,
or under ANCHORLINE_BENCH_VAR, kept, so that data made once serve several benches.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
_kept = os.environ.get("ANCHORLINE_BENCH_VAR", "")
# Child processes inherit ANCHORLINE_VAR and must not take the folder for their own.
_owner = not _kept and "ANCHORLINE_BENCH_CHILD" not in os.environ
if _owner:
    _var = tempfile.mkdtemp(prefix="anchorline-bench-")
    atexit.register(shutil.rmtree, _var, ignore_errors=True)  # runs after the servers were stopped
    os.environ["ANCHORLINE_VAR"] = _var
elif _kept:
    os.environ["ANCHORLINE_VAR"] = _kept
if "ANCHORLINE_BENCH_CHILD" not in os.environ:  # bench/all.py, when it is stopped: the servers are stopped at exit
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
os.environ["ANCHORLINE_BENCH_CHILD"] = "1"
for _name in ("DATABASE_URL", "REDIS_URL", "PRODUCTION", "DEBUG"):
    os.environ.pop(_name, None)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "linker.settings")

import django
import psutil

django.setup()

GIB = 2**30


def migrate() -> None:
    """Makes the tables, where they are not there yet."""
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


@contextmanager
def timed() -> Iterator[Stopwatch]:
    """`with timed() as watch: ...` and then `watch.seconds`."""
    watch = Stopwatch()
    started = time.perf_counter()
    try:
        yield watch
    finally:
        watch.seconds = time.perf_counter() - started


@dataclass
class Stopwatch:
    seconds: float = 0.0


@dataclass
class Load:
    """What our processes used: `python` and `postgres` are the most bytes that any one process of the kind held
    (resident; PostgreSQL's with the shared buffers it touched), `own` and `server` the same without what is shared
    with other processes, and `cpu` the seconds of computing of all."""

    python: int = 0
    postgres: int = 0
    own: int = 0
    server: int = 0
    cpu: float = 0.0
    seconds: float = 0.0
    _seen: dict[tuple[int, float], tuple[float, float]] = field(default_factory=dict)

    @property
    def most(self) -> int:
        return max(self.python, self.postgres)

    @property
    def cores(self) -> float:
        """How many cores were busy on average."""
        return self.cpu / self.seconds if self.seconds else 0.0


class _Watch(threading.Thread):
    def __init__(self, load: Load, every: float) -> None:
        super().__init__(daemon=True, name="load of our processes")
        self.load, self.every = load, every
        self.over = threading.Event()
        self.has_begun = False  # whatever is there before the first look has used its time for something else

    def run(self) -> None:
        while not self.over.wait(self.every):
            self.look()

    def look(self) -> None:
        load = self.load
        for process in [psutil.Process(), *psutil.Process().children(recursive=True), *_servers()]:
            try:
                with process.oneshot():
                    name, held, times = process.name(), process.memory_info(), process.cpu_times()
                    key = (process.pid, process.create_time())
            except psutil.Error:
                continue
            used, memory = times.user + times.system, held.rss
            own = memory - getattr(held, "shared", 0)  # Linux tells what is shared
            if name.startswith("postgres"):
                load.postgres, load.server = max(load.postgres, memory), max(load.server, own)
            else:
                load.python, load.own = max(load.python, memory), max(load.own, own)
            first, _ = load._seen.get(key, (0.0 if self.has_begun else used, 0.0))
            load._seen[key] = (first, used)
        load.cpu = sum(last - first for first, last in load._seen.values())


def _servers() -> list[psutil.Process]:
    """PostgreSQL's and Redis's processes, which are nobody's children here."""
    found: list[psutil.Process] = []
    for path in (Path(os.environ["ANCHORLINE_VAR"]) / "postgres/data/postmaster.pid",
                 Path(os.environ["ANCHORLINE_VAR"]) / "redis/redis.pid"):  # fmt: skip
        try:
            leader = psutil.Process(int(path.read_text().split("\n", 1)[0]))
            found += [leader, *leader.children(recursive=True)]
        except (OSError, ValueError, psutil.Error):
            continue
    return found


@contextmanager
def load_of_ours(every: float = 0.2) -> Iterator[Load]:
    """Memory and load of this process, its children and the embedded servers, looked at every so many seconds."""
    load = Load()
    watch = _Watch(load, every)
    watch.look()
    watch.has_begun = True
    watch.start()
    started = time.perf_counter()
    try:
        yield load
    finally:
        load.seconds = time.perf_counter() - started
        watch.over.set()
        watch.join()
        watch.look()


HEAD = (
    "| what | size | ours | floor or other | ratio | target | peak memory of a process | result |\n"
    "|---|---|---|---|---|---|---|---|"
)


def head() -> None:
    print(HEAD, flush=True)


def row(
    what: str, size: str, ours: str, other: str, ratio: float, target: float, memory: int = 0, *, most: float = 0
) -> None:
    """One line of the table. `target` bounds the ratio from above, a negative one from below by its amount; `most`
    bounds the memory, in GiB."""
    met = (ratio <= target if target >= 0 else ratio >= -target) and (not most or memory <= most * GIB)
    goal = f"≤ {target:g}" if target >= 0 else f"≥ {-target:g}"
    goal += f", ≤ {most:g} GiB" if most else ""
    shown = f"{memory / GIB:.2f} GiB" if memory else ""
    print(f"| {what} | {size} | {ours} | {other} | {ratio:.2f} | {goal} | {shown} | {'met' if met else 'missed'} |",
          flush=True)  # fmt: skip


def note(text: str) -> None:
    """A line beside the table, to standard error."""
    print(text, file=sys.stderr, flush=True)
