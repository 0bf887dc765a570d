"""Category-blocked matching of a million pages, against what the bare movement of data and BLAS cost.

    python bench/matching.py [--pages 1000000] [--workers 2]

The site is that of bench/_site.py: N pages x 384 dimensions in N/50 categories of Zipf sizes, 10 N links, no bodies.
Ours: a match run by cosine, each donor against its own category, five suggestions a donor, through the queue with
worker processes, from the start of the run until its edges are stored. The floor, by as many processes as there are
workers, right after it: binary COPY of the same vectors out, float32 products of the same blocks, and one binary COPY
of the edges that were found into a table with the same columns, indexes and checks (without foreign keys).
Prints one row, and the parts of both to standard error.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from _common import head, load_of_ours, migrate, note, row, timed
from _site import DIMENSIONS, make_site
from django.db import connection

from linker.engine.params import MatchParams, Ranking
from linker.models import Project, Run, RunKind, RunStatus
from linker.runs import lifecycle
from linker.runs.workers import WorkerPool
from linker.storage.copy import copy_out
from linker.storage.vectors import halfvec

PARAMS = MatchParams(ranking=Ranking.COSINE, levels_up=0, inline_per_donor=0, related_per_donor=5)
ROWS = 1024


def forget_edges(project: Project) -> None:
    """A run before, in a database that was kept, leaves nothing behind."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM linker_candidateedge WHERE project_id = %s", [project.pk])
        cursor.execute("VACUUM ANALYZE linker_candidateedge")


def match_through_queue(project: Project, workers: int, params: MatchParams = PARAMS) -> tuple[Run, dict[str, float]]:
    """The finished run, and how long each part took."""
    parts: dict[str, float] = {}
    run = lifecycle.start_run(project, RunKind.MATCH, params.to_dict())
    before, stage = time.perf_counter(), "Waiting"
    with WorkerPool(workers) as pool:
        while run.is_active:
            pool.watch()
            time.sleep(0.05)
            run.refresh_from_db()
            now, name = time.perf_counter(), (run.stage or stage).partition(",")[0]
            if name == "Comparing pages" and run.done == run.total:
                name = "Before the end"
            parts[stage] = parts.get(stage, 0.0) + now - before
            before, stage = now, name
    if run.status != RunStatus.SUCCEEDED:
        raise SystemExit(f"the run {run.get_status_display().lower()}: {run.error}")
    return run, parts


def _share(model: int, blocks: list[np.ndarray], own: list[int], results: Any) -> None:
    """One process's part of the floor: its vectors out, then its products."""
    with timed() as reading:
        ids = np.unique(np.concatenate([blocks[number] for number in own]))
        found = copy_out(
            "SELECT page_id, vector FROM linker_pageembedding WHERE model_id = %s AND page_id = ANY(%s) "
            "ORDER BY page_id",
            [model, ids.tolist()],
            [("id", ">i8"), ("vector", halfvec(DIMENSIONS))],
        )
    with timed() as computing:
        room = np.empty(ROWS * max(len(blocks[number]) for number in own), dtype=np.float32)
        for number in own:
            block = blocks[number]
            unit = found["vector"]["x"][np.searchsorted(ids, block)].astype(np.float32)
            for first in range(0, len(block), ROWS):
                part = unit[first : first + ROWS]
                np.matmul(part, unit.T, out=room[: len(part) * len(block)].reshape(len(part), len(block)))
    results.put((reading.seconds, computing.seconds))


def floor(project: Project, run: Run, processes: int) -> dict[str, float]:
    """Seconds of each part of the floor."""
    if run.model is None:
        raise RuntimeError("the run has no model")
    found = copy_out(
        "SELECT category_id, id FROM linker_page WHERE project_id = %s ORDER BY category_id, id",
        [project.pk],
        [("category", ">i8"), ("id", ">i8")],
    )
    edges = np.flatnonzero(np.diff(found["category"].astype(np.int64))) + 1
    blocks = np.split(found["id"].astype(np.int64), edges)
    shares: list[list[int]] = [[] for _ in range(processes)]
    cost = [0] * processes
    for number in sorted(range(len(blocks)), key=lambda number: -len(blocks[number])):
        least = cost.index(min(cost))
        shares[least].append(number)
        cost[least] += len(blocks[number]) ** 2 + 100 * len(blocks[number])
    connection.close()
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    started = [context.Process(target=_share, args=(run.model.pk, blocks, share, results)) for share in shares]
    for process in started:
        process.start()
    ended = [results.get() for _ in started]
    for process in started:
        process.join()
    parts = {"vectors out": max(reading for reading, _ in ended), "products": max(computing for _, computing in ended)}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "edges"
        with connection.cursor() as cursor:
            with cursor.copy(
                "COPY (SELECT * FROM linker_candidateedge WHERE project_id = %s) TO STDOUT (FORMAT BINARY)",
                [project.pk],
            ) as copy, file.open("wb") as out:  # fmt: skip
                for piece in copy:
                    out.write(piece)
            for name, including in (("edges in", "ALL"), ("edges in, without indexes", "CONSTRAINTS")):
                cursor.execute("DROP TABLE IF EXISTS bench_edges")
                cursor.execute(f"CREATE TABLE bench_edges (LIKE linker_candidateedge INCLUDING {including})")
                with (
                    timed() as watch,
                    file.open("rb") as source,
                    cursor.copy("COPY bench_edges FROM STDIN (FORMAT BINARY)") as copy,
                ):
                    while piece := source.read(2**20):
                        copy.write(piece)
                parts[name] = watch.seconds
            cursor.execute("DROP TABLE bench_edges")
    return parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    migrate()
    with timed() as making:
        project = make_site(options.pages)
    note(f"site made in {making.seconds:.0f} s")
    forget_edges(project)
    with load_of_ours() as load:
        run, parts = match_through_queue(project, options.workers)
    note("ours: " + ", ".join(f"{name.lower()} {seconds:.1f} s" for name, seconds in parts.items()))
    note(f"{load.cores:.2f} of {options.workers} cores busy; most in a Python process {load.python / 2**30:.2f} GiB, "
         f"in one of PostgreSQL's {load.postgres / 2**30:.2f} GiB; {run.report['edges']:,} edges")  # fmt: skip
    least = floor(project, run, options.workers)
    note("floor: " + ", ".join(f"{name} {seconds:.1f} s" for name, seconds in least.items()))
    bare = sum(seconds for name, seconds in least.items() if name != "edges in, without indexes")
    head()
    row(
        "matching in category blocks, five suggestions a donor stored",
        f"{options.pages:,} pages, {run.report['blocks']:,} categories, {run.report['edges']:,} edges",
        f"{load.seconds:.1f} s, {load.cores:.1f} cores busy",
        f"{bare:.1f} s",
        load.seconds / bare,
        2.0,
        load.most,
        most=1.5,
    )


if __name__ == "__main__":
    main()
