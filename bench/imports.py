"""Import of pages and ten times as many links from CSV, against pandas reading the same files and a bare COPY.

    python bench/imports.py [--pages 1000000] [--links-a-page 10]

The files are made up (seeded) as a crawler writes them: pages with Address, Status Code, Indexability, Title 1, H1-1,
Meta Description 1, Crawl Depth; links with Type, Source, Destination, Anchor, Follow, Link Position, donors evenly,
targets by a Zipf law, a quarter in the navigation and a tenth beside the text. Both sides read a small site first, so
that no module is loaded within the times taken. A row names the stages that took most, each with its share of the
import's time by the clock; what every stage took, also in computing of Python and of PostgreSQL's process, goes to
standard error, and so does the ratio in computing, which other jobs on the machine change less. The floor is
pandas.read_csv of each file plus COPY of the rows that the import wrote (written out by COPY before, which is not
counted) into tables without keys or indexes. What the import does beyond that: addresses become keys, links find their
pages, and both tables have their indexes. At the end the links are imported once more, which changes none of them.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import psutil
from _common import head, load_of_ours, migrate, note, row, timed
from django.db import connection

from ingest import services
from ingest.kinds import registry
from linker.projects.create import create_project
from linker.runs import lifecycle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from linker.models import Project
    from linker.runs.lifecycle import Progress

SITE = "https://bench.example"
NAMED = 0.05  # the share of the time from which a row names a stage
TABLES = {"pages": "linker_page", "links": "linker_existinglink"}


def address(number: int) -> str:
    return f"{SITE}/section-{number % 997}/page-{number}"


def write(folder: Path, pages: int, a_page: int) -> dict[str, Path]:
    files = {kind: folder / f"{kind}.csv" for kind in TABLES}
    with files["pages"].open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["Address", "Status Code", "Indexability", "Title 1", "H1-1", "Meta Description 1",
                         "Crawl Depth"])  # fmt: skip
        for n in range(pages):
            text = f"Thing {n} of kind {n % 997}"
            writer.writerow([address(n), 200, "Indexable", f"{text} | Bench", text, f"All about thing {n}.", n % 7])
    random = np.random.default_rng(4)
    with files["links"].open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["Type", "Source", "Destination", "Anchor", "Follow", "Link Position"])
        for n in range(pages):
            targets = (random.zipf(1.3, a_page) * 7919 + n) % pages
            places = random.choice(["Content", "Navigation", "Aside"], a_page, p=[0.65, 0.25, 0.1])
            for target, place in zip(targets, places, strict=True):
                words = f"thing {target} of kind {target % 997}"
                writer.writerow(["Hyperlink", address(n), address(int(target)), words, "true", place])
    return files


def computing(process: psutil.Process) -> float:
    """Seconds that a process has computed."""
    times = process.cpu_times()
    return times.user + times.system


def both() -> list[psutil.Process]:
    """This process and its connection's."""
    return [psutil.Process(), psutil.Process(connection.connection.info.backend_pid)]


@dataclass
class Floor:
    """Seconds by the clock and of computing, and how many rows the file has."""

    seconds: float = 0.0
    computing: float = 0.0
    rows: int = 0

    @contextmanager
    def adds(self) -> Iterator[None]:
        before = sum(map(computing, both()))
        with timed() as watch:
            yield
        self.seconds += watch.seconds
        self.computing += sum(map(computing, both())) - before


