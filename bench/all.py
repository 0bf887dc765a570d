"""Every bench, one table: `make bench`.

    python bench/all.py [--share 1.0] [--only matching,export] [--write]

Each script runs alone, in a process of its own, with its full sizes times `--share`; what it says beside its rows goes
to standard error. `--write` puts the table into docs/benchmarks.md, with the day, the machine and its load.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from datetime import date
from pathlib import Path

from _common import HEAD, ROOT

BEGIN, END = "<!-- table -->", "<!-- end of the table -->"
MINE = {"ANCHORLINE_VAR", "ANCHORLINE_BENCH_CHILD"}  # set by _common
HERE = Path(__file__).resolve().parent


def commands(share: float) -> dict[str, list[str]]:
    """The arguments of each script for a share of its full size."""

    def size(full: int, least: int) -> str:
        return str(max(least, round(full * share)))

    return {
        "matching": ["--pages", size(1_000_000, 5_000)],
        "sizes": [
            "--pages", ",".join(size(full, full // 10) for full in (10_000, 100_000, 1_000_000)),
            "--block", size(100_000, 3_000),
        ],
        "alternatives": ["--pages", ",".join(["2500", size(10_000, 5_000), size(50_000, 10_000)])],
        "workers": ["--pages", size(40_000, 6_000)],
        "embedding": ["--pages", size(400, 60)],
        "mentions": ["--phrases", size(100_000, 5_000), "--pages", size(12_000, 600)],
        "imports": ["--pages", size(1_000_000, 5_000)],
        "export": ["--links", size(1_000_000, 20_000)],
        "releases": ["--links", size(1_000_000, 20_000)],
        "governance": ["--edges", size(5_000_000, 100_000)],
        "review_queue": ["--edges", size(5_000_000, 100_000), "--small", size(50_000, 10_000)],
        "queue_in_browser": ["--decisions", size(1000, 100)],
        "incremental": ["--pages", size(20_000, 2_000)],
        "page_events": [
            "--pages", ",".join([size(20_000, 2_000), size(100_000, 5_000)]),
            "--events", ",".join([size(1_000, 50), size(10_000, 500)]),
        ],
        "full": ["--pages", size(200_000, 4_000), "--small", size(10_000, 2_000)],
    }  # fmt: skip


def rows_of(script: str, arguments: list[str]) -> list[str]:
    """The rows a script prints. One that fails has a row that says so."""
    command = [sys.executable, str(HERE / f"{script}.py"), *arguments]
    own = {name: value for name, value in os.environ.items() if name not in MINE}  # each has a database of its own
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=own)
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ") and line not in HEAD.splitlines()]
    return rows if not done.returncode else [*rows, f"| {script} | {' '.join(arguments)} | | | | | | failed |"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    known = commands(options.share)
    chosen = options.only.split(",") if options.only else list(known)
    table = [HEAD]
    print(HEAD, flush=True)
    for script in chosen:
        for line in rows_of(script, known[script]):
            table.append(line)
            print(line, flush=True)
    if options.write:
        path = ROOT / "docs" / "benchmarks.md"
        before, _, rest = path.read_text().partition(BEGIN)
        load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
        made = (f"{date.today().isoformat()}, {os.cpu_count()} cores ({platform.machine()}), Python "
                f"{platform.python_version()}, load at the end {load}.")  # fmt: skip
        path.write_text("\n".join([f"{before}{BEGIN}", made, "", *table, f"{END}{rest.partition(END)[2]}"]))


if __name__ == "__main__":
    main()
