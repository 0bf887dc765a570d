"""Import of pages and ten times as many links from CSV, against pandas reading the same files and a bare COPY.

    python bench/imports.py [--pages 1000000] [--links-a-page 10]

The files are made up (seeded) as a crawler writes them: pages with Address, Status Code, Indexability, Title 1, H1-1,
Meta Description 1, Crawl Depth; links with Type, Source, Destination, Anchor, Follow, Link Position, donors evenly,
targets by a Zipf law, a quarter in the navigation and a tenth beside the text. Both sides read a small site first, so
that no module is loaded within the times taken. The floor is pandas.read_csv of each file plus COPY of the rows that
the import wrote (written out by COPY before, which is not counted) into tables without keys or indexes. What the import
does beyond that: addresses become keys, links find their pages, and both tables have their indexes.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from _common import head, load_of_ours, migrate, note, row, timed
from django.core.management import call_command
from django.db import connection

from linker.projects.create import create_project

SITE = "https://bench.example"
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
            for target in (random.zipf(1.3, a_page) * 7919 + n) % pages:
                place = random.choice(["Content", "Navigation", "Aside"], p=[0.65, 0.25, 0.1])
                words = f"thing {target} of kind {target % 997}"
                writer.writerow(["Hyperlink", address(n), address(int(target)), words, "true", place])
    return files


def bare_copy(table: str, folder: Path, project: int) -> float:
    """Seconds of a COPY of the project's rows of a table into one like it without indexes."""
    kept, rows = folder / table, f"SELECT * FROM {table} WHERE project_id = {project}"
    with connection.cursor() as cursor:
        with kept.open("wb") as out, cursor.copy(f"COPY ({rows}) TO STDOUT") as copy:
            for piece in copy:
                out.write(piece)
        cursor.execute(f"CREATE TABLE bare_{table} (LIKE {table})")
        with timed() as watch, kept.open("rb") as content, cursor.copy(f"COPY bare_{table} FROM STDIN") as copy:
            while piece := content.read(2**20):
                copy.write(piece)
        cursor.execute(f"DROP TABLE bare_{table}")
    kept.unlink()
    return watch.seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--links-a-page", type=int, default=10)
    options = parser.parse_args()
    migrate()
    create_project(slug="warm", name="Warm", base_url=SITE)
    project = create_project(slug="imports", name="Imports", base_url=SITE)
    head()
    ours = floor = 0.0
    memory = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, file in write(folder, 1_000, 2).items():
            call_command(f"import_{kind}", "warm", str(file), stdout=io.StringIO())
            pd.read_csv(file)
        files = write(folder, options.pages, options.links_a_page)
        for kind, table in TABLES.items():
            with load_of_ours() as load, timed() as importing:
                call_command(f"import_{kind}", "imports", str(files[kind]), stdout=sys.stderr)
            with timed() as reading:
                rows = len(pd.read_csv(files[kind]))
            copying = bare_copy(table, folder, project.pk)
            note(f"{kind}: {importing.seconds:.1f} s; pandas {reading.seconds:.1f} s, COPY {copying:.1f} s")
            row(f"import of {kind}", f"{rows:,} rows", f"{importing.seconds:.1f} s",
                f"{reading.seconds + copying:.1f} s", importing.seconds / (reading.seconds + copying), 3, load.most,
                most=1)  # fmt: skip
            ours, floor, memory = ours + importing.seconds, floor + reading.seconds + copying, max(memory, load.most)
    size = f"{options.pages:,} pages, {options.pages * options.links_a_page:,} links"
    row("import together", size, f"{ours:.1f} s", f"{floor:.1f} s", ours / floor, 3, memory, most=1)


if __name__ == "__main__":
    main()