class Stages:
    """What the stages of a run take: a progress that asks the clock, this process and its connection's."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.stage = progress, "Starting"
        self.processes = both()
        self.spent: dict[str, list[float]] = {}
        self.last = self._now()

    def _now(self) -> list[float]:
        return [time.perf_counter(), *map(computing, self.processes)]

    def __call__(self, done: int, total: int, stage: str = "") -> None:
        self.end_of_stage(stage or self.stage)
        self.progress(done, total, stage)

    def end_of_stage(self, following: str) -> None:
        now = self._now()
        spent = self.spent.setdefault(self.stage, [0.0, 0.0, 0.0])
        self.spent[self.stage] = [before + new - last for before, new, last in zip(spent, now, self.last, strict=True)]
        self.stage, self.last = following, now

    @property
    def shares(self) -> str:
        """The stages that took most of the time, with their shares."""
        total = sum(clock for clock, *_ in self.spent.values()) or 1.0
        spent = sorted(((clock / total, stage) for stage, (clock, *_) in self.spent.items()), reverse=True)
        return ", ".join(f"{stage[:1].lower()}{stage[1:]} {share:.0%}" for share, stage in spent if share >= NAMED)

    @property
    def computing(self) -> float:
        """Seconds of computing of both processes in all stages."""
        return sum(python + postgres for _, python, postgres in self.spent.values())

    def say(self) -> None:
        for stage, (clock, python, postgres) in self.spent.items():
            note(f"  {stage}: {clock:.2f} s, Python {python:.2f}, PostgreSQL {postgres:.2f}")


def import_file(project: Project, kind: str, file: Path) -> Stages:
    """What the command does, and what its stages took."""
    stages: list[Stages] = []
    upload = services.register_file(project, kind, file)
    params = {"upload": upload.pk, "mapping": {}, "encoding": ""}
    run = lifecycle.start_run(project, registry.get(kind).run_kind, params, to_queue=False)

    def work(run, progress):  # type: ignore[no-untyped-def]
        stages.append(Stages(progress))
        return services.run_import(run, stages[0])

    ended = lifecycle.execute(run.pk, work)
    if ended is None or ended.status != "succeeded":
        raise SystemExit(f"the import failed: {ended and ended.error}")
    stages[0].end_of_stage("")
    note(f"{kind} of {project}:")
    stages[0].say()
    return stages[0]


def bare_copy(table: str, folder: Path, project: int, floor: Floor) -> None:
    """A COPY of the project's rows of a table into one like it without indexes."""
    kept, rows = folder / table, f"SELECT * FROM {table} WHERE project_id = {project}"
    with connection.cursor() as cursor:
        with kept.open("wb") as out, cursor.copy(f"COPY ({rows}) TO STDOUT") as copy:
            for piece in copy:
                out.write(piece)
        cursor.execute(f"CREATE TABLE bare_{table} (LIKE {table})")
        with floor.adds(), kept.open("rb") as content, cursor.copy(f"COPY bare_{table} FROM STDIN") as copy:
            while piece := content.read(2**20):
                copy.write(piece)
        cursor.execute(f"DROP TABLE bare_{table}")
    kept.unlink()


@dataclass
class Total:
    """Seconds of all files, and the most bytes that a process held."""

    ours: float = 0.0
    floor: float = 0.0
    memory: int = 0


def measure(project: Project, kind: str, file: Path, bare: Floor, what: str, total: Total) -> None:
    """Imports a file, and prints its row. The floor of an empty one is taken afterwards."""
    with load_of_ours() as load, timed() as importing:
        stages = import_file(project, kind, file)
    if not bare.seconds:
        with bare.adds():
            bare.rows = len(pd.read_csv(file))
        bare_copy(TABLES[kind], file.parent, project.pk, bare)
    times = stages.computing / bare.computing
    note(f"{what}: {stages.computing:.1f} s of computing, {times:.1f} times its floor")
    row(what, f"{bare.rows:,} rows", f"{importing.seconds:.1f} s: {stages.shares}", f"{bare.seconds:.1f} s",
        importing.seconds / bare.seconds, 3, load.most, most=1)  # fmt: skip
    total.ours += importing.seconds
    total.floor += bare.seconds
    total.memory = max(total.memory, load.most)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--links-a-page", type=int, default=10)
    options = parser.parse_args()
    migrate()
    warm = create_project(slug="warm", name="Warm", base_url=SITE)
    project = create_project(slug="imports", name="Imports", base_url=SITE)
    head()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, file in write(folder, 1_000, 2).items():
            import_file(warm, kind, file)
            pd.read_csv(file)
        files = write(folder, options.pages, options.links_a_page)
        floors, first = {kind: Floor() for kind in TABLES}, Total()
        for kind, file in files.items():
            measure(project, kind, file, floors[kind], f"import of {kind}", first)
        size = f"{options.pages:,} pages, {options.pages * options.links_a_page:,} links"
        row("import, pages and links together", size, f"{first.ours:.1f} s", f"{first.floor:.1f} s",
            first.ours / first.floor, 2.5, first.memory, most=1)  # fmt: skip
        measure(project, "links", files["links"], floors["links"], "import of the same links again", Total())


if __name__ == "__main__":
    main()
