"""A match over what changed against one over the whole site: what it costs, and how far the two agree.

    python bench/incremental.py [--pages 20000] [--shares 0.001 0.01 0.05]

While a match runs, another connection asks again and again for the project's row, as a decision that is taken back and
a setting that is saved do. The first rows say how long it would have waited: in a first match, in a second one, whose
suggestions are there already, and in one of what changed.

The site is that of bench/_texts.py, matched as a whole by `match_project` in a process of its own. Then a share of the
pages get another text, a tenth of them another name as well, and `match_project --changed` matches them. A row gives
the processor time of all processes (PostgreSQL's included) against that of the run over the whole site. The last run
matches all pages anew with the kept ranker: the note says which share of the links of changed donors had been found,
and which share of all links.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import psycopg
from _common import Load, head, load_of_ours, migrate, note, row
from django.db import connection
from full import stored

from linker.matching.changes_run import ChangeOptions, run_changes
from linker.matching.changes_start import start_changes
from linker.matching.kept_runs import standing_run
from linker.models import MatchedPages, Project
from linker.models.querysets import OPEN
from linker.runs import lifecycle

MANAGE = Path(__file__).resolve().parent.parent / "manage.py"


class Held:
    """How long others held the project's row while the block ran: `seconds`, in all."""

    def __init__(self, project: Project) -> None:
        self.project, self.seconds = project, 0.0
        self._is_over = threading.Event()
        self._asking = threading.Thread(target=self._ask, daemon=True)

    def __enter__(self) -> Held:
        self._asking.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._asking.join()

    def _ask(self) -> None:
        with psycopg.connect(**connection.get_connection_params(), autocommit=True) as other:
            other.execute("SET lock_timeout = 0")
            while not self._is_over.wait(0.05):
                began = time.perf_counter()
                other.execute("SELECT FROM linker_project WHERE id = %s FOR NO KEY UPDATE", [self.project.pk])
                took = time.perf_counter() - began
                if took > 0.02:
                    self.seconds += took


def matched(project: Project, *arguments: str) -> tuple[Load, float]:
    """What a match by the command line used, and how long it held the project's row, in seconds."""
    with load_of_ours() as load, Held(project) as held:
        done = subprocess.run(
            [sys.executable, str(MANAGE), "match_project", project.slug, *arguments], capture_output=True
        )
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    note(f"{done.stdout.decode().splitlines()[1]} {load.cpu:.1f} s of computing, {load.seconds:.1f} s")
    return load, held.seconds


def say_held(what: str, pages: int, load: Load, held: float) -> None:
    """A row of how long a match held the project's row against how long it took."""
    row(
        f"project held by {what}",
        f"{pages:,} pages",
        f"{held:.1f} s",
        f"{load.seconds:.1f} s",
        held / load.seconds,
        0.25,
    )


def change(project: Project, pages: np.ndarray) -> None:
    """Other texts for some pages, ids int64 [k]; other names for a tenth of them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE linker_page SET body = substr(body, length(body) / 5) || E'\\nIt was written anew.' "
            "WHERE project_id = %s AND id = ANY(%s)",
            [project.pk, pages.tolist()],
        )
        cursor.execute(
            "UPDATE linker_page SET title = title || ' again', h1 = h1 || ' again' WHERE id = ANY(%s)",
            [pages[::10].tolist()],
        )


def open_links(project: Project) -> set[tuple[int, int]]:
    return set(project.edges.filter(OPEN).values_list("source_id", "target_id").iterator(50_000))


def all_anew(project: Project) -> None:
    """Matches all pages with the ranker of the standing run."""
    kept = MatchedPages.objects.get(run=standing_run(project))
    kept.marks = bytes(len(kept.marks))
    kept.save(update_fields=["marks"])
    run = start_changes(project, to_queue=False)
    limits = ChangeOptions(most_changed=1.0, most_in_all=100.0)
    ended = lifecycle.execute(run.pk, lambda run, progress: run_changes(run, progress, limits))
    if ended is None or ended.status != "succeeded":
        raise SystemExit(f"the run over all pages failed: {ended.error if ended else ''}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--shares", type=float, nargs="+", default=[0.001, 0.01, 0.05])
    options = parser.parse_args()
    migrate()
    head()
    project = stored(options.pages)
    whole, held = matched(project)
    say_held("a first match", options.pages, whole, held)
    again, held = matched(project)
    say_held("a second match", options.pages, again, held)
    with connection.cursor() as cursor:  # or PostgreSQL cleans up behind it while the others are measured
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("CHECKPOINT")
    ids = np.array(project.pages.order_by("pk").values_list("pk", flat=True))
    chance, changed = np.random.default_rng(3), set[int]()
    for share in options.shares:
        some = np.sort(chance.choice(ids, max(int(share * len(ids)), 1), replace=False))
        change(project, some)
        changed |= set(some.tolist())
        load, held = matched(project, "--changed")
        say_held(f"a match of what changed, {share:.1%}", options.pages, load, held)
        row(
            f"match of what changed, {share:.1%} of the pages", f"{options.pages:,} pages",
            f"{load.cpu:.1f} s of computing", f"{whole.cpu:.1f} s",
            load.cpu / whole.cpu, max(5 * share, 0.05), load.most,
        )  # fmt: skip
    found = open_links(project)
    all_anew(project)
    every = open_links(project)
    mine = {pair for pair in every if pair[0] in changed}
    note(f"of the links of changed donors {len(mine & found) / max(len(mine), 1):.3f} had been found, of all links "
         f"{len(every & found) / max(len(every), 1):.3f}")  # fmt: skip


if __name__ == "__main__":
    main()
