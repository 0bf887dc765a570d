"""One run over several workers: the same edges, through a worker's death and a restart of Redis, on all cores.

    python bench/workers.py [--pages 40000] [--workers 4]

The site is that of bench/_site.py. A match run by cosine is cut into batches of 1,000 donors (of a small site, as any
run is) and worked off by one worker process, by as many as there are cores, and by four while a job's process, then a
whole worker, then Redis are killed (SIGKILL) and Redis is started again. Those four stand in for four hosts: each has a
host name and a network of its own, in which there is nothing, not even a loopback, where the system lets us make one
(Linux, as root). What they share are the sockets of PostgreSQL and Redis. Edges are compared by everything a run
writes: pair, scores, tier, place, anchor, reason. How it scales is measured over the comparison of pages, which is what
batches do, against one worker that computes with one thread; PostgreSQL needs some of the cores, too. The end of a run
is one job.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from _common import head, load_of_ours, migrate, note, row
from _site import make_site
from django.conf import settings
from django.db import connection
from matching import PARAMS, forget_edges

from linker import embedded
from linker.matching import plan
from linker.matching.batches import enqueue_batches
from linker.matching.start import start_match
from linker.models import Project, Run, RunKind, RunStatus
from linker.runs import lifecycle
from linker.runs.workers import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DONORS_A_BATCH = 1000
LARGE = 20_000  # pages that are cut so; fewer, as a run cuts them: into one batch, which one worker compares
OWN_HOST = ["unshare", "--net", "--uts", "--"]


def fingerprint(project: Project) -> str:
    """All that a run writes into its edges, in one number."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT md5(string_agg(md5(concat_ws('|', source_id, target_id, similarity, score, quantile, level, "
            "block_id, donor_best, tier_id, placement, rel, anchor, anchor_source, anchor_alternatives, why)), '' "
            "ORDER BY source_id, target_id)) || ' ' || count(*) FROM linker_candidateedge WHERE project_id = %s",
            [project.pk],
        )
        return str(cursor.fetchone()[0])


def match_over(
    project: Project,
    workers: int,
    trouble: Callable[[WorkerPool, int], None] | None = None,
    host: Sequence[str] = (),
) -> tuple[str, float, float]:
    """The edges' fingerprint, and seconds of the comparison and of the whole run, workers' start left out.

    `host` is the command that gives each worker a host of its own.
    """
    forget_edges(project)
    run = lifecycle.start_run(project, RunKind.MATCH, PARAMS.to_dict(), to_queue=False)
    lifecycle.execute(run.pk, start_match)
    run.refresh_from_db()
    pool = WorkerPool(workers)
    pool.threads = 1
    pool.command = [*host, *pool.command]
    with pool:
        time.sleep(8)  # their start is not what is measured
        started = time.perf_counter()
        enqueue_batches(run)
        compared = 0.0
        while run.is_active:
            pool.watch()
            time.sleep(0.05)
            left = run.batches.filter(done=False).count()
            if trouble is not None:
                trouble(pool, run.batches.filter(done=True).count())
            if not left and not compared:
                compared = time.perf_counter() - started
            run.refresh_from_db()
        seconds = time.perf_counter() - started
    if run.status != RunStatus.SUCCEEDED:
        raise SystemExit(f"the run {run.get_status_display().lower()}: {run.error}")
    return fingerprint(project), compared, seconds


class Trouble:
    """Kills a job's process, a worker and Redis, each once, as batches are done."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def __call__(self, pool: WorkerPool, batches: int) -> None:
        if not self.done and batches >= 2:
            jobs = [job for worker in pool.processes for job in psutil.Process(worker.pid).children()]
            with suppress(ProcessLookupError):  # a job that ended just now: the next one, then
                for job in jobs[:1]:
                    os.kill(job.pid, signal.SIGKILL)
                    self.done.append("a job's process")
        elif len(self.done) == 1 and batches >= 5:
            os.kill(pool.processes[0].pid, signal.SIGKILL)
            self.done.append("a worker")
        elif len(self.done) == 2 and batches >= 8:
            pid = int((Path(settings.VAR) / "redis" / "redis.pid").read_text())
            os.kill(pid, signal.SIGKILL)
            time.sleep(1)
            embedded.start_redis(settings.VAR)
            self.done.append("Redis")


def own_hosts() -> list[str]:
    """The command that gives a worker a host name and a network of its own, or none where that cannot be had."""
    if shutil.which(OWN_HOST[0]) and subprocess.run([*OWN_HOST, "true"], capture_output=True).returncode == 0:
        return OWN_HOST
    note("no network namespaces here: the workers share this host's")
    return []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=40_000)
    parser.add_argument("--workers", type=int, default=4)
    options = parser.parse_args()
    cores = os.cpu_count() or 1
    migrate()
    if options.pages >= LARGE:
        plan.BATCH_DONORS = DONORS_A_BATCH
    project = make_site(options.pages)
    head()
    one, compared, whole = match_over(project, 1)
    note(f"one worker: compared in {compared:.1f} s, all in {whole:.1f} s, {one}")
    hosts = own_hosts()
    with load_of_ours() as load:
        every, compared_by_all, _ = match_over(project, cores)
    batches = Run.objects.filter(project=project, kind=RunKind.MATCH).latest("pk").batches.count()
    size = f"{options.pages:,} pages, {batches:,} batch{'es' if batches > 1 else ''}"
    shared = min(cores, batches)
    row(
        f"comparison of pages by {cores} workers against 1, times the {shared} that have a batch",
        size,
        f"{compared_by_all:.1f} s x {shared}",
        f"{compared:.1f} s",
        compared_by_all * shared / compared,
        1.25,
        load.most,
    )
    plan.BATCH_DONORS = DONORS_A_BATCH  # many, so that there is something to break
    trouble = Trouble()
    troubled, _, seconds = match_over(project, options.workers, trouble, hosts)
    note(f"{options.workers} workers, killed on the way: {', '.join(trouble.done)}; {seconds:.1f} s, {troubled}")
    differing = len({one, every, troubled}) - 1
    row(
        f"runs whose edges differ: {options.workers} workers{' on hosts of their own' if hosts else ''} "
        f"(killed: {', '.join(trouble.done)}) and {cores} against 1",
        size,
        f"{differing}",
        "0",
        differing,
        0,
    )


if __name__ == "__main__":
    main()
