"""Every bench, one table each: `make bench`.

    python bench/all.py [--share 1.0] [--only matching,export] [--write | --write-small]

Each script runs alone, in a process of its own, with its full sizes times `--share`; what it says beside its rows goes
to standard error. `--write` puts the tables of the benches that ran into docs/benchmarks.md, between the marks with
their names, with the revision, the day and the machine. Ends with 1 where a script failed or a row missed its target,
and names them; the table of a script that failed is not written.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs" / "benchmarks.md"
MINE = {"ANCHORLINE_VAR", "ANCHORLINE_BENCH_CHILD"}  # set by _common


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
        "alternatives": ["--pages", ",".join(["2500", "5000", size(10_000, 5_000), size(50_000, 10_000)])],
        "workers": ["--pages", size(40_000, 6_000)],
        "embedding": ["--pages", size(400, 60)],
        "mentions": ["--phrases", size(100_000, 5_000), "--pages", size(12_000, 600)],
        "imports": ["--pages", size(1_000_000, 5_000)],
        "export": ["--links", size(1_000_000, 20_000)],
        "full": ["--pages", size(200_000, 4_000), "--small", size(10_000, 2_000)],
        "crawl": ["--pages", size(1_000, 100), "--memory", size(10_000, 200), size(100_000, 300)],
        "releases": ["--links", size(1_000_000, 20_000)],
        "governance": ["--edges", size(5_000_000, 100_000)],
        "reading": ["--pages", size(400, 20)],
        "page_events": [
            "--pages", ",".join([size(20_000, 2_000), size(100_000, 5_000)]),
            "--events", ",".join([size(1_000, 50), size(10_000, 500)]),
        ],
        "incremental": ["--pages", size(20_000, 2_000)],
        "crawled_site": [],
        "review_queue": ["--edges", size(5_000_000, 100_000), "--small", size(50_000, 10_000)],
        "queue_in_browser": ["--decisions", size(1000, 100)],
    }  # fmt: skip


class Result(NamedTuple):
    """What a script printed: the lines of its table, and how it ended."""

    script: str
    table: list[str]
    code: int

    @property
    def faults(self) -> list[str]:
        """Rows that missed their targets, and the script itself where it failed or had no row to show."""
        rows = [line.strip("| ").split(" | ") for line in self.table]
        missed = [f"{self.script}: {cells[0]}, {cells[1]}: missed" for cells in rows if cells[-1].startswith("missed")]
        failed = [f"{self.script}: failed with {self.code}"] if self.code else []
        return missed + failed or ([] if len(self.table) > 2 else [f"{self.script}: no rows"])


def run(script: str, arguments: list[str], folder: Path = HERE) -> Result:
    """Runs a script, whose table is passed on as it grows. One that is interrupted stops its servers first."""
    own = {name: value for name, value in os.environ.items() if name not in MINE}  # each has a database of its own
    table: list[str] = []
    with subprocess.Popen(
        [sys.executable, str(folder / f"{script}.py"), *arguments], stdout=subprocess.PIPE, text=True, env=own
    ) as process:
        assert process.stdout is not None
        try:
            for line in map(str.rstrip, process.stdout):
                if line.startswith("|"):
                    table.append(line)
                    print(line, flush=True)
        except BaseException:
            process.terminate()
            raise
    return Result(script, table, process.returncode)


def marks(name: str) -> tuple[str, str]:
    """What stands before and after a table in the docs."""
    return f"<!-- table: {name} -->", f"<!-- end of table: {name} -->"


def write(docs: Path, results: list[Result], share: float) -> None:
    """Puts the tables of the scripts that did not fail into the docs, in place of those that are there."""
    for result in results:
        if result.table and not result.code:
            put(docs, result.script, [measured(share), "", *result.table])


def write_small(docs: Path, results: list[Result], share: float) -> None:
    """The same, in one place for all scripts."""
    good = [result for result in results if result.table and not result.code]
    put(docs, "small", [measured(share), *(line for one in good for line in ("", f"`{one.script}`", "", *one.table))])


def put(docs: Path, name: str, lines: list[str]) -> None:
    begin, end = marks(name)
    before, found, rest = docs.read_text().partition(begin)
    if not found or end not in rest:
        raise SystemExit(f"{docs} has no place for a table: {begin} and {end}")
    docs.write_text(before + "\n".join([begin, *lines, end]) + rest.partition(end)[2])


def measured(share: float) -> str:
    """Where and when, as a sentence."""
    git = ["git", "-C", str(HERE), "describe", "--always", "--dirty=, with changes", "--exclude=*"]
    revision = subprocess.run(git, capture_output=True, text=True).stdout.strip() or "unknown"
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    part = "" if share == 1 else f" At a share of {share:g} of the full sizes."
    return (
        f"Measured at revision {revision} on {date.today().isoformat()}: {os.cpu_count()} cores "
        f"({platform.machine()}), Python {platform.python_version()}, load at the end {load}.{part}"
    )


def main(arguments: list[str] | None = None, folder: Path = HERE, docs: Path = DOCS) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--write-small", action="store_true")
    options = parser.parse_args(arguments)
    known = commands(options.share)
    results = []
    for script in options.only.split(",") if options.only else known:
        print(f"\n{script}\n", flush=True)
        results.append(run(script, known.get(script, []), folder))
    if options.write:
        write(docs, results, options.share)
    if options.write_small:
        write_small(docs, results, options.share)
    faults = [fault for result in results for fault in result.faults]
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


def end_by_signal() -> None:
    """Lets SIGTERM end this process as Ctrl-C does, so that what it started is stopped."""
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))


if __name__ == "__main__":
    end_by_signal()
    sys.exit(main())
