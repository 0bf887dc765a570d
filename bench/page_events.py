"""What a file of page events costs, by the number of events and the size of the project.

    python bench/page_events.py [--pages 20000,100000] [--events 1000,10000]

Projects as in bench/_suggestions.py, with five suggestions a page, and 1,000 and 10,000 events for each: four of ten
redirect to another page, two move, two are removed, one is merged and one created. Each file names other pages. The
time is that of the import with all that follows it: numbers, links, suggestions and released links.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from _common import head, load_of_ours, migrate, row, timed
from _suggestions import make_suggestions

from ingest import services
from linker.models import EdgeMove, Page

A_DONOR = 5


def write(path: Path, urls: list[str], first: int) -> None:
    """Each address once, in pairs: one leads to the next."""
    lines = ["event,url,new_url,at"]
    for number in range(0, len(urls), 2):
        url, other = urls[number], urls[number + 1]
        kind = number // 2 % 10
        if kind < 4:
            lines.append(f"redirected,{url},{other},2026-01-01")
        elif kind < 6:
            lines.append(f"moved,{url},https://bench.example/moved/{first + number},2026-01-01")
        elif kind < 8:
            lines.append(f"removed,{url},,2026-01-01")
        elif kind == 8:
            lines.append(f"merged,{url},{other},2026-01-01")
        else:
            lines.append(f"created,https://bench.example/new/{first + number},,2026-01-01")
    path.write_text("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", default="20000,100000")
    parser.add_argument("--events", default="1000,10000")
    options = parser.parse_args()
    migrate()
    head()
    smallest: dict[tuple[int, str], float] = {}  # seconds in the first of the projects
    for pages in map(int, options.pages.split(",")):
        project = make_suggestions(pages * A_DONOR, f"events-{pages}", a_donor=A_DONOR)
        first = 0
        for events in map(int, options.events.split(",")):
            live = Page.objects.filter(project=project, status="live").order_by("pk").values_list("url", flat=True)
            urls = list(live[first : first + 2 * events])
            first += 2 * events
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "events.csv"
                write(path, urls, first)
                for what in ("", ", the same file again"):
                    moved = EdgeMove.objects.filter(project=project).count()
                    with load_of_ours() as load, timed() as watch:
                        report = services.import_file(project, "events", path)
                    moved = EdgeMove.objects.filter(project=project).count() - moved
                    least = smallest.setdefault((events, what), watch.seconds)
                    row(
                        f"{events:,} events{what}: {report['events']:,} news, {moved:,} suggestions follow",
                        f"{pages:,} pages, {pages * A_DONOR:,} suggestions",
                        f"{watch.seconds:.1f} s",
                        f"{least:.1f} s in the smallest",
                        watch.seconds / least,
                        2,
                        load.most,
                    )


if __name__ == "__main__":
    main()
