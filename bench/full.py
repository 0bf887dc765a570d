"""The whole learned run on large sites with text: all generators, ranker, anchors, allocation, edges stored.

    python bench/full.py [--pages 200000] [--small 10000]

The site is that of bench/_texts.py, put into the database by COPY: titles, texts of some 180 words, categories, vectors
and eight body links a page with their anchors. Each size is matched with the default settings in a process of its own.
The row compares the time a page of both sizes, which should hardly grow, and gives the most memory of any process.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from _common import head, load_of_ours, migrate, note, row, timed
from _site import DIMENSIONS, make_categories, next_id
from _texts import TextSite, make_texts
from django.db import connection, transaction

from linker.models import EmbeddingModel, Project, Run, RunKind
from linker.models.project import VectorSource
from linker.projects.create import create_project
from linker.storage.copy import analyze, copy_in, copy_rows_in, copy_text
from linker.storage.vectors import halfvec

CHUNK = 20_000
PAGE_COLUMNS = (
    "id, project_id, url, canonical_url, status, title, h1, headings, description, body, language, category_id, "
    "status_code, indexable, indexability_status, canonical_link, redirect_url, inlinks, outlinks, "
    "first_seen_at, last_seen_at"
)


def stored(pages: int) -> Project:
    """The project with so many pages, made if it is not there."""
    slug = f"texts-{pages}"
    known = Project.objects.filter(slug=slug).first()
    if known is not None:
        return known
    site = make_texts(pages)
    with transaction.atomic():
        project = create_project(slug=slug, name=slug, base_url="https://bench.example")
        project.vector_source = VectorSource.IMPORTED
        project.save()
        model = EmbeddingModel.objects.create(name=slug, version="1", dimensions=DIMENSIONS, project=project)
        names = [f"Category {number}" for number in range(int(site.category.max()) + 1)]
        categories = make_categories(project, names)
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
        first = next_id("linker_page", pages)
        _copy_pages(project, site, categories, first)
        for start in range(0, pages, CHUNK):
            _copy_vectors(model, first + start, site.unit[start : start + CHUNK])
        copy_rows_in(
            "linker_existinglink",
            ["project_id", "source_id", "target_id", "block", "anchor", "follow", "last_seen_at"],
            (
                (project.pk, first + source, first + target, 1, anchor, True, "2026-01-01")
                for source, target, anchor in zip(site.src.tolist(), site.dst.tolist(), site.anchors, strict=True)
            ),
        )
    analyze("linker_page", "linker_category", "linker_pageembedding", "linker_existinglink")
    return project


def _copy_pages(project: Project, site: TextSite, categories: np.ndarray, first: int) -> None:
    of_page = categories[site.category].tolist()
    with connection.cursor() as cursor, cursor.copy(f"COPY linker_page ({PAGE_COLUMNS}) FROM STDIN") as copy:
        for number, (title, body, category) in enumerate(zip(site.titles, site.bodies, of_page, strict=True)):
            url = f"https://bench.example/c{category}/{title.split()[-1]}-{number}"
            copy.write(
                f"{first + number}\t{project.pk}\t{url}\t{url}\tlive\t{title}\t{title}\t{{}}\t\t"
                f"{copy_text(body)}\ten\t{category}\t200\tt\t\t\t\t0\t0\tnow\tnow\n"
            )


def _copy_vectors(model: EmbeddingModel, first: int, vectors: np.ndarray) -> None:
    kept = np.empty(len(vectors), dtype=halfvec(DIMENSIONS))
    kept["dim"], kept["unused"], kept["x"] = DIMENSIONS, 0, vectors
    copy_in(
        "linker_pageembedding",
        [
            ("page_id", ">i8", np.arange(first, first + len(vectors))),
            ("model_id", ">i8", np.full(len(vectors), model.pk)),
            ("text_sha256", "V32", np.zeros(len(vectors), dtype="V32")),
            ("vector", kept.dtype, kept),
            ("created_at", ">i8", np.zeros(len(vectors), dtype=np.int64)),
        ],
    )


def matched(pages: int) -> tuple[float, int]:
    """Seconds of a run by the command line, in a process of its own, and the most memory of any process."""
    project = stored(pages)
    manage = Path(__file__).resolve().parent.parent / "manage.py"
    with load_of_ours() as load, timed() as watch:
        done = subprocess.run([sys.executable, str(manage), "match_project", project.slug], capture_output=True)
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    run = Run.objects.filter(project=project, kind=RunKind.MATCH).latest("pk")
    note(f"{pages:,} pages: {watch.seconds:.0f} s, {load.cpu:.0f} s of computing, {load.cores:.2f} cores busy, "
         f"{run.report['edges']:,} links, by {run.report['ranking']}; most in a Python process "
         f"{load.python / 2**30:.2f} GiB, in one of PostgreSQL's {load.postgres / 2**30:.2f} GiB")  # fmt: skip
    return watch.seconds, load.most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=200_000)
    parser.add_argument("--small", type=int, default=10_000)
    options = parser.parse_args()
    started = time.perf_counter()
    migrate()
    head()
    small, _ = matched(options.small)
    large, memory = matched(options.pages)
    row(
        "learned run, time a page", f"{options.small:,} and {options.pages:,} pages",
        f"{1000 * large / options.pages:.1f} ms", f"{1000 * small / options.small:.1f} ms",
        (large / options.pages) / (small / options.small), 1.5, memory, most=2,
    )  # fmt: skip
    note(f"{time.perf_counter() - started:.0f} s in all")


if __name__ == "__main__":
    main()
