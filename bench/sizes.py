"""What a page costs as the site grows, and one block of 100,000 pages.

    python bench/sizes.py [--pages 10000,100000,1000000] [--block 100000]

Sites as in bench/_site.py: by default of 10,000, 100,000 and 1,000,000 pages, each with N/50 categories, and one whose
pages all stand in one category. Each is matched by cosine within its categories, five suggestions a donor, in this
process, from the plan to the stored edges. Categories grow with the site (the largest holds a share of it), so the
products of a page do, too; the row for growth also says how many pairs a page is compared with.
"""

from __future__ import annotations

import argparse

from _common import Load, head, load_of_ours, migrate, row
from _site import make_site
from django.db import connection
from matching import PARAMS, forget_edges

from linker.matching.start import run_match
from linker.models import Project, Run, RunKind
from linker.runs import lifecycle


def match_here(project: Project) -> tuple[Run, Load]:
    forget_edges(project)
    run = lifecycle.start_run(project, RunKind.MATCH, PARAMS.to_dict(), to_queue=False)
    with load_of_ours() as load:
        ended = lifecycle.execute(run.pk, run_match)
    connection.close()
    if ended is None or ended.status != "succeeded":
        raise SystemExit(f"the run failed: {ended and ended.error}")
    return ended, load


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", default="10000,100000,1000000")
    parser.add_argument("--block", type=int, default=100_000)
    options = parser.parse_args()
    migrate()
    head()
    first = 0.0
    for pages in map(int, options.pages.split(",")):
        run, load = match_here(make_site(pages))
        a_page = load.seconds / pages
        first = first or a_page
        row(
            "time a page as the site grows",
            f"{pages:,} pages, {run.report['pairs'] / pages:,.0f} pairs a page",
            f"{1e3 * a_page:.2f} ms a page",
            f"{1e3 * first:.2f} ms",
            a_page / first,
            1.3,
            load.most,
            most=1.5,
        )
    run, load = match_here(make_site(options.block, one_block=True, links=False))
    row(
        "one block",
        f"{options.block:,} pages, {run.report['pairs'] / options.block:,.0f} pairs a page",
        f"{load.seconds:.0f} s",
        "",
        load.most / (1.5 * 2**30),
        1.0,
        load.most,
        most=1.5,
    )


if __name__ == "__main__":
    main()
